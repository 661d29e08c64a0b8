//! The sky: the weather, and a bird for every part of the corpus that is used.

use ao_contract::{DreamScape, Finite, Sky};

use super::canvas::Canvas;

pub(super) const ROWS: usize = 5;
/// A bird stands for so much of sigma.
const SIGMA_A_BIRD: f64 = 0.05;
const BIRDS_MAX: usize = 20;
/// Twenty birds are the whole of sigma, whatever the last digit says.
const NOTHING: f64 = 1e-9;

const SUN: [&str; 5] = [r"   \ | /", r"    .-.", r"-- (   ) --", r"    `-'", r"   / | \"];
const CLOUD: [&str; 3] = [r"    .--.", r" .-(    ).", r"(___.__)__)"];
const CLOUD_COLUMNS: usize = 11;
const BOLT: [&str; 3] = [" /", "/_", " /"];

pub(super) fn draw(canvas: &mut Canvas, scape: &DreamScape) {
    let columns = canvas.columns();
    // Parts of the width at which clouds hang, and how deep.
    let (has_sun, clouds): (bool, &[(usize, usize)]) = match scape.weather.sky {
        Sky::Clear => (true, &[]),
        Sky::Fair => (true, &[(62, 1)]),
        Sky::Mixed => (true, &[(28, 1), (52, 0), (80, 1)]),
        Sky::Overcast | Sky::Storm => {
            (false, &[(4, 1), (20, 0), (37, 1), (53, 0), (70, 1), (86, 0)])
        }
        Sky::Fog => (false, &[]),
    };
    if has_sun {
        for (row, line) in SUN.iter().enumerate() {
            canvas.stamp(row, columns / 16, line);
        }
    }
    for (part, row) in clouds {
        let column = (columns * part / 100).min(columns.saturating_sub(CLOUD_COLUMNS));
        for (down, line) in CLOUD.iter().enumerate() {
            blot(canvas, row + down, column, line);
        }
        if scape.weather.sky == Sky::Storm {
            rain(canvas, row + CLOUD.len(), column);
        }
    }
    if scape.weather.sky == Sky::Fog {
        for row in (0..ROWS).step_by(2) {
            for column in (row % 4..columns).step_by(4) {
                canvas.put(row, column, '~');
            }
        }
    }
    birds(canvas, scape);
}

/// A cloud hides what is behind it.
fn blot(canvas: &mut Canvas, row: usize, column: usize, line: &str) {
    let from = line.len() - line.trim_start().len();
    canvas.write(row, column + from, line.trim_start());
}

fn rain(canvas: &mut Canvas, row: usize, column: usize) {
    for down in row..=ROWS {
        for drop in (column + 1 + down % 2..column + CLOUD_COLUMNS - 1).step_by(3) {
            canvas.put(down, drop, '\'');
        }
    }
    if column.is_multiple_of(2) {
        for (down, line) in BOLT.iter().enumerate() {
            canvas.stamp(row + down, column + CLOUD_COLUMNS / 2, line);
        }
    }
}

/// Where the birds are is of no meaning; how many there are is, so none hides another thing or is
/// hidden.
fn birds(canvas: &mut Canvas, scape: &DreamScape) {
    let sigma = scape.legend.iter().find(|reading| reading.name == "sigma");
    let sigma = sigma.and_then(|reading| reading.value.as_ref()).map_or(0.0, Finite::get);
    let columns = canvas.columns();
    for bird in 0..BIRDS_MAX {
        let Ok(number) = u32::try_from(bird + 1) else { return };
        if sigma + NOTHING < f64::from(number) * SIGMA_A_BIRD {
            return;
        }
        let (row, start) = ((bird * 3 + bird / 4) % ROWS, bird * 37 + 23);
        let places = (start..start + columns).map(|column| column % columns);
        if let Some(column) = places.into_iter().find(|column| canvas.is_free(row, *column)) {
            canvas.put(row, column, 'v');
        }
    }
}
