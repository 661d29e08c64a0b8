//! A plan for people.

use std::fmt::Write as _;

use ao_contract::{Defrag, PruneRule};
use ao_tree::{Preview, shown};

use crate::commands::tree::outcome;
use crate::printer::{BAD, DOUBT, FAINT, GOOD, STRONG, paint};

/// How many of one kind are listed; JSON has them all.
const LISTED_MAX: usize = 20;

pub(crate) fn text(report: &Defrag, preview: Option<&Preview>) -> String {
    let mut text = String::new();
    if let Some(preview) = preview {
        diffs(&mut text, preview);
    }
    merges(&mut text, report);
    prunes(&mut text, report);
    patterns(&mut text, report);
    alike(&mut text, report);
    kept(&mut text, report);
    oscillations(&mut text, report);
    if let Some(preview) = preview {
        outcome::list_refused(&mut text, &preview.refused);
        let _ = match preview.changes.len() {
            0 => writeln!(text, "Nothing to do."),
            _ => writeln!(text, "Would commit {}.", outcome::count(&preview.changes)),
        };
    }
    text
}

fn diffs(text: &mut String, preview: &Preview) {
    for diff in preview.diffs.iter().take(LISTED_MAX) {
        text.push_str(&outcome::colored(diff));
    }
    more(text, preview.diffs.len(), "files change");
}

fn merges(text: &mut String, report: &Defrag) {
    for merge in report.merges.iter().take(LISTED_MAX) {
        for member in &merge.members {
            let scores =
                format!("stems {:.2}, pairs {:.2}", member.stems.get(), member.pairs.get());
            let _ = writeln!(
                text,
                "{} {} → {}  {}",
                paint(GOOD, "merge  "),
                shown(&member.path),
                shown(&merge.survivor),
                paint(FAINT, &format!("{scores}; {}", shown(&member.certificate.why)))
            );
        }
    }
    more(text, report.merges.len(), "merges");
}

fn prunes(text: &mut String, report: &Defrag) {
    for prune in report.prunes.iter().take(LISTED_MAX) {
        let rule = match prune.rule {
            PruneRule::Expired => "expired",
            PruneRule::Superseded => "superseded",
        };
        let _ = writeln!(
            text,
            "{} {}  {}",
            paint(BAD, "archive"),
            shown(&prune.path),
            paint(FAINT, &format!("{rule}: {}", shown(&prune.reason)))
        );
    }
    more(text, report.prunes.len(), "prunes");
}

fn patterns(text: &mut String, report: &Defrag) {
    for pattern in report.patterns.iter().take(LISTED_MAX) {
        let _ = writeln!(
            text,
            "{} {}  {}",
            paint(GOOD, "pattern"),
            shown(&pattern.path),
            paint(FAINT, &shown(&pattern.why))
        );
    }
    more(text, report.patterns.len(), "patterns");
}

fn alike(text: &mut String, report: &Defrag) {
    for pair in report.review.iter().take(LISTED_MAX) {
        let _ = writeln!(
            text,
            "{} {} and {}  {}",
            paint(DOUBT, "look at"),
            shown(&pair.one),
            shown(&pair.other),
            paint(FAINT, &shown(&pair.why))
        );
    }
    more(text, report.review.len(), "pairs to look at");
}

fn kept(text: &mut String, report: &Defrag) {
    for kept in report.kept.iter().take(LISTED_MAX) {
        let _ = writeln!(
            text,
            "{} {}  {}",
            paint(STRONG, "keep   "),
            shown(&kept.path),
            paint(FAINT, &shown(&kept.why))
        );
    }
    more(text, report.kept.len(), "kept");
}

fn oscillations(text: &mut String, report: &Defrag) {
    for found in report.oscillations.iter().take(LISTED_MAX) {
        let entry =
            found.entry.as_ref().map_or(String::new(), |path| format!(" ({})", shown(path)));
        let _ = writeln!(
            text,
            "{} {}{entry}  {}",
            paint(DOUBT, "turning"),
            shown(&found.target),
            paint(FAINT, &format!("{} turns", found.turns))
        );
    }
    more(text, report.oscillations.len(), "that go back and forth");
}

fn more(text: &mut String, total: usize, what: &str) {
    if total > LISTED_MAX {
        let _ = writeln!(text, "… and {} more {what}", total - LISTED_MAX);
    }
}

/// The line for the history.
pub(crate) fn why(report: &Defrag) -> String {
    let copies: usize = report.merges.iter().map(|merge| merge.members.len()).sum();
    let mut parts = Vec::new();
    if copies > 0 {
        parts.push(format!("{copies} copies merged into {}", report.merges.len()));
    }
    if !report.prunes.is_empty() {
        parts.push(format!("{} archived", report.prunes.len()));
    }
    format!("defrag: {}", parts.join(", "))
}
