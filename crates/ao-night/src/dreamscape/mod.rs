//! `DreamScape`: the corpus as a landscape.
//!
//! A [`Survey`] is shown every entry once and keeps of it only what the landscape needs: its
//! topics, its day, its names and whom it refers to. The result is data ([`DreamScape`], in
//! `summary.json`), and the picture is a pure function of that data ([`draw`]), so that every view
//! of a report draws the same one.
//!
//! Nothing here depends on the clock, the order of a hash or the place it runs at; arithmetic is
//! done in whole numbers wherever the picture could tell.
//!
//! [`DreamScape`]: ao_contract::DreamScape

mod bridges;
mod canvas;
mod draw;
mod labels;
mod legend;
mod references;
mod sky;
mod survey;
mod terrain;
mod topics;
mod weather;

pub use draw::{COLUMNS_MAX, COLUMNS_MIN, draw};
pub use survey::{FRESH_DAYS, Survey};
pub use terrain::{LUSH_AT, MIXED_AT};
pub use topics::{REST, TOPICS_MAX};
pub use weather::{
    CLEAR_AT, FAIR_AT, MIXED_SKY_AT, OVERCAST_AT, OVERCAST_FALL, Readings, STEADY, STORM_FALL,
};

#[cfg(test)]
mod tests;
