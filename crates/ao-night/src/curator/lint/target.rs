//! Where the links of a vault lead.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};

use ao_contract::LintRule;
use ao_tree::shown;

use super::super::vault::{Note, Vault, is_hidden};
use super::link::{Link, Style, headings};

/// Of many files of one name a message tells so many.
const NAMED_MAX: usize = 4;

/// Everything that a link may lead to.
pub(super) struct Targets<'a> {
    vault: &'a Vault,
    folders: BTreeSet<&'a str>,
    /// Notes by their path.
    paths: HashMap<&'a str, &'a Note>,
    /// Files by their name, and notes by their name without its ending and by their aliases, in lower case: the
    /// folder of each, and its path.
    names: HashMap<String, BTreeSet<(&'a str, &'a str)>>,
    /// What was there and not read: nobody knows what is behind it.
    unread: BTreeSet<&'a str>,
    /// Notes by the last parts of their paths, in lower case; made when the first one is looked for.
    ends: OnceCell<HashMap<String, &'a Note>>,
    /// The headings of a note, each as often as it is there; a note may be asked for once for each of its lines.
    headings: RefCell<HashMap<&'a str, HashMap<String, usize>>>,
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
        let mut names: HashMap<String, BTreeSet<(&str, &str)>> = HashMap::new();
        let mut folders = BTreeSet::new();
        // What was not read has a name all the same.
        let left = vault.left.iter().map(|left| &left.path);
        for path in vault.files.iter().chain(left) {
            let mut above = path.as_str();
            while let Some((folder, _)) = above.rsplit_once('/') {
                folders.insert(folder);
                above = folder;
            }
            if is_hidden(path) {
                continue;
            }
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            names.entry(name.to_lowercase()).or_default().insert((folder, path));
            if let Some(stem) = name.strip_suffix(".md") {
                names.entry(stem.to_lowercase()).or_default().insert((folder, path));
            }
        }
        for note in &vault.notes {
            for alias in note.document.texts("aliases") {
                let names = names.entry(alias.trim().to_lowercase()).or_default();
                names.insert((note.folder(), &note.path));
            }
        }
        let paths = vault.notes.iter().map(|note| (note.path.as_str(), note)).collect();
        let unread = vault.left.iter().map(|left| left.path.as_str()).collect();
        let (ends, headings) = (OnceCell::new(), RefCell::default());
        Self { vault, folders, paths, names, unread, ends, headings }
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
            (Found::Note(there), Some(heading)) if !self.has_heading(there, heading) => {
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
        let found = [beside, root].into_iter().flatten().find_map(|path| self.at(&path));
        let found = found.or_else(|| (style == Style::Wiki).then(|| self.by_end(target)).flatten());
        found.unwrap_or_else(dead)
    }

    /// By the last parts of a path, without regard to case, as editors write it in double brackets.
    fn by_end(&self, target: &str) -> Option<Found<'a>> {
        let ends = self.ends.get_or_init(|| {
            let mut ends = HashMap::new();
            for note in &self.vault.notes {
                let path = note.path.to_lowercase();
                let starts = path.match_indices('/').map(|(at, _)| at + 1);
                for start in std::iter::once(0).chain(starts) {
                    ends.entry(path[start..].to_owned()).or_insert(note);
                }
            }
            ends
        });
        let end = target.trim_start_matches('/').to_lowercase();
        let found = ends.get(&end).or_else(|| ends.get(&format!("{end}.md")));
        found.map(|note| Found::Note(note))
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
        let is_behind = |path: &str| {
            let mut above = Some(path);
            std::iter::from_fn(|| {
                let this = above?;
                above = this.rsplit_once('/').map(|(folder, _)| folder);
                Some(this)
            })
            .any(|path| self.unread.contains(path))
        };
        let is_other = path.is_empty() || self.folders.contains(path);
        (is_other || is_behind(path) || is_behind(&with_ending)).then_some(Found::Other)
    }

    fn by_name(&self, note: &Note, name: &str) -> Option<Found<'a>> {
        let found = self.names.get(&name.to_lowercase())?;
        let one = match found.len() {
            1 => found.first(),
            _ => found.range((note.folder(), "")..).next().filter(|(at, _)| *at == note.folder()),
        };
        let Some((_, path)) = one else {
            let paths = found.iter().take(NAMED_MAX).map(|(_, path)| shown(path));
            let mut paths = paths.collect::<Vec<String>>().join(", ");
            if let Some(more) = found.len().checked_sub(NAMED_MAX).filter(|more| *more > 0) {
                paths = format!("{paths} and {more} more");
            }
            let message = format!("{:?} may be any of {paths}", shown(name));
            return Some(Found::Fault(LintRule::AmbiguousLink, message));
        };
        Some(self.paths.get(path).map_or(Found::Other, |note| Found::Note(note)))
    }

    /// By its words, or as they are written in the address of a web page.
    fn has_heading(&self, note: &'a Note, wanted: &str) -> bool {
        // A block has no heading; which lines have a name is for the editor to know.
        if wanted.is_empty() || wanted.starts_with('^') {
            return true;
        }
        let mut known = self.headings.borrow_mut();
        let there = known.entry(&note.path).or_insert_with(|| {
            let mut there = HashMap::new();
            for (_, heading) in headings(note.document.body()) {
                *there.entry(slug(heading)).or_default() += 1;
            }
            there
        });
        // `[[note#one#two]]` is the part two within the part one.
        let slug = slug(wanted.rsplit('#').next().unwrap_or(wanted));
        if there.contains_key(&slug) {
            return true;
        }
        // The second heading of the same words is `words-1`.
        let nth =
            slug.rsplit_once('-').and_then(|(slug, nth)| Some((slug, nth.parse::<usize>().ok()?)));
        nth.is_some_and(|(slug, nth)| there.get(slug).is_some_and(|count| nth < *count))
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

fn slug(text: &str) -> String {
    let text = text.to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' '));
    let text: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
    text.trim_matches('-').to_owned()
}
