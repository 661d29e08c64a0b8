//! Where an entry comes from, as far as it says so: two that come from one place are one witness.

use std::collections::BTreeSet;

use ao_corpus::Entry;

/// Header fields whose value names where an entry was learned. One run or session that is named in
/// different fields is still one, so the values are compared and not the fields.
const SOURCES: [&str; 12] = [
    "source",
    "source_session",
    "session",
    "session_id",
    "run_id",
    "source_bead",
    "source-bead",
    "source_artifact",
    "harvested_from",
    "original_path",
    "promoted_from",
    "dedup_key",
];

/// The places that an entry comes from, and the names that it has or took over.
#[derive(Debug, Clone, Default)]
pub(super) struct Origin {
    places: BTreeSet<String>,
    names: BTreeSet<String>,
}

impl Origin {
    pub(super) fn of(entry: &Entry) -> Self {
        let document = &entry.document;
        let places = SOURCES.iter().flat_map(|key| document.texts(key));
        let names = ["id", "merged_from"].iter().flat_map(|key| document.texts(key));
        let own = [entry.path.clone(), entry.stem().to_owned()];
        Self {
            places: places.map(|place| folded(&place)).filter(|place| !place.is_empty()).collect(),
            names: names.map(|name| bare(&name)).chain(own.iter().map(|name| bare(name))).collect(),
        }
    }

    /// Of something that has only a name.
    pub(super) fn named(name: &str) -> Self {
        Self { places: BTreeSet::new(), names: BTreeSet::from([bare(name)]) }
    }

    /// Whether it says where it comes from.
    pub(super) fn is_said(&self) -> bool {
        !self.places.is_empty()
    }

    /// Whether the two are one witness: one place, or one took the other over in a merge.
    pub(super) fn meets(&self, other: &Self) -> bool {
        !self.places.is_disjoint(&other.places) || !self.names.is_disjoint(&other.names)
    }

    pub(super) fn add(&mut self, other: Self) {
        self.places.extend(other.places);
        self.names.extend(other.names);
    }
}

fn folded(text: &str) -> String {
    text.trim().to_lowercase()
}

/// The name of an entry without its folder and its ending, since merges record it so.
fn bare(name: &str) -> String {
    let name = name.trim();
    let name = name.rsplit_once('/').map_or(name, |(_, name)| name);
    let ending = [".md", ".jsonl"].iter().find_map(|ending| name.strip_suffix(ending));
    folded(ending.unwrap_or(name))
}
