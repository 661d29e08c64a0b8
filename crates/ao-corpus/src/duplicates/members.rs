//! Who of the copies of one entry may be merged with it together.
//!
//! Each copy was compared with the best one, and none with the others: "it waits 30 seconds" and "it waits 120
//! seconds" can both be the best one and a sentence more. So the members of a cluster are compared with each other,
//! too, by what each has of its own. Whoever contradicts one that is better stays.

use std::sync::Arc;

use super::claims::{Apart, Claims, Verdict, Word, differences, remains};
use super::variants::{self, is_among, nearest};
use crate::contradictions::disputes_among;
use crate::corpus::Entry;

/// Pieces that the members of one cluster have of their own and that are compared with each other.
const OWN_PIECES_MAX: usize = 4_096;

/// For each member, with whom it cannot be merged and why: with the best one at 0, or with the member at that place.
/// Those that are word for word the best one say what it says, and are left out.
pub(super) fn apart(
    best: &Arc<Entry>,
    members: &[Option<Arc<Entry>>],
) -> Vec<Option<(usize, String)>> {
    let mut apart: Vec<Option<(usize, String)>> = vec![None; members.len()];
    disputed(best, members, &mut apart);
    if members.iter().flatten().count() < 2 {
        return apart;
    }
    let own = Claims::of(best);
    let claims: Vec<Option<Claims>> =
        members.iter().map(|member| member.as_deref().map(Claims::of)).collect();
    let mut kept: Vec<(usize, &Claims, Vec<&[Word]>)> = Vec::new();
    let mut count = 0;
    for (at, claims) in claims.iter().enumerate() {
        let Some(claims) = claims.as_ref().filter(|_| apart[at].is_none()) else { continue };
        let (_, pieces) = remains(&own.pieces, &claims.pieces);
        count += pieces.len();
        if count > OWN_PIECES_MAX {
            apart[at] = Some((0, "too many of its copies differ to be compared".to_owned()));
            continue;
        }
        let against = |(place, other, theirs): &(usize, &Claims, Vec<&[Word]>)| {
            at_odds((claims, &pieces), (other, theirs)).map(|apart| (*place, apart.why))
        };
        match kept.iter().find_map(against) {
            Some((place, why)) => {
                apart[at] = Some((place + 1, format!("they claim different things: {why}")));
            }
            None => kept.push((at, claims, pieces)),
        }
    }
    apart
}

/// Two sides of a card are never in one cluster.
fn disputed(
    best: &Arc<Entry>,
    members: &[Option<Arc<Entry>>],
    apart: &mut [Option<(usize, String)>],
) {
    let there: Vec<(usize, &Arc<Entry>)> = std::iter::once((0, best))
        .chain(members.iter().enumerate().filter_map(|(at, one)| Some((at + 1, one.as_ref()?))))
        .collect();
    if there.len() < 2 {
        return;
    }
    let place = |path: &str| there.iter().find(|(_, entry)| entry.path == path).map(|(at, _)| *at);
    let mut pairs: Vec<(usize, usize)> =
        disputes_among(there.iter().map(|(_, entry)| Arc::clone(entry)).collect())
            .into_iter()
            .filter_map(|dispute| {
                let [one, other] = dispute.sides.map(|side| place(&side.path));
                Some((one?.min(other?), one?.max(other?)))
            })
            .collect();
    pairs.sort_unstable();
    for (one, other) in pairs {
        let is_out = |place: usize| place > 0 && apart[place - 1].is_some();
        if !is_out(one) && other > 0 {
            apart[other - 1].get_or_insert((one, "they contradict each other".to_owned()));
        }
    }
}

/// Where two copies of one entry contradict each other, in what each has of its own.
fn at_odds(
    (ours, our_pieces): (&Claims, &[&[Word]]),
    (theirs, their_pieces): (&Claims, &[&[Word]]),
) -> Option<Apart> {
    let against = |own: &[&[Word]], other: &Claims, their_own: &[&[Word]]| {
        let all = other.all();
        own.iter().find_map(|piece| {
            // A piece that speaks of the same and that the best one has, too, was compared with this one.
            let near = nearest(piece, &all).filter(|near| is_among(near, their_own))?;
            match differences(piece, near) {
                Verdict::Differ(apart) => Some(apart),
                _ => None,
            }
        })
    };
    against(our_pieces, theirs, their_pieces)
        .or_else(|| against(their_pieces, ours, our_pieces))
        .or_else(|| variants::apart(ours, theirs, (our_pieces, their_pieces)))
}
