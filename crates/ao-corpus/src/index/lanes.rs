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

/// So many rows are added at once at most: a sum is then loaded and stored once for all of them.
const ROWS_AT_ONCE: usize = 6;

/// So many sums are looked at together.
const LOOKED_AT_ONCE: usize = 32;

/// A row of bytes, one an entry, and what each of them is multiplied by.
pub(super) type Weighed<'a> = (&'a [u8], u16);

/// Adds rows to the sums. They must not add up to more than 16 bits.
pub(super) fn add_rows(sums: &mut [u16], rows: &[Weighed<'_>]) {
    // Nine are added as five and four: a single one would take as long as two.
    let parts = rows.len().div_ceil(ROWS_AT_ONCE).max(1);
    for some in rows.chunks(rows.len().div_ceil(parts).max(1)) {
        match some.len() {
            1 => either!(add_1(sums, array(some))),
            2 => either!(add_2(sums, array(some))),
            3 => either!(add_3(sums, array(some))),
            4 => either!(add_4(sums, array(some))),
            5 => either!(add_5(sums, array(some))),
            _ => either!(add_6(sums, array(some))),
        }
    }
}

fn array<'a, const N: usize>(some: &[Weighed<'a>]) -> [Weighed<'a>; N] {
    std::array::from_fn(|at| some[at])
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

/// One function for each number of rows: a loop over the rows within the loop over the sums would not
/// be made wide.
macro_rules! adders {
    ($($name:ident($count:literal: $($row:ident $at:literal),+);)+) => {
        $(
            // Compiled once for each kind of processor.
            #[inline(always)]
            fn $name(sums: &mut [u16], rows: [Weighed<'_>; $count]) {
                $(let $row = &rows[$at].0[..sums.len()];)+
                for (at, sum) in sums.iter_mut().enumerate() {
                    let mut all = *sum;
                    $(all = all.wrapping_add(u16::from($row[at]).wrapping_mul(rows[$at].1));)+
                    *sum = all;
                }
            }
        )+

        #[cfg(target_arch = "x86_64")]
        mod wide_adders {
            use super::Weighed;

            $(
                #[target_feature(enable = "avx2")]
                pub(super) fn $name(sums: &mut [u16], rows: [Weighed<'_>; $count]) {
                    super::$name(sums, rows);
                }
            )+
        }
    };
}

adders! {
    add_1(1: a 0);
    add_2(2: a 0, b 1);
    add_3(3: a 0, b 1, c 2);
    add_4(4: a 0, b 1, c 2, d 3);
    add_5(5: a 0, b 1, c 2, d 3, e 4);
    add_6(6: a 0, b 1, c 2, d 3, e 4, f 5);
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "it is compiled once for each kind of processor")]
fn places_of(sums: &[u16], bar: u16, most: usize, found: &mut Vec<usize>) -> bool {
    let (whole, rest) = sums.as_chunks::<LOOKED_AT_ONCE>();
    let mut put = |from: usize, some: &[u16]| {
        let places = some.iter().enumerate().filter(|(_, sum)| **sum >= bar);
        found.extend(places.map(|(at, _)| from + at));
        found.len() <= most
    };
    for (nth, some) in whole.iter().enumerate() {
        // Most have nobody: this is told for many at a time.
        let has_some = some.iter().fold(0, |most: u16, sum| most.max(*sum)) >= bar;
        if has_some && !put(nth * LOOKED_AT_ONCE, some) {
            return false;
        }
    }
    put(sums.len() - rest.len(), rest)
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "it is compiled once for each kind of processor")]
fn count_of(sums: &[u16], bar: u16) -> u16 {
    sums.iter().fold(0, |count: u16, sum| count.wrapping_add(u16::from(*sum >= bar)))
}

#[cfg(target_arch = "x86_64")]
mod wide {
    pub(super) use super::wide_adders::*;

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
        for (entries, rows) in
            [(0, 1), (1, 1), (9, 0), (31, 3), (500, 4), (5000, 5), (700, 6), (800, 7), (9001, 13)]
        {
            let row = |nth: usize| -> Vec<u8> {
                (0..entries).map(|at| u8::try_from((at * 7 + nth * 31) % 256).unwrap()).collect()
            };
            let all: Vec<(Vec<u8>, u16)> =
                (0..rows).map(|nth| (row(nth), u16::try_from(nth % 14).unwrap())).collect();
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
