//! `MinHash`: texts that share most of their pairs of words share bands of their sketches.
//!
//! Comparing all pairs of texts costs the square of their number. Here each text gets some band keys,
//! and only texts with two keys in common are compared. A band is four minima, so two texts whose
//! sets overlap by `j` share a given band with a chance of `j^4`.
//!
//! The sets are pairs of neighbouring stems, not stems: notes about one field have half of their
//! words in common and hardly any of their pairs. And one shared band in forty happens to texts that
//! overlap by a tenth; two hardly ever. So what is compared stays near the number of true copies.

use super::features::mix;

/// Minima a band. Fewer find more, and more that is not worth comparing.
const ROWS: usize = 4;
/// With forty bands two texts that overlap by .65 are compared with a chance of .996, and copies with
/// a few words changed (.75 and more) always, as far as that can be seen.
const BANDS: usize = 40;
const BANDS_SHARED_MIN: usize = 2;
const MINIMA: usize = ROWS * BANDS;
const SEED: u64 = 0x616f_2d64_7570_6c69;
/// A crowd that shares one key is compared with its first few only: a thousand copies of one text are
/// all copies of the best one, and the best ones come first.
const CROWD: usize = 16;

/// One key a band.
pub(super) type Sketch = [u32; BANDS];

/// The fixed multipliers and offsets of the hash functions.
#[derive(Debug)]
pub(super) struct Sketcher {
    times: [u32; MINIMA],
    plus: [u32; MINIMA],
}

impl Sketcher {
    #[expect(clippy::cast_possible_truncation, reason = "half of a mixed hash is a hash")]
    pub(super) fn new() -> Self {
        let mut sketcher = Self { times: [0; MINIMA], plus: [0; MINIMA] };
        let mut state = SEED;
        for at in 0..MINIMA {
            state = mix(state.wrapping_add(at as u64));
            sketcher.times[at] = (state as u32) | 1;
            sketcher.plus[at] = (state >> 32) as u32;
        }
        sketcher
    }

    /// `None` for a text without words.
    #[expect(clippy::cast_possible_truncation, reason = "half of a mixed hash is a hash")]
    pub(super) fn sketch(&self, set: &[u32]) -> Option<Sketch> {
        let mut minima = [u32::MAX; MINIMA];
        for value in set {
            for ((least, times), plus) in minima.iter_mut().zip(&self.times).zip(&self.plus) {
                *least = (*least).min(value.wrapping_mul(*times).wrapping_add(*plus));
            }
        }
        let mut sketch = [0; BANDS];
        for (key, rows) in sketch.iter_mut().zip(minima.chunks_exact(ROWS)) {
            let joined = rows.iter().fold(SEED, |key, least| mix(key ^ u64::from(*least)));
            *key = joined as u32;
        }
        (!set.is_empty()).then_some(sketch)
    }
}

/// Who shares bands with whom.
#[derive(Debug)]
pub(super) struct Bands<'a> {
    sketches: &'a [Option<Sketch>],
    /// For each band the places of all sketches, by key and then by place.
    orders: Vec<Vec<u32>>,
    /// For each band where each sketch stands in that order.
    stands: Vec<Vec<u32>>,
}

impl<'a> Bands<'a> {
    pub(super) fn of(sketches: &'a [Option<Sketch>]) -> Self {
        let bands: Vec<usize> = (0..BANDS).collect();
        let (mut orders, mut stands) = (Vec::new(), Vec::new());
        for band in bands {
            let (order, stand) = in_order(sketches, band);
            orders.push(order);
            stands.push(stand);
        }
        Self { sketches, orders, stands }
    }

    /// The later places that are worth comparing with this one.
    pub(super) fn later(&self, place: usize) -> Vec<usize> {
        let Some(sketch) = &self.sketches[place] else { return Vec::new() };
        let mut met: Vec<u32> = Vec::new();
        for (band, key) in sketch.iter().enumerate() {
            let (order, stand) = (&self.orders[band], self.stands[band][place] as usize);
            let has_key =
                |at: usize| self.sketches[order[at] as usize].is_some_and(|s| s[band] == *key);
            if stand >= CROWD && has_key(stand - CROWD) {
                continue;
            }
            met.extend((stand + 1..order.len()).take_while(|at| has_key(*at)).map(|at| order[at]));
        }
        met.sort_unstable();
        let often = met.chunk_by(|one, other| one == other);
        often.filter(|group| group.len() >= BANDS_SHARED_MIN).map(|g| g[0] as usize).collect()
    }
}

fn in_order(sketches: &[Option<Sketch>], band: usize) -> (Vec<u32>, Vec<u32>) {
    let keyed = sketches.iter().enumerate().filter_map(|(place, sketch)| {
        Some((u64::from(sketch.as_ref()?[band]) << 32) | place as u64)
    });
    let mut keyed: Vec<u64> = keyed.collect();
    keyed.sort_unstable();
    #[expect(clippy::cast_possible_truncation, reason = "the low half is the place")]
    let order: Vec<u32> = keyed.into_iter().map(|key| key as u32).collect();
    let mut stands = vec![0; sketches.len()];
    for (stand, place) in order.iter().enumerate() {
        stands[*place as usize] = u32::try_from(stand).unwrap_or(u32::MAX);
    }
    (order, stands)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_that_share_most_meet_and_others_do_not() {
        let sketcher = Sketcher::new();
        let set = |from: u64, to: u64| -> Vec<u32> {
            #[expect(clippy::cast_possible_truncation, reason = "half of a hash")]
            (from..to).map(|n| mix(n) as u32).collect()
        };
        // Overlaps with the first: .9, .05, none, all.
        let sets = [set(0, 100), set(5, 105), set(90, 200), set(900, 1000), set(0, 100), vec![]];
        let made: Vec<_> = sets.iter().map(|set| sketcher.sketch(set)).collect();
        let bands = Bands::of(&made);
        assert_eq!(bands.later(0), [1, 4]);
        assert_eq!(bands.later(1), [4]);
        assert!(bands.later(2).is_empty() && bands.later(5).is_empty());
    }

    #[test]
    fn a_crowd_meets_its_first() {
        let sketcher = Sketcher::new();
        let made: Vec<_> = (0..500).map(|_| sketcher.sketch(&[1, 2, 3])).collect();
        let bands = Bands::of(&made);
        assert_eq!(bands.later(0).len(), 499);
        assert!(bands.later(CROWD).is_empty());
    }
}
