//! Which runners were named, and what the configuration says of each.
//!
//! A repository may choose among the runners of its user and make their bounds smaller. What is started, where it
//! connects to and with which secret is the user's own to say: otherwise a repository could send a secret, or what is
//! asked, to a host of its choosing.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ao_contract::RunnerConfig;
use ao_guard::cell::Grant;
use ao_vault::{Name, SCHEME};

use crate::failure::Failure;
use crate::http::{Address, BadAddress};
use crate::kind::Kind;
use crate::program::provider;
use crate::request::Usd;
use crate::slug;

/// Of a night; more is a mistake.
pub const RUNNERS_MAX: usize = 32;
pub(crate) const COMMAND: &str = "command:";
const MICROS: f64 = 1_000_000.0;
const THEIRS_ALONE: &str =
    "a repository does not say what is started, where it connects to and with which secret";
const REMEDY: &str = "set it in ~/.agentops/config.yaml";
/// More than anybody has, and far from where numbers lose their units.
const USD_MAX: f64 = 1_000_000.0;

/// By whom a runner was named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// On the command line, in the environment or in the user's own file.
    User,
    /// In a file of the repository.
    Repository,
}

/// One runner, resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub name: String,
    pub kind: Kind,
    pub model: Option<String>,
    pub endpoint: Option<Address>,
    /// The program and what comes before its own arguments; empty for the usual one on PATH.
    pub command: Vec<String>,
    pub auth: Option<Name>,
    pub net: Vec<Grant>,
    pub timeout: Option<Duration>,
    pub max_tokens: Option<u64>,
    pub max_usd: Option<Usd>,
}

/// A runner that was named, and what it is called in files and steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    pub name: String,
    /// No other one of these has it.
    pub slug: String,
    pub settings: Result<Settings, Failure>,
}

/// A key of a runner that a repository may not set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedKey {
    pub runner: String,
    pub key: &'static str,
}

impl RefusedKey {
    fn shown(&self) -> String {
        format!("runners.{}.{}", ao_tree::shown(&self.runner), self.key)
    }
}

impl fmt::Display for RefusedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the repository's own {} is refused: {THEIRS_ALONE}; {REMEDY}", self.shown())
    }
}

/// The runners of a user, as far as a repository may say something of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunnerTable {
    pub all: BTreeMap<String, RunnerConfig>,
    /// What the repository said and may not.
    pub refused: Vec<RefusedKey>,
}

/// The user's runners with what the repository says of them.
pub fn merged(
    user: &BTreeMap<String, RunnerConfig>,
    repository: &BTreeMap<String, RunnerConfig>,
) -> RunnerTable {
    let mut all = user.clone();
    let mut refused = Vec::new();
    for (name, theirs) in repository {
        let theirs_alone = [
            ("kind", theirs.kind.is_some()),
            ("endpoint", theirs.endpoint.is_some()),
            ("command", theirs.command.is_some()),
            ("auth", theirs.auth.is_some()),
            ("net", theirs.net.is_some()),
        ];
        let mut refuse = |key| refused.push(RefusedKey { runner: name.clone(), key });
        for (key, _) in theirs_alone.into_iter().filter(|(_, is_said)| *is_said) {
            refuse(key);
        }
        let ours = all.entry(name.clone()).or_default();
        // The model of some says where they connect to, and with which secret.
        let kind = ours.kind.as_deref().or(Some(name.as_str())).and_then(Kind::by_name);
        let model = theirs.model.clone();
        if kind == Some(Kind::OpenCode)
            && model.is_some()
            && provider(model.as_deref()) != provider(ours.model.as_deref())
        {
            refuse("model");
        } else {
            ours.model = model.or(ours.model.take());
        }
        ours.timeout =
            smaller(ours.timeout.as_ref(), theirs.timeout.as_ref(), ao_contract::DurationText::get);
        ours.max_tokens = smaller(ours.max_tokens.as_ref(), theirs.max_tokens.as_ref(), |one| *one);
        ours.max_usd =
            smaller(ours.max_usd.as_ref(), theirs.max_usd.as_ref(), |one| micros(one.get()));
    }
    RunnerTable { all, refused }
}

fn smaller<T: Clone, K: PartialOrd>(
    one: Option<&T>,
    two: Option<&T>,
    key: fn(&T) -> K,
) -> Option<T> {
    match (one, two) {
        (Some(one), Some(two)) => Some(if key(two) < key(one) { two } else { one }.clone()),
        (one, two) => one.or(two).cloned(),
    }
}

