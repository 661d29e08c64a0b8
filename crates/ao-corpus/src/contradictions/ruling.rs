//! What a ruling changes, as edits: the ruling itself, and the header of the side that lost.

use ao_contract::{Contradiction, ContradictionSide, Extra, Keep, Ruling};
use ao_tree::{Action, Edit, Seen, shown};

use super::card::{Rulings, path_of};
use crate::corpus::Corpus;

/// The edits of a ruling are made together or not at all.
const GROUP: &str = "ruling";
const SUPERSEDED_BY: &str = "superseded_by";

/// What a ruling would do.
#[derive(Debug, Clone)]
pub struct Ruled {
    pub ruling: Ruling,
    pub edits: Vec<Edit>,
    /// The entry that is now superseded.
    pub superseded: Option<String>,
    /// Why the header of the side that lost stays as it is.
    pub left: Option<String>,
}

/// Rules about a card. Both files must still be what they were when the card was made: each is named by an edit,
/// and one that writes what stands there changes nothing, and holds all the others back if something else does.
pub fn rule(
    corpus: &Corpus,
    rulings: &Rulings,
    card: &Contradiction,
    (keep, why, at): (Keep, &str, &str),
) -> Result<Ruled, String> {
    let ruling = Ruling {
        schema_version: ao_contract::SchemaVersion,
        card: card.id.clone(),
        keep,
        why: why.to_owned(),
        at: at.to_owned(),
        differs: card.differs.clone(),
        a: card.a.clone(),
        b: card.b.clone(),
        extra: Extra::new(),
    };
    let reason = format!("ruled about {}: {}", card.id, told(keep));
    let sources = vec![card.a.path.clone(), card.b.path.clone()];
    let mut bytes = serde_json::to_vec_pretty(&ruling).map_err(|error| error.to_string())?;
    bytes.push(b'\n');
    let mut made = Ruled { ruling, edits: Vec::new(), superseded: None, left: None };
    made.edits.push(Edit {
        path: path_of(&card.id),
        action: Action::Write(bytes),
        mode: None,
        reason: reason.clone(),
        sources: sources.clone(),
        group: Some(GROUP.into()),
        seen: Some(before(rulings, &card.id)),
    });
    let loser = match keep {
        Keep::A => Some(&card.b),
        Keep::B => Some(&card.a),
        Keep::Both => None,
    };
    for side in [&card.a, &card.b] {
        let entry = corpus.get(&side.path).ok_or_else(|| gone(side))?;
        let document = &entry.document;
        let mut bytes = document.bytes().to_vec();
        if loser.is_some_and(|loser| loser.path == side.path) {
            let winner = if side.path == card.a.path { &card.b } else { &card.a };
            if document.is_pinned() {
                made.left = Some(format!("{} is pinned", shown(&side.path)));
            } else {
                let edited = document.draft().set(SUPERSEDED_BY, winner.path.as_str()).finish();
                match edited {
                    Ok(edited) => {
                        bytes = edited.bytes().to_vec();
                        made.superseded = Some(side.path.clone());
                    }
                    Err(why) => made.left = Some(format!("{}: {why}", shown(&side.path))),
                }
            }
        }
        made.edits.push(Edit {
            path: side.path.clone(),
            action: Action::Write(bytes),
            mode: None,
            reason: reason.clone(),
            sources: sources.clone(),
            group: Some(GROUP.into()),
            seen: Some(Seen::bytes(document.bytes())),
        });
    }
    Ok(made)
}

/// Takes a ruling back: its file goes, and so does the mark that it left, if it is still there.
pub fn withdraw(corpus: &Corpus, rulings: &Rulings, ruling: &Ruling) -> Ruled {
    let reason = format!("the ruling about {} is withdrawn", ruling.card);
    let edit = |path: &str, action: Action, seen: Seen| Edit {
        path: path.to_owned(),
        action,
        mode: None,
        reason: reason.clone(),
        sources: vec![ruling.a.path.clone(), ruling.b.path.clone()],
        group: Some(GROUP.into()),
        seen: Some(seen),
    };
    let seen = before(rulings, &ruling.card);
    let mut edits = vec![edit(&path_of(&ruling.card), Action::Delete, seen)];
    let mut left = None;
    let sides = match ruling.keep {
        Keep::A => Some((&ruling.b, &ruling.a)),
        Keep::B => Some((&ruling.a, &ruling.b)),
        Keep::Both => None,
    };
    if let Some((loser, winner)) = sides {
        let marked = corpus.get(&loser.path).filter(|entry| {
            entry.document.text(SUPERSEDED_BY).as_deref() == Some(winner.path.as_str())
        });
        match marked.map(|entry| (entry, entry.document.draft().remove(SUPERSEDED_BY).finish())) {
            Some((entry, Ok(edited))) => {
                let bytes = edited.bytes().to_vec();
                let seen = Seen::bytes(entry.document.bytes());
                edits.push(edit(&loser.path, Action::Write(bytes), seen));
            }
            Some((_, Err(why))) => left = Some(format!("{}: {why}", shown(&loser.path))),
            None => {
                left = Some(format!("{} no longer says that it is superseded", shown(&loser.path)));
            }
        }
    }
    Ruled { ruling: ruling.clone(), edits, superseded: None, left }
}

fn told(keep: Keep) -> &'static str {
    match keep {
        Keep::A => "A holds",
        Keep::B => "B holds",
        Keep::Both => "both hold",
    }
}

fn before(rulings: &Rulings, card: &str) -> Seen {
    rulings.seen.get(card).map_or(Seen::Nothing, |bytes| Seen::bytes(bytes))
}

fn gone(side: &ContradictionSide) -> String {
    format!("{} can no longer be read", shown(&side.path))
}
