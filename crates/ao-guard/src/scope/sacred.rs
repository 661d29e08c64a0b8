//! What is sacred without anybody saying so.
//!
//! Globs are compared with case and normal form folded, and hold for everything beneath a folder that
//! they match. The lists say names that people really use; a project adds its own.

use super::glob::{BadGlob, Case, Globs};
use super::rule::Rule;

/// Something that is written only if it was granted by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Grant {
    Authentication,
    Billing,
    Dependencies,
}

impl Grant {
    pub const ALL: [Self; 3] = [Self::Authentication, Self::Billing, Self::Dependencies];

    pub fn name(self) -> &'static str {
        match self {
            Self::Authentication => "authentication",
            Self::Billing => "billing",
            Self::Dependencies => "dependencies",
        }
    }
}

/// Tokens and keys of any provider, and the vault. They are not read by a worker either.
const SECRETS: &[&str] = &[
    "**/{credentials,.credentials}.json",
    "**/.*/credentials",
    "**/.{aws,ssh,gnupg,azure,vault,password-store}",
    "**/.config/{gcloud,gh,op}",
    "**/.codex/auth.json",
    "**/.gemini/oauth_creds.json",
    "**/.local/share/opencode/auth.json",
    "**/.{netrc,pgpass,my.cnf,npmrc,pypirc,boto,s3cfg,vault-token,git-credentials,terraformrc}",
    "**/.cargo/credentials.toml",
    "**/.kube/config",
    "**/.docker/config.json",
    "**/client_secret*.json",
    "**/*service[-_]account*.json",
    "**/id_{rsa,dsa,ecdsa,ed25519}",
    "**/*.{key,pem,p12,pfx,jks,keystore}",
    "**/etc/secrets",
    "**/.agentops/{vault,vault.age,identity.txt}",
    "**/*.age",
];

const ENVIRONMENT: &[&str] = &["**/.env", "**/.env.*", "**/.envrc"];

/// What the globs above stand for most often: names that a project gets while somebody works in it.
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

/// Files that show which variables there are, and hold no values: read, but not written.
const ENVIRONMENT_SAMPLES: &[&str] = &["**/.env.{example,sample,template,dist}"];

const CALLBACKS: &[&str] = &[
    "**/*oauth*/**/*callback*",
    "**/{auth,sso}/**/*callback*",
    "**/*{oauth,auth}*callback*",
    "**/*callback*oauth*",
];

const WEBHOOKS: &[&str] = &[
    "**/*{billing,payment,stripe,paddle,lemonsqueezy,lemon-squeezy,lemon_squeezy}*/**/*webhook*",
    "**/*{billing,payment,stripe,paddle,lemonsqueezy,lemon-squeezy,lemon_squeezy}*webhook*",
    "**/*webhook*{billing,payment,stripe,paddle,lemonsqueezy,lemon-squeezy,lemon_squeezy}*",
    "**/*webhook*/**/*{billing,payment,stripe,paddle,lemonsqueezy,lemon-squeezy,lemon_squeezy}*",
];

const SUBSCRIPTIONS: &[&str] = &[
    "**/subscription{,s}[-_]state*",
    "**/subscription{,s}.{json,yaml,yml,db,sqlite,sqlite3}",
    "**/{subscription,subscriptions}/**/*state*",
];

const GIT: &[&str] = &["**/.git", "**/.gitconfig", "**/.gitmodules", "**/.config/git"];

/// Whoever could write these could take the guard away, or widen its own scope.
const GUARD: &[&str] = &[
    "**/.agentops/{sacred-scopes,config}.{yaml,yml}",
    "**/.claude/settings*.json",
    "**/.claude/hooks",
    "**/.codex/{hooks.json,config.toml}",
    "**/.mcp.json",
];

const AUTHENTICATION: &[&str] = &[
    "**/{auth,authentication,clerk,next-auth,nextauth}",
    "**/{auth,authentication,nextauth,next-auth}.*",
    "**/auth.config.*",
    "**/\\[...nextauth\\]*",
    "**/*clerk*",
    "**/*next{-,}auth*",
];

const BILLING: &[&str] = &[
    "**/*{billing,stripe,paddle}*",
    "**/{payment,payments,lemonsqueezy,lemon-squeezy,lemon_squeezy}",
    "**/lemon{,-,_}squeezy*",
];

const MIGRATIONS: &[&str] = &[
    "**/migrations/**",
    "**/{db,database}/migrate/**",
    "**/alembic/versions/**",
    "**/{flyway,liquibase}/**",
    "**/V[0-9]*__*.sql",
];

/// Files that some program runs without being asked: a hook, a task, an instruction to an agent.
const RUNS_BY_ITSELF: &[&str] = &[
    "**/.git/{hooks,config,info}",
    "**/.{claude,codex,cursor,gemini,opencode,husky,devcontainer}",
    "**/.{envrc,mcp.json,gitmodules,gitattributes,pre-commit-config.yaml,lefthook.yml}",
    "**/.vscode/{tasks,settings,launch}.json",
    "**/{AGENTS,CLAUDE,GEMINI}{,.local}.md",
    "**/.github/workflows",
    "**/.{bashrc,bash_profile,profile,zshrc,zshenv,inputrc}",
    "**/conftest.py",
    "**/sitecustomize.py",
    "**/.cargo/config{,.toml}",
];

/// Names of files that a worker does not even read.
#[derive(Debug, Clone)]
pub(crate) struct SecretNames {
    secrets: Globs,
    samples: Globs,
}

impl SecretNames {
    /// The lists are our own; an error here is a mistake of ours.
    pub(crate) fn built_in() -> Result<Self, BadGlob> {
        Ok(Self {
            secrets: Globs::parse([SECRETS, ENVIRONMENT].concat(), Case::Folded)?,
            samples: Globs::parse(ENVIRONMENT_SAMPLES, Case::Folded)?,
        })
    }

