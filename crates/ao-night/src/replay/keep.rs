//! What nights keep of themselves, on disk: written, and taken away when its time is over.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use ao_contract::{Extra, KeptCorpus, NightRecord};
use ao_runner::cassette::FOLDER;
use ao_vault::{out, redactor, scan};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::{Packed, Retention};

const CORPUS: &str = ".corpus";
const NIGHT: &str = ".night.json";
/// The exchanges go with the rest: there is nothing that they could be played to.
const ENDINGS: [&str; 3] = [CORPUS, NIGHT, ".jsonl"];
const DAY_SECONDS: u64 = 24 * 60 * 60;

pub(super) fn corpus_path(state: &Path, run_id: &str) -> PathBuf {
    state.join(FOLDER).join(format!("{run_id}{CORPUS}"))
}

pub(super) fn night_path(state: &Path, run_id: &str) -> PathBuf {
    state.join(FOLDER).join(format!("{run_id}{NIGHT}"))
}

/// Writes the corpus, for its owner alone. No value of the vault is in it: that was looked for file by
/// file, where each is still as it was written.
pub(crate) fn keep_corpus(state: &Path, run_id: &str, packed: &Packed) -> io::Result<KeptCorpus> {
    ao_tree::make_folders(state, FOLDER)?;
    ao_tree::replace_private(&corpus_path(state, run_id), &packed.bytes)?;
    Ok(KeptCorpus {
        hash: blake3::hash(&packed.bytes).to_hex().to_string(),
        bytes: packed.bytes.len() as u64,
        entries: packed.entries,
        extra: Extra::new(),
    })
}

/// Writes the record of a night.
pub(crate) fn keep(state: &Path, night: &NightRecord) -> io::Result<()> {
    ao_tree::make_folders(state, FOLDER)?;
    let mut value = serde_json::to_value(night)?;
    scan::value_without_keys(&mut value);
    // The digest is of what is left when the values of the vault are taken out.
    let mut value: Value = serde_json::from_slice(redactor().json(&value)?.get())?;
    value["digest"] = digest(&value).unwrap_or_default().into();
    out::replace_file(&night_path(state, &night.run_id), &redactor().json(&value)?)
}

/// Of a record, with nothing in the place of its digest.
pub(crate) fn digest(night: &Value) -> Option<String> {
    let mut night = night.clone();
    *night.get_mut("digest")? = String::new().into();
    Some(blake3::hash(&serde_json::to_vec(&night).ok()?).to_hex().to_string())
}

/// A night of which nothing is kept any more, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Gone {
    pub(crate) run_id: String,
    pub(crate) why: String,
}

/// Takes away what is kept of nights whose time is over. `newest` stays in any case.
pub(crate) fn expire(
    state: &Path,
    retention: Retention,
    newest: &str,
    now: Timestamp,
) -> io::Result<Vec<Gone>> {
    let folder = state.join(FOLDER);
    let mut kept: BTreeMap<String, u64> = BTreeMap::new();
    for entry in std::fs::read_dir(&folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(run_id) = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)) {
            *kept.entry(run_id.to_owned()).or_default() += entry.metadata()?.len();
        }
    }
    let mut total = 0_u64;
    let mut gone = Vec::new();
    // Ids begin with the time: the newest first.
    for (run_id, bytes) in kept.into_iter().rev() {
        total = total.saturating_add(bytes);
        let why = if run_id == newest {
            continue;
        } else if is_older(&run_id, now, retention.days) {
            format!("it is older than {} days", retention.days)
        } else if total > retention.bytes_max {
            format!("all of them together are larger than {} bytes", retention.bytes_max)
        } else {
            continue;
        };
        for ending in ENDINGS {
            ao_tree::remove_cache(&folder.join(format!("{run_id}{ending}")))?;
        }
        total = total.saturating_sub(bytes);
        gone.push(Gone { run_id, why });
    }
    Ok(gone)
}

/// Whether the run began more than so many days ago. One whose id does not say so did not.
fn is_older(run_id: &str, now: Timestamp, days: u64) -> bool {
    const FORM: &str = "%Y%m%dT%H%M%SZ";
    const LENGTH: usize = "20260415T020000Z".len();
    let began = run_id.get(..LENGTH).and_then(|text| DateTime::strptime(FORM, text).ok());
    let began = began.and_then(|began| began.to_zoned(TimeZone::UTC).ok());
    let Some(began) = began else { return false };
    let passed = now.as_second().saturating_sub(began.timestamp().as_second());
    u64::try_from(passed).is_ok_and(|passed| passed > days.saturating_mul(DAY_SECONDS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test makes its own files")]
    fn the_oldest_go_first_and_whole_and_the_newest_stays() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join(FOLDER);
        std::fs::create_dir(&folder).unwrap();
        let put = |name: &str, bytes: usize| {
            std::fs::write(folder.join(name), vec![0; bytes]).unwrap();
        };
        let names = || {
            let all = std::fs::read_dir(&folder).unwrap();
            let names = all.map(|one| one.unwrap().file_name().to_string_lossy().into_owned());
            names.collect::<std::collections::BTreeSet<_>>()
        };
        for run in ["20260101T020000Z", "20260410T020000Z", "20260411T020000Z", "20260412T020000Z"]
        {
            put(&format!("{run}.corpus"), 60);
            put(&format!("{run}.night.json"), 30);
            put(&format!("{run}.jsonl"), 10);
        }
        // A night that could not be kept, and what is somebody else's.
        put("20260102T020000Z.night.json", 5);
        put("notes.txt", 500);
        let now = "2026-04-12T06:00:00Z".parse().unwrap();
        let gone = |bytes_max| {
            let retention = Retention { days: 90, bytes_max };
            let gone = expire(place.path(), retention, "20260412T020000Z", now).unwrap();
            gone.into_iter().map(|one| one.run_id).collect::<Vec<_>>()
        };
        assert_eq!(gone(1000), ["20260102T020000Z", "20260101T020000Z"]);
        assert_eq!(names().len(), 3 * 3 + 1);
        assert_eq!(gone(250), ["20260410T020000Z"]);
        assert_eq!(gone(10), ["20260411T020000Z"]);
        assert!(names().contains("20260412T020000Z.corpus") && names().contains("notes.txt"));
        assert_eq!(names().len(), 4);
    }
}
