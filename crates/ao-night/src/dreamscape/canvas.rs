//! A sheet of cells, a column each.

use crate::columns::width_of;

#[derive(Debug)]
pub(super) struct Canvas {
    columns: usize,
    /// A cell holds what is drawn in its column; the one after a wide letter is empty.
    rows: Vec<Vec<String>>,
}

impl Canvas {
    pub(super) fn new(columns: usize, rows: usize) -> Self {
        Self { columns, rows: vec![vec![" ".to_owned(); columns]; rows] }
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    pub(super) fn put(&mut self, row: usize, column: usize, c: char) {
        if let Some(cell) = self.rows.get_mut(row).and_then(|cells| cells.get_mut(column)) {
            *cell = c.to_string();
        }
    }

    pub(super) fn is_free(&self, row: usize, column: usize) -> bool {
        self.rows.get(row).and_then(|cells| cells.get(column)).is_some_and(|cell| cell == " ")
    }

    /// Writes a text from a column on; what does not fit is left out.
    pub(super) fn write(&mut self, row: usize, column: usize, text: &str) {
        let Some(cells) = self.rows.get_mut(row) else { return };
        let mut at = column;
        for c in text.chars() {
            let wide = width_of(c);
            if wide == 0 {
                if let Some(cell) = at.checked_sub(1).and_then(|before| cells.get_mut(before)) {
                    cell.push(c);
                }
                continue;
            }
            if at + wide > self.columns {
                return;
            }
            cells[at] = c.to_string();
            for behind in &mut cells[at + 1..at + wide] {
                behind.clear();
            }
            at += wide;
        }
    }

    /// Writes a text that may have spaces in it through which what is behind is seen.
    pub(super) fn stamp(&mut self, row: usize, column: usize, text: &str) {
        for (at, c) in text.chars().enumerate().filter(|(_, c)| *c != ' ') {
            self.put(row, column + at, c);
        }
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        self.rows.iter().map(|cells| cells.concat().trim_end().to_owned())
    }
}
