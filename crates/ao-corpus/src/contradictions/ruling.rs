//! What a ruling changes, as edits: the ruling itself, and the header of the side that lost.

use ao_contract::{Contradiction, ContradictionSide, Extra, Keep, Manner, Ruling};
use ao_tree::{Action, Edit, Seen, shown};

use super::identity::{Identities, own_id};
use super::rulings::{Rulings, path_of};
use crate::corpus::{Corpus, Entry};
use crate::document::{Document, Form};
use crate::merge::MERGED_FROM;

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
    /// The entry that was archived because of the ruling, and is back.
    pub restored: Option<String>,
    /// Why the header of the side that lost stays as it is.
    pub left: Option<String>,
}

/// Rules about a card. Both files must still be what they were when the card was made: each is named by an edit,
/// and one that writes what stands there changes nothing, and holds all the others back if something else does.
pub fn rule(
    corpus: &Corpus,
    rulings: &Rulings,
    card: &Contradiction,
    (keep, why): (Keep, &str),
    (at, given): (&str, Manner),
) -> Result<Ruled, String> {
    let ruling = Ruling {
        schema_version: ao_contract::SchemaVersion,
        card: card.id.clone(),
        keep,
        why: why.to_owned(),
        at: at.to_owned(),
        given: Some(given.into()),
        differs: card.differs.clone(),
        a: card.a.clone(),
        b: card.b.clone(),
        extra: Extra::new(),
    };
    let reason = format!("ruled about {}: {}", card.id, told(keep));
    let sources = vec![card.a.path.clone(), card.b.path.clone()];
    let mut bytes = serde_json::to_vec_pretty(&ruling).map_err(|error| error.to_string())?;
    bytes.push(b'\n');
    let mut made =
        Ruled { ruling, edits: Vec::new(), superseded: None, restored: None, left: None };
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

/// Takes a ruling back: its file goes, and so does the mark that it left, under whatever names the two entries are
/// there by now. If a night archived the entry that had lost, `archived` has its bytes by its path, and it comes back.
/// A mark that cannot be taken keeps the ruling: otherwise an entry would be hidden and nobody could say why.
pub fn withdraw(
    corpus: &Corpus,
    rulings: &Rulings,
    ruling: &Ruling,
    archived: impl FnOnce(&str) -> Option<Vec<u8>>,
) -> Result<Ruled, String> {
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
    let change = |entry: &Entry, to: &Document| {
        let seen = Seen::bytes(entry.document.bytes());
        edit(&entry.path, Action::Write(to.bytes().to_vec()), seen)
    };
    let seen = before(rulings, &ruling.card);
    let edits = vec![edit(&path_of(&ruling.card), Action::Delete, seen)];
    let ruling = ruling.clone();
    let mut made = Ruled { ruling, edits, superseded: None, restored: None, left: None };
    let (loser, winner) = match made.ruling.keep {
        Keep::A => (&made.ruling.b, &made.ruling.a),
        Keep::B => (&made.ruling.a, &made.ruling.b),
        Keep::Both => return Ok(made),
    };
    let identities = Identities::of(corpus);
    let stands_for = identities.entry_of(winner);
    if let Some(entry) = identities.itself(loser) {
        match marked(&identities, entry, winner)? {
            Mark::Ours(by) => {
                let edited = unmarked(&entry.document, &by)
                    .map_err(|why| format!("{} keeps its mark: {why}", shown(&entry.path)))?;
                made.edits.push(change(entry, &edited));
            }
            Mark::Theirs(why) => made.left = Some(why),
        }
        return Ok(made);
    }
    let path = shown(&loser.path);
    let Some(taker) = identities.taker_of(loser) else {
        made.left = Some(format!("{path} is not there"));
        return Ok(made);
    };
    if stands_for.is_none_or(|winner| winner.path != taker.path) {
        made.left = Some(format!("{path} was merged into {}", shown(&taker.path)));
        return Ok(made);
    }
    let Some(bytes) = archived(&loser.path) else {
        made.left =
            Some(format!("{path} was archived, and its text is no longer kept for an undo"));
        return Ok(made);
    };
    let (back, winner) = restored(loser, bytes, taker)?;
    let bytes = back.document.bytes().to_vec();
    made.edits.push(edit(&back.path, Action::Write(bytes), Seen::Nothing));
    made.edits.push(change(taker, &winner));
    made.restored = Some(back.path);
    Ok(made)
}

/// What an entry says of being superseded.
enum Mark {
    /// By what this ruling kept, as it is written.
    Ours(String),
    /// Not by this ruling; how it is.
    Theirs(String),
}

fn marked(
    identities: &Identities,
    entry: &Entry,
    winner: &ContradictionSide,
) -> Result<Mark, String> {
    let path = shown(&entry.path);
    let Some(by) = entry.document.text(SUPERSEDED_BY).map(std::borrow::Cow::into_owned) else {
        return Ok(Mark::Theirs(format!("{path} does not say that it is superseded")));
    };
    let named = identities.named(&by);
    let stands_for = identities.entry_of(winner);
    let is_winner = |other: &Entry| stands_for.is_some_and(|winner| winner.path == other.path);
    match named {
        _ if by == winner.path => Ok(Mark::Ours(by)),
        Some(other) if is_winner(other) => Ok(Mark::Ours(by)),
        Some(other) => {
            let other = shown(&other.path);
            Ok(Mark::Theirs(format!("{path} is superseded by {other}, and not by this ruling")))
        }
        None => Err(format!(
            "{path} is superseded by `{}`, which is not there, so it cannot be told whose mark that is; take the \
             line `{SUPERSEDED_BY}` out of it",
            shown(&by)
        )),
    }
}

/// A document without its mark; one that had no header before it has none again.
fn unmarked(document: &Document, by: &str) -> Result<Document, String> {
    let edited = document.draft().remove(SUPERSEDED_BY).finish().map_err(|why| why.to_string())?;
    if !edited.fields().is_empty() || document.form() != Form::Markdown {
        return Ok(edited);
    }
    let text = String::from_utf8_lossy(edited.bytes());
    let start = if text.starts_with('\u{feff}') { "\u{feff}" } else { "" };
    let bare = format!("{start}{}", document.body()).into_bytes();
    let Ok(bare) = Document::parse(Form::Markdown, bare) else { return Ok(edited) };
    let again = bare.draft().set(SUPERSEDED_BY, by).finish();
    let is_inverse = again.is_ok_and(|again| again.bytes() == document.bytes());
    Ok(if is_inverse { bare } else { edited })
}

/// The archived entry as it was before it lost, and the entry that had its name without it.
fn restored(
    loser: &ContradictionSide,
    bytes: Vec<u8>,
    taker: &Entry,
) -> Result<(Entry, Document), String> {
    let path = shown(&loser.path);
    let unread = || format!("{path} was archived, and what is kept of it cannot be read");
    let entry = Entry::parse(&loser.path, || Ok(bytes)).and_then(Result::ok).ok_or_else(unread)?;
    let document = match entry.document.text(SUPERSEDED_BY) {
        Some(by) => unmarked(&entry.document, &by)
            .map_err(|why| format!("{path} was archived with a mark that stays: {why}"))?,
        None => entry.document.clone(),
    };
    let former = entry.document.texts(MERGED_FROM);
    let is_its = |name: &str| {
        name == entry.stem() || own_id(&entry).as_deref() == Some(name) || {
            former.iter().any(|one| one == name)
        }
    };
    let names = taker.document.texts(MERGED_FROM);
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).filter(|name| !is_its(name)).collect();
    let mut draft = taker.document.draft();
    let draft =
        if names.is_empty() { draft.remove(MERGED_FROM) } else { draft.set(MERGED_FROM, names) };
    let kept = |why| format!("{} keeps the name of {path}: {why}", shown(&taker.path));
    let winner = draft.finish().map_err(kept)?;
    Ok((Entry { path: entry.path.clone(), kind: entry.kind, document }, winner))
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
