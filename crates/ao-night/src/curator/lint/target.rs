//! Where the links of a vault lead.

use std::collections::{BTreeSet, HashMap};

use ao_contract::LintRule;
use ao_tree::shown;

use super::super::vault::{Note, Vault};
use super::link::{Link, Style, headings};

/// Everything that a link may lead to.
pub(super) struct Targets<'a> {
    vault: &'a Vault,
    folders: BTreeSet<&'a str>,
    /// Notes by their path.
    paths: HashMap<&'a str, &'a Note>,
    /// Files by their name, and notes by their name without its ending and by their aliases, in lower case.
    names: HashMap<String, BTreeSet<&'a str>>,
}

/// What a link leads to.
enum Found<'a> {
    Note(&'a Note),
    /// A file that is no note, a folder, or somewhere else altogether.
    Other,
    Fault(LintRule, String),
}

impl<'a> Targets<'a> {
    pub(super) fn of(vault: &'a Vault) -> Self {
        let mut names: HashMap<String, BTreeSet<&str>> = HashMap::new();
        let mut folders = BTreeSet::new();
        for path in &vault.files {
            let mut above = path.as_str();
            while let Some((folder, _)) = above.rsplit_once('/') {
                folders.insert(folder);
                above = folder;
            }
            let name = path.rsplit_once('/').map_or(path.as_str(), |(_, name)| name);
            names.entry(name.to_lowercase()).or_default().insert(path);
            if let Some(stem) = name.strip_suffix(".md") {
                names.entry(stem.to_lowercase()).or_default().insert(path);
            }
        }
        for note in &vault.notes {
            for alias in note.document.texts("aliases") {
                names.entry(alias.trim().to_lowercase()).or_default().insert(&note.path);
            }
        }
        let paths = vault.notes.iter().map(|note| (note.path.as_str(), note)).collect();
        Self { vault, folders, paths, names }
    }

    /// What is wrong with a link, if anything is.
    pub(super) fn fault(&self, note: &'a Note, link: &Link) -> Option<(LintRule, String)> {
        let found = match link.target.as_str() {
            "" => Found::Note(note),
            target if is_elsewhere(target) => Found::Other,
            target => self.find(note, target, link.style),
        };
        match (found, &link.heading) {
            (Found::Fault(rule, message), _) => Some((rule, message)),
            (Found::Note(there), Some(heading)) if !has_heading(there, heading) => {
                let (heading, path) = (shown(heading), shown(&there.path));
                Some((LintRule::DeadHeading, format!("{path} has no heading {heading:?}")))
            }
            _ => None,
        }
    }

    fn find(&self, note: &Note, target: &str, style: Style) -> Found<'a> {
        let dead = || {
            let message = format!("there is no {:?} in the vault", shown(target));
            Found::Fault(LintRule::DeadLink, message)
        };
        if style == Style::Wiki && !target.contains('/') {
            return self.by_name(note, target).unwrap_or_else(dead);
        }
        let from_root = target.strip_prefix('/');
        let beside = resolved(if from_root.is_some() { "" } else { note.folder() }, target);
        // A path in double brackets is one from the root, or beside the note.
        let root = if style == Style::Wiki { resolved("", target) } else { None };
        if beside.is_none() && root.is_none() {
            let message = format!("{:?} leads out of the vault", shown(target));
            return Found::Fault(LintRule::OutsideLink, message);
        }
        [beside, root].into_iter().flatten().find_map(|path| self.at(&path)).unwrap_or_else(dead)
    }

    fn at(&self, path: &str) -> Option<Found<'a>> {
        let with_ending = format!("{path}.md");
        for path in [path, &with_ending] {
            if let Some(note) = self.paths.get(path) {
                return Some(Found::Note(note));
            }
            if self.vault.files.contains(path) {
                return Some(Found::Other);
            }
        }
        (path.is_empty() || self.folders.contains(path)).then_some(Found::Other)
    }

    fn by_name(&self, note: &Note, name: &str) -> Option<Found<'a>> {
        let found = self.names.get(&name.to_lowercase())?;
        let beside =
            |path: &&&str| path.rsplit_once('/').map_or("", |(folder, _)| folder) == note.folder();
        let one = match found.len() {
            1 => found.first(),
            _ => found.iter().find(beside),
        };
        let Some(path) = one else {
            let paths: Vec<String> = found.iter().map(|path| shown(path)).collect();
            let message = format!("{:?} may be any of {}", shown(name), paths.join(", "));
            return Some(Found::Fault(LintRule::AmbiguousLink, message));
        };
        Some(self.paths.get(path).map_or(Found::Other, |note| Found::Note(note)))
    }
}

/// A link to the world: `https:`, `mailto:`, `//host`.
fn is_elsewhere(target: &str) -> bool {
    let scheme = target.split_once(':').map(|(scheme, _)| scheme);
    let is_scheme = |scheme: &str| {
        scheme.len() > 1
            && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c))
    };
    target.starts_with("//") || scheme.is_some_and(is_scheme)
}

/// A path without `.` and `..`; none if it leads out of the vault.
fn resolved(folder: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// By its words, or as they are written in the address of a web page.
fn has_heading(note: &Note, wanted: &str) -> bool {
    // A block has no heading; which lines have a name is for the editor to know.
    if wanted.is_empty() || wanted.starts_with('^') {
        return true;
    }
    // `[[note#one#two]]` is the part two within the part one.
    let wanted = slug(wanted.rsplit('#').next().unwrap_or(wanted));
    headings(note.document.body()).iter().any(|(_, heading)| slug(heading) == wanted)
}

fn slug(text: &str) -> String {
    let text = text.to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' '));
    let text: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
    text.trim_matches('-').to_owned()
}
