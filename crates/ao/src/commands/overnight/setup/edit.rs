//! The repository's configuration, with the keys of a setup in it and everything else as it was.

use std::io::ErrorKind;
use std::path::Path;

use ao_contract::{ChangeOp, Config, Exit};
use ao_night::setup::yaml::{self, Value};
use ao_tree::{FileDiff, own_file};
use serde_json::Value as Json;

use crate::failure::Failure;

const FILE: &str = ".agentops/config.yaml";
const FOLDER: &str = ".agentops";
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Both sides of the file.
pub(super) struct Edited {
    before: Option<String>,
    after: String,
    pub(super) diff: String,
}

impl Edited {
    pub(super) fn is_same(&self) -> bool {
        self.before.as_deref() == Some(self.after.as_str())
    }

    pub(super) fn is_new(&self) -> bool {
        self.before.is_none()
    }

    pub(super) fn path() -> &'static str {
        FILE
    }

    /// Unless somebody else edited it meanwhile.
    pub(super) fn write(&self, root: &Path) -> Result<(), Failure> {
        if self.is_same() {
            return Ok(());
        }
        if read(root)? != self.before {
            return Err(refuse(&"it was changed by somebody else just now"));
        }
        let fail = |error: std::io::Error| refuse(&error);
        ao_tree::make_folders(root, FOLDER).map_err(fail)?;
        ao_tree::replace_settings(&root.join(FILE), self.after.as_bytes()).map_err(fail)
    }
}

pub(super) fn edit(root: &Path, keys: &[(&'static str, Value)]) -> Result<Edited, Failure> {
    let before = read(root)?;
    let text = before.as_deref().unwrap_or_default();
    let old = tree(text)?;
    // What is so already is not written anew, however it is written.
    let missing: Vec<(&str, Value)> =
        keys.iter().filter(|(key, value)| old["dream"][*key] != json(value)).cloned().collect();
    let after = if missing.is_empty() {
        text.to_owned()
    } else {
        yaml::set(text, &missing).map_err(|refused| by_hand(&refused, keys))?
    };
    read_back(&old, &after, keys).map_err(|why| by_hand(&why, keys))?;
    let op = if before.is_some() { ChangeOp::Change } else { ChangeOp::Add };
    let sides = (before.clone().map(String::into_bytes), Some(after.clone().into_bytes()));
    let diff = FileDiff { path: FILE.into(), op, before: sides.0, after: sides.1 }.unified();
    let before = if before.is_none() && missing.is_empty() { Some(String::new()) } else { before };
    Ok(Edited { before, after, diff })
}

/// The result must be what was there with these keys set, to a reader that knows nothing of the editor,
/// and the typed reader must take it.
fn read_back(old: &Json, after: &str, keys: &[(&'static str, Value)]) -> Result<(), String> {
    let map = |value: Option<&Json>| value.and_then(Json::as_object).cloned().unwrap_or_default();
    let mut wanted = map(Some(old));
    let mut dream = map(wanted.get("dream"));
    for (key, value) in keys {
        dream.insert((*key).to_owned(), json(value));
    }
    wanted.insert("dream".to_owned(), dream.into());
    let found = tree(after).map_err(|failure| failure.message)?;
    if found != Json::Object(wanted) {
        return Err("the edit would change more than it should".to_owned());
    }
    serde_saphyr::from_str::<Config>(after).map(|_| ()).map_err(|error| error.to_string())
}

fn json(value: &Value) -> Json {
    match value {
        Value::Word(text) => text.as_str().into(),
        Value::Flag(is_on) => (*is_on).into(),
        Value::List(items) => items.clone().into(),
    }
}

fn tree(text: &str) -> Result<Json, Failure> {
    if text.lines().all(|line| line.trim().is_empty() || line.trim().starts_with('#')) {
        return Ok(Json::Null);
    }
    serde_saphyr::from_str(text).map_err(|error| refuse(&error))
}

fn read(root: &Path) -> Result<Option<String>, Failure> {
    let is_link = |path: &Path| std::fs::symlink_metadata(path).is_ok_and(|found| !found.is_dir());
    if is_link(&root.join(FOLDER)) {
        return Err(refuse(&"its folder is a link, or no folder"));
    }
    let path = root.join(FILE);
    match own_file::read_text(&path, FILE_BYTES_MAX) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        text => text.map(Some).map_err(|error| refuse(&error)),
    }
}

fn refuse(why: &dyn std::fmt::Display) -> Failure {
    let why = why.to_string();
    let why = why.lines().map(ao_tree::shown).collect::<Vec<_>>().join("\n");
    Failure::new(Exit::Preflight, format!("{FILE}: {why}"))
        .hint("nothing was changed; put the file right, then run the command again")
}

/// What a person puts in.
fn by_hand(why: &dyn std::fmt::Display, keys: &[(&'static str, Value)]) -> Failure {
    let wanted = yaml::set("", keys).unwrap_or_default();
    let wanted: Vec<String> = wanted.lines().map(ao_tree::shown).collect();
    refuse(why).hint(format!(
        "or edit it by hand so that it says, in lines beneath `dream:`:\n{}",
        wanted.join("\n")
    ))
}
