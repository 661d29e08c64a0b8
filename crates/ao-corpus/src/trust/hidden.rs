//! Letters that are not seen, and letters that are taken for others.

/// Greek and Cyrillic letters that look like Latin ones; each with what it is taken for.
const LOOKALIKES: [(&str, &str); 2] = [
    ("авеіјкмнорсѕтухуԁһԛԝгьпϲ", "abeijkmhopcstyxydhqwrbnc"),
    ("αβεικνορτυχγηωγ", "abeiknoptuxynwy"),
];
/// Small capitals, and their letters. No language is written with them.
const SMALL_CAPITALS: (&str, &str) = ("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnoprstuvwyz");
/// A word of fewer letters is a symbol of a formula.
const WORD_LETTERS_MIN: usize = 4;
/// A word of so many letters and digits, of both kinds, could be a key; one of so many of any kind, too.
const KEY_LETTERS_MIN: usize = 10;
const WORD_LETTERS_MAX: usize = 28;
/// So many letters that stand by themselves, one after the other, are words set apart.
const SINGLE_LETTERS: usize = 12;

/// What a letter of another script is taken for in a Latin word.
pub(super) fn lookalike(c: char) -> Option<char> {
    if c.is_ascii() {
        return None;
    }
    LOOKALIKES.iter().find_map(|(from, to)| same_place(c, from, to))
}

/// The letter that a small capital is.
pub(super) fn small_capital(c: char) -> Option<char> {
    same_place(c, SMALL_CAPITALS.0, SMALL_CAPITALS.1)
}

fn same_place(c: char, from: &str, to: &str) -> Option<char> {
    let place = from.chars().position(|one| one == c)?;
    to.chars().nth(place)
}

/// Whether nobody sees it: it has no width, turns the text around, or only marks the letter before it.
pub(super) fn is_unseen(c: char) -> bool {
    is_between_letters(c) || is_turn(c) || is_tag(c) || is_selector(c)
}

/// Marks that stand on the letter before them.
pub(super) fn is_mark(c: char) -> bool {
    matches!(c, '\u{0300}'..='\u{036F}' | '\u{0483}'..='\u{0489}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}' | '\u{20D0}'..='\u{20FF}' | '\u{FE20}'..='\u{FE2F}')
}

/// No width, and no business in a word.
fn is_between_letters(c: char) -> bool {
    matches!(
        c,
        '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'
            ..='\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{2060}'..='\u{2064}' | '\u{206A}'..='\u{206F}' | '\u{3164}' | '\u{FEFF}' | '\u{FFA0}'
    )
}

fn is_turn(c: char) -> bool {
    matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

fn is_tag(c: char) -> bool {
    matches!(c, '\u{E0000}'..='\u{E007F}')
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}')
}

/// What is hidden in a text, each kind where it is first met: its name and where it stands.
pub(super) fn hidden(text: &str) -> Vec<(&'static str, std::ops::Range<usize>)> {
    let mut found = Vec::new();
    if text.is_ascii() {
        found.extend(control(text));
        found.extend(set_apart(text));
        return found;
    }
    let mut add = |name: &'static str, at: usize, c: char| {
        if !found.iter().any(|(known, _)| *known == name) {
            found.push((name, at..at + c.len_utf8()));
        }
    };
    // The flags of some countries are written with tags.
    let (mut before, mut is_flag) = (' ', false);
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let after = chars.peek().map_or(' ', |(_, c)| *c);
        is_flag = c == '\u{1F3F4}' || is_flag && is_tag(c);
        let is_in_word = before.is_alphanumeric() && after.is_alphanumeric();
        let is_latin = before.is_ascii() || after.is_ascii();
        match c {
            c if is_tag(c) && !is_flag => add("letters of tags", at, c),
            c if is_turn(c) => add("a turn of the text", at, c),
            c if is_selector(c) && (is_selector(before) || c >= '\u{E0100}') => {
                add("a run of variation selectors", at, c);
            }
            c if is_between_letters(c) && is_in_word && is_latin => {
                add("a letter without width in a word", at, c);
            }
            // Several of them are a message of their own.
            c if is_between_letters(c) && is_between_letters(before) && c != '\u{200D}' => {
                add("letters without width", at, c);
            }
            _ => {}
        }
        before = c;
    }
    found.extend(control(text));
    found.extend(mixed(text));
    found.extend(set_apart(text));
    found
}

fn control(text: &str) -> Option<(&'static str, std::ops::Range<usize>)> {
    let is_control = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    let at = text.find(is_control)?;
    Some(("a control character", at..text.ceil_char_boundary(at + 1)))
}

