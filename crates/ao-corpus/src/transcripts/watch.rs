//! Follows a session turn by turn, and says what can be learned from it.
//!
//! What it remembers is little, and is kept with what was read of the file: so a session that goes on is
//! followed from where it was left, and gives the same lessons as if it had been read at once.

use ao_contract::{Extra, Lesson, LessonKind, Maker, Trust};
use serde::{Deserialize, Serialize};

use super::LESSONS_A_FILE_MAX;
use super::calls::Calls;
use super::others::without_others;
use super::own_words::own_words;
use super::rules::failures::Failures;
use super::rules::{Before, Said, asks_for_a_choice, correction, decision};
use super::sentence::{cut, sentences};
use super::turn::{Event, Turn};
use crate::language::Language;

/// Of a turn that is longer not all is remembered, and so nothing.
const REMEMBERED_BYTES_MAX: usize = 2000;
const CONTEXT_CHARS_MAX: usize = 200;
/// What an agent says or runs at greater length is neither looked through nor remembered: every answer to
/// it would be held against all of it.
const AGENT_BYTES_MAX: usize = 32 * 1024;
/// Without one of these an agent tells of no decision.
const DECIDING: [&str; 8] =
    ["ecide", "ecision", "chose", "opted", "picked", "settled", "go with", "going with"];
/// Names of sessions are UUIDs, or not much longer.
const SESSION_BYTES_MAX: usize = 64;
/// A claim with fewer letters says nothing.
const CLAIM_CHARS_MIN: usize = 12;

/// Which file it is, and what must not come out of it.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) maker: Maker,
    /// The file, as a person would find it.
    pub(super) file: &'a str,
    /// The day that counts where the transcript does not say.
    pub(super) day: Option<&'a str>,
    pub(super) is_secret: &'a (dyn Fn(&str) -> bool + Sync),
}

/// What is remembered of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Watch {
    pub(super) session: Option<String>,
    /// Whether the session has gone to another folder than this repository's.
    pub(super) is_away: bool,
    /// Whether the program itself said where the session is.
    pub(super) has_meta: bool,
    /// Whether an agent speaks in a person's place.
    pub(super) is_aside: bool,
    /// Tools that were called last.
    #[serde(default)]
    pub(super) calls: Calls,
    has_agent: bool,
    /// Whether the person had asked what should be.
    had_asked: bool,
    /// What the person said last.
    asked: Option<String>,
    /// What the agent said last, and ran last.
    said: Option<String>,
    ran: Option<String>,
    failures: Failures,
}

/// What a file gave so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Lessons {
    pub(super) all: Vec<Lesson>,
    /// How many were dropped, because they seemed to hold a secret.
    pub(super) secret: u64,
    /// How many were not kept, because the file had given so many.
    #[serde(default)]
    pub(super) more: u64,
}

impl Watch {
    /// As it can be written down.
    pub(super) fn without(&self, is_secret: &dyn Fn(&str) -> bool) -> Self {
        let fit = |text: &Option<String>| text.clone().filter(|text| !is_secret(text));
        Self {
            session: self.session.clone(),
            is_away: self.is_away,
            has_meta: self.has_meta,
            is_aside: self.is_aside,
            calls: self.calls.clone(),
            has_agent: self.has_agent,
            had_asked: self.had_asked,
            asked: fit(&self.asked),
            said: fit(&self.said),
            ran: fit(&self.ran),
            failures: self.failures.without(is_secret),
        }
    }

    /// Takes over the session's name. Any program can write one: what may be a secret is left out, and what
    /// looks like no name is told by its hash.
    pub(super) fn name(&mut self, session: Option<String>, is_secret: &dyn Fn(&str) -> bool) {
        if session == self.session {
            return;
        }
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        self.session = session.filter(|name| !is_secret(name)).map(|name| {
            let is_name =
                (1..=SESSION_BYTES_MAX).contains(&name.len()) && name.chars().all(is_part);
            if is_name { name } else { blake3::hash(name.as_bytes()).to_hex()[..16].to_owned() }
        });
    }

