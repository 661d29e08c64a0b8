//! What is told at the end of the search.

use std::fmt::Write as _;

use ao_contract::{Change, Record, iteration_of};
use ao_night::counted;
use ao_tree::shown;
use serde_json::{Value, json};

use super::look::{Asked, DEPTH, Look};
use crate::commands::overnight::show;
use crate::failure::Failure;
use crate::printer::{DOUBT, FAINT, Printer, STRONG, paint};

/// So many other changes of the commit, and entries ahead, are listed for people; JSON has all of them.
const LISTED_MAX: usize = 10;
/// The oldest state and today's are asked beside the looks in between.
const ENDS: usize = 2;

pub(super) struct Told<'a> {
    pub(super) asked: &'a Asked<'a>,
    pub(super) query: &'a str,
    pub(super) want: &'a str,
    pub(super) added_by: Option<&'a str>,
    pub(super) start: Look,
    pub(super) end: Look,
    pub(super) looks: Vec<Look>,
}

impl Told<'_> {
    pub(super) fn answer(
        &self,
        between: Option<&(Look, Look)>,
        printer: &Printer,
    ) -> Result<(), Failure> {
        let mut text = String::new();
        let mut found = Value::Null;
        if let Some(id) = self.added_by {
            let _ = writeln!(
                text,
                "{} came with {}, and is looked at from then on.",
                shown(self.want),
                shown(id)
            );
        }
        match between {
            None => {
                let _ = writeln!(
                    text,
                    "{} is no worse than it was: {} then, {} now.",
                    shown(self.want),
                    rank(&self.start),
                    rank(&self.end)
                );
                let _ = writeln!(text, "Whether it was better in between was not asked.");
            }
            Some((good, bad)) => found = self.found(good, bad, &mut text)?,
        }
        let commits = self.end.count - self.start.count;
        let looks = self.looks.len();
        let counted = format!(
            "{}: {} between the ends, {} with them.",
            counted(commits, "commit", "commits"),
            counted(looks, "look", "looks"),
            looks + ENDS
        );
        let _ = writeln!(text, "{}", paint(FAINT, &counted));
        if let Some(why) = self.doubt()? {
            printer.note(&format!("{} {}: {why}", paint(DOUBT, "note:"), shown(self.want)));
        }
        let fields = json!({
            "query": self.query,
            "want": self.want,
            "added_by": self.added_by,
            "commits": commits,
            "looks": looks,
            "looks_with_ends": looks + ENDS,
            "looked_at": self.looks.iter().map(|look| self.json(look)).collect::<Vec<_>>(),
            "oldest": self.json(&self.start),
            "newest": self.json(&self.end),
            "found": found,
        });
        printer.answer("overnight bisect", fields, &text);
        Ok(())
    }

    fn found(&self, good: &Look, bad: &Look, text: &mut String) -> Result<Value, Failure> {
        let line = &self.asked.history[bad.count - 1];
        let record: Record = self.asked.door.record_of(line)?;
        let (own, others): (Vec<&Change>, Vec<&Change>) =
            record.changes.iter().partition(|change| change.path == self.want);
        let before = match self.asked.name(good.count) {
            Some(id) => format!("after {}", shown(id)),
            None => "before the first commit".to_owned(),
        };
        let id = paint(STRONG, &shown(&line.id));
        let _ = writeln!(text, "{id}  {}", paint(FAINT, &shown(&line.at)));
        let _ = writeln!(text, "{}", shown(&line.why));
        let _ = writeln!(
            text,
            "{}: {} {before}, {} after this one",
            shown(self.want),
            rank(good),
            rank(bad)
        );
        if let Some((path, at)) = &bad.instead {
            let place = at.map_or("not found".to_owned(), |at| format!("answer {at}"));
            let _ = writeln!(text, "{} stands for it: {place}", shown(path));
        }
        let ahead = bad.new_ahead(good);
        for path in ahead.iter().take(LISTED_MAX) {
            let _ = writeln!(text, "{} stands before it since then", shown(path));
        }
        if self.end.rank != bad.rank {
            let _ = writeln!(
                text,
                "It is {} today: a later commit moved it again, and --from {} looks for that one.",
                rank(&self.end),
                shown(&line.id)
            );
        }
        text.push('\n');
        for change in own.iter().chain(others.iter().take(LISTED_MAX)) {
            show::write_change(text, change);
        }
        if others.len() > LISTED_MAX {
            let _ = writeln!(text, "… and {} more", others.len() - LISTED_MAX);
        }
        Ok(json!({
            "commit": line.id,
            "is_iteration": iteration_of(&line.id).is_some(),
            "at": line.at,
            "why": line.why,
            "rank_before": good.rank,
            "rank_after": bad.rank,
            "moved_again_later": self.end.rank != bad.rank,
            "outranked_by": ahead,
            "instead": bad.instead.as_ref().map(|(path, at)| json!({ "path": path, "rank": at })),
            "change": own.first().map(|change| show::as_json(change)),
            "other_changes": others.iter().map(|change| show::as_json(change)).collect::<Vec<_>>(),
        }))
    }

    /// Whether somebody changed the entry by hand, so that a look may not have seen it as it was.
    fn doubt(&self) -> Result<Option<String>, Failure> {
        self.asked.state(self.start.count)?.doubt_of(self.asked.door, self.want)
    }

    fn json(&self, look: &Look) -> Value {
        json!({ "after": self.asked.name(look.count), "rank": look.rank })
    }
}

fn rank(look: &Look) -> String {
    match look.rank {
        Some(rank) => format!("answer {rank}"),
        None if look.is_there => format!("not among the first {DEPTH}"),
        None => "gone".to_owned(),
    }
}