/// What each name means, in the order in which they were named. `here` is where a relative path begins.
pub fn choose(wanted: &[(String, Origin)], configured: &RunnerTable, here: &Path) -> Vec<Chosen> {
    let mut slugs: Vec<String> = Vec::new();
    let mut all: Vec<Chosen> = Vec::new();
    for (name, origin) in wanted {
        let refused = |why: String| Err(Failure::NotStarted(why));
        let settings = if all.len() >= RUNNERS_MAX {
            refused(format!("more than {RUNNERS_MAX} runners were named"))
        } else if all.iter().any(|other| other.name == *name) {
            refused(format!("{} was named twice", shown(name)))
        } else {
            resolve(name, *origin, configured, here).map_err(Failure::NotStarted)
        };
        let slug = slug::of(name, &slugs);
        slugs.push(slug.clone());
        all.push(Chosen { name: name.clone(), slug, settings });
    }
    all
}

fn resolve(
    name: &str,
    origin: Origin,
    configured: &RunnerTable,
    here: &Path,
) -> Result<Settings, String> {
    if let Some(path) = name.strip_prefix(COMMAND) {
        return command(name, path, origin, here);
    }
    let empty = RunnerConfig::default();
    let config = configured.all.get(name);
    let said = config.and_then(|config| config.kind.as_deref());
    let kind = match said {
        Some(kind) => Kind::by_name(kind)
            .ok_or_else(|| format!("the kind of {}, {}, is not known", shown(name), shown(kind)))?,
        None => Kind::by_name(name).ok_or_else(|| unknown(name, configured))?,
    };
    let settings = of_config(name, kind, config.unwrap_or(&empty));
    let settings = settings.map_err(|unfit| told(name, &unfit))?;
    if kind == Kind::Command && settings.command.is_empty() {
        return Err(format!(
            "{} names no program: say {COMMAND}PATH, or set runners.{}.command",
            shown(name),
            ao_tree::shown(name)
        ));
    }
    Ok(settings)
}

fn unknown(name: &str, configured: &RunnerTable) -> String {
    let refused = configured.refused.iter().filter(|one| one.runner == name);
    let refused: Vec<String> = refused.map(RefusedKey::shown).collect();
    if !refused.is_empty() && !ao_mutant::active("RUN-39/refusal-unsaid") {
        return format!(
            "there is no runner {} of yours; refused in the repository's own file: {} ({THEIRS_ALONE}); {REMEDY}",
            shown(name),
            refused.join(", ")
        );
    }
    let mut known: Vec<String> = Kind::ALL.map(|kind| kind.name().to_owned()).to_vec();
    let names = configured.all.keys().filter(|key| Kind::by_name(key).is_none());
    known.extend(names.map(|key| shown(key)));
    let is_argv = name.contains(char::is_whitespace);
    let also = if is_argv { "; a name has no spaces and no arguments" } else { "" };
    format!(
        "there is no runner {}{also}; there are {}, and {COMMAND}PATH",
        shown(name),
        known.join(", ")
    )
}

fn command(name: &str, path: &str, origin: Origin, here: &Path) -> Result<Settings, String> {
    let bad = |why: &str| format!("{} is refused: {why}", shown(name));
    if origin == Origin::Repository {
        return Err(bad("a repository does not say which program is run; name it yourself"));
    }
    if path.is_empty() {
        return Err(bad("there is no path"));
    }
    if path.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(bad(
            "it is a path alone, without spaces and arguments; set runners.NAME.command for those",
        ));
    }
    let path: PathBuf = here.join(path);
    let settings = RunnerConfig {
        command: Some(vec![path.to_string_lossy().into_owned()]),
        ..RunnerConfig::default()
    };
    of_config(name, Kind::Command, &settings).map_err(|unfit| told(name, &unfit))
}

fn told(name: &str, unfit: &UnfitSetting) -> String {
    format!("runners.{}.{}: {}", ao_tree::shown(name), unfit.key, unfit.why)
}

/// A setting of a runner that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfitSetting {
    /// Its key beneath `runners.NAME`.
    pub key: &'static str,
    pub why: String,
}

