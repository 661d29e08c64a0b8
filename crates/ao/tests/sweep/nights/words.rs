//! What the people of this corpus write down, each text with a mark of its own.

use super::dice::Dice;

const SUBJECTS: [&str; 16] = [
    "payment client",
    "cache of sessions",
    "nightly importer",
    "search index",
    "mail queue",
    "login page",
    "thumbnail worker",
    "schema migration",
    "rate limiter",
    "audit trail",
    "build pipeline",
    "webhook receiver",
    "export of invoices",
    "feature flags",
    "container image",
    "message broker",
];
const CAUSES: [&str; 8] = [
    "it opened a connection for every row",
    "a lock was held over a network call",
    "the clock of one host was behind",
    "two workers took the same job",
    "the pool had no upper bound",
    "an error was swallowed in a callback",
    "the file was read before it was complete",
    "the default time limit was never set",
];
const RULES: [&str; 8] = [
    "bound every retry and say so in the log",
    "write to a temporary file and rename it",
    "measure before and after, on the same data",
    "take the lock only around the write itself",
    "check the answer before it is stored",
    "keep the old format readable for one release",
    "name the owner of a job in its row",
    "stop the worker before the schema is changed",
];
const MARK: &str = "zq";
const MARK_DIGITS: usize = 8;

/// As it stands in a text.
pub(super) fn mark(number: u64) -> String {
    format!("{MARK}{number:08}")
}

/// The marks in a text, in their order.
pub(super) fn marks_in(text: &str) -> Vec<u64> {
    let number = |(at, _): (usize, &str)| {
        let digits = text.get(at + MARK.len()..at + MARK.len() + MARK_DIGITS)?;
        digits.parse().ok()
    };
    text.match_indices(MARK).filter_map(number).collect()
}

/// A sentence that is there for its mark.
pub(super) fn remark(number: u64) -> String {
    format!("Seen again in build {}.\n", mark(number))
}

/// The text without sentences that are there for their marks.
pub(super) fn without_remarks(text: &str) -> String {
    text.split_inclusive('\n').filter(|line| !line.starts_with("Seen again in build")).collect()
}

/// A learning, also as a pending one: it makes a claim, with a cause and a measure.
pub(super) fn learning(dice: &mut Dice, number: u64) -> String {
    let subject = *dice.choose(&SUBJECTS).unwrap();
    let cause = *dice.choose(&CAUSES).unwrap();
    let rule = *dice.choose(&RULES).unwrap();
    let (month, day) = (1 + dice.below(6), 1 + dice.below(28));
    let (share, time) = (1 + dice.below(39), 20 + dice.below(900));
    let file = subject.replace(' ', "_");
    let mark = mark(number);
    format!(
        "---\ndate: 2026-{month:02}-{day:02}\ntags: [{file}]\nconfidence: 0.8\nsource_session: s-{mark}\n---\n\
         # Learning: the {subject} in case {number}\n\n## What We Learned\n\n\
         The {subject} failed in {share} of 40 runs and took {time} ms, because {cause}. \
         The call is `{file}_{number}()` in `src/{file}.rs`. Always {rule}.\n{}\n\
         ## Source\n\nSession {mark}.\n",
        remark(number)
    )
}

pub(super) fn finding(dice: &mut Dice, number: u64) -> String {
    let subject = *dice.choose(&SUBJECTS).unwrap();
    let cause = *dice.choose(&CAUSES).unwrap();
    let severity = *dice.choose(&["low", "medium", "high"]).unwrap();
    let mark = mark(number);
    format!(
        "---\nid: f-{mark}\ntype: finding\ndate: 2026-05-04\nseverity: {severity}\nstatus: open\nsource_session: s-{mark}\n\
         title: The {subject} fails in case {number}\nsummary: It fails since {cause}.\n---\n\
         # The {subject} fails in case {number}\n\n{}",
        remark(number)
    )
}

/// A line of the work queue.
pub(super) fn work(number: u64) -> String {
    let mark = mark(number);
    format!(
        "{{\"source_epic\":\"epic-{mark}\",\"timestamp\":\"2026-05-04T10:00:00Z\",\"items\":[{{\"title\":\"Look into {mark}\",\
         \"type\":\"task\",\"severity\":\"low\",\"source\":\"person\",\"description\":\"It was seen in build {mark}\",\
         \"target_repo\":\"*\"}}],\"consumed\":false,\"claim_status\":\"available\",\"claimed_by\":null,\"claimed_at\":null,\
         \"consumed_by\":null,\"consumed_at\":null}}\n"
    )
}

/// A line of the log of citations.
pub(super) fn citation(number: u64, entry: &str, kind: &str) -> String {
    let mark = mark(number);
    format!(
        "{{\"artifact_path\":\".agents/{entry}\",\"session_id\":\"s-{mark}\",\"cited_at\":\"2026-05-04T10:00:00Z\",\
         \"citation_type\":\"{kind}\",\"query\":\"what fails\"}}\n"
    )
}
