//! Two documents become one, and no word, number, field or reward of either is lost.

#![no_main]

use std::collections::BTreeSet;

use ao_corpus::Entry;
use ao_corpus::merge::merge;
use ao_corpus::words::{each_word, is_stop_word};
use libfuzzer_sys::fuzz_target;

/// A count that is written by hand can be anything; it is read up to this.
const COUNT_MAX: u64 = 1_000_000_000;
/// Between the two documents of an input.
const CUT: &[u8] = b"\n=====\n";

fuzz_target!(|bytes: &[u8]| {
    let Some(at) = bytes.windows(CUT.len()).position(|window| window == CUT) else { return };
    let (one, other) = (&bytes[..at], &bytes[at + CUT.len()..]);
    let (Some(survivor), Some(loser)) =
        (entry("learnings/a.md", one), entry("learnings/b.md", other))
    else {
        return;
    };
    let Ok(merged) = merge(&survivor, &loser) else { return };
    let said = words(merged.document.body());
    for entry in [&survivor, &loser] {
        let lost: Vec<String> = facts(entry).difference(&said).cloned().collect();
        assert!(lost.is_empty(), "{lost:?} of {} is lost", entry.path);
    }
    for (key, value) in survivor.document.fields().as_ref() {
        assert!(merged.document.fields().contains_key(key), "{key}: {value}");
    }
    let rewards = |entry: &Entry| entry.document.count("reward_count");
    assert_eq!(rewards(&merged), (rewards(&survivor) + rewards(&loser)).min(COUNT_MAX));
});

fn entry(path: &str, bytes: &[u8]) -> Option<Entry> {
    Entry::parse(path, || Ok(bytes.to_vec()))?.ok()
}

/// What must be found again: every word, but for the numbers that only tell an item's place in a list.
fn facts(entry: &Entry) -> BTreeSet<String> {
    entry.document.body().lines().flat_map(|line| words(without_number(line))).collect()
}

fn words(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    each_word(text, |word| {
        if !is_stop_word(word) {
            found.insert(word.to_owned());
        }
    });
    found
}

fn without_number(line: &str) -> &str {
    let bare = line.trim_start();
    let rest = bare.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_item = rest.len() < bare.len()
        && rest.starts_with(['.', ')'])
        && rest[1..].chars().next().is_none_or(char::is_whitespace);
    if is_item { &rest[1..] } else { line }
}