/// The first setting of a runner that cannot be used, whether or not somebody asks that runner. What a
/// setting needs of the runner's kind is looked at where the kind is said.
pub fn unfit(name: &str, config: &RunnerConfig) -> Option<UnfitSetting> {
    let said = config.kind.as_deref();
    let kind = match (said.map(Kind::by_name), Kind::by_name(name)) {
        (Some(None), _) => {
            let names = Kind::ALL.map(Kind::name).join(", ");
            return Some(UnfitSetting { key: "kind", why: format!("must be one of {names}") });
        }
        (Some(kind), _) | (None, kind) => kind,
    };
    let is_none = |command: &Vec<String>| command.first().is_none_or(String::is_empty);
    if config.command.as_ref().is_some_and(is_none) {
        let why = "must be a program and its arguments".to_owned();
        return Some(UnfitSetting { key: "command", why });
    }
    if said.and(kind) == Some(Kind::Command) && config.command.is_none() {
        let why = "needs `command` beside it: a program and its arguments".to_owned();
        return Some(UnfitSetting { key: "kind", why });
    }
    let over_0 = |key| Some(UnfitSetting { key, why: "must be over 0".to_owned() });
    if config.timeout.as_ref().is_some_and(|time| time.get().is_zero()) {
        return over_0("timeout");
    }
    if config.max_tokens == Some(0) {
        return over_0("max_tokens");
    }
    if config.max_usd.as_ref().is_some_and(|usd| usd.get() < 0.0) {
        return Some(UnfitSetting { key: "max_usd", why: "must not be under 0".to_owned() });
    }
    of_config(name, kind.unwrap_or(Kind::OpenAi), config).err()
}

fn of_config(name: &str, kind: Kind, config: &RunnerConfig) -> Result<Settings, UnfitSetting> {
    let of = |key, why: &dyn std::fmt::Display| UnfitSetting { key, why: why.to_string() };
    let endpoint = config.endpoint.as_deref().map(|text| {
        let address: Address = text.parse()?;
        if kind.is_program() { address.for_program() } else { Ok(address) }
    });
    // What stands there may be the secret itself, so it is not repeated.
    let auth = match config.auth.as_deref() {
        Some(text) if !text.starts_with(SCHEME) => {
            return Err(of("auth", &format!("it is no {SCHEME}NAME")));
        }
        text => text.map(str::parse::<Name>).transpose(),
    };
    if config.model.as_deref().is_some_and(is_no_model) {
        return Err(of("model", &"a name does not begin with `-` and has no control characters"));
    }
    let net: Result<Vec<Grant>, _> =
        config.net.iter().flatten().map(|one| one.parse::<Grant>()).collect();
    let max_usd = config.max_usd.as_ref().map(|usd| micros(usd.get()));
    Ok(Settings {
        name: name.to_owned(),
        kind,
        model: config.model.clone(),
        endpoint: endpoint.transpose().map_err(|why: BadAddress| of("endpoint", &why))?,
        command: config.command.clone().unwrap_or_default(),
        auth: auth.map_err(|why| of("auth", &why))?,
        net: net.map_err(|why| {
            of("net", &format!("{}; expected HOST:PORT", ao_tree::shown(&why.to_string())))
        })?,
        timeout: config.timeout.as_ref().map(ao_contract::DurationText::get),
        max_tokens: config.max_tokens,
        max_usd,
    })
}

/// A repository may name it, and it becomes an argument: it must not be read as an option.
fn is_no_model(name: &str) -> bool {
    name.starts_with('-') || name.contains(char::is_control)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it lies between nothing and a million dollars"
)]
pub(crate) fn micros(usd: f64) -> Usd {
    Usd((usd.clamp(0.0, USD_MAX) * MICROS).round() as u64)
}

