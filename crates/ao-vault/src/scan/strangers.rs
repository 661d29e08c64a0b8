//! The rules on values that somebody made from the makers' documentation, who was shown no rule; and
//! on texts that look like secrets and are none.

use std::ops::Range;

use serde::Deserialize;

use super::{Finding, Scanner, taken_out};

const SECRETS: &str = include_str!("../../../ao/tests/strangers/secrets.jsonl");
const NOT_SECRETS: &str = include_str!("../../../ao/tests/strangers/not-secrets.jsonl");

/// Of the values whose form tells what they are.
const FOUND_SHARE_MIN: f64 = 0.97;
const WRONG_PERCENT_MAX: usize = 7;

#[derive(Deserialize)]
struct StrangersSecret {
    maker: String,
    kind: String,
    value: String,
    text: String,
    shape: Shape,
    #[serde(default)]
    hard: bool,
}

#[derive(Deserialize, PartialEq, Eq, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Shape {
    Distinct,
    Formless,
}

#[derive(Deserialize)]
struct NoSecret {
    text: String,
    why: String,
}

fn rows<T: for<'a> Deserialize<'a>>(text: &str) -> Vec<T> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Whether something of the value was found, and whether nothing of it that could be used stays when
/// what was found is taken out.
fn judged(scanner: &Scanner, row: &StrangersSecret) -> (bool, bool) {
    let found = scanner.scan("notes.txt", row.text.as_bytes());
    let places: Vec<Range<usize>> =
        row.text.match_indices(&row.value).map(|(at, it)| at..at + it.len()).collect();
    let meets = |finding: &Finding| {
        places.is_empty()
            || places.iter().any(|at| finding.range.start < at.end && at.start < finding.range.end)
    };
    let is_found = found.iter().any(meets);
    let rest = taken_out(row.text.as_bytes(), found);
    (is_found, is_found && memchr::memmem::find(&rest, row.value.as_bytes()).is_none())
}

// proves: SCO-09
#[test]
fn values_that_a_stranger_made_from_the_makers_documentation_are_found() {
    let scanner = Scanner::new(&[]).unwrap();
    let all: Vec<StrangersSecret> = rows(SECRETS);
    let mut promised = 0.0;
    for (shape, is_hard, name) in [
        (Shape::Distinct, false, "of a form that tells"),
        (Shape::Distinct, true, "of such a form, split, encoded or escaped"),
        (Shape::Formless, false, "of no form"),
        (Shape::Formless, true, "of no form, split, encoded or escaped"),
    ] {
        let of: Vec<_> =
            all.iter().filter(|row| row.shape == shape && row.hard == is_hard).collect();
        let results: Vec<_> = of.iter().map(|row| judged(&scanner, row)).collect();
        let found = results.iter().filter(|(is_found, _)| *is_found).count();
        let gone = results.iter().filter(|(_, is_gone)| *is_gone).count();
        #[expect(clippy::cast_precision_loss, reason = "hundreds")]
        let share = |count: usize| count as f64 / of.len() as f64;
        eprintln!(
            "{name}: {} values, found {found} ({:.1} %), taken out {gone} ({:.1} %)",
            of.len(),
            100.0 * share(found),
            100.0 * share(gone)
        );
        if shape == Shape::Distinct {
            for (row, (is_found, is_gone)) in of.iter().zip(&results) {
                if !is_found || !is_gone {
                    eprintln!("  missed: {}, {} (found {is_found})", row.maker, row.kind);
                }
            }
        }
        if shape == Shape::Distinct && !is_hard {
            promised = share(gone);
        }
    }
    assert!(promised >= FOUND_SHARE_MIN, "{promised}");
}

#[test]
fn what_only_looks_like_a_secret_is_left_alone() {
    let scanner = Scanner::new(&[]).unwrap();
    let all: Vec<NoSecret> = rows(NOT_SECRETS);
    let mut wrong = 0;
    for row in &all {
        let found = scanner.scan("notes.txt", row.text.as_bytes());
        if let Some(first) = found.first() {
            wrong += 1;
            eprintln!("  {}: {}", first.rule, row.why);
        }
    }
    eprintln!("taken for a secret: {wrong} of {}", all.len());
    // Most of them are specimens of the makers' own documentation, which have the form of a key.
    assert!(wrong * 100 <= all.len() * WRONG_PERCENT_MAX, "{wrong}");
}
