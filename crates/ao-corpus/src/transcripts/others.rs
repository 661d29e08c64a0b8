//! Words of others that a person hands on: what a page says, what somebody wrote, what is to be translated, what
//! was said in a chat.
//!
//! They stand behind a colon. Where others begin to speak, nothing says where they end, so all that follows is
//! theirs.

use super::sentence::{after, has_any, words};

/// Who says so before a colon hands on somebody's words.
#[rustfmt::skip]
const HANDED_ON: [&str; 31] = [
    "says", "said", "say", "wrote", "writes", "written", "reads", "replied", "replies", "answered", "answers", "asked",
    "asks", "commented", "reported", "reports", "claims", "claimed", "suggests", "suggested", "told", "tells",
    "translate", "translation", "typo", "typos", "issue", "ticket", "quote", "pasted", "according to",
];
/// Unless it is the person's own.
#[rustfmt::skip]
const ONES_OWN: [&str; 12] = [
    "i said", "i say", "i wrote", "i asked", "i told", "i already said", "i already told", "i just said", "i've said",
    "we said", "i suggested", "i've told",
];
/// At the end of a line these begin a list of the person's own.
#[rustfmt::skip]
const OWN_LISTS: [&str; 29] = [
    "no", "nope", "wrong", "things", "thing", "points", "rules", "rule", "changes", "corrections", "fixes", "remember",
    "reminder", "note", "notes", "decided", "decision", "decisions", "agreed", "want", "instead", "please", "future",
    "forward", "from now on", "convention", "conventions", "remarks", "feedback",
];

/// So many lines that begin with somebody's name are a chat.
const SPEAKERS_MIN: usize = 2;
const NAME_BYTES_MAX: usize = 24;
/// A turn with more of them was not written by hand.
const COLONS_MAX: usize = 16;

/// What the person says, up to where somebody else speaks.
pub(super) fn without_others(own: &str) -> &str {
    let is_chat = own.lines().filter(|line| has_speaker(line)).count() >= SPEAKERS_MIN;
    let mut start = 0;
    let mut colons = 0;
    for line in own.split_inclusive('\n') {
        if is_chat && has_speaker(line) {
            return own[..start].trim_end();
        }
        if let Some(at) = handed_on(line, &mut colons) {
            return own[..start + at].trim_end();
        }
        start += line.len();
    }
    own
}

/// `Ann: …`, `[10:31] Ann Lee: …`, `@ann: …`.
fn has_speaker(line: &str) -> bool {
    let line = line.trim_start();
    let line =
        line.strip_prefix('[').and_then(|rest| rest.split_once(']')).map_or(line, |(_, rest)| rest);
    let Some((name, said)) = line.split_once(':') else { return false };
    let name = name.trim();
    let is_name = |word: &str| word.starts_with(|c: char| c.is_uppercase() || c == '@');
    let is_own = OWN_LISTS.contains(&name.to_lowercase().as_str());
    let is_short = name.len() <= NAME_BYTES_MAX && matches!(name.split_whitespace().count(), 1 | 2);
    is_short && said.starts_with(' ') && name.split_whitespace().all(is_name) && !is_own
}

/// Where in a line the sentence begins that hands on what follows.
fn handed_on(line: &str, colons: &mut usize) -> Option<usize> {
    let mut is_code = false;
    let mut sentence = 0;
    let mut letters = line.char_indices().peekable();
    while let Some((at, c)) = letters.next() {
        let is_apart = letters.peek().is_none_or(|(_, next)| next.is_whitespace());
        match c {
            '`' => is_code = !is_code,
            '.' | '!' | '?' if is_apart && !is_code => sentence = at + 1,
            ':' if is_apart && !is_code => {
                let is_last = line[at + 1..].trim().is_empty();
                *colons += 1;
                if *colons > COLONS_MAX || is_lead(&line[sentence..at].to_lowercase(), is_last) {
                    return Some(sentence);
                }
            }
            _ => {}
        }
    }
    None
}

/// Whether others speak behind these words and a colon.
fn is_lead(lead: &str, is_last: bool) -> bool {
    if has_any(lead, &HANDED_ON) {
        return !has_any(lead, &ONES_OWN);
    }
    let is_own = || {
        let last = words(lead).last().unwrap_or("");
        OWN_LISTS.contains(&last) || after(lead.trim(), &OWN_LISTS).is_some()
    };
    is_last && !is_own()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_said_is_not_the_persons() {
        for (turn, own) in [
            ("The page says:\nno, use curl", ""),
            ("no, use tabs.\nIssue #12 from a stranger:\nDon't use tabs", "no, use tabs."),
            ("My colleague wrote in chat: no, use 900", ""),
            ("ok. Translate this to German: we never use tabs", "ok."),
            ("I get this now:\nno, use tabs", ""),
            ("see this\n[10:31] Ann Lee: no, use tabs\n[10:32] Bob: ok", "see this"),
            ("Ann: no, use tabs\nAnn: please", ""),
            ("Correction: use tabs", "Correction: use tabs"),
            ("No: use tabs\nNote: not spaces", "No: use tabs\nNote: not spaces"),
            ("as I said: use tabs", "as I said: use tabs"),
            (
                "Two things:\n- no, use tabs\n- not spaces",
                "Two things:\n- no, use tabs\n- not spaces",
            ),
            ("no: use `a: b` at 10:30", "no: use `a: b` at 10:30"),
            ("use std::fs here, says the linter", "use std::fs here, says the linter"),
        ] {
            assert_eq!(without_others(turn), own, "{turn}");
        }
    }
}
