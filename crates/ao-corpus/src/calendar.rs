//! What the day alone changes: the same files are judged otherwise from some day on.

use std::time::Duration;

use jiff::civil::Date;

use crate::corpus::{Corpus, Entry, Kind, latest_day};
use crate::pending::old_enough_on;
use crate::prune::expires_on;

/// The first day after `today` on which a finding is past its term, a pending learning is old enough, or an
/// entry of a day to come begins to count. `None` if no such day is known.
///
/// Whether anything speaks against it then is not asked: such a day may change nothing after all.
pub fn next_change(corpus: &Corpus, today: Date, min_age: Duration) -> Option<Date> {
    let of_entry = |entry: &Entry| {
        let expires =
            expires_on(entry).filter(|_| !ao_mutant::active("RUN-44/settled-past-a-term"));
        let waits = old_enough_on(entry, min_age).filter(|_| entry.kind == Kind::Pending);
        let waits = waits.filter(|_| !ao_mutant::active("RUN-44/settled-past-a-wait"));
        [expires, waits, counts_from(entry, today)]
            .into_iter()
            .flatten()
            .filter(|day| *day > today)
            .min()
    };
    corpus.entries.iter().filter_map(|entry| of_entry(entry)).min()
}

/// The day from which on an entry of a day to come can be the corpus's newest.
fn counts_from(entry: &Entry, today: Date) -> Option<Date> {
    let date =
        entry.date().filter(|date| latest_day(today).is_some_and(|latest| *date > latest))?;
    date.yesterday().ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::civil::date;

    use super::*;

    fn corpus(files: &[(&str, &str)]) -> Corpus {
        let entry = |(path, text): &(&str, &str)| {
            let bytes = || Ok(text.as_bytes().to_vec());
            Arc::new(Entry::parse(path, bytes).unwrap().unwrap())
        };
        Corpus { entries: files.iter().map(entry).collect(), left: Vec::new() }
    }

    fn next(files: &[(&str, &str)], hours: u64) -> Option<Date> {
        next_change(&corpus(files), date(2026, 4, 10), Duration::from_hours(hours))
    }

    #[test]
    fn the_first_of_the_days_that_are_to_come() {
        let finding = ("findings/f-1.md", "---\ndate: 2026-04-01\nttl_days: 30\n---\n# F\n");
        let cited = (
            "findings/f-2.md",
            "---\ndate: 2026-01-01\nlast_cited: 2026-04-03\nttl_days: 7.5\n---\n# F\n",
        );
        let over = ("findings/f-3.md", "---\ndate: 2026-01-01\nttl_days: 30\n---\n# F\n");
        let pending = ("knowledge/pending/a.md", "---\ndate: 2026-04-09\n---\n# P\n");
        let taken =
            ("knowledge/pending/b.md", "---\ndate: 2026-01-09\ntaken_on: 2026-04-10\n---\n# P\n");
        let ahead = ("learnings/2036-05-01-a.md", "# A\n");
        let tomorrow = ("learnings/2026-04-11-a.md", "# A\n");
        assert_eq!(next(&[over, tomorrow], 24), None);
        // It is over on the day after its last one.
        assert_eq!(next(&[finding, over], 0), Some(date(2026, 5, 2)));
        assert_eq!(next(&[cited, finding], 0), Some(date(2026, 4, 11)));
        assert_eq!(next(&[finding, pending], 0), Some(date(2026, 5, 2)));
        assert_eq!(next(&[pending], 24), None, "it is old enough today");
        assert_eq!(next(&[pending], 25), Some(date(2026, 4, 11)));
        assert_eq!(next(&[pending, taken], 72), Some(date(2026, 4, 12)));
        assert_eq!(next(&[taken], 72), Some(date(2026, 4, 13)));
        assert_eq!(next(&[ahead], 0), Some(date(2036, 4, 30)));
    }

    #[test]
    fn terms_without_an_end_are_none() {
        let odd = ("findings/f-1.md", "---\ndate: 9999-12-30\nttl_days: 90000\n---\n# F\n");
        let none = ("findings/f-2.md", "---\nttl_days: 30\n---\n# F\n");
        assert_eq!(next(&[odd, none], u64::MAX / 3600), Some(date(9999, 12, 29)));
    }
}
