//! Who decides: whether the caller of a command that decides something may be taken for a person.
//!
//! The binary hands in what it knows of the caller, and [`person`] answers. An agent is known by the variables that its
//! maker sets for the commands it runs, or by its name among the processes that the command descends from. A program
//! with the person's own rights that removes both is not recognised; `docs/trust.md` says so.

mod agents;
mod ancestors;
mod decision;

use std::fmt;

use ao_contract::Manner;

pub use agents::{AGENTS, KnownAgent};
pub use ancestors::Ancestors;
pub use decision::Decision;

/// What is known of whoever calls a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caller {
    pub is_in_cell: bool,
    /// Names and values.
    pub variables: Vec<(String, String)>,
    /// The names of the programs that it descends from, the nearest first.
    pub ancestors: Vec<String>,
    /// Standard input and standard error are a terminal.
    pub has_terminal: bool,
}

/// Why a caller is not taken for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoPerson {
    InCell,
    /// A variable that an agent sets for the commands it runs.
    Variable {
        agent: &'static str,
        name: &'static str,
    },
    /// The program of an agent, which the command descends from.
    Descends {
        agent: &'static str,
        program: &'static str,
    },
}

impl fmt::Display for NoPerson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InCell => f.write_str("this command runs in a cell"),
            Self::Variable { agent, name } => {
                write!(f, "{agent} runs this command (the variable {name} is set)")
            }
            Self::Descends { agent, program } => {
                write!(f, "{agent} runs this command (it descends from the program `{program}`)")
            }
        }
    }
}

/// How a person gives their word by this call, or why no person does.
pub fn person(caller: &Caller) -> Result<Manner, NoPerson> {
    if caller.is_in_cell && !ao_mutant::active("GRD-07/a-cell-decides") {
        return Err(NoPerson::InCell);
    }
    for agent in &AGENTS {
        let is_set = |name: &&&'static str| {
            caller.variables.iter().any(|(set, value)| set == **name && !is_off(value))
        };
        let set = agent.variables.iter().find(is_set);
        if let Some(name) = set.filter(|_| !ao_mutant::active("GRD-07/variables-are-not-read")) {
            return Err(NoPerson::Variable { agent: agent.name, name });
        }
        let is_above = |name: &&&'static str| caller.ancestors.iter().any(|above| above == **name);
        let above = agent.programs.iter().find(is_above);
        if let Some(program) = above.filter(|_| !ao_mutant::active("GRD-07/nobody-descends")) {
            return Err(NoPerson::Descends { agent: agent.name, program });
        }
    }
    let is_typed = caller.has_terminal || ao_mutant::active("GRD-07/a-script-is-a-terminal");
    Ok(if is_typed { Manner::Terminal } else { Manner::Script })
}

/// Whether a variable is there and says no.
fn is_off(value: &str) -> bool {
    matches!(value.trim().to_ascii_lowercase().as_str(), "" | "0" | "false" | "no")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, value: &str) -> Caller {
        let variables = vec![("PATH".into(), "/bin".into()), (name.into(), value.into())];
        Caller { variables, has_terminal: true, ..Caller::default() }
    }

    // proves: GRD-07
    #[test]
    fn each_agent_is_known_by_each_of_its_marks() {
        for agent in &AGENTS {
            for name in agent.variables {
                let found = person(&with(name, "1"));
                assert!(matches!(found, Err(NoPerson::Variable { .. })), "{name}: {found:?}");
                assert_eq!(person(&with(name, "")), Ok(Manner::Terminal), "{name}");
                assert_eq!(person(&with(&format!("{name}_X"), "1")), Ok(Manner::Terminal));
            }
            for program in agent.programs {
                assert!(program.len() <= agents::COMM_BYTES_MAX, "{program} is never seen whole");
                let ancestors = vec!["bash".into(), (*program).into(), "systemd".into()];
                let caller = Caller { ancestors, has_terminal: true, ..Caller::default() };
                let found = person(&caller);
                assert!(matches!(found, Err(NoPerson::Descends { .. })), "{program}: {found:?}");
            }
        }
    }

    // proves: GRD-07
    #[test]
    fn without_a_terminal_it_is_a_script() {
        assert_eq!(person(&Caller::default()), Ok(Manner::Script));
        let caller = Caller { is_in_cell: true, has_terminal: true, ..Caller::default() };
        assert_eq!(person(&caller), Err(NoPerson::InCell));
    }
}
