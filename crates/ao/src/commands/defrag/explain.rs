//! One merge or prune, with its certificate: of the plan, or of a commit.

use std::fmt::Write as _;

use ao_contract::{Certificate, Exit, Probe, Record};
use ao_corpus::certificate::of_sources;
use ao_corpus::defrag::Plan;
use ao_tree::{Disk, Door, shown};
use serde_json::json;

use crate::failure::Failure;
use crate::printer::{BAD, FAINT, GOOD, Printer, STRONG, paint};

struct Explained {
    /// `planned`, `refused`, or the id of the commit.
    state: String,
    reason: String,
    certificate: Option<Certificate>,
    scores: Option<(f64, f64)>,
}

pub(crate) fn run(
    id: &str,
    planned: &Plan,
    door: &Door<Disk>,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let mut found = of_plan(id, planned);
    if found.is_empty() {
        found = of_history(id, door)?;
    }
    if found.is_empty() {
        return Err(Failure::usage(format!("{} is in no merge or prune", shown(id)))
            .hint("`ao defrag --json` lists those to come, `ao tree log` those that were made"));
    }
    let mut text = String::new();
    for one in &found {
        write_one(&mut text, one);
    }
    let list: Vec<_> = found
        .iter()
        .map(|one| {
            let (stems, pairs) = one.scores.unzip();
            json!({
                "state": one.state, "reason": one.reason, "stems": stems, "pairs": pairs,
                "certificate": one.certificate,
            })
        })
        .collect();
    printer.answer("defrag", json!({ "explained": list }), &text);
    Ok(Exit::Done)
}

/// Whether a path is meant by a path, a file's name with or without its ending, or an old name.
fn is_meant(id: &str, path: &str) -> bool {
    let id = id.rsplit_once(".agents/").map_or(id, |(_, rest)| rest);
    let file = path.rsplit_once('/').map_or(path, |(_, file)| file);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    [path, file, stem].contains(&id)
}

fn of_plan(id: &str, planned: &Plan) -> Vec<Explained> {
    let report = &planned.report;
    let mut found = Vec::new();
    for merge in &report.merges {
        let is_survivor = is_meant(id, &merge.survivor);
        for member in &merge.members {
            if is_survivor || is_meant(id, &member.path) {
                found.push(Explained {
                    state: "planned".into(),
                    reason: format!(
                        "{} is merged into {}: {}",
                        member.path, merge.survivor, merge.reason
                    ),
                    certificate: Some(member.certificate.clone()),
                    scores: Some((member.stems.get(), member.pairs.get())),
                });
            }
        }
    }
    for prune in report.prunes.iter().filter(|prune| is_meant(id, &prune.path)) {
        found.push(Explained {
            state: "planned".into(),
            reason: format!("{} is archived: {}", prune.path, prune.reason),
            certificate: Some(prune.certificate.clone()),
            scores: None,
        });
    }
    for kept in report.kept.iter().filter(|kept| is_meant(id, &kept.path)) {
        found.push(Explained {
            state: "refused".into(),
            reason: format!("{} stays: {}", kept.path, kept.why),
            certificate: kept.certificate.clone(),
            scores: None,
        });
    }
    for pair in &report.review {
        if is_meant(id, &pair.one) || is_meant(id, &pair.other) {
            found.push(Explained {
                state: "refused".into(),
                reason: format!("{} and {} stay apart: {}", pair.one, pair.other, pair.why),
                certificate: None,
                scores: Some((pair.stems.get(), pair.pairs.get())),
            });
        }
    }
    found
}

/// What commits recorded, newest first.
fn of_history(id: &str, door: &Door<Disk>) -> Result<Vec<Explained>, Failure> {
    let mut found = Vec::new();
    for line in door.history()?.into_iter().rev() {
        // A snapshot that was let go takes its record along.
        let Ok(record) = door.record_of::<Record>(&line) else { continue };
        for change in &record.changes {
            let Some(certificate) = of_sources(&change.sources) else { continue };
            let is_successor =
                certificate.successor.as_deref().is_some_and(|path| is_meant(id, path));
            if is_meant(id, &change.path) || is_successor {
                found.push(Explained {
                    state: line.id.clone(),
                    reason: format!("{}: {}", change.path, change.reason),
                    certificate: Some(certificate),
                    scores: None,
                });
            }
        }
    }
    Ok(found)
}

fn write_one(text: &mut String, one: &Explained) {
    let _ = writeln!(text, "{}  {}", paint(STRONG, &shown(&one.state)), shown(&one.reason));
    if let Some((stems, pairs)) = one.scores {
        let _ = writeln!(text, "  stems {stems:.4}, pairs {pairs:.4}");
    }
    let Some(certificate) = &one.certificate else { return };
    let _ = writeln!(
        text,
        "  certificate: {} {}",
        json!(certificate.verdict).as_str().unwrap_or_default(),
        paint(FAINT, &shown(&certificate.why))
    );
    for Probe { kind, query, before, after } in &certificate.probes {
        let place = |at: &Option<u32>| at.map_or("-".to_owned(), |at| at.to_string());
        let is_lost = before.is_some() && after.is_none() && certificate.successor.is_some();
        let style = if is_lost { BAD } else { GOOD };
        let _ = writeln!(
            text,
            "    {:<8} {} {}",
            json!(kind).as_str().unwrap_or_default(),
            paint(style, &format!("{:>2} → {:<2}", place(before), place(after))),
            shown(query)
        );
    }
}
