//! A summary on disk: found, read whole, and told apart from what only looks like one.

use std::fmt;
use std::path::{Path, PathBuf};

use ao_contract::{Exit, Summary};
use ao_tree::{own_file, shown};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::failure::Failure;

pub(super) const NAME: &str = "summary.json";
/// No report is larger.
const FILE_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// The newest version of the format.
const VERSION_MAX: u64 = 2;

#[derive(Debug)]
pub(super) struct SummaryFile {
    pub(super) path: PathBuf,
    pub(super) text: String,
    pub(super) summary: Summary,
}

impl SummaryFile {
    /// Reads `path`, or the summary in it if it is a folder.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let is_folder = path.is_dir() || ao_mutant::active("RUN-05/only-a-folder-is-read");
        let path = if is_folder { path.join(NAME) } else { path.to_owned() };
        let name = shown(&path.to_string_lossy());
        let fail = |why: &str| Failure::new(Exit::Failed, format!("{name}: {why}"));
        let text = read_text(&path).map_err(|trouble| match trouble {
            Trouble::Missing => fail("there is no report").hint(
                "`ao overnight start` makes one; `--from` takes the folder of another run, or its summary.json",
            ),
            Trouble::Other(why) => fail(&why)
                .hint("name the folder of a run, or its summary.json, with --from"),
        })?;
        let summary = parse(&text).map_err(|(why, hint)| fail(&why).hint(hint))?;
        Ok(Self { path, text, summary })
    }

    /// The top fields in their order, each with its value letter by letter as it stands in the
    /// file. Of a field that is there twice the last value counts, as in every reader.
    pub(super) fn fields(&self) -> Vec<(String, &str)> {
        let Ok(Fields(pairs)) = serde_json::from_str::<Fields<'_>>(&self.text) else {
            return Vec::new();
        };
        let mut fields: Vec<(String, &str)> = Vec::with_capacity(pairs.len());
        for (name, value) in pairs {
            match fields.iter_mut().find(|(known, _)| *known == name) {
                Some(known) => known.1 = value.get(),
                None => fields.push((name, value.get())),
            }
        }
        fields
    }
}

enum Trouble {
    Missing,
    Other(String),
}

fn read_text(path: &Path) -> Result<String, Trouble> {
    let other = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Trouble::Missing,
        std::io::ErrorKind::InvalidInput => Trouble::Other("is not a plain file".into()),
        std::io::ErrorKind::FileTooLarge => {
            Trouble::Other(format!("is larger than {FILE_BYTES_MAX} bytes: no report is"))
        }
        _ => Trouble::Other(format!("cannot be read: {error}")),
    };
    let path = path.canonicalize().map_err(other)?;
    let bytes = own_file::read(&path, FILE_BYTES_MAX).map_err(other)?;
    String::from_utf8(bytes).map_err(|_| Trouble::Other("is binary, not a report".into()))
}

fn parse(text: &str) -> Result<Summary, (String, &'static str)> {
    if text.trim().is_empty() {
        return Err((
            "is empty".into(),
            "the run that should have written it left nothing; its log is beside it",
        ));
    }
    let value: Value = serde_json::from_str(text).map_err(|error| {
        if error.is_eof() {
            (
                format!("is cut off in line {}", error.line()),
                "it was not written by a run that ended; look at the log beside it, and start another run with `ao overnight start`",
            )
        } else {
            (format!("is not JSON: {error}"), "name the summary.json of a run with --from")
        }
    })?;
    match value.get("schema_version") {
        Some(Value::Number(version))
            if version.as_u64().is_some_and(|v| {
                v > VERSION_MAX || v == 1 && ao_mutant::active("RUN-05/version-1-is-refused")
            }) =>
        {
            return Err((
                format!(
                    "is of version {version}, and this program reads versions 1 and {VERSION_MAX}"
                ),
                "read it with the newer ao that wrote it",
            ));
        }
        _ => {}
    }
    if value.get("dreamscape").is_none() && ao_mutant::active("REP-06/landscape-is-needed") {
        return Err(("has no landscape".into(), "start another run"));
    }
    ao_contract::read(&value).map_err(|error| {
        (
            format!("is not a report: {}", shown(&error.to_string())),
            "`ao schema summary` says what a report holds",
        )
    })
}

/// An object as its fields, with their values untouched.
struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}
