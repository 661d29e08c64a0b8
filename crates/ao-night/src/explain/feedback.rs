//! What was said about an entry, and what it would take to move it further.

use ao_contract::Maturity;
use ao_corpus::reward::{APPLIED, BYPASS, Standing, Verdict};
use ao_corpus::{Check, Kind};
use serde_json::json;

use super::{Alteration, Checked, Flip, Rule, Ruling, Scene, Thought};

/// So many more judgements are tried.
const TRIED_MAX: usize = 60;

pub(super) fn ruling(scene: &Scene, thought: &Thought, path: &str) -> Option<Ruling> {
    let entry = scene.entry(path)?;
    if !matches!(entry.kind, Kind::Learning | Kind::Pattern) {
        return None;
    }
    let judged = thought.closing.feedback.iter().find(|one| one.path == path);
    let mut ruling = Ruling::new(Rule::Feedback, "left");
    let mut standing = Standing::of(&entry.document);
    match judged {
        Some(one) => {
            let after = one.maturity_after.or(standing.maturity);
            ruling.acts = true;
            ruling.verdict = format!(
                "utility {} became {}, {}",
                one.utility_before.get(),
                one.utility_after.get(),
                name(after)
            );
            ruling.why = format!("{} judged it", one.rewards);
            standing = Standing {
                utility: one.utility_after.get(),
                rewards: standing.rewards + one.rewards,
                helpful: standing.helpful + one.helpful,
                harmful: standing.harmful + one.harmful,
                maturity: after,
            };
        }
        None if entry.document.is_pinned() => ruling.why = "it is pinned: judgements wait".into(),
        None => ruling.why = format!("nobody judged it since; it is {}", name(standing.maturity)),
    }
    let now = standing.maturity.unwrap_or(Maturity::Provisional);
    for step in standing.steps(now).iter().flatten() {
        for bound in step.asked() {
            let mut check = Check::from(bound);
            check.needed = format!("{} for {}", check.needed, name(Some(step.to)));
            ruling.checks.push(check);
        }
    }
    if entry.document.is_pinned() {
        ruling.no_flip = Some("while it is pinned, no judgement moves it".into());
        return Some(ruling);
    }
    for (reward, what) in [(APPLIED, "citations as `applied`"), (BYPASS, "citations as `bypass`")] {
        ruling.flips.extend(more(standing, reward, what));
    }
    if ruling.flips.is_empty() {
        ruling.no_flip = Some(format!("{TRIED_MAX} more judgements of one kind do not move it"));
    }
    Some(ruling)
}

/// How many more judgements of one kind make it something else.
fn more(mut standing: Standing, reward: f64, what: &str) -> Option<Flip> {
    let now = standing.maturity.unwrap_or(Maturity::Provisional);
    let found = standing;
    for count in 1..=TRIED_MAX {
        standing.take(reward, Verdict::of(reward));
        let then = standing.maturity.unwrap_or(Maturity::Provisional);
        if then != now {
            let signal = format!("{count} more {what}, utility");
            let change = Alteration::value(&signal, &standing.utility, &found.utility);
            let verdict = name(Some(then));
            return Some(Flip { changes: vec![change], verdict, checked: Checked::Rule });
        }
    }
    None
}

fn name(maturity: Option<Maturity>) -> String {
    let word = json!(maturity.unwrap_or(Maturity::Provisional));
    word.as_str().unwrap_or_default().to_owned()
}
