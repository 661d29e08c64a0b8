//! What is known of the entry, for people and as JSON.

use std::fmt::Write as _;

use ao_corpus::Check;
use ao_night::explain::{Alteration, Checked, Explained, Flip, Neighbour, Ruling, Scene};
use ao_tree::shown;
use serde_json::{Value, json};

use super::super::show;
use super::subject::{Event, Subject};
use crate::printer::{BAD, DOUBT, FAINT, GOOD, STRONG, paint};

pub(super) struct Answer<'a> {
    pub(super) asked: &'a str,
    pub(super) subject: &'a Subject,
    pub(super) iteration: Option<&'a str>,
    pub(super) event: Option<&'a Event>,
    pub(super) scene: &'a Scene,
    /// The entry that the rules were asked about.
    pub(super) path: Option<&'a str>,
    pub(super) explained: Option<&'a Explained>,
    /// Whether the record says the same.
    pub(super) agrees: Option<Result<(), String>>,
    /// What is not known of the entry as it was.
    pub(super) doubt: Option<String>,
}

impl Answer<'_> {
    pub(super) fn json(&self) -> Value {
        let happened = self.subject.events.iter().map(|event| {
            let mut fields = event.night.json();
            fields["change"] = show::as_json(&event.change);
            fields
        });
        let rulings = self.explained.map_or(&[][..], |explained| &explained.rulings);
        json!({
            "asked": self.asked,
            "path": self.subject.path,
            "is_there": self.subject.is_there,
            "happened": happened.collect::<Vec<_>>(),
            "lineage": { "from": self.subject.from, "into": self.subject.into },
            "decided_by": self.iteration,
            "rules_asked_about": self.path,
            "agrees_with_record": self.agrees.as_ref().map(Result::is_ok),
            "disagreement": self.agrees.as_ref().and_then(|agrees| agrees.as_ref().err()),
            "doubt": self.doubt,
            "refused": self.explained.and_then(|explained| explained.refused.clone()),
            "rules": rulings.iter().map(|ruling| self.ruling(ruling)).collect::<Vec<_>>(),
        })
    }

    fn ruling(&self, ruling: &Ruling) -> Value {
        let rank = |(name, ours, theirs): &(&str, String, String)| json!({ "name": name, "ours": ours, "theirs": theirs });
        let beside = |other: &Neighbour| {
            json!({
                "path": other.path,
                "signals": other.checks.iter().map(check).collect::<Vec<_>>(),
                "rank": other.rank.iter().map(rank).collect::<Vec<_>>(),
            })
        };
        json!({
            "rule": ruling.rule.name(),
            "verdict": ruling.verdict,
            "acts": ruling.acts,
            "why": ruling.why,
            "signals": ruling.checks.iter().map(check).collect::<Vec<_>>(),
            "amounts": ruling.signals,
            "beside": ruling.beside.iter().map(beside).collect::<Vec<_>>(),
            "certificate": ruling.certificate,
            "flips": ruling.flips.iter().map(|flip| self.flip(flip)).collect::<Vec<_>>(),
            "no_flip": ruling.no_flip,
        })
    }

    fn flip(&self, flip: &Flip) -> Value {
        let change = |change: &Alteration| {
            let mut fields = match change {
                Alteration::Set { path, key, value } => {
                    json!({ "path": path, "set": { key: value } })
                }
                Alteration::Remove { path, key } => json!({ "path": path, "remove": key }),
                Alteration::Replace { path, old, new } => {
                    json!({ "path": path, "replace": old, "with": new })
                }
                Alteration::Append { path, text, .. } => json!({ "path": path, "append": text }),
                Alteration::Value { name, value, found } => {
                    json!({ "signal": name, "value": value, "instead_of": found })
                }
            };
            fields["told"] = self.told(change).into();
            fields
        };
        json!({
            "changes": flip.changes.iter().map(change).collect::<Vec<_>>(),
            "verdict": flip.verdict,
            "checked_by": match flip.checked { Checked::Night => "night", Checked::Rule => "rule" },
        })
    }

    fn told(&self, change: &Alteration) -> String {
        let entry = change.path().and_then(|path| self.scene.entry(path));
        let was = match change {
            Alteration::Set { key, .. } => entry.and_then(|entry| entry.document.field(key)),
            _ => None,
        };
        let told = change.told(was.as_deref());
        match change.path().filter(|path| Some(*path) != self.path) {
            Some(path) => format!("{told} in {path}"),
            None => told,
        }
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let there = if self.subject.is_there { "" } else { "  (no longer in the tree)" };
        let path = paint(STRONG, &shown(&self.subject.path));
        let _ = writeln!(text, "{path}{}", paint(FAINT, there));
        for event in &self.subject.events {
            Self::event(&mut text, event);
        }
        if self.subject.events.is_empty() {
            let _ = writeln!(text, "No night has changed it.");
        }
        self.lineage(&mut text);
        text.push('\n');
        self.decided(&mut text);
        for ruling in self.explained.iter().flat_map(|explained| &explained.rulings) {
            self.write_ruling(&mut text, ruling);
        }
        text
    }

    fn event(text: &mut String, event: &Event) {
        let line = &event.night.line;
        let back = event.night.taken_back_by.as_ref();
        let back = back.map_or_else(String::new, |by| format!("  taken back by {}", shown(by)));
        let id = shown(&line.id);
        let _ = writeln!(text, "{id}  {}{}", paint(FAINT, &shown(&line.at)), paint(DOUBT, &back));
        let mut change = String::new();
        show::write_change(&mut change, &event.change);
        for line in change.lines() {
            let _ = writeln!(text, "  {line}");
        }
    }

    fn lineage(&self, text: &mut String) {
        let join = |names: &[String]| shown(&names.join(", "));
        if !self.subject.from.is_empty() {
            let _ = writeln!(text, "lineage: made of {}", join(&self.subject.from));
        }
        if !self.subject.into.is_empty() {
            let chain = shown(&self.subject.into.join(" → "));
            let _ = writeln!(text, "lineage: {} → {chain}", shown(&self.subject.path));
        }
    }

    fn decided(&self, text: &mut String) {
        let what = match self.iteration {
            Some(id) => format!("What {} decided, over the corpus that it read", shown(id)),
            None => "What a night would decide, over the tree as it is".to_owned(),
        };
        let _ = match self.path {
            Some(path) if path != self.subject.path => {
                writeln!(text, "{what}, about {}:", shown(path))
            }
            Some(_) => writeln!(text, "{what}:"),
            None => writeln!(text, "{what}: the entry was not there; it came with this iteration."),
        };
        match &self.agrees {
            Some(Ok(())) => {
                let same = if self.event.is_some() {
                    "the record says the same"
                } else {
                    "it left it alone, as the rules do"
                };
                let _ = writeln!(text, "{}", paint(FAINT, same));
            }
            Some(Err(why)) => {
                let _ = writeln!(text, "{} {}", paint(BAD, "They do not agree:"), shown(why));
                let _ = writeln!(text, "Somebody changed files in between, or another ao decided.");
            }
            None => {}
        }
        if let Some(doubt) = &self.doubt {
            let _ = writeln!(text, "{} {}", paint(DOUBT, "note:"), shown(doubt));
        }
        if let Some(why) = self.explained.and_then(|explained| explained.refused.as_ref()) {
            let _ = writeln!(
                text,
                "{} the door would not let it change: {}",
                paint(DOUBT, "note:"),
                shown(why)
            );
        }
    }

    fn write_ruling(&self, text: &mut String, ruling: &Ruling) {
        let name = paint(STRONG, &format!("{:<10}", ruling.rule.name()));
        let _ = writeln!(text, "\n{name} {}: {}", shown(&ruling.verdict), shown(&ruling.why));
        write_checks(text, &ruling.checks, "  ");
        for signal in &ruling.signals {
            let (amount, seen) = (signal.amount.get(), shown(&signal.seen));
            let _ = writeln!(text, "      {amount:+.2} {:<12} {seen}", shown(&signal.name));
        }
        for other in &ruling.beside {
            let _ = writeln!(text, "  beside {}", shown(&other.path));
            write_checks(text, &other.checks, "    ");
            let decides = other.rank.iter().find(|(_, ours, theirs)| ours != theirs);
            let is_copy = other.checks.iter().all(|check| check.holds);
            if let Some((name, ours, theirs)) = decides.filter(|_| is_copy) {
                let (ours, theirs) = (shown(ours), shown(theirs));
                let _ =
                    writeln!(text, "    which of them stays: by {name}, {ours} against {theirs}");
            }
        }
        if let Some(certificate) = &ruling.certificate {
            let _ = writeln!(text, "  {}", shown(&show::told(certificate)));
        }
        for flip in &ruling.flips {
            let changes: Vec<String> =
                flip.changes.iter().map(|one| shown(&self.told(one))).collect();
            let _ = writeln!(
                text,
                "  {} {}  → {}",
                paint(GOOD, "would turn it:"),
                changes.join(" and "),
                shown(&flip.verdict)
            );
        }
        if let Some(why) = &ruling.no_flip {
            let _ = writeln!(text, "  {} {}", paint(FAINT, "would turn it:"), shown(why));
        }
    }
}

fn check(check: &Check) -> Value {
    json!({
        "name": check.name,
        "value": check.found,
        "threshold": check.needed,
        "margin": check.margin,
        "holds": check.holds,
    })
}

fn write_checks(text: &mut String, checks: &[Check], indent: &str) {
    for check in checks {
        let mark = if check.holds { paint(GOOD, "yes") } else { paint(BAD, "no ") };
        let margin = check.margin.map_or_else(String::new, |margin| format!(" ({margin:+})"));
        let _ = writeln!(
            text,
            "{indent}{mark} {:<18} {}; needed: {}{margin}",
            check.name,
            shown(&check.found),
            shown(&check.needed)
        );
    }
}
