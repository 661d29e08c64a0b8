//! Whether a text can be read: whether it is in English, the one language of which the rules know how it denies,
//! counts and opposes.
//!
//! Two texts in a language that nobody here reads look alike when one of them says the opposite. So nothing is taken
//! for English because it looks like no other language: each sentence must show words that only English has. What
//! shows letters or small words of another language is in that one, and a text with one such sentence is not in
//! English, whatever the others are in.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::words::Quickly;

/// Words that English sentences are full of. None that the larger languages with Latin letters have, too: `is` is
/// Dutch, `to` Polish, `for` Danish, `be` Hungarian.
const ENGLISH: &str = "the of and that this with from which these those there their they them then than when whenever \
    where what while who whose why how its if been being are were has have had having does did doing can could should \
    would must may might will shall not never always every each any some only other others another into onto after \
    before because about above below between through during until unless without within by at you your our she he \
    anyone everyone nobody nothing something everything both either neither nor or but such same more less least many \
    much few several again already often usually rarely sometimes once twice use uses used using keep keeps kept make \
    makes made take takes taken write writes waits needs needed shows shown find finds found given gives goes going \
    gets runs running right first next old seconds hours days weeks months years three four five six seven eight nine \
    ten zero prefer avoid allow deny ensure instead otherwise whether cannot don't doesn't isn't can't won't didn't \
    it's that's aren't wasn't shouldn't let's";
/// Small words of other languages with Latin letters, which English texts do not have. Words of accents and the like
/// are known by these. None that is a tool's name or an English word, such as `jest`, `pro` or `till`.
const OTHERS: &str = "der das und ist eine einen einem einer eines mit auf dem sich auch nur wird werden wurde wenn nach \
    bei aus sind oder noch immer vom zum zur dann muss darf soll bitte diese dieser dieses durch wir ihr \
    une pas dans pour avec elle ils sont cette qui que ses leur mais toujours doit \
    uma das mas sempre sua seu pelo pela sao las una para como pero siempre debe esta cada \
    gli che della dello delle nel nella sono ogni anche deve questo questa dal alla \
    het een zijn worden wordt naar deze ook moet mag alleen voor wel och att det som ett av ikkje blir skal ska \
    endast eller vid fra tylko przez oraz sie przed tak tego neni jsou pouze nebo vzdy musi \
    bir icin ile olarak sonra yalnizca veya olan yang dengan untuk dari pada adalah setelah hanya harus oleh akan \
    sebelum boleh ovat ennen aina joka kaikki hogy mindig minden egy doar fara sunt dupa inainte trebuie hindi mga \
    lamang katika";
/// Words by which other languages deny: one of them is enough, whatever stands around it.
const DENIALS: &str = "nicht kein keine keinen keiner nie niemals nichts ohne jamais aucun nunca jamas nao sem \
    senza niet geen nooit zonder inte aldrig ikke aldri utan uten uden nigdy bez neni nikdy degil asla olmadan tidak \
    jangan bukan tanpa eivat soha nincs fara niciodata";
/// Words with accents that English texts have.
const BORROWED: [&str; 10] =
    ["naïve", "naïvely", "café", "façade", "résumé", "cliché", "déjà", "décor", "fiancé", "µs"];
/// A sentence with one other word in so many of these is still English.
const ENGLISH_PER_OTHER: usize = 3;
/// A shorter piece says nothing that could be another claim.
const SAYING_MIN: usize = 2;

type Set = HashSet<&'static str, Quickly>;

static SETS: LazyLock<[Set; 3]> = LazyLock::new(|| {
    [ENGLISH, OTHERS, DENIALS].map(|list: &'static str| list.split_whitespace().collect())
});

/// What a piece of text is written in, as far as its own words tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    English,
    /// Names, code, or words that tell nothing; so many of these.
    Unsaid {
        words: usize,
    },
    Other,
}

