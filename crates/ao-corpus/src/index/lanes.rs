//! Sums over all entries, many of them at a time.
//!
//! These loops are most of what a proof costs, and processors of the last ten years add up four
//! times as many numbers at once as the oldest that the program runs on. Each loop is therefore
//! there twice, from one source, and the result is the same.

/// Calls a function as it was compiled for this processor.
macro_rules! either {
    ($name:ident($($argument:expr),*)) => {{
        #[cfg(target_arch = "x86_64")]
        {
            if std::arch::is_x86_feature_detected!("avx2") {
                #[expect(unsafe_code, reason = "the compiler does not see what was asked just above")]
                // SAFETY: the processor has what the function was compiled for.
                unsafe { wide::$name($($argument),*) }
            } else {
                $name($($argument),*)
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        $name($($argument),*)
    }};
}

/// So many rows are added at once: a sum is then loaded and stored once for all of them.
const ROWS_AT_ONCE: usize = 4;

/// So many sums are looked at together.
const LOOKED_AT_ONCE: usize = 32;

/// A row of bytes, one an entry, and what each of them is multiplied by.
pub(super) type Weighed<'a> = (&'a [u8], u16);

/// Adds rows to the sums. They must not add up to more than 16 bits.
pub(super) fn add_rows(sums: &mut [u16], rows: &[Weighed<'_>]) {
    for some in rows.chunks(ROWS_AT_ONCE) {
        // What is missing to the last few is one of them again, times nothing.
        let row = |at: usize| some.get(at).copied().unwrap_or((some[0].0, 0));
        let (rows, weights): (Vec<&[u8]>, Vec<u16>) = (0..ROWS_AT_ONCE).map(row).unzip();
        let rows = [rows[0], rows[1], rows[2], rows[3]];
        let weights = [weights[0], weights[1], weights[2], weights[3]];
        either!(add_four(sums, rows, weights));
    }
}

/// Puts the places of those that come up to the bar into `found`; `false` if they are more than
/// `most`, and then not all are there.
pub(super) fn places_from(sums: &[u16], bar: u16, most: usize, found: &mut Vec<usize>) -> bool {
    either!(places_of(sums, bar, most, found))
}

/// How many come up to the bar.
pub(super) fn count_from(sums: &[u16], bar: u16) -> usize {
    // A count of a few thousand fits into 16 bits, which many can be counted in at once.
    sums.chunks(1 << 12).map(|some| usize::from(either!(count_of(some, bar)))).sum()
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "it is compiled once for each kind of processor")]
fn add_four(sums: &mut [u16], rows: [&[u8]; 4], weights: [u16; 4]) {
    let [a, b, c, d] = rows.map(|row| &row[..sums.len()]);
    for (at, sum) in sums.iter_mut().enumerate() {
        let of = |row: &[u8], weight: u16| u16::from(row[at]).wrapping_mul(weight);
        let all = of(a, weights[0])
            .wrapping_add(of(b, weights[1]))
            .wrapping_add(of(c, weights[2]))
            .wrapping_add(of(d, weights[3]));
        *sum = sum.wrapping_add(all);
    }
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "it is compiled once for each kind of processor")]
fn places_of(sums: &[u16], bar: u16, most: usize, found: &mut Vec<usize>) -> bool {
    for (nth, some) in sums.chunks(LOOKED_AT_ONCE).enumerate() {
        // Most have nobody: this is told for many at a time.
        if some.iter().fold(0, |most: u16, sum| most.max(*sum)) < bar {
            continue;
        }
        let places = some.iter().enumerate().filter(|(_, sum)| **sum >= bar);
        found.extend(places.map(|(at, _)| nth * LOOKED_AT_ONCE + at));
        if found.len() > most {
            return false;
        }
    }
    true
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "it is compiled once for each kind of processor")]
fn count_of(sums: &[u16], bar: u16) -> u16 {
    sums.iter().fold(0, |count: u16, sum| count.wrapping_add(u16::from(*sum >= bar)))
}

#[cfg(target_arch = "x86_64")]
mod wide {
    #[target_feature(enable = "avx2")]
    pub(super) fn add_four(sums: &mut [u16], rows: [&[u8]; 4], weights: [u16; 4]) {
        super::add_four(sums, rows, weights);
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn places_of(sums: &[u16], bar: u16, most: usize, found: &mut Vec<usize>) -> bool {
        super::places_of(sums, bar, most, found)
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn count_of(sums: &[u16], bar: u16) -> u16 {
        super::count_of(sums, bar)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_adding_one_by_one() {
        for (entries, rows) in [(0, 1), (1, 1), (31, 3), (500, 4), (5000, 5), (9001, 12)] {
            let row = |nth: usize| -> Vec<u8> {
                (0..entries).map(|at| u8::try_from((at * 7 + nth * 31) % 256).unwrap()).collect()
            };
            let all: Vec<(Vec<u8>, u16)> =
                (0..rows).map(|nth| (row(nth), u16::try_from(nth % 15).unwrap())).collect();
            let mut sums: Vec<u16> =
                (0..entries).map(|at| u16::try_from(at % 9).unwrap()).collect();
            let expected: Vec<u16> = sums
                .iter()
                .enumerate()
                .map(|(at, sum)| {
                    sum + all.iter().map(|(row, weight)| u16::from(row[at]) * weight).sum::<u16>()
                })
                .collect();
            let weighed: Vec<Weighed<'_>> = all.iter().map(|(row, w)| (&row[..], *w)).collect();
            add_rows(&mut sums, &weighed);
            assert_eq!(sums, expected);
            for bar in [0, 1, 300, 9000] {
                let count = sums.iter().filter(|sum| **sum >= bar).count();
                assert_eq!(count_from(&sums, bar), count, "{bar}");
                let mut places = Vec::new();
                assert!(places_from(&sums, bar, count, &mut places));
                let expected = (0..entries).filter(|at| sums[*at] >= bar);
                assert_eq!(places, expected.collect::<Vec<_>>(), "{bar}");
                let fewer = count.saturating_sub(1);
                assert_eq!(places_from(&sums, bar, fewer, &mut Vec::new()), count == 0, "{bar}");
            }
        }
    }
}
