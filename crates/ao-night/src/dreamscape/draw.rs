//! The picture, put together.

use std::fmt::Write as _;

use ao_contract::{DreamScape, Topic};
use ao_tree::shown;

use super::canvas::Canvas;
use super::legend::{self, sky_name, wind_name};
use super::{bridges, sky, terrain};
use crate::columns::{cut, width};

pub const COLUMNS_MAX: usize = 100;
/// A narrower picture shows nothing.
pub const COLUMNS_MIN: usize = 40;
/// More topics than this have no room; other writers may name as many as they like.
const TOPICS_DRAWN_MAX: usize = 20;

/// The landscape as plain text, at most `columns` wide and never wider than [`COLUMNS_MAX`].
pub fn draw(scape: &DreamScape, columns: usize) -> String {
    let columns = columns.clamp(COLUMNS_MIN, COLUMNS_MAX);
    let topics = &scape.topics[..scape.topics.len().min(TOPICS_DRAWN_MAX)];
    let mut text = String::new();
    let caption = caption(scape);
    let _ = writeln!(text, "{}\n", cut(&caption, columns));
    let mut canvas = Canvas::new(columns, sky::ROWS + terrain::ROWS);
    sky::draw(&mut canvas, scape);
    if !topics.is_empty() {
        terrain::draw(&mut canvas, sky::ROWS, topics);
    }
    for line in canvas.lines() {
        let _ = writeln!(text, "{line}");
    }
    let _ = writeln!(text, "{}", "▔".repeat(columns));
    for line in signs(topics, columns).into_iter().chain(bridges::lines(topics, columns)) {
        let _ = writeln!(text, "{line}");
    }
    text.push('\n');
    legend::write(&mut text, scape, columns);
    text
}

fn caption(scape: &DreamScape) -> String {
    let count = |number: u64, one: &str, many: &str| {
        format!("{number} {}", if number == 1 { one } else { many })
    };
    let mut parts = vec![
        format!("{}, wind {}", sky_name(scape.weather.sky), wind_name(scape.weather.wind)),
        count(scape.entries, "entry", "entries"),
        count(scape.topics.len() as u64, "topic", "topics"),
    ];
    if scape.hidden > 0 {
        parts.push(format!("{} hidden", scape.hidden));
    }
    if let Some(day) = &scape.as_of {
        parts.push(format!("newest {}", shown(day)));
    }
    parts.join("  ·  ")
}

/// The name and size of each topic beneath its middle, in two lines where one is too narrow.
fn signs(topics: &[Topic], columns: usize) -> Vec<String> {
    let label = |topic: &Topic| format!("{} {}", shown(&topic.name), topic.entries);
    let room = columns / topics.len().max(1);
    let rows = if topics.iter().all(|topic| width(&label(topic)) < room) { 1 } else { 2 };
    let mut canvas = Canvas::new(columns, rows);
    for ((at, topic), middle) in
        topics.iter().enumerate().zip(terrain::middles(topics.len(), columns))
    {
        let size = format!(" {}", topic.entries);
        let name = cut(&shown(&topic.name), (room * rows).saturating_sub(1 + width(&size)).max(1));
        let sign = format!("{name}{size}");
        let start =
            middle.saturating_sub(width(&sign) / 2).min(columns.saturating_sub(width(&sign)));
        canvas.write(at % rows, start, &sign);
    }
    if topics.is_empty() { Vec::new() } else { canvas.lines().collect() }
}
