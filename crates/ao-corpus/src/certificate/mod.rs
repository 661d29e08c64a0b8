//! The proof that a merge or a prune loses nothing that could be found.
//!
//! Questions are made of the text that goes, and asked with the ranking of `ao search`: of the corpus
//! as it is, and of the corpus as it would be. Each that finds the entry among its first ten must
//! find the successor among them afterwards. One that does not, or too few questions that count, and
//! the change is not made.

mod probes;

use ao_contract::{Basis, Certificate, CertificateVerdict, Extra, Probe, SchemaVersion};

pub use probes::{CANDIDATES_MAX, PROBES_MIN};

use crate::check::{Bound, Check, Side, first_refusal};
use crate::corpus::Entry;
use crate::index::{Broken, Question};
use crate::search::{Place, Places};

/// Fewer probes that count prove nothing.
pub const COUNTED_MIN: usize = 4;
/// Who is not among the first so many is not found.
pub const FOUND_WITHIN: usize = 10;
/// Where no copies are known, as many entries may come before as a copy would.
const PAIR: u32 = 2;
/// Stands before a certificate among the sources of a change.
pub const SOURCE_PREFIX: &str = "certificate:";

/// Asks about an entry that goes, of the corpus as it is. A question that finds an entry behind no
/// more than its own copies asks for it; one that finds it later asks for something that many entries
/// are about. `copies` is how many there are, the entry among them.
pub fn ask_before(
    places: &Places<'_>,
    entry: &Entry,
    successor: Option<&Entry>,
    copies: u32,
) -> Result<Certificate, Broken> {
    let titled: Vec<&Entry> = successor.into_iter().collect();
    let mut asked: Vec<Probe> = Vec::new();
    // What asks for many entries is asked last, and only for want of better.
    let mut vague: Vec<Probe> = Vec::new();
    for (kind, query) in probes::probes(entry, &titled, places.index)? {
        if asked.iter().filter(|probe| probe.before.is_some_and(|at| at <= copies)).count()
            >= PROBES_MIN
        {
            break;
        }
        let place = places.quick(&Question::new(&query), &entry.path, FOUND_WITHIN)?;
        let before = if let Place::At(at) = place { Some(at) } else { None };
        let probe = Probe { kind, query, before, after: None };
        if place == Place::Open { &mut vague } else { &mut asked }.push(probe);
    }
    for mut probe in vague {
        if asked.iter().filter(|probe| probe.before.is_some()).count() >= PROBES_MIN {
            break;
        }
        probe.before = place(places, &probe.query, &entry.path)?;
        asked.push(probe);
    }
    let asked = strongest(asked);
    let counted = asked.iter().filter(|probe| probe.before.is_some()).count();
    Ok(Certificate {
        schema_version: SchemaVersion,
        entry: entry.path.clone(),
        successor: successor.map(|entry| entry.path.clone()),
        basis: Basis::Found,
        verdict: CertificateVerdict::Refused,
        why: "not asked afterwards".into(),
        counted: u32::try_from(counted).unwrap_or(u32::MAX),
        probes: asked,
        extra: Extra::default(),
    })
}

/// The questions that find the entry best, in the order in which they were made. Which these are is
/// decided before anything is asked of the corpus as it would be.
fn strongest(asked: Vec<Probe>) -> Vec<Probe> {
    let mut places: Vec<usize> = (0..asked.len()).collect();
    places.sort_by_key(|at| (asked[*at].before.unwrap_or(u32::MAX), *at));
    let chosen: std::collections::BTreeSet<usize> = places.into_iter().take(PROBES_MIN).collect();
    let kept = asked.into_iter().enumerate().filter(|(at, _)| chosen.contains(at));
    kept.map(|(_, probe)| probe).collect()
}

