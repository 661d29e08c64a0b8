//! What is asked of a learning that wants to be promoted, one thing after the other.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::time::Duration;

use ao_contract::format_duration;
use jiff::Span;
use jiff::civil::Date;

use crate::check::{Bound, Check, Side};
use crate::corpus::Entry;
use crate::promote::{Told, text_hash};
use crate::secrets::looks_secret;
use crate::signals::{self, Judgement, PROMOTE_AT};
use crate::trust::{self, Judged};

const HOURS_A_DAY: u64 = 24;
/// The day on which a pending learning was brought in. Its age counts from there: what
/// is told of an old session is new to whoever looks after the corpus.
pub(crate) const TAKEN_ON: &str = "taken_on";
/// The check that does not hold for a text that the corpus has already.
pub(crate) const NEW: &str = "new";
const VOUCHED: &str = "a person vouched for it";

/// A learning that wants to be promoted. What is dear to find out is found out when it is asked for.
pub(crate) struct Wanting<'a> {
    entry: &'a Entry,
    texts: &'a HashMap<String, Option<String>>,
    told: Told<'a>,
    hash: OnceCell<Option<String>>,
    pub(crate) judged: OnceCell<Judgement>,
    trusted: OnceCell<Judged>,
}

impl<'a> Wanting<'a> {
    pub(crate) fn new(
        entry: &'a Entry,
        texts: &'a HashMap<String, Option<String>>,
        told: Told<'a>,
    ) -> Self {
        let (hash, judged, trusted) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Self { entry, texts, told, hash, judged, trusted }
    }

    pub(crate) fn hash(&self) -> Option<&str> {
        self.hash.get_or_init(|| text_hash(&self.entry.document)).as_deref()
    }

    /// Where the same words are already, if they are; the inner `None` for a place that is not known.
    pub(crate) fn known(&self) -> Option<&Option<String>> {
        self.texts.get(self.hash()?)
    }

    fn judged(&self) -> &Judgement {
        self.judged.get_or_init(|| signals::judge(&self.entry.document))
    }

    pub(crate) fn trusted(&self) -> &Judged {
        self.trusted.get_or_init(|| trust::judge(self.entry, self.told.trust))
    }
}

