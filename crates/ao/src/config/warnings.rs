//! What a configuration says without effect: keys that nobody knows, and keys of the existing `ao` whose
//! thing is elsewhere here (docs/switching.md).

use std::path::{Path, PathBuf};

use ao_contract::{ANY_NAME, ConfigWarning, Extra, known_keys};

use super::environment;
use super::layer::{ConfigLayer, ENVIRONMENT};
use super::place::KeyPlace;
use super::{BEADS, Whose};
use crate::spelling::distance;

/// The sections whose keys are looked at, beside those that have known keys.
const RESERVED: [&str; 2] = [MISSIONS, "ideas"];
/// Nothing of it is built yet, so none of its keys is known.
const MISSIONS: &str = "missions";
/// The settings of the pass over ideas.
const IDEAS: [&str; 8] =
    ["enabled", "mode", "max", "budget", "cadence", "quiet_minutes", "model", "executor"];
/// What else the existing `ao` keeps in the same file. Its keys are its own.
const THEIRS: [&str; 11] = [
    "output", "base_dir", "verbose", "forge", "search", "paths", "rpi", "flywheel", "models",
    "compile", "context",
];
/// A section that is spelled so much like one of ours is a slip.
const SLIP_MAX: usize = 2;

/// Places that can be moved in the existing `ao` and not here: the key, where it is, and what to do.
const FIXED: [(&str, &str, &str); 8] = [
    ("learnings_dir", ".agents/learnings", MOVE),
    ("patterns_dir", ".agents/patterns", MOVE),
    ("research_dir", ".agents/research", MOVE),
    ("retros_dir", ".agents/retros", MOVE),
    ("plans_dir", ".agents/plans", MOVE),
    ("citations_file", ".agents/ao/citations.jsonl", "move the file there"),
    (
        "transcripts_dir",
        "~/.claude/projects",
        "set CLAUDE_CONFIG_DIR to the folder that has projects/ in it",
    ),
    (
        "global_learnings_dir",
        "~/.agents/learnings",
        "`ao retrieval-bench --live --corpus DIR` measures another folder",
    ),
];
const MOVE: &str = "move the files there, or take them over with `ao harvest --from DIR`";

/// All of it, in the order of the layers and of their lines.
pub(super) fn of(layers: &[ConfigLayer], home: Option<&Path>) -> Vec<ConfigWarning> {
    let known = Known::new();
    let mut warnings = Vec::new();
    for layer in layers.iter().filter(|layer| layer.file != ENVIRONMENT) {
        warnings.extend(unknown(layer, &known));
        warnings.extend(fixed(layer, home));
        warnings.extend(named_by_the_repository(layer));
        warnings.extend(trusted_by_the_repository(layer));
    }
    warnings.sort_by_key(|one| {
        let at = layers.iter().position(|layer| layer.file == one.file);
        (at, one.line)
    });
    warnings.extend(unknown_variables());
    warnings
}

/// For people, in one line.
pub(crate) fn told(warning: &ConfigWarning) -> String {
    let ConfigWarning { file, line, key, nearest, why, .. } = warning;
    let key = ao_tree::shown(key);
    let line = line.map_or_else(String::new, |line| format!(", line {line}"));
    let nearest = nearest.as_ref().map_or_else(String::new, |nearest| {
        format!("; the nearest known one is {}", ao_tree::shown(nearest))
    });
    format!("{file}{line}: {key} has no effect: {why}{nearest}")
}

fn warning(
    layer: &ConfigLayer,
    place: &KeyPlace,
    nearest: Option<String>,
    why: String,
) -> ConfigWarning {
    let (file, line, key) = (layer.file.clone(), place.line, place.name());
    ConfigWarning { file, line, key, nearest, why, extra: Extra::new() }
}

/// The keys that are known, as their parts.
struct Known {
    keys: Vec<Vec<String>>,
}

impl Known {
    fn new() -> Self {
        let names = known_keys().iter().map(|key| key.name.clone());
        let ideas = IDEAS.iter().map(|key| format!("ideas.{key}"));
        let parts = |name: String| name.split('.').map(str::to_owned).collect();
        Self { keys: names.chain(ideas).map(parts).collect() }
    }

    /// Our sections, each once.
    fn sections(&self) -> Vec<&str> {
        let firsts = self.keys.iter().filter_map(|key| key.first()).map(String::as_str);
        let mut sections: Vec<&str> = firsts.filter(|first| !THEIRS.contains(first)).collect();
        sections.extend(RESERVED);
        sections.sort_unstable();
        sections.dedup();
        sections
    }

    /// Whether it is a key, or has keys beneath it.
    fn has(&self, path: &[String]) -> bool {
        self.keys.iter().any(|key| {
            key.len() >= path.len()
                && key.iter().zip(path).all(|(known, part)| is_like(known, part))
        })
    }