    pub(super) fn waits_for(&self, id: &str) -> bool {
        self.failures.waits_for(id)
    }

    pub(super) fn see(&mut self, turn: Turn, scene: Scene<'_>, lessons: &mut Lessons) {
        let Turn { line, at, event } = turn;
        let place = Place { line, at: at.as_deref(), scene };
        match event {
            Event::Person(_) | Event::Refusal(_) if self.is_aside => {}
            Event::Person(text) => self.hear(&text, false, place, lessons),
            Event::Refusal(text) => self.hear(&text, true, place, lessons),
            Event::Agent(text) => self.agent(text, place, lessons),
            Event::Command { id, text } => {
                self.failures.begun(&id, &text);
                self.has_agent = true;
                self.ran = Some(text).filter(|text| text.len() <= AGENT_BYTES_MAX);
                self.said = None;
            }
            Event::Edit(path) => {
                self.has_agent = true;
                self.failures.edited(&path);
            }
            Event::Outcome { id, result } => {
                if let Some((kind, said)) = self.failures.ended(&id, &result, scene.is_secret) {
                    self.learn(kind, Trust::Tool, &said, place, lessons);
                }
            }
        }
    }

    fn hear(&mut self, text: &str, is_refusal: bool, place: Place<'_>, lessons: &mut Lessons) {
        let Some(own) = own_words(text) else { return };
        let own = without_others(&own);
        if own.is_empty() {
            return;
        }
        // Of something that holds a secret not even a part is looked at.
        let told = sentences(own);
        let asked = self.said.as_deref().is_some_and(|said| said.trim_end().ends_with('?'));
        let before = Before {
            has_agent: self.has_agent,
            person: self.asked.as_deref(),
            agent: self.said.as_deref().or(self.ran.as_deref()),
            was_asked: asked,
            had_asked: self.had_asked,
            is_refusal,
        };
        // "No" is a small word of other languages, too: of what is not in English nothing is learned.
        let is_other = Language::of(own) == Language::Other;
        let is_own = |said: &Said| !is_other && !self.has_said(said);
        let correction = correction::find(&told, before).filter(is_own);
        let decision = decision::find(&told, before).filter(is_own);
        let had_asked = asks_for_a_choice(&told);
        let is_same = match (&correction, &decision) {
            (Some(one), Some(other)) => {
                one.claim.contains(&other.title) || other.claim.contains(&one.title)
            }
            _ => false,
        };
        // What was asked for is decided; what was not, is corrected.
        let found = match (correction, decision) {
            (Some(_), decision @ Some(_)) if is_same && asked => (None, decision),
            (correction @ Some(_), Some(_)) if is_same => (correction, None),
            both => both,
        };
        if found.0.is_some() || found.1.is_some() {
            if (place.scene.is_secret)(text) {
                lessons.secret += 1;
            } else {
                let both = [(LessonKind::Correction, found.0), (LessonKind::Decision, found.1)];
                for (kind, said) in both {
                    let Some(said) = said else { continue };
                    self.learn(kind, Trust::User, &said, place, lessons);
                }
            }
        }
        self.had_asked = had_asked;
        let is_short = own.len() <= REMEMBERED_BYTES_MAX;
        self.asked = is_short.then(|| own.to_owned());
    }

    /// Whether the agent said so before, word for word: then somebody hands its words back to it.
    fn has_said(&self, said: &Said) -> bool {
        let plain = |text: &str| {
            let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
        };
        let agent = [&self.said, &self.ran].into_iter().flatten();
        let claim = plain(&said.claim);
        claim.contains(' ') && agent.into_iter().any(|text| plain(text).contains(&claim))
    }