/// Asks again, of the corpus as it would be, for the successor; and decides. Gives how many more
/// entries could come before the successor wherever it was asked for: see [`Places::with_room`].
pub fn ask_after(
    places: &Places<'_>,
    certificate: &mut Certificate,
    successor: &str,
) -> Result<usize, Broken> {
    certificate.successor = Some(successor.to_owned());
    let mut least_room = FOUND_WITHIN;
    for probe in &mut certificate.probes {
        probe.after = None;
        if probe.before.is_some() {
            let question = Question::new(&probe.query);
            let (after, room) = places.with_room(&question, successor, FOUND_WITHIN)?;
            probe.after = after;
            least_room = least_room.min(room);
        }
    }
    let (verdict, why) = judge(certificate);
    certificate.verdict = verdict;
    certificate.why = why;
    Ok(least_room)
}

fn judge(certificate: &Certificate) -> (CertificateVerdict, String) {
    if let Some(check) = first_refusal(&checks(certificate)) {
        return (CertificateVerdict::Refused, check.why.clone());
    }
    let why = format!("all {} questions that find it find its successor", certificate.counted);
    (CertificateVerdict::Passed, why)
}

/// What a certificate that rests on what is found must have; all of it.
#[expect(clippy::cast_precision_loss, reason = "a handful of questions")]
pub fn checks(certificate: &Certificate) -> [Check; 3] {
    let probes = &certificate.probes;
    let is_lost = |probe: &&Probe| probe.before.is_some() && probe.after.is_none();
    let lost: Vec<&Probe> = probes.iter().filter(is_lost).collect();
    let counted = certificate.counted as usize;
    let asked = Bound {
        name: "questions",
        value: probes.len() as f64,
        side: Side::AtLeast,
        bound: PROBES_MIN as f64,
    };
    let found = Bound {
        name: "questions that find it",
        value: counted as f64,
        side: Side::AtLeast,
        bound: COUNTED_MIN as f64,
    };
    let gone =
        Bound { name: "questions lost", value: lost.len() as f64, side: Side::AtMost, bound: 0.0 };
    let too_few = format!("its text gives {} questions, and {PROBES_MIN} are needed", probes.len());
    let unfound =
        format!("{counted} of {} questions find it, and {COUNTED_MIN} are needed", probes.len());
    let lost = lost.first().map_or("", |probe| probe.query.as_str());
    let lost = format!("`{lost}` finds it, and would not find its successor");
    [Check::of(&asked, too_few), Check::of(&found, unfound), Check::of(&gone, lost)]
}

/// For an entry that another one replaced: no question found it, and its name leads there.
pub fn hidden(
    places: &Places<'_>,
    entry: &Entry,
    successor: &Entry,
) -> Result<Certificate, Broken> {
    let mut certificate = ask_before(places, entry, Some(successor), PAIR)?;
    certificate.basis = Basis::Hidden;
    if certificate.counted == 0 {
        certificate.verdict = CertificateVerdict::Passed;
        certificate.why = "it is superseded, so no question finds it; nothing refers to it, its \
            name leads to its successor, and it is kept in the archive"
            .into();
    } else {
        certificate.why = "questions still find it".into();
    }
    Ok(certificate)
}

/// For an entry that is past its own term. Nothing stands for it: that is said, not proved away.
pub fn expired(places: &Places<'_>, entry: &Entry) -> Result<Certificate, Broken> {
    let mut certificate = ask_before(places, entry, None, PAIR)?;
    certificate.basis = Basis::Expired;
    certificate.verdict = CertificateVerdict::Passed;
    certificate.why =
        "it is past the term that it sets itself; nothing refers to it, and it is kept \
        in the archive. Questions that found it find it no more"
            .into();
    Ok(certificate)
}

fn place(places: &Places<'_>, query: &str, path: &str) -> Result<Option<u32>, Broken> {
    places.of_path(&Question::new(query), path, FOUND_WITHIN)
}

/// A certificate as one of the sources of a change.
pub fn as_source(certificate: &Certificate) -> String {
    let json = serde_json::to_string(certificate).unwrap_or_default();
    format!("{SOURCE_PREFIX}{json}")
}

/// The certificate among the sources of a change, if one is there.
pub fn of_sources(sources: &[String]) -> Option<Certificate> {
    let json = sources.iter().find_map(|source| source.strip_prefix(SOURCE_PREFIX))?;
    serde_json::from_str(json).ok()
}