fn shown(text: &str) -> String {
    format!("`{}`", ao_tree::shown(text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn config(value: serde_json::Value) -> BTreeMap<String, RunnerConfig> {
        serde_json::from_value(value).unwrap()
    }

    fn table(value: serde_json::Value) -> RunnerTable {
        RunnerTable { all: config(value), refused: Vec::new() }
    }

    fn chosen(names: &[&str], configured: &RunnerTable) -> Vec<Chosen> {
        let wanted: Vec<_> = names.iter().map(|name| ((*name).to_owned(), Origin::User)).collect();
        choose(&wanted, configured, Path::new("/here"))
    }

    #[test]
    fn a_name_is_configured_or_a_kind_or_a_command() {
        let configured = table(json!({
            "fast": { "kind": "claude", "model": "haiku", "auth": "vault://K", "max_usd": 0.25 },
            "codex": { "net": ["chatgpt.com:443"] },
        }));
        let all = chosen(
            &["fast", "claude", "codex", "command:bin/judge", "command:/a/judge"],
            &configured,
        );
        let all: Vec<_> = all.into_iter().map(|one| (one.slug, one.settings.unwrap())).collect();
        assert_eq!(all[0].1.kind, Kind::Claude);
        assert_eq!(
            (all[0].1.model.as_deref(), all[0].1.max_usd),
            (Some("haiku"), Some(Usd(250_000)))
        );
        assert_eq!(all[2].1.net[0].to_string(), "chatgpt.com:443");
        assert_eq!(all[3].1.command, ["/here/bin/judge"]);
        let slugs: Vec<_> = all.iter().map(|(slug, _)| slug.as_str()).collect();
        assert_eq!(slugs, ["fast", "claude", "codex", "command-judge", "command-judge-2"]);
    }

    #[test]
    fn what_is_no_name_is_a_soft_failure_that_says_why() {
        let configured = table(json!({
            "odd": { "kind": "oracle" },
            "bare": { "kind": "command" },
            "leak": { "kind": "claude", "auth": "sk-ant-api03-mine" },
            "far": { "kind": "claude", "endpoint": "http://evil.example/" },
            "flag": { "kind": "gemini", "model": "--approval-mode=yolo" },
        }));
        for (name, why) in [
            ("cluade", "there is no runner `cluade`"),
            ("claude -p", "no arguments"),
            ("command:", "there is no path"),
            ("command:/bin/judge --fast", "without spaces and arguments"),
            ("command:/bin/a\tb", "without spaces"),
            ("odd", "`oracle`, is not known"),
            ("bare", "names no program"),
            ("leak", "runners.leak.auth"),
            ("far", "this machine alone"),
            ("flag", "runners.flag.model"),
            ("", "there is no runner"),
        ] {
            let failure = chosen(&[name], &configured).remove(0).settings.unwrap_err();
            assert!(failure.kind() == "not-started", "{name}");
            let text = failure.to_string();
            assert!(text.contains(why) && !text.contains("sk-ant"), "{name}: {text}");
        }
        let twice = chosen(&["claude", "claude"], &configured);
        assert!(twice[0].settings.is_ok() && twice[1].settings.is_err());
        assert_eq!(twice[1].slug, "claude-2");
        assert_eq!(
            chosen(&["packet", "Fast Net!", "…"], &configured)
                .iter()
                .map(|one| one.slug.as_str())
                .collect::<Vec<_>>(),
            ["packet-2", "fast-net", "runner"]
        );
        let theirs = [("command:/bin/judge".to_owned(), Origin::Repository)];
        assert!(choose(&theirs, &configured, Path::new("/here"))[0].settings.is_err());
    }

    #[test]
    fn a_repository_chooses_and_makes_smaller_but_says_not_where() {
        let user = config(
            json!({ "fast": { "kind": "claude", "auth": "vault://K", "max_tokens": 100, "timeout": "1m" } }),
        );
        let repository = config(json!({
            "fast": { "endpoint": "https://evil.example", "auth": "vault://OTHER", "model": "haiku", "max_tokens": 900, "timeout": "10s", "max_usd": 0.5 },
            "mine": { "kind": "command", "command": ["/repo/evil"], "net": ["evil.example:443"] },
        }));
        let merged = merged(&user, &repository);
        let fast = &merged.all["fast"];
        assert_eq!(
            (fast.kind.as_deref(), fast.endpoint.as_deref(), fast.auth.as_deref()),
            (Some("claude"), None, Some("vault://K"))
        );
        assert_eq!((fast.model.as_deref(), fast.max_tokens), (Some("haiku"), Some(100)));
        assert_eq!(fast.timeout.as_ref().unwrap().get(), Duration::from_secs(10));
        assert_eq!(
            merged.refused.iter().map(RefusedKey::shown).collect::<Vec<_>>(),
            [
                "runners.fast.endpoint",
                "runners.fast.auth",
                "runners.mine.kind",
                "runners.mine.command",
                "runners.mine.net"
            ]
        );
        let failure = chosen(&["mine"], &merged).remove(0).settings.unwrap_err().to_string();
        assert!(failure.contains("runners.mine.command") && failure.contains(REMEDY), "{failure}");
    }

    #[test]
    fn a_repository_does_not_choose_a_secret_by_a_model() {
        let user = config(json!({
            "mine": { "kind": "opencode", "model": "anthropic/large", "auth": "vault://ANTHROPIC_API_KEY" },
        }));
        for (name, model, is_taken) in [
            ("mine", "anthropic/small", true),
            ("mine", "openrouter/somebody/else", false),
            ("mine", "small", false),
            // Nobody said which provider it is.
            ("opencode", "openrouter/somebody/else", false),
        ] {
            let merged = merged(&user, &config(json!({ name: { "model": model } })));
            let all = &merged.all;
            assert_eq!(all[name].model.as_deref() == Some(model), is_taken, "{name} {model}");
            assert_eq!(merged.refused.is_empty(), is_taken, "{:?}", merged.refused);
        }
    }
}