    fn agent(&mut self, text: String, place: Place<'_>, lessons: &mut Lessons) {
        self.has_agent = true;
        if text.trim().is_empty() {
            return;
        }
        if text.len() > AGENT_BYTES_MAX {
            (self.said, self.ran) = (None, None);
            return;
        }
        // Most of what agents say decides nothing, and need not be cut into sentences.
        let may_decide = DECIDING.iter().any(|word| text.contains(word));
        if may_decide {
            let own = own_words(&text).unwrap_or_default();
            if let Some(said) = decision::of_agent(&sentences(&own)) {
                if (place.scene.is_secret)(&text) {
                    lessons.secret += 1;
                } else {
                    self.learn(LessonKind::Decision, Trust::Model, &said, place, lessons);
                }
            }
        }
        self.said = Some(text);
    }

    fn learn(
        &self,
        kind: LessonKind,
        trust: Trust,
        said: &Said,
        place: Place<'_>,
        lessons: &mut Lessons,
    ) {
        let context = self.context(kind, place.scene.is_secret);
        add(kind, trust, said, context, self.session.clone(), place, lessons);
    }

    /// What the agent did or said before.
    fn context(&self, kind: LessonKind, is_secret: &dyn Fn(&str) -> bool) -> Option<String> {
        if kind == LessonKind::Command {
            return None;
        }
        // Before anything is cut off: what is left of a secret is not found any more.
        let fit = |text: &&String| !is_secret(text);
        if let Some(said) = self.said.as_ref().filter(fit) {
            let line = said.lines().map(str::trim).rfind(|line| !line.is_empty())?;
            return Some(format!("The agent had said: \u{201c}{}\u{201d}", quiet(line)));
        }
        let ran = self.ran.as_ref().filter(fit)?;
        let line = ran.lines().next()?.replace('`', "'");
        Some(format!("The agent had run `{}`.", quiet(&line)))
    }
}

/// Where something was said.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) line: u64,
    pub(super) at: Option<&'a str>,
    pub(super) scene: Scene<'a>,
}

/// Adds a lesson, unless the file gave it before, or it seems to hold a secret.
pub(super) fn add(
    kind: LessonKind,
    trust: Trust,
    said: &Said,
    context: Option<String>,
    session: Option<String>,
    place: Place<'_>,
    lessons: &mut Lessons,
) {
    let claim = quiet_text(&said.claim);
    let title = quiet(&said.title);
    if claim.chars().count() < CLAIM_CHARS_MIN {
        return;
    }
    let is_secret = place.scene.is_secret;
    if is_secret(&claim) || is_secret(&title) {
        lessons.secret += 1;
        return;
    }
    // The same answer to another question is another lesson.
    let question =
        said.question.as_deref().map(|asked| format!(" (It was asked: \u{201c}{asked}\u{201d})"));
    let key = key(kind, &quiet_text(&(claim.clone() + question.as_deref().unwrap_or_default())));
    if lessons.all.iter().any(|known| known.key == key) {
        return;
    }
    if lessons.all.len() >= LESSONS_A_FILE_MAX {
        lessons.more += 1;
        return;
    }
    let date = place.at.and_then(crate::document::day).map(|day| day.to_string());
    lessons.all.push(Lesson {
        key,
        kind,
        trust,
        maker: place.scene.maker,
        title,
        claim,
        context,
        date: date.or_else(|| place.scene.day.map(str::to_owned)),
        session,
        file: place.scene.file.to_owned(),
        line: place.line,
        extra: Extra::new(),
    });
}

fn key(kind: LessonKind, claim: &str) -> String {
    let words: Vec<String> = claim.split_whitespace().map(str::to_lowercase).collect();
    let text = format!("{}\n{}", kind.name(), words.join(" "));
    blake3::hash(text.as_bytes()).to_hex()[..32].to_owned()
}

/// On one line, with nothing that would act on a terminal.
fn quiet(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    cut(line.trim(), CONTEXT_CHARS_MAX)
}

fn quiet_text(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect::<String>().trim().to_owned()
}
