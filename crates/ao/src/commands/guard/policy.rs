//! The rules that were asked for, as flags.

use std::path::Path;

use ao_contract::Exit;
use ao_guard::{Class, Git, Grant, Keeper, Leak, Owned, Policy, Project, ReadRules, SecretPaths};
use clap::builder::PossibleValuesParser;

use super::place;
use crate::commands::vault;
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
    /// Let agents read this too, though it lies in the hidden part of a home
    #[arg(long, value_name = "PATH")]
    pub(crate) readable: Vec<String>,
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
        policy.secret_paths =
            SecretPaths::new(policy.project.root(), self.reads(&repo.root)).map_err(usage)?;
        let is_named = |list: &[String], name: &str| list.iter().any(|named| named == name);
        policy.grants =
            Grant::ALL.into_iter().filter(|grant| is_named(&self.grant, grant.name())).collect();
        policy.destructive = Class::ALL
            .into_iter()
            .filter(|class| is_named(&self.destructive, class.name()))
            .collect();
        Ok(policy)
    }

    /// What this process knows of the user: the homes, the vault wherever it is, and the variables by which
    /// a command could name a file.
    fn reads(&self, root: &Path) -> ReadRules {
        let absolute = |path: std::ffi::OsString| std::path::absolute(path).ok();
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        let is_short = |(_, value): &(String, String)| value.len() <= VARIABLE_BYTES_MAX;
        // Where the vault as a whole cannot be found, what is named of it is still not read.
        let named = ["AO_VAULT_IDENTITY", "AO_VAULT_FILE"].into_iter().filter_map(std::env::var_os);
        let named = named.filter_map(absolute);
        ReadRules {
            homes: place::homes(),
            vault: vault::place::hidden(None).into_iter().chain(named).collect(),
            readable: self.readable.iter().map(|path| root.join(path)).collect(),
            variables: variables.filter(is_short).collect(),
        }
    }
}

/// No path is longer.
const VARIABLE_BYTES_MAX: usize = 4096;