impl Language {
    pub(crate) fn of(text: &str) -> Self {
        let [english, others, denials] = &*SETS;
        let (mut ours, mut theirs, mut names, mut words) = (0, 0, 0, 0);
        let mut is_code = false;
        for raw in text.split_whitespace() {
            if !raw.is_ascii() && has_other_letters(raw) {
                return Self::Other;
            }
            // What stands in ticks is no language, and neither is an option.
            let was_code = is_code;
            is_code ^= raw.matches('`').count() % 2 == 1;
            let word = raw.trim_matches(|c: char| !c.is_alphanumeric());
            if was_code || raw.starts_with('`') || raw.starts_with("--") || word.is_empty() {
                continue;
            }
            let lower = word.to_lowercase().replace('\u{2019}', "'");
            let plain = plain(&lower);
            if denials.contains(plain.as_str()) {
                return Self::Other;
            }
            if english.contains(lower.as_str()) {
                ours += 1;
                words += 1;
                continue;
            }
            if is_name(word) {
                continue;
            }
            words += 1;
            let is_accented = plain != lower && !BORROWED.contains(&lower.as_str());
            // A name with an accent tells nothing beside English words: Zürich.
            let is_name = word.starts_with(char::is_uppercase);
            names += usize::from(is_accented && is_name);
            theirs += usize::from(others.contains(plain.as_str()) || is_accented && !is_name);
        }
        match (ours, theirs + names) {
            (0, 0) => Self::Unsaid { words },
            _ if ours > 0 && theirs * ENGLISH_PER_OTHER <= ours => Self::English,
            _ => Self::Other,
        }
    }

    /// Whether it says something, and nobody knows in which language.
    pub(crate) fn is_unread(self) -> bool {
        match self {
            Self::English => false,
            Self::Unsaid { words } => words >= SAYING_MIN,
            Self::Other => true,
        }
    }
}

/// A letter of another script. A Greek one by itself, or before a name, is a symbol: `Δt`, `µs`.
fn has_other_letters(raw: &str) -> bool {
    let is_other =
        |c: &char| c.is_alphabetic() && !matches!(u32::from(*c), 0..=0x24F | 0x1E00..=0x1EFF);
    let is_greek = |c: char| matches!(u32::from(c), 0x370..=0x3FF);
    let mut others = raw.chars().filter(is_other);
    match (others.next(), others.next()) {
        (None, _) => false,
        (Some(one), None) => !is_greek(one),
        _ => true,
    }
}

/// Numbers, paths, commands, abbreviations, `camelCase`.
fn is_name(word: &str) -> bool {
    let mut letters = word.chars();
    let first = letters.next();
    let has_inner_capital = letters.any(char::is_uppercase);
    let is_sign = |c: char| !c.is_alphabetic() && c != '\'' && c != '\u{2019}';
    has_inner_capital || word.chars().any(is_sign) || first.is_none()
}

/// Without accents, as the lists have it.
fn plain(lower: &str) -> String {
    use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};
    if lower.is_ascii() {
        return lower.to_owned();
    }
    let bare = lower.nfd().filter(|c| !is_combining_mark(*c));
    let folded = bare.map(|c| match c {
        'ı' => 'i',
        'ł' => 'l',
        'ø' => 'o',
        'đ' => 'd',
        other => other,
    });
    folded.collect()
}

#[cfg(test)]
mod tests {
    use super::Language::{English, Other, Unsaid};
    use super::*;

    #[test]
    fn a_sentence_shows_that_it_is_english_or_it_is_not() {
        for (text, language) in [
            ("Set the timeout to 30 seconds.", English),
            ("The office in Zürich uses the naïve form of José's rule.", English),
            ("Wait 5 µs for the Δt of the clock.", English),
            ("Prefer `nicht` over `kein` in the tests.", English),
            ("Versioned staging tree", Unsaid { words: 3 }),
            ("`cargo test` --lib", Unsaid { words: 0 }),
            ("Use the cache nicht in production.", Other),
            ("Den Cache leeren und neu starten", Other),
            ("Cache leeren", Unsaid { words: 2 }),
            ("不允许在里面保存个人数据。", Other),
            ("The 無 of it", Other),
            ("Кеш", Other),
            ("Zabráněno", Other),
            ("je to zakázáno", Other),
        ] {
            assert_eq!(Language::of(text), language, "{text}");
        }
    }
}