    /// Whether this path, or a folder above it, is secret by its name.
    pub(crate) fn covers(&self, path: &str) -> bool {
        self.secrets.covering(path).is_some() && self.samples.matching(path).is_none()
    }

    /// The same for a path of which the folders above are known not to be.
    pub(crate) fn names(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.secrets.could_end_with(name)
            && self.secrets.matching(path).is_some()
            && self.samples.matching(path).is_none()
    }
}

#[derive(Debug, Clone)]
struct Class {
    rule: Rule,
    what: &'static str,
    globs: Globs,
}

/// The set that always holds.
#[derive(Debug, Clone)]
pub struct Sacred {
    always: Vec<Class>,
    granted: Vec<(Grant, Class)>,
    secrets: SecretNames,
    migrations: Globs,
    runs: Globs,
}

impl Sacred {
    /// The lists are our own, and a unit test reads them all; an error here is a mistake of ours.
    pub fn built_in() -> Result<Self, BadGlob> {
        let folded = |globs: &[&str]| Globs::parse(globs, Case::Folded);
        let class = |rule, what, globs: &[&str]| Ok(Class { rule, what, globs: folded(globs)? });
        let always = |what, globs| class(Rule::Sacred, what, globs);
        Ok(Self {
            always: vec![
                always("credentials, a key or the vault", SECRETS)?,
                always("an environment file", ENVIRONMENT)?,
                always("git's own files and configuration", GIT)?,
                always("an OAuth callback", CALLBACKS)?,
                always("a handler of billing webhooks", WEBHOOKS)?,
                always("subscription state", SUBSCRIPTIONS)?,
                always("settings of the guard itself", GUARD)?,
            ],
            granted: vec![
                (
                    Grant::Authentication,
                    class(Rule::Authentication, "authentication code", AUTHENTICATION)?,
                ),
                (Grant::Billing, class(Rule::Billing, "a billing module", BILLING)?),
            ],
            secrets: SecretNames::built_in()?,
            migrations: folded(MIGRATIONS)?,
            runs: folded(RUNS_BY_ITSELF)?,
        })
    }

    /// Holds more sacred, as a project says.
    pub fn add(&mut self, globs: Globs) {
        let what = "what the project holds sacred";
        self.always.push(Class { rule: Rule::SacredProject, what, globs });
    }

    /// The rule that keeps this path from being written, and what it is in words.
    pub fn rule_for(&self, path: &str, grants: &[Grant]) -> Option<(Rule, &'static str)> {
        let by_grant = self.granted.iter().filter(|(grant, _)| !grants.contains(grant));
        let classes = self.always.iter().chain(by_grant.map(|(_, class)| class));
        let mut found = classes.filter(|class| class.globs.covering(path).is_some());
        found.next().map(|class| (class.rule, class.what))
    }

    /// Whether a worker may not even read this.
    pub fn is_secret(&self, path: &str) -> bool {
        self.secrets.covers(path)
    }

    /// Whether a file of this name is a database migration.
    pub fn is_migration(&self, path: &str) -> bool {
        self.migrations.matching(path).is_some()
    }

    /// Whether some program would run this, or do what it says, without being asked.
    pub fn runs_by_itself(&self, path: &str) -> bool {
        self.runs.covering(path).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: SCO-03
    #[test]
    fn the_built_in_set_knows_what_the_contract_names() {
        let sacred = Sacred::built_in().unwrap();
        let rule = |path: &str| sacred.rule_for(path, &[]).map(|(rule, _)| rule);
        for path in [
            ".claude/.credentials.json",
            "home/.anything/credentials.json",
            ".aws/config",
            "deploy/server.key",
            ".env",
            "app/.ENV.local",
            ".env.d/x",
            "src/oauth/google/callback.ts",
            "app/auth/callback/route.ts",
            "src/stripe_webhook.py",
            "api/webhooks/stripe.ts",
            "api/billing/webhook_handler.rs",
            "data/subscription_state.json",
            "lib/subscriptions/state.ex",
            ".git/config",
            "sub/.git/hooks/pre-commit",
            ".gitconfig",
            ".agentops/sacred-scopes.yaml",
            ".claude/settings.json",
            "etc/secrets/a",
        ] {
            assert_eq!(rule(path), Some(Rule::Sacred), "{path}");
            assert_eq!(
                sacred.rule_for(path, &Grant::ALL).map(|(rule, _)| rule),
                Some(Rule::Sacred)
            );
        }
        for path in ["src/auth/login.ts", "auth.ts", "clerk/x.ts", "pages/api/[...nextauth].ts"] {
            assert_eq!(rule(path), Some(Rule::Authentication), "{path}");
            assert_eq!(sacred.rule_for(path, &[Grant::Authentication]), None, "{path}");
        }
        for path in ["src/billing/plan.ts", "lib/stripe.ts", "paddle/x.py", "lemonsqueezy.ts"] {
            assert_eq!(rule(path), Some(Rule::Billing), "{path}");
            assert_eq!(sacred.rule_for(path, &[Grant::Billing]), None, "{path}");
        }
        for path in ["src/author.ts", "environment.rs", "docs/env.md", ".gitignore", "src/a.rs"] {
            assert_eq!(rule(path), None, "{path}");
        }
        assert!(sacred.is_secret(".env") && !sacred.is_secret(".env.example"));
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
        assert!(sacred.is_migration("db/migrate/001_x.rb") && !sacred.is_migration("migrations"));
        assert!(sacred.runs_by_itself("x/AGENTS.md") && sacred.runs_by_itself(".claude/a/b"));
    }
}
