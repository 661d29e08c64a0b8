//! The legend: every number of the picture, with the digits of the summary.

use std::fmt::Write as _;

use ao_contract::{DreamScape, Reading, Sky, Topic, Unit, Wind};
use ao_tree::shown;

use super::terrain::{BARE, HALF, LUSH, LUSH_AT, MIXED_AT, UNDATED, texture};
use crate::columns::{cut, padded, padded_left, width};

const NAME_COLUMNS_MAX: usize = 24;
const CONNECTIONS_TOLD: usize = 3;
const MEANING: [(&str, &str); 5] = [
    ("composite", "fitness, weighted"),
    ("composite_delta", "since the night began"),
    ("sigma", "share of entries used lately; a bird is 0.05"),
    ("rho", "share of those used with evidence"),
    ("delta", "mean age in days"),
];

pub(super) fn write(text: &mut String, scape: &DreamScape, columns: usize) {
    topics(text, scape, columns);
    weather(text, scape, columns);
}

fn topics(text: &mut String, scape: &DreamScape, columns: usize) {
    if scape.topics.is_empty() {
        return;
    }
    let names = scape.topics.iter().map(|topic| width(&shown(&topic.name)));
    let name_columns = names.max().unwrap_or(0).clamp(5, NAME_COLUMNS_MAX);
    let head =
        format!("  {}  entries   share   fresh  connected to", padded("topic", name_columns));
    let _ = writeln!(text, "{}", cut(&head, columns));
    for topic in &scape.topics {
        let name = cut(&shown(&topic.name), name_columns);
        let fresh = topic.freshness.as_ref().map_or_else(|| "-".to_owned(), digits);
        let line = format!(
            "{} {}  {}  {}  {}  {}",
            texture(topic),
            padded(&name, name_columns),
            padded_left(&topic.entries.to_string(), 7),
            padded_left(&digits(&topic.share), 6),
            padded_left(&fresh, 6),
            connected(topic)
        );
        let _ = writeln!(text, "{}", cut(line.trim_end(), columns));
    }
    let grounds = format!(
        "{LUSH} fresh from {LUSH_AT}   {HALF} from {MIXED_AT}   {BARE} under {MIXED_AT}   {UNDATED} no dates   \
         (fresh: {} days old at most)",
        scape.fresh_days
    );
    let _ = writeln!(text, "{}\n", cut(&grounds, columns));
}

fn connected(topic: &Topic) -> String {
    let one = |to: &ao_contract::Connection| {
        format!("{} {}", shown(&to.to), to.shared.saturating_add(to.references))
    };
    let told: Vec<String> = topic.connections.iter().take(CONNECTIONS_TOLD).map(one).collect();
    match topic.connections.len().saturating_sub(told.len()) {
        0 => told.join(", "),
        more => format!("{}, {more} more", told.join(", ")),
    }
}

fn weather(text: &mut String, scape: &DreamScape, columns: usize) {
    let why: Vec<String> = scape.weather.why.iter().map(|why| shown(why)).collect();
    let escape = match scape.weather.escape_velocity {
        Some(true) => "reached",
        Some(false) => "not reached",
        None => "not known",
    };
    let because = if why.is_empty() { String::new() } else { format!(": {}", why.join(", ")) };
    let line = format!("{}{because}", sky_name(scape.weather.sky));
    let _ = writeln!(text, "{}", cut(&line, columns));
    for reading in &scape.legend {
        let _ = writeln!(text, "{}", cut(&reading_line(reading), columns));
    }
    let _ =
        writeln!(text, "{}", cut(&format!("{}{escape}", padded("escape velocity", 18)), columns));
}

fn reading_line(reading: &Reading) -> String {
    let meaning =
        MEANING.iter().find(|(name, _)| *name == reading.name).map_or("", |(_, says)| says);
    let value = match (&reading.value, &reading.absent) {
        (Some(value), _) if ao_mutant::active("REP-14/legend-is-rounded") => {
            format!("{:.1}", value.get())
        }
        (Some(value), _) => value.number().to_string(),
        (None, Some(why)) => format!("not known: {}", shown(why)),
        (None, None) => "not known".to_owned(),
    };
    format!("{}{}  {meaning}", padded(&shown(&reading.name), 18), padded(&value, 10))
        .trim_end()
        .to_owned()
}

/// As the summary has it.
fn digits(share: &Unit) -> String {
    share.number().to_string()
}

pub(super) fn sky_name(sky: Sky) -> &'static str {
    match sky {
        Sky::Clear => "clear sky",
        Sky::Fair => "fair sky",
        Sky::Mixed => "mixed sky",
        Sky::Overcast => "overcast sky",
        Sky::Storm => "storm",
        Sky::Fog => "fog",
    }
}

pub(super) fn wind_name(wind: Wind) -> &'static str {
    match wind {
        Wind::Rising => "rising",
        Wind::Steady => "steady",
        Wind::Falling => "falling",
        Wind::Unknown => "not known",
    }
}
