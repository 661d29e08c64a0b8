//! Whether a person calls this command: what the binary sees of the caller, for the one function that judges it.

use std::io::IsTerminal;
use std::path::Path;

use ao_contract::{Exit, Manner};
use ao_guard::cell::Around;
use ao_guard::{Ancestors, Caller, Decision, KNOWN_AGENTS, Refusal, Rule, person};

use crate::commands::guard::{log, place};
use crate::failure::Failure;
use crate::printer::{Stream, is_screen};

/// How a person gives their word by this call. Where none does, that is an answer, and a line in the guard's log.
pub(crate) fn decides(decision: Decision, root: &Path) -> Result<Manner, Failure> {
    person(&caller()).map_err(|why| {
        let why = why.to_string();
        let refusal = Refusal::new(Rule::Decision, decision.command(), why.clone());
        let asked = log::Asked { by: "decision", harness: None, tool: None };
        log::note(root, asked, &Err(refusal));
        Failure::new(Exit::Found, format!("`{}` is for a person: {why}", decision.command()))
            .hint("nothing was changed; type it in a terminal that no agent started")
    })
}

fn caller() -> Caller {
    let value = |name: &str| std::env::var_os(name).map(|value| value.to_string_lossy().into());
    let names = KNOWN_AGENTS.iter().flat_map(|agent| agent.variables);
    let ancestors = ancestors();
    Caller {
        is_in_cell: place::around() == Around::Cell || ancestors.hold_a_cell,
        variables: names.filter_map(|name| Some(((*name).to_owned(), value(name)?))).collect(),
        ancestors: ancestors.names,
        has_terminal: std::io::stdin().is_terminal() && is_screen(Stream::Talk),
    }
}

/// For tests, which may be run by an agent: `AO_TEST_ANCESTORS` stands for the processes above, with blanks between.
#[cfg(debug_assertions)]
fn ancestors() -> Ancestors {
    match std::env::var("AO_TEST_ANCESTORS") {
        Ok(names) => Ancestors {
            names: names.split_whitespace().map(str::to_owned).collect(),
            hold_a_cell: false,
        },
        Err(_) => Ancestors::of_this_process(),
    }
}

#[cfg(not(debug_assertions))]
fn ancestors() -> Ancestors {
    Ancestors::of_this_process()
}
