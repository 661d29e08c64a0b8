//! The landscape in the report.

use ao_contract::DreamScape;

use super::block::{Block, Item, code, strong, text, words};
use super::facts::Facts;
use super::say;

pub(super) fn section(facts: &Facts<'_>) -> Vec<Block> {
    let heading = Block::Heading("DreamScape");
    match facts.summary.dreamscape() {
        None => Vec::new(),
        Some(Ok(scape)) => vec![heading, Block::Scape(Box::new(safe(scape)))],
        Some(Err(_)) => vec![heading, other(facts)],
    }
}

/// Another tool's landscape is told as far as it is made of words and numbers.
fn other(facts: &Facts<'_>) -> Block {
    let fields = facts.summary.dreamscape.iter().flatten();
    let told = fields.filter_map(|(key, value)| {
        let one = say::scalar(value).or_else(|| {
            let list = value.as_array()?.iter().map(say::scalar);
            list.collect::<Option<Vec<_>>>().map(|items| items.join(", "))
        });
        let name = strong(&format!("{}:", say::key(key)));
        Some(Item::from(vec![name, words(" "), text(&one?)]))
    });
    let told: Vec<Item> = told.collect();
    if told.is_empty() {
        return Block::Paragraph(vec![
            words("It is of another tool and cannot be drawn; see "),
            code("dreamscape"),
            words(" in the summary."),
        ]);
    }
    Block::List(told)
}

/// Names come from the corpus, or from whoever wrote the summary.
fn safe(mut scape: DreamScape) -> DreamScape {
    let make = |text: &mut String| *text = say::safe(text);
    scape.as_of.iter_mut().for_each(make);
    for topic in &mut scape.topics {
        make(&mut topic.name);
        topic.connections.iter_mut().for_each(|connection| make(&mut connection.to));
    }
    scape.weather.why.iter_mut().for_each(make);
    for reading in &mut scape.legend {
        make(&mut reading.name);
        reading.absent.iter_mut().for_each(make);
    }
    scape
}
