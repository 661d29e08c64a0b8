//! What was asked before: how much of it has an answer, before the run and after it.
//!
//! It is told and decides nothing. So it is no step, and where it cannot be told the run is none the worse.

use std::collections::BTreeMap;

use ao_contract::{Extra, PastQuestions, SettledQuestion};
use ao_corpus::Logs;
use ao_corpus::questions::Asked;

use super::Run;
use crate::iteration::{Work, past};

impl Run<'_> {
    /// Puts it into the summary, once the corpus is as it will be. A dry run leaves the corpus as it is, and
    /// tells nothing.
    pub(super) fn tell_questions(&mut self) {
        if self.is_dry() {
            return;
        }
        self.summary.questions =
            if self.kept.is_some() { self.asked_of_settled() } else { self.asked_of_measured() };
    }

    fn asked_of_measured(&self) -> Option<PastQuestions> {
        let past = &self.work.baseline.get()?.past;
        let after = self.last.as_ref()?.answered.as_ref()?;
        let before = self.answered_before.as_ref().unwrap_or(after);
        told(past, before, after)
    }

    /// Of a corpus that is as an earlier run found it, only what was not asked then is asked.
    fn asked_of_settled(&mut self) -> Option<PastQuestions> {
        let known = self.kept.as_ref()?.questions.clone().unwrap_or_default();
        let limits = self.limits.clone();
        let found = self.think(&limits, move |work| answered(work, &known));
        // A halt is met by the next step.
        let (past, now) = match found.ok()? {
            Ok(found) => found,
            Err(why) => {
                self.log(&format!("past questions could not be asked: {why}"));
                return None;
            }
        };
        told(&past, &now, &now)
    }

    /// What the next run need not ask.
    pub(super) fn settled_questions(&self) -> Option<Vec<SettledQuestion>> {
        let past = &self.work.baseline.get()?.past;
        let answered = self.last.as_ref()?.answered.as_ref()?;
        let one = |(question, answered): (&str, &bool)| SettledQuestion {
            question: question.to_owned(),
            answered: *answered,
        };
        Some(past.texts().zip(answered).map(one).collect())
    }
}

fn answered(work: &Work, known: &[SettledQuestion]) -> Result<(Asked, Vec<bool>), String> {
    let log = Logs::citation_log(&work.agents).unwrap_or_default();
    let past = past(work, &log.text);
    let known: BTreeMap<&str, bool> =
        known.iter().map(|one| (one.question.as_str(), one.answered)).collect();
    let new: Vec<String> =
        past.texts().filter(|text| !known.contains_key(text)).map(str::to_owned).collect();
    let found =
        if new.is_empty() { Vec::new() } else { past.only(&new).answered_now(&work.agents)? };
    let found: BTreeMap<&str, bool> = new.iter().map(String::as_str).zip(found).collect();
    let now = past.texts().map(|text| known.get(text).or_else(|| found.get(text)) == Some(&true));
    let now = now.collect();
    Ok((past, now))
}

/// `None` if nothing was asked.
fn told(past: &Asked, before: &[bool], after: &[bool]) -> Option<PastQuestions> {
    if past.is_empty() || before.len() != after.len() {
        return None;
    }
    let count = |answered: &[bool]| answered.iter().filter(|one| **one).count() as u64;
    let moved = |is_now: bool| {
        let all = past.texts().zip(before.iter().zip(after));
        let moved = all.filter(|(_, (before, after))| before != after && **after == is_now);
        moved.map(|(text, _)| text.to_owned()).collect()
    };
    Some(PastQuestions {
        asked: after.len() as u64,
        answered_before: count(before),
        answered_after: count(after),
        gained: moved(true),
        lost: moved(false),
        judged: Some(past.judged() as u64),
        extra: Extra::new(),
    })
}
