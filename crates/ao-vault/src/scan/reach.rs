//! How far from its keywords a rule has to be tried.
//!
//! Where every text that an expression matches has one of the rule's keywords in it, and none is longer
//! than a bound, the expression needs to be tried only around the places of the keywords. Otherwise it
//! is tried on the whole file.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// Farther than this, the whole file may as well be searched.
const REACH_BYTES_MAX: usize = 4096;
/// How many texts a part of an expression may stand for, to be spelt out.
const TEXTS_MAX: usize = 64;

/// How long a match can be, if each has a keyword in it.
pub(super) fn reach(expression: &str, keywords: &[String]) -> Option<usize> {
    let parsed = ParserBuilder::new().unicode(false).utf8(false).build().parse(expression).ok()?;
    let longest =
        parsed.properties().maximum_len().filter(|longest| *longest <= REACH_BYTES_MAX)?;
    has_keyword(&parsed, keywords).then_some(longest)
}

/// Whether every text that it matches contains one of the keywords, whatever their case.
fn has_keyword(part: &Hir, keywords: &[String]) -> bool {
    let all_have = |texts: &[String]| {
        texts.iter().all(|text| keywords.iter().any(|keyword| text.contains(keyword)))
    };
    if let Some(texts) = texts(part) {
        return all_have(&texts);
    }
    match part.kind() {
        HirKind::Capture(capture) => has_keyword(&capture.sub, keywords),
        HirKind::Repetition(repetition) => {
            repetition.min > 0 && has_keyword(&repetition.sub, keywords)
        }
        HirKind::Alternation(parts) => parts.iter().all(|part| has_keyword(part, keywords)),
        HirKind::Concat(parts) => {
            // Runs of parts that can be spelt out count as one text.
            let mut run = vec![String::new()];
            for part in parts {
                match texts(part).and_then(|texts| joined(&run, &texts)) {
                    Some(longer) => run = longer,
                    None if has_keyword(part, keywords) => return true,
                    None => run = texts(part).unwrap_or_else(|| vec![String::new()]),
                }
                if all_have(&run) {
                    return true;
                }
            }
            false
        }
        _ => false,
    }
}

/// Every text that it matches, in small letters, if these are few.
fn texts(part: &Hir) -> Option<Vec<String>> {
    let one = |text: String| Some(vec![text]);
    match part.kind() {
        HirKind::Empty | HirKind::Look(_) => one(String::new()),
        HirKind::Literal(literal) => {
            one(std::str::from_utf8(&literal.0).ok()?.to_ascii_lowercase())
        }
        HirKind::Class(Class::Bytes(class)) => {
            let bytes = class.iter().flat_map(|range| range.start()..=range.end());
            let mut letters: Vec<u8> =
                bytes.take(TEXTS_MAX).map(|byte| byte.to_ascii_lowercase()).collect();
            letters.sort_unstable();
            letters.dedup();
            // A class of more letters says nothing.
            let is_few = letters.len() <= 4 && letters.is_ascii();
            is_few.then(|| letters.iter().map(|byte| char::from(*byte).to_string()).collect())
        }
        HirKind::Class(Class::Unicode(_)) => None,
        HirKind::Capture(capture) => texts(&capture.sub),
        HirKind::Repetition(repetition) => match (repetition.min, repetition.max) {
            (0, Some(1)) => {
                let mut all = texts(&repetition.sub)?;
                all.push(String::new());
                Some(all)
            }
            (1, Some(1)) => texts(&repetition.sub),
            _ => None,
        },
        HirKind::Concat(parts) => {
            parts.iter().try_fold(vec![String::new()], |all, part| joined(&all, &texts(part)?))
        }
        HirKind::Alternation(parts) => {
            let mut all = Vec::new();
            for part in parts {
                all.extend(texts(part)?);
            }
            (all.len() <= TEXTS_MAX).then_some(all)
        }
    }
}

fn joined(fronts: &[String], backs: &[String]) -> Option<Vec<String>> {
    let is_few = fronts.len() * backs.len() <= TEXTS_MAX;
    is_few.then(|| {
        fronts
            .iter()
            .flat_map(|front| backs.iter().map(move |back| format!("{front}{back}")))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::reach;

    #[test]
    fn only_an_expression_that_must_have_a_keyword_is_tried_around_it() {
        let of = |expression: &str, keywords: &[&str]| {
            reach(expression, &keywords.iter().map(|&word| word.to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(of(r"\b(ghp_[0-9a-z]{4})\b", &["ghp_"]), Some(8));
        assert_eq!(of(r"(?i)[\w.-]{0,5}?(?:adobe)=[a-f]{3}", &["adobe"]), Some(14));
        assert_eq!(of(r"(?i)passw(?:or)?d[a-z]{2}", &["passwd", "password"]), Some(10));
        assert_eq!(of(r"(?:AKIA|ASIA)[A-Z]{3}", &["akia", "asia"]), Some(7));
        assert_eq!(of(r"(?:AKIA|ASIA)[A-Z]{3}", &["akia"]), None);
        assert_eq!(of(r"v1\.0-[a-f]{3}", &["cloudflare"]), None);
        assert_eq!(of(r"ghp_[0-9a-z]+", &["ghp_"]), None);
        assert_eq!(of(r"(?:ghp_)?[0-9a-z]{3}", &["ghp_"]), None);
    }
}
