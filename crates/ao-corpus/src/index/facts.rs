//! What an entry says about itself beside its words: how useful, how mature, how old, and which
//! names lead to it.

use ao_contract::Maturity;
use jiff::civil::Date;

use super::bytes::{Cursor, put_text, put_varint};
use super::source::Broken;

/// Whether search shows the entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sight {
    #[default]
    Shown,
    /// Superseded or promoted.
    Hidden,
    /// Not to be read as an entry at all.
    Unreadable,
}

impl Sight {
    const ALL: [Self; 3] = [Self::Shown, Self::Hidden, Self::Unreadable];
}

/// What the ranking and the lineage need to know of an entry.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Facts {
    /// 0 to 1.
    pub utility: Option<f64>,
    pub maturity: Option<Maturity>,
    pub day: Option<Date>,
    pub sight: Sight,
    /// It is trusted less than what stands here without a mark.
    pub is_marked: bool,
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
    pub(super) maturity: Option<Maturity>,
    pub(super) day: Option<Date>,
    pub(super) sight: Sight,
    pub(super) is_marked: bool,
}

pub(super) const WEIGHED_BYTES: usize = 16;
const MATURITIES: [Option<Maturity>; 5] = [
    None,
    Some(Maturity::Provisional),
    Some(Maturity::Candidate),
    Some(Maturity::Established),
    Some(Maturity::AntiPattern),
];
/// No day is packed into this.
const NO_DAY: u32 = 0;

/// A day in four bytes that order as days do, for years that people write.
pub(super) fn pack(day: Option<Date>) -> u32 {
    let Some(day) = day.filter(|day| day.year() > 0) else { return NO_DAY };
    let [year, month, day] = [i32::from(day.year()), i32::from(day.month()), i32::from(day.day())]
        .map(i32::cast_unsigned);
    year << 9 | month << 5 | day
}

pub(super) fn unpack(packed: u32) -> Result<Option<Date>, Broken> {
    if packed == NO_DAY {
        return Ok(None);
    }
    let year = i16::try_from(packed >> 9).map_err(|_| Broken)?;
    let [month, day] = [packed >> 5 & 15, packed & 31].map(|part| i8::try_from(part).unwrap_or(0));
    Date::new(year, month, day).map(Some).map_err(|_| Broken)
}

impl Weighed {
    pub(super) fn of(facts: &Facts) -> Self {
        let Facts { utility, maturity, day, sight, is_marked, .. } = *facts;
        Self { utility, maturity, day, sight, is_marked }
    }

    pub(super) fn put(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.utility.unwrap_or(f64::NAN).to_le_bytes());
        out.extend_from_slice(&pack(self.day).to_le_bytes());
        let maturity = MATURITIES.iter().position(|maturity| *maturity == self.maturity);
        out.push(u8::try_from(maturity.unwrap_or_default()).unwrap_or_default());
        out.push(self.sight as u8);
        out.extend_from_slice(&[u8::from(self.is_marked), 0]);
    }

    pub(super) fn read(bytes: &[u8]) -> Result<Self, Broken> {
        let mut cursor = Cursor::new(bytes);
        let utility = Some(f64::from_le_bytes(cursor.array()?)).filter(|value| !value.is_nan());
        let day = unpack(cursor.u32()?)?;
        let maturity = *MATURITIES.get(usize::from(cursor.u8()?)).ok_or(Broken)?;
        let sight = *Sight::ALL.get(usize::from(cursor.u8()?)).ok_or(Broken)?;
        let is_marked = cursor.u8()? != 0;
        Ok(Self { utility, maturity, day, sight, is_marked })
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
