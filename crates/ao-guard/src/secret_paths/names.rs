//! Files of a project that are secret by their names.

use crate::scope::{BadGlob, Case, Globs};

use super::{environment_names, environment_samples, secret_names};

/// What the lists stand for most often: names that a project gets while somebody works in it.
/// The cell keeps a place for them, so that they stay hidden when they come: for all at the top of a
/// project, and in each folder beneath for the first few ([`USUAL_DEEPER`]), as each costs time.
pub(crate) const USUAL_SECRETS: [&str; 24] = [
    ".env",
    ".env.local",
    ".env.development",
    ".env.production",
    ".env.test",
    ".envrc",
    ".env.development.local",
    ".env.production.local",
    ".env.test.local",
    ".env.staging",
    ".env.prod",
    ".env.dev",
    ".env.backup",
    ".env.bak",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".ssh",
    ".aws",
    "credentials.json",
    "id_rsa",
    "id_ed25519",
    "server.key",
];
pub(crate) const USUAL_DEEPER: usize = 6;

/// Names of files that a worker does not even read.
#[derive(Debug, Clone)]
pub(crate) struct SecretNames {
    secrets: Globs,
    samples: Globs,
}

impl SecretNames {
    /// The lists are our own; an error here is a mistake of ours.
    pub(crate) fn built_in() -> Result<Self, BadGlob> {
        let folded = |globs: Vec<&str>| Globs::parse(globs, Case::Folded);
        Ok(Self {
            secrets: folded(secret_names().chain(environment_names()).collect())?,
            samples: folded(environment_samples().collect())?,
        })
    }

    /// Whether this path is secret by its name; of the folders above it is known that they are not.
    pub(crate) fn names(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.secrets.could_end_with(name)
            && self.secrets.matching(path).is_some()
            && self.samples.matching(path).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_names_are_in_the_lists_and_samples_are_not() {
        let names = SecretNames::built_in().unwrap();
        for name in USUAL_SECRETS {
            assert!(names.names(name) && names.names(&format!("a/b/{name}")), "{name}");
        }
        for name in [".ENV", "x/.Env.Foo", "a/tls.PEM", "x/client_secret_1.json"] {
            assert!(names.names(name), "{name}");
        }
        for name in [".env.sample", "src/main.rs", "package.json", "id_rsa.pub", "README.md"] {
            assert!(!names.names(name), "{name}");
        }
    }
}
