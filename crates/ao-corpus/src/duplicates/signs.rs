//! Signs that say something by themselves: a tick or a cross, an arrow, a comparison, the box of a task.

/// What is put in for the question that a sentence ends with.
pub(super) const QUESTION: &str = "?";
const DONE: &str = "[x]";
const OPEN: &str = "[ ]";
/// Each makes a sentence say the opposite.
const DENYING: &str = "❌✗✘✖❎☒🚫⛔👎🛑🙅≠≢∉∌¬⊄≰≱⊘🔴";

/// Whether a character is a sign and none of the ornaments of a text (dashes, quotes, bullets, frames).
fn is_sign(c: char) -> bool {
    matches!(
        u32::from(c),
        0xAC | 0xB1 | 0xD7 | 0xF7 // ¬ ± × ÷
            | 0x2190..=0x23FF // arrows, mathematics, technical
            | 0x2600..=0x27BF // ticks, crosses, weather
            | 0x27F0..=0x27FF
            | 0x2900..=0x297F
            | 0x2A00..=0x2BFF
            | 0x1F000..=0x1FAFF // pictures
    ) && !is_drawing(c)
}

/// Says how the sign before it is drawn.
fn is_drawing(c: char) -> bool {
    matches!(u32::from(c), 0xFE00..=0xFE0F | 0x200D | 0x1F3FB..=0x1F3FF)
}

/// The words of what stands between two blanks: each sign is one, and what is written to it another.
pub(super) fn parts(raw: &str) -> impl Iterator<Item = &str> {
    let is_plain = raw.is_ascii() || !raw.chars().any(is_sign);
    let mut rest = raw;
    std::iter::from_fn(move || {
        if is_plain {
            return (!rest.is_empty()).then(|| std::mem::take(&mut rest));
        }
        rest = rest.trim_start_matches(is_drawing);
        let first = rest.chars().next()?;
        let end = if is_sign(first) {
            first.len_utf8()
        } else {
            rest.find(is_sign).unwrap_or(rest.len())
        };
        let (part, behind) = rest.split_at(end);
        rest = behind;
        Some(part)
    })
}

/// Whether a part is a sign.
pub(super) fn is_one(part: &str) -> bool {
    let mut chars = part.chars();
    if ao_mutant::active("LOOP-25/signs-say-nothing") {
        return false;
    }
    chars.next().is_some_and(is_sign) && chars.next().is_none()
}

pub(super) fn denies(word: &str) -> bool {
    is_one(word) && DENYING.contains(word)
}

/// Whether a task that an item names is done, and the rest of the item.
pub(super) fn task(item: &str) -> (Option<&'static str>, &str) {
    let bare = item.trim_start();
    if let Some(rest) = bare.strip_prefix("[ ] ") {
        return (Some(OPEN), rest);
    }
    let done = ["[x] ", "[X] "].iter().find_map(|mark| bare.strip_prefix(mark));
    done.map_or((None, item), |rest| (Some(DONE), rest))
}

/// Whether a text ends as a question.
pub(super) fn asks(text: &str) -> bool {
    text.trim_end().trim_end_matches(['"', '\'', '*', '_', ')', '`', '”']).ends_with('?')
}

/// Whether a word stands in no text as it is here.
pub(super) fn is_put_in(word: &str) -> bool {
    [QUESTION, DONE, OPEN].contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_is_a_word_and_an_ornament_is_none() {
        let all = |raw| parts(raw).collect::<Vec<_>>();
        assert_eq!(all("\u{274c}\u{fe0f}Enable"), ["\u{274c}", "Enable"]);
        assert_eq!(all("a\u{2192}b"), ["a", "\u{2192}", "b"]);
        assert_eq!(all("plain,"), ["plain,"]);
        assert_eq!(all("\u{2014}"), ["\u{2014}"]);
        assert!(is_one("\u{2264}") && !is_one("\u{2014}") && !is_one("a") && !is_one("\u{2022}"));
        assert!(denies("\u{274c}") && !denies("\u{2705}") && !denies(""));
        assert_eq!(task("[x] do it"), (Some(DONE), "do it"));
        assert_eq!(task(" [ ] do it"), (Some(OPEN), "do it"));
        assert_eq!(task("[a](b)"), (None, "[a](b)"));
        assert!(asks("Is it? ") && asks("\"Is it?\"") && !asks("It is."));
    }
}