/// A Latin word with letters of another script in it that look Latin.
fn mixed(text: &str) -> Option<(&'static str, std::ops::Range<usize>)> {
    let words = text.split(|c: char| !c.is_alphanumeric() && !is_unseen(c));
    let is_mixed = |word: &&str| {
        let letters = || word.chars().filter(|c| c.is_alphabetic());
        let (mut latin, mut taken) = (0, 0);
        for c in letters() {
            if c.is_ascii() {
                latin += 1;
            } else if c.to_lowercase().any(|c| lookalike(c).is_some()) {
                taken += 1;
            } else if !('\u{00C0}'..='\u{024F}').contains(&c) {
                return false;
            }
        }
        latin > 1 && taken > 0 && latin + taken >= WORD_LETTERS_MIN
    };
    let word = words.into_iter().find(is_mixed)?;
    let at = word.as_ptr() as usize - text.as_ptr() as usize;
    Some(("letters of another script in a word", at..at + word.len()))
}

/// Words whose letters stand apart, so that no rule sees the word.
fn set_apart(text: &str) -> Option<(&'static str, std::ops::Range<usize>)> {
    let (mut count, mut start) = (0, 0);
    for word in text.split([' ', '.', '-', '_', '·', '\u{a0}']).filter(|word| !word.is_empty()) {
        let mut chars = word.chars();
        let is_single = chars.next().is_some_and(char::is_alphabetic) && chars.next().is_none();
        let at = word.as_ptr() as usize - text.as_ptr() as usize;
        if is_single {
            start = if count == 0 { at } else { start };
            count += 1;
            if count >= SINGLE_LETTERS {
                return Some(("letters set apart", start..at + word.len()));
            }
        } else {
            count = 0;
        }
    }
    None
}

/// A text on one line, short, with everything made visible that is not. Words are shown whole or not at all: half of a
/// secret is no longer known for one. What could be a key is left out.
pub(super) fn visible(text: &str, chars_max: usize) -> String {
    let mut told = String::new();
    let mut room = chars_max;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if length > room {
            told.push_str(if told.is_empty() { "…" } else { " …" });
            break;
        }
        room = room.saturating_sub(length + 1);
        if !told.is_empty() {
            told.push(' ');
        }
        if is_like_a_key(word) {
            told.push_str("[…]");
            continue;
        }
        for c in word.chars() {
            if c.is_control() || is_unseen(c) || is_mark(c) {
                told.extend(c.escape_unicode());
            } else {
                told.push(c);
            }
        }
    }
    told
}

fn is_like_a_key(word: &str) -> bool {
    let has = |is: fn(&char) -> bool| word.chars().any(|c| is(&c));
    let is_mixed = has(char::is_ascii_digit) && has(char::is_ascii_alphabetic);
    let letters = word.chars().filter(char::is_ascii_alphanumeric).count();
    letters >= KEY_LETTERS_MIN && is_mixed || letters >= WORD_LETTERS_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<&'static str> {
        hidden(text).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn what_is_hidden_is_found_and_what_people_write_is_not() {
        for (from, to) in LOOKALIKES.into_iter().chain([SMALL_CAPITALS]) {
            assert_eq!(from.chars().count(), to.chars().count());
        }
        for (text, name) in [
            ("ig\u{200b}nore", "a letter without width in a word"),
            ("ig\u{ad}nore", "a letter without width in a word"),
            ("x \u{200b}\u{200c}\u{200b}\u{200b} y", "letters without width"),
            ("ab \u{202e}cd", "a turn of the text"),
            ("a\u{e0041}\u{e0042}", "letters of tags"),
            ("a\u{fe01}\u{fe02}\u{fe03}", "a run of variation selectors"),
            ("the p\u{0430}ssw\u{043e}rd", "letters of another script in a word"),
            ("a \u{8}\u{8} b", "a control character"),
            ("i g n o r e a l l r u l e s", "letters set apart"),
        ] {
            assert_eq!(names(text), [name], "{text:?}");
        }
        for text in [
            "café naïve Straße 数据 данные",
            "5 µs, 3 μs, Δt, λ-calculus",
            "👩\u{200d}💻 ok ❤\u{fe0f} 🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
            "می\u{200c}خواهم",
            "\u{feff}# Title",
            "API-ключ, git'ом",
            "a b c d e f",
        ] {
            assert!(hidden(text).is_empty(), "{text:?}: {:?}", hidden(text));
        }
        assert_eq!(visible("a\u{200b}b\n\nc", 20), "a\\u{200b}b c");
        assert_eq!(visible("abc defg", 5), "abc …");
        assert_eq!(visible("abcdef", 3), "…");
        assert_eq!(visible("use 8Op9Qr0St1Uv2Wx now", 40), "use […] now");
    }
}
