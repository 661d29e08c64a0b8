//! Bridges beneath the ground: which topics have to do with each other, and how much.

use ao_contract::Topic;

use super::terrain::middles;
use crate::columns::width;

const ROWS_MAX: usize = 5;
const BRIDGES_MAX: usize = 12;

struct Bridge {
    from: usize,
    to: usize,
    weight: u64,
}

/// Lines of bridges, the strongest in the upper ones.
pub(super) fn lines(topics: &[Topic], columns: usize) -> Vec<String> {
    let middles = middles(topics.len(), columns);
    let mut rows: Vec<Vec<Bridge>> = Vec::new();
    for bridge in strongest(topics) {
        let row = rows.iter().position(|row| row.iter().all(|other| is_apart(other, &bridge)));
        match row {
            Some(row) => rows[row].push(bridge),
            None if rows.len() < ROWS_MAX => rows.push(vec![bridge]),
            None => {}
        }
    }
    rows.iter().map(|row| line(row, &middles, columns)).collect()
}

/// Two bridges of one line do not touch.
fn is_apart(one: &Bridge, other: &Bridge) -> bool {
    one.to < other.from || other.to < one.from
}

fn strongest(topics: &[Topic]) -> Vec<Bridge> {
    let mut bridges = Vec::new();
    for (from, topic) in topics.iter().enumerate() {
        for connection in &topic.connections {
            let to = topics.iter().position(|other| other.name == connection.to);
            let weight = connection.shared.saturating_add(connection.references);
            if let Some(to) = to.filter(|to| *to > from && weight > 0) {
                bridges.push(Bridge { from, to, weight });
            }
        }
    }
    bridges.sort_by_key(|bridge| (std::cmp::Reverse(bridge.weight), bridge.from, bridge.to));
    bridges.truncate(BRIDGES_MAX);
    bridges
}

fn line(bridges: &[Bridge], middles: &[usize], columns: usize) -> String {
    let mut cells = vec![' '; columns];
    for bridge in bridges {
        let (from, to) = (middles[bridge.from], middles[bridge.to]);
        cells[from..=to].fill('─');
        (cells[from], cells[to]) = ('╰', '╯');
        let label = format!(" {} ", bridge.weight);
        let room = to - from - 1;
        if width(&label) <= room {
            let start = from + 1 + (room - width(&label)) / 2;
            for (cell, c) in cells[start..].iter_mut().zip(label.chars()) {
                *cell = c;
            }
        }
    }
    cells.into_iter().collect::<String>().trim_end().to_owned()
}
