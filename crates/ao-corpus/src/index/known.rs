//! An index of entries that are in memory: what the cache knows of them is taken from it.
//!
//! The cache is believed where it is of the very bytes that the entry has, whatever the file system says of the
//! file by now. One that is missing or damaged costs time only.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::assemble::assemble;
use super::build::{self, hash_of};
use super::cache;
use super::draft::Stamp;
use super::old;
use super::reader::{Reader, stamps};
use super::source::Broken;
use crate::corpus::Entry;

pub(super) fn known(agents: &Path, entries: &[Arc<Entry>]) -> Result<Reader, Broken> {
    let image = cache::image_of(&cache::path_in(agents))?.0;
    let reader = Reader::new(image.into_memory()?)?;
    let mut new: BTreeMap<&str, &Arc<Entry>> =
        entries.iter().map(|entry| (entry.path.as_str(), entry)).collect();
    let mut kept = Vec::with_capacity(reader.entries);
    for (number, stamp) in stamps(&reader.image)?.iter().enumerate() {
        let key = reader.key(number)?;
        let is_same = |entry: &&Arc<Entry>| hash_of(entry.document.bytes()) == stamp.hash;
        let is_kept = new.get(key.as_str()).is_some_and(is_same);
        if is_kept {
            new.remove(key.as_str());
        }
        kept.push(is_kept);
    }
    if new.is_empty() && kept.iter().all(|is_kept| *is_kept) {
        return Ok(reader);
    }
    let new: Vec<Arc<Entry>> = new.into_values().cloned().collect();
    let mut batches = build::batches(&new);
    let keep = |number: usize| kept[number].then(Stamp::default);
    batches.push(old::batch_of(&reader, keep)?);
    drop(reader);
    Reader::new(assemble(batches, 0)?)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::known;
    use crate::corpus::Entry;
    use crate::index::{Index, Keep, Place, Question, State};

    fn entry(number: usize, text: &str) -> Arc<Entry> {
        let path = format!("learnings/2026-03-01-case-{number:03}.md");
        let text = format!("---\nid: case-{number}\n---\n# Case {number}\n\n{text}\n");
        Arc::new(Entry::parse(&path, || Ok(text.into_bytes())).unwrap().unwrap())
    }

    fn all() -> Vec<Arc<Entry>> {
        let text =
            |number| format!("The worker waits for queue {} of shard w{number}.", number % 7);
        (0..90).map(|number| entry(number, &text(number))).collect()
    }

    #[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
    fn written(agents: &Path, entries: &[Arc<Entry>]) {
        std::fs::create_dir_all(agents.join("learnings")).unwrap();
        for entry in entries {
            std::fs::write(agents.join(&entry.path), entry.document.bytes()).unwrap();
        }
        let (agents, folders) = (agents.to_owned(), vec!["learnings".to_owned()]);
        let place = Place { agents, folders, now_ns: i64::MAX, keep: Keep::Yes };
        assert_eq!(place.open().unwrap().state, State::Cold);
    }

    fn asked(index: &Index) -> Vec<(String, String, String)> {
        let questions = ["worker queue 3", "shard w17", "another word", "case"];
        let mut found = Vec::new();
        for question in questions {
            for ranked in index.rank(&Question::new(question), 100, None).unwrap() {
                let (key, facts) = (index.key(ranked.entry), index.facts(ranked.entry));
                let facts = format!("{:?}", facts.unwrap());
                found.push((key.unwrap(), ranked.relevance.to_bits().to_string(), facts));
            }
        }
        found
    }

    #[test]
    fn what_is_known_gives_the_same_index() {
        let place = tempfile::tempdir().unwrap();
        let (agents, before) = (place.path(), all());
        written(agents, &before);
        let mut after = before.clone();
        after.remove(3);
        after[20] = entry(21, "Another word stands here now.");
        after.push(entry(95, "One more worker."));
        for entries in [&before, &after, &before[..10].to_vec(), &Vec::new()] {
            let reader = known(agents, entries).unwrap();
            let fresh = Index::of_entries(entries).unwrap();
            assert_eq!(asked(&Index { reader }), asked(&fresh), "of {}", entries.len());
            assert_eq!(entries.is_empty(), asked(&fresh).is_empty());
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test damages its own files")]
    fn a_damaged_cache_is_none() {
        let place = tempfile::tempdir().unwrap();
        let (agents, entries) = (place.path(), all());
        assert!(known(agents, &entries).is_err(), "there is none yet");
        written(agents, &entries);
        let path = super::cache::path_in(agents);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[100] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        assert!(known(agents, &entries).is_err());
        let index = Index::of_known(agents, &entries).unwrap();
        assert_eq!(asked(&index), asked(&Index::of_entries(&entries).unwrap()));
    }
}
