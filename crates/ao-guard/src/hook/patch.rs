//! Patches in the form that agents write: whole files added or deleted, hunks found by their lines.
//!
//! Only files that have a part which may not change are patched here, in memory, to see what would
//! become of them. A hunk that cannot be found is a doubt.

use std::path::Path;

use crate::command::Effect;
use crate::scope::{Change, ManifestKind, Policy, ProjectPath, Refusal, Rule, Standing};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const FILES_MAX: usize = 1000;

/// What a patch does to one file.
#[derive(Debug, PartialEq, Eq)]
enum Part<'a> {
    Add { path: &'a str, lines: Vec<&'a str> },
    Delete { path: &'a str },
    Update { path: &'a str, to: Option<&'a str>, lines: Vec<&'a str> },
}

/// Whether everything that a patch would write may be written.
pub(crate) fn judge(policy: &Policy, text: &str, directory: &Path) -> Result<Vec<Effect>, Refusal> {
    let mut effects = Vec::new();
    for part in read(text)? {
        for (path, change) in changes(policy, &part, directory)? {
            let change = match &change {
                Becomes::Text(text) => Change::To(text.as_bytes()),
                Becomes::Nothing => Change::Removed,
                Becomes::Something => Change::Unknown,
            };
            if policy.judge(&path, change)? == Standing::Folder {
                return Err(Refusal::new(Rule::Kind, path.as_str(), "it is a folder"));
            }
            effects.push(Effect::Writes { path: path.as_str().to_owned() });
        }
    }
    Ok(effects)
}

enum Becomes {
    Text(String),
    Nothing,
    Something,
}

fn changes(
    policy: &Policy,
    part: &Part<'_>,
    directory: &Path,
) -> Result<Vec<(ProjectPath, Becomes)>, Refusal> {
    let path_of = |text: &str| policy.project.path_of(text, directory);
    Ok(match part {
        Part::Add { path, lines } => {
            vec![(path_of(path)?, Becomes::Text(joined(lines)))]
        }
        Part::Delete { path } => vec![(path_of(path)?, Becomes::Nothing)],
        Part::Update { path, to, lines } => {
            let from = path_of(path)?;
            let target = to.map(path_of).transpose()?;
            let is_manifest = |path: &ProjectPath| ManifestKind::of(path.name()).is_some();
            let becomes = if is_manifest(&from) || target.as_ref().is_some_and(is_manifest) {
                policy.judge_words(&from)?;
                policy.project.look(&from)?;
                Becomes::Text(patched(policy, &from, lines)?)
            } else {
                Becomes::Something
            };
            match target {
                Some(target) => vec![(from, Becomes::Nothing), (target, becomes)],
                None => vec![(from, becomes)],
            }
        }
    })
}

/// The file with its hunks applied.
fn patched(policy: &Policy, path: &ProjectPath, lines: &[&str]) -> Result<String, Refusal> {
    let unclear = |why: &str| Refusal::new(Rule::Doubt, path.as_str(), why);
    let text = String::from_utf8(policy.read(path)?).map_err(|_| unclear("it is not UTF-8"))?;
    let mut file: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut from = 0;
    for hunk in lines.split(|line| line.starts_with("@@")).filter(|hunk| !hunk.is_empty()) {
        let side = |mark: char| -> Vec<&str> {
            let kept = hunk.iter().filter(|line| line.starts_with([' ', mark]) || line.is_empty());
            kept.map(|line| line.get(1..).unwrap_or_default()).collect()
        };
        let (old, new) = (side('-'), side('+'));
        let place = (from..=file.len().saturating_sub(old.len())).find(|at| {
            file[*at..*at + old.len()].iter().zip(&old).all(|(one, other)| one == other)
        });
        let place = place.ok_or_else(|| unclear("a hunk of the patch is not found in it"))?;
        file.splice(place..place + old.len(), new.iter().map(|line| (*line).to_owned()));
        from = place + new.len();
    }
    Ok(joined(&file))
}

fn joined(lines: &[impl AsRef<str>]) -> String {
    lines.iter().flat_map(|line| [line.as_ref(), "\n"]).collect()
}

fn read(text: &str) -> Result<Vec<Part<'_>>, Refusal> {
    let unclear = |why: &str| Refusal::new(Rule::Doubt, "patch", why);
    let mut lines = text.trim().lines();
    if lines.next().map(str::trim_end) != Some(BEGIN) {
        return Err(unclear("it does not begin as a patch does"));
    }
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut is_over = false;
    for line in lines {
        if is_over || parts.len() > FILES_MAX {
            return Err(unclear("something follows its end"));
        }
        let header = |word: &str| {
            line.strip_prefix("*** ").and_then(|rest| rest.strip_prefix(word)).map(str::trim)
        };
        if line.trim_end() == END {
            is_over = true;
        } else if let Some(path) = header("Add File:") {
            parts.push(Part::Add { path, lines: Vec::new() });
        } else if let Some(path) = header("Delete File:") {
            parts.push(Part::Delete { path });
        } else if let Some(path) = header("Update File:") {
            parts.push(Part::Update { path, to: None, lines: Vec::new() });
        } else if let Some(path) = header("Move to:") {
            match parts.last_mut() {
                Some(Part::Update { to: to @ None, lines, .. }) if lines.is_empty() => {
                    *to = Some(path);
                }
                _ => return Err(unclear("it moves a file where none is updated")),
            }
        } else if header("End of File").is_none() {
            match (parts.last_mut(), line.chars().next()) {
                (Some(Part::Add { lines, .. }), Some('+')) => lines.push(&line[1..]),
                (Some(Part::Update { lines, .. }), None | Some('+' | '-' | ' ' | '@')) => {
                    lines.push(line);
                }
                _ => return Err(unclear("a line of it is not known")),
            }
        }
    }
    if !is_over || parts.is_empty() {
        return Err(unclear("it has no end, or does nothing"));
    }
    Ok(parts)
}