    /// The known key, or section of keys, that is spelled most like this one: the same word in another
    /// section, or else the most similar word beside it.
    fn nearest(&self, path: &[String]) -> Option<String> {
        let (leaf, parent) = path.split_last()?;
        let candidates = self.keys.iter().flat_map(|key| (2..=key.len()).map(|end| &key[..end]));
        let scored = candidates.filter_map(|candidate| {
            let (word, above) = candidate.split_last()?;
            let is_beside =
                above.len() == parent.len() && above.iter().zip(parent).all(|(a, b)| is_like(a, b));
            // The name of another runner would be made up.
            let is_same = word == leaf && above.iter().all(|part| part != ANY_NAME);
            if word == ANY_NAME || !(is_beside || is_same) {
                return None;
            }
            let above = if is_beside { parent } else { above };
            let name = above.iter().chain([word]).map(String::as_str).collect::<Vec<_>>().join(".");
            Some((distance(leaf, word), name))
        });
        scored.min_by_key(|(score, _)| *score).map(|(_, name)| name)
    }
}

fn is_like(known: &str, part: &str) -> bool {
    known == ANY_NAME || known == part
}

fn unknown(layer: &ConfigLayer, known: &Known) -> Vec<ConfigWarning> {
    let sections = known.sections();
    let mut found: Vec<(&[String], ConfigWarning)> = Vec::new();
    for place in &layer.keys {
        let Some(section) = place.path.first().map(String::as_str) else { continue };
        let is_beneath = |(path, _): &(&[String], _)| place.path.starts_with(path);
        if THEIRS.contains(&section) || found.iter().any(is_beneath) {
            continue;
        }
        let is_ours = sections.contains(&section);
        let is_top = place.path.len() == 1;
        let dotted: Vec<String> = section.split('.').map(str::to_owned).collect();
        let is_dotted = is_top && dotted.len() > 1 && sections.contains(&dotted[0].as_str());
        let warned = if is_dotted && !ao_mutant::active("RUN-46/dotted-keys-pass") {
            let is_known = known.has(&dotted);
            let nearest = if is_known { Some(section.to_owned()) } else { known.nearest(&dotted) };
            let why = "it is one name with dots in it; write each part beneath the one before";
            Some(warning(layer, place, nearest, why.to_owned()))
        } else if !is_ours && is_top {
            let near = sections.iter().min_by_key(|ours| distance(section, ours));
            let near = near.filter(|ours| distance(section, ours) <= SLIP_MAX);
            near.map(|ours| {
                warning(layer, place, Some((*ours).to_owned()), "no such section is known".into())
            })
        } else if is_ours && section == MISSIONS && place.path.len() > 1 {
            let why = "missions are not built yet, and none of their keys is known".to_owned();
            Some(warning(layer, place, None, why))
        } else if is_ours && place.path.len() > 1 && !known.has(&place.path) {
            let nearest = known.nearest(&place.path);
            Some(warning(layer, place, nearest, "no such key is known".into()))
        } else {
            None
        };
        found.extend(warned.map(|warned| (place.path.as_slice(), warned)));
    }
    found.into_iter().map(|(_, warned)| warned).collect()
}

fn fixed(layer: &ConfigLayer, home: Option<&Path>) -> Vec<ConfigWarning> {
    let whole = |name: &str| match (name.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(name),
    };
    let of_key = |(key, place, remedy): &(&str, &str, &str)| {
        let found = layer.keys.iter().find(|found| found.path == ["paths", key])?;
        let value = found.value.as_deref().map(str::trim).filter(|value| !value.is_empty())?;
        let why = format!("{place} is read instead, and nowhere else; {remedy}");
        (whole(value) != whole(place)).then(|| warning(layer, found, None, why))
    };
    FIXED.iter().filter_map(of_key).collect()
}

/// A program that a repository would have started.
fn named_by_the_repository(layer: &ConfigLayer) -> Option<ConfigWarning> {
    let command = layer.config.rpi.bd_command.as_deref();
    let is_other = command.is_some_and(|command| command.trim() != BEADS);
    let is_named = is_other && layer.whose == Whose::Repository;
    let place = layer.keys.iter().find(|place| place.path == ["rpi", "bd_command"])?;
    let why = "a repository does not say which program is started; say it in your own ~/.agentops/config.yaml";
    is_named.then(|| warning(layer, place, None, why.to_owned()))
}

/// Sources that a repository would have trusted.
fn trusted_by_the_repository(layer: &ConfigLayer) -> Option<ConfigWarning> {
    let is_named = layer.whose == Whose::Repository && layer.config.trust.sources.is_some();
    let place = layer.keys.iter().find(|place| place.path == ["trust", "sources"])?;
    let why =
        "a repository does not say whose word counts; say it in your own ~/.agentops/config.yaml";
    is_named.then(|| warning(layer, place, None, why.to_owned()))
}

fn unknown_variables() -> Vec<ConfigWarning> {
    let known = environment::known();
    let names = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
    let mut names: Vec<String> = names
        .filter(|name| name.starts_with(environment::PREFIX) && !known.contains(name))
        .collect();
    names.sort();
    let told = |name: String| {
        let nearest = known.iter().min_by_key(|known| distance(&name, known)).cloned();
        let (file, why) = (ENVIRONMENT.to_owned(), "no such variable is known".to_owned());
        ConfigWarning { file, line: None, key: name, nearest, why, extra: Extra::new() }
    };
    names.into_iter().map(told).collect()
}
