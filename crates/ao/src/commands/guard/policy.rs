//! The rules that were asked for, as flags.

use ao_contract::Exit;
use ao_guard::{Class, Git, Grant, Keeper, Leak, Owned, Policy, Project};
use clap::builder::PossibleValuesParser;

use crate::failure::Failure;
use crate::repo::Repo;

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Rules {
    /// Own what this matches: a glob, or the path of a file or a folder (with all that is in it)
    #[arg(long, value_name = "GLOB")]
    pub(crate) scope: Vec<String>,
    /// Grant what is sacred without a grant
    #[arg(long, value_name = "WHAT", value_parser = names(&Grant::ALL.map(Grant::name)))]
    pub(crate) grant: Vec<String>,
    /// List a destructive class that may be done
    #[arg(long, value_name = "CLASS", value_parser = names(&Class::ALL.map(Class::name)))]
    pub(crate) destructive: Vec<String>,
}

fn names(names: &[&'static str]) -> PossibleValuesParser {
    PossibleValuesParser::new(names.to_vec())
}

/// What is owned where no scope is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unscoped {
    /// Nothing, so that nothing is written.
    OwnsNothing,
    /// That is not asked.
    Unsaid,
}

impl Rules {
    pub(crate) fn policy(
        &self,
        repo: &Repo,
        unscoped: Unscoped,
        leak: Leak,
    ) -> Result<Policy, Failure> {
        let project = Project::open(&repo.root).map_err(|error| {
            Failure::new(Exit::Preflight, format!("{}: {error}", repo.root.display()))
                .hint("name the project with -C DIR")
        })?;
        let usage = |bad: ao_guard::BadGlob| {
            Failure::usage(bad.to_string())
                .hint("globs are relative to the project, such as `src/**`")
        };
        let owned = match unscoped {
            Unscoped::Unsaid if self.scope.is_empty() => Owned::Unsaid,
            _ => Owned::scopes(&self.scope, project.root()).map_err(usage)?,
        };
        let git = std::env::var_os("PATH")
            .and_then(|path| ao_guard::find_program("git", &path, project.root()).ok())
            .map(|program| Git::new(Keeper::this_binary(), program, project.root().to_owned()));
        let mut policy = Policy::new(project, owned).map_err(usage)?;
        policy.git = git;
        policy.leak = leak;
        let is_named = |list: &[String], name: &str| list.iter().any(|named| named == name);
        policy.grants =
            Grant::ALL.into_iter().filter(|grant| is_named(&self.grant, grant.name())).collect();
        policy.destructive = Class::ALL
            .into_iter()
            .filter(|class| is_named(&self.destructive, class.name()))
            .collect();
        Ok(policy)
    }
}
