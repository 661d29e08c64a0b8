//! What an entry says about itself beside its words: how useful, how ripe, how old, and which
//! names lead to it.

use super::bytes::{Cursor, put_text, put_varint};
use super::source::Broken;
use crate::day::Day;

/// How ripe the knowledge is; nothing said counts as nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ripeness {
    #[default]
    Unsaid,
    Provisional,
    Candidate,
    Established,
    AntiPattern,
}

impl Ripeness {
    const ALL: [Self; 5] =
        [Self::Unsaid, Self::Provisional, Self::Candidate, Self::Established, Self::AntiPattern];

    /// As frontmatter spells it; another word says nothing.
    pub fn named(word: &str) -> Self {
        Self::ALL.into_iter().find(|ripeness| ripeness.name() == word).unwrap_or_default()
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Unsaid => "unsaid",
            Self::Provisional => "provisional",
            Self::Candidate => "candidate",
            Self::Established => "established",
            Self::AntiPattern => "anti-pattern",
        }
    }
}

/// Whether search shows the entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sight {
    #[default]
    Shown,
    /// Superseded, promoted, or not to be read at all.
    Hidden,
}

/// What the ranking and the lineage need to know of an entry.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Facts {
    /// 0 to 1.
    pub utility: Option<f64>,
    pub ripeness: Ripeness,
    pub day: Option<Day>,
    pub sight: Sight,
    pub id: Option<String>,
    /// What replaced it, as it names it.
    pub successors: Vec<String>,
    /// Names of entries that were merged into it.
    pub merged_from: Vec<String>,
}

/// The part of [`Facts`] that every search needs, in a fixed number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Weighed {
    pub(super) utility: Option<f64>,
    pub(super) ripeness: Ripeness,
    pub(super) day: Option<Day>,
    pub(super) sight: Sight,
}

pub(super) const WEIGHED_BYTES: usize = 16;
const NO_DAY: u32 = i32::MIN.cast_unsigned();

impl Weighed {
    pub(super) fn of(facts: &Facts) -> Self {
        let Facts { utility, ripeness, day, sight, .. } = *facts;
        Self { utility, ripeness, day, sight }
    }

    pub(super) fn put(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.utility.unwrap_or(f64::NAN).to_le_bytes());
        out.extend_from_slice(&self.day.map_or(NO_DAY, |day| day.0.cast_unsigned()).to_le_bytes());
        out.push(self.ripeness as u8);
        out.push(self.sight as u8);
        out.extend_from_slice(&[0; 2]);
    }

    pub(super) fn read(bytes: &[u8]) -> Result<Self, Broken> {
        let mut cursor = Cursor::new(bytes);
        let utility = Some(f64::from_le_bytes(cursor.array()?)).filter(|value| !value.is_nan());
        let day = Some(cursor.u32()?).filter(|day| *day != NO_DAY);
        let ripeness = *Ripeness::ALL.get(usize::from(cursor.u8()?)).ok_or(Broken)?;
        let sight = if cursor.u8()? == 0 { Sight::Shown } else { Sight::Hidden };
        Ok(Self { utility, ripeness, day: day.map(|day| Day(day.cast_signed())), sight })
    }
}

/// The names, which only lineage asks for.
pub(super) fn put_names(facts: &Facts, out: &mut Vec<u8>) {
    put_text(out, facts.id.as_deref().unwrap_or_default());
    for list in [&facts.successors, &facts.merged_from] {
        put_varint(out, u32::try_from(list.len()).unwrap_or(0));
        for name in list {
            put_text(out, name);
        }
    }
}

pub(super) fn read_names(bytes: &[u8], facts: &mut Facts) -> Result<(), Broken> {
    let mut cursor = Cursor::new(bytes);
    facts.id = Some(cursor.text()?).filter(|id| !id.is_empty()).map(str::to_owned);
    for list in [&mut facts.successors, &mut facts.merged_from] {
        let count = cursor.varint()?;
        for _ in 0..count {
            list.push(cursor.text()?.to_owned());
        }
    }
    Ok(())
}