/// In this order: what does not hold first is why a learning stays.
pub(crate) const ASKED: [fn(&Wanting<'_>) -> Check; 13] = [
    certain, unpinned, free, in_place, full, new, harmless, clean, own, trusted, claim, score, age,
];

fn certain(wanting: &Wanting<'_>) -> Check {
    let doubt = wanting.entry.document.doubt();
    let why = doubt.map(|doubt| format!("it is left as it is: {doubt}"));
    Check::plain("header", "it can be read beyond doubt", why, "it can")
}

fn unpinned(wanting: &Wanting<'_>) -> Check {
    let why = wanting.entry.document.is_pinned().then(|| "it is pinned".to_owned());
    Check::plain("pinned", "no", why, "no")
}

fn free(wanting: &Wanting<'_>) -> Check {
    let is_held = wanting.told.except.contains(&wanting.entry.path);
    let why = is_held.then(|| "it cannot be changed now".to_owned());
    Check::plain("door", "the file can be changed", why, "it can")
}

fn in_place(wanting: &Wanting<'_>) -> Check {
    let why = || "its header says that another entry took its place".to_owned();
    let why = wanting.entry.document.is_hidden().then(why);
    Check::plain("replaced", "no", why, "no")
}

fn full(wanting: &Wanting<'_>) -> Check {
    let why = wanting.hash().is_none().then(|| "it is empty".to_owned());
    Check::plain("text", "it has one", why, "it has one")
}

fn new(wanting: &Wanting<'_>) -> Check {
    let why = wanting.known().map(|to| match to {
        Some(to) => format!("{to} says the same, word for word"),
        None => "it was processed before".to_owned(),
    });
    Check::plain(NEW, "no entry has this text", why, "none has")
}

fn harmless(wanting: &Wanting<'_>) -> Check {
    let what = looks_secret(&String::from_utf8_lossy(wanting.entry.document.bytes()));
    let why = what.map(|what| format!("it seems to hold {what}; take that out first"));
    Check::plain("secret", "none", why, "none")
}

fn clean(wanting: &Wanting<'_>) -> Check {
    let judged = wanting.trusted();
    let why = || {
        let signs = trust::told(&judged.signs);
        format!("it waits for a person: it has signs of poison: {signs}")
    };
    let why = (!judged.signs.is_empty() && !judged.is_vouched).then(why);
    let found = if judged.signs.is_empty() { "none" } else { VOUCHED };
    Check::plain("poison", "no sign, or a person's word", why, found)
}

/// What was said elsewhere, or in a session, is knowledge of this repository when a person says so.
fn own(wanting: &Wanting<'_>) -> Check {
    const NEEDED: &str = "this repository, or a person's word";
    if let Some(check) = by_a_person(wanting, "origin", NEEDED) {
        return check;
    }
    let brought = wanting.trusted().brought.map(trust::Brought::name);
    let why = brought.map(|from| format!("it waits for a person: it comes from {from}"));
    Check::plain("origin", NEEDED, why, "this repository")
}

/// Trust has no scale on which a distance could be told.
fn trusted(wanting: &Wanting<'_>) -> Check {
    let judged = wanting.trusted();
    let at_least = wanting.told.trust.promote_at;
    let why = || {
        let (trust, by) = (judged.trust, judged.why.join("; "));
        format!("it waits for a person: its trust is {trust}, and {at_least} is needed: {by}")
    };
    let why = (judged.trust < at_least).then(why);
    Check::plain("trust", &format!("at least {at_least}"), why, judged.trust.name())
}

/// Whoever vouches for a text has judged it.
fn by_a_person(wanting: &Wanting<'_>, name: &'static str, needed: &str) -> Option<Check> {
    wanting.trusted().is_vouched.then(|| Check::plain(name, needed, None, VOUCHED))
}

fn claim(wanting: &Wanting<'_>) -> Check {
    const NEEDED: &str = "one concrete sentence";
    if let Some(check) = by_a_person(wanting, "claim", NEEDED) {
        return check;
    }
    let why = || {
        "it has no concrete claim: no sentence names a number, command, path or symbol, or gives a \
         rule with its reason"
            .to_owned()
    };
    let why = (!wanting.judged().has_claim).then(why);
    Check::plain("claim", NEEDED, why, "it has one")
}

fn score(wanting: &Wanting<'_>) -> Check {
    if let Some(check) = by_a_person(wanting, "score", "any") {
        return check;
    }
    let score = wanting.judged().score;
    let why = format!("it scored {score}, and {PROMOTE_AT} is needed");
    Check::of(&signals::needed(score), why)
}

/// The day that the age of a pending learning is counted from, if it is known.
fn waits_from(entry: &Entry) -> Option<Date> {
    let date = entry.date()?;
    Some(entry.document.day(TAKEN_ON).map_or(date, |taken| taken.max(date)))
}

/// The first day on which a pending learning is old enough, if its age counts and is known.
pub(crate) fn old_enough_on(entry: &Entry, min_age: Duration) -> Option<Date> {
    let day = Duration::from_hours(HOURS_A_DAY).as_nanos();
    let days = i64::try_from(min_age.as_nanos().div_ceil(day)).ok().filter(|days| *days > 0)?;
    waits_from(entry)?.checked_add(Span::new().try_days(days).ok()?).ok()
}

/// Days are all that dates say, so a day is 24 hours.
fn age(wanting: &Wanting<'_>) -> Check {
    let Told { day, min_age, .. } = wanting.told;
    if let Some(check) = by_a_person(wanting, "age", "any") {
        return check;
    }
    if min_age.is_zero() {
        return Check::plain("age", "any", None, "not asked");
    }
    let needed = format_duration(min_age);
    let Some(date) = waits_from(wanting.entry) else {
        let why = format!("it has no date, and it must be {needed} old; give it a `date:`");
        return Check::plain("age", &needed, Some(why), "");
    };
    let days = u64::try_from(day.since(date).map_or(0, |span| span.get_days())).unwrap_or(0);
    let age = Duration::from_hours(days.saturating_mul(HOURS_A_DAY));
    let have = format_duration(age);
    let in_days =
        |time: Duration| time.as_secs_f64() / Duration::from_hours(HOURS_A_DAY).as_secs_f64();
    let bound = Bound {
        name: "age in days",
        value: in_days(age),
        side: Side::AtLeast,
        bound: in_days(min_age),
    };
    Check::of(&bound, format!("it is {have} old, and {needed} is needed"))
}
