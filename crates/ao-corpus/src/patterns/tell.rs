//! Why a learning is in a pattern or in none, and why a page says what it says.

use super::compile::Choir;
use super::page::Page;
use super::recur::{Edges, Recurring, SOURCES_MIN, Voice, agreement, independent, recurring};
use super::shelf::{Made, Shelf, paths_of};
use crate::check::{Bound, Check, Side};
use crate::taken::Ledger;
use crate::tree::Tree;

/// What is to be said of one entry.
#[derive(Debug, Clone)]
pub struct Told {
    pub verdict: String,
    pub why: String,
    /// What was asked of it as a whole.
    pub checks: Vec<Check>,
    /// Who says it, and what was asked of each.
    pub sources: Vec<(String, Vec<Check>)>,
}

/// Of a page that was compiled, or of a learning that others agree with; nothing of any other entry.
pub fn tell(tree: &Tree, ledger: &Ledger, path: &str) -> Option<Told> {
    let choir = Choir::of(tree);
    if let Some(at) = choir.pages.iter().position(|(voice, _)| voice.path() == path) {
        return Some(of_page(&choir, at));
    }
    let at = choir.learnings.iter().position(|voice| voice.path() == path)?;
    of_learning(&choir, ledger, at)
}

fn of_page(choir: &Choir, at: usize) -> Told {
    let (voice, page) = &choir.pages[at];
    let page = match page {
        Ok(page) => page,
        Err(why) => {
            let checks = vec![Check::plain("block", "as it was written", Some(why.clone()), "")];
            let verdict = "left alone".to_owned();
            return Told { verdict, why: why.clone(), checks, sources: Vec::new() };
        }
    };
    let cited = |path: &str| choir.learnings.iter().find(|voice| voice.path() == path);
    let saying: Vec<&Voice> =
        page.block.sources.iter().filter_map(|source| cited(&source.path)).collect();
    let mut sources: Vec<(String, Vec<Check>)> = Vec::new();
    for source in &saying {
        let all = (0..source.statements.len()).map(|at| agreement((source, at), (voice, 0)));
        let best = all.max_by(|one, other| {
            (one.holds(), one.of_both)
                .partial_cmp(&(other.holds(), other.of_both))
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        sources
            .push((source.path().to_owned(), best.map(|best| best.checks()).unwrap_or_default()));
    }
    for gone in &page.block.withdrawn {
        let check = Check::plain("withdrawn", "no", Some(gone.words.clone()), "no");
        sources.push((gone.path.clone(), vec![check]));
    }
    let check = enough(&saying);
    let verdict = if check.holds { "compiled" } else { "weakened" };
    let why = format!("{} learnings say: {}", page.block.sources.len(), page.block.claim);
    Told { verdict: verdict.to_owned(), why, checks: vec![check], sources }
}

fn of_learning(choir: &Choir, ledger: &Ledger, at: usize) -> Option<Told> {
    let voice = &choir.learnings[at];
    let all = choir.all();
    let edges = Edges::of(&all, choir.learnings.len());
    let cites = |(_, page): &&(Voice, Result<Page, String>)| {
        let sources = page.as_ref().map(|page| page.block.sources.as_slice()).unwrap_or_default();
        sources.iter().any(|source| source.path == voice.path())
    };
    let citing: Vec<&str> = choir.pages.iter().filter(cites).map(|(page, _)| page.path()).collect();
    // The statement that most others agree with.
    let near = |statement: usize| {
        edges.with((at, statement)).filter(|(other, _, _)| *other < choir.learnings.len())
    };
    let statement = (0..voice.statements.len())
        .max_by_key(|statement| (near(*statement).count(), std::cmp::Reverse(*statement)))?;
    let others: Vec<(usize, Vec<Check>)> =
        near(statement).map(|(other, _, agreement)| (other, agreement.checks())).collect();
    if others.is_empty() && citing.is_empty() {
        return None;
    }
    let saying: Vec<&Voice> = std::iter::once(voice)
        .chain(others.iter().map(|(other, _)| &choir.learnings[*other]))
        .collect();
    let check = enough(&saying);
    let stars = recurring(&all, choir.learnings.len(), &edges);
    let says_it = |star: &&Recurring| star.statements().any(|one| one == (at, statement));
    let says_any = |star: &&Recurring| star.voices().any(|other| other == at);
    let star = stars.iter().find(says_it).or_else(|| stars.iter().find(says_any));
    let (verdict, why) = match (&citing[..], star) {
        ([_, ..], _) => {
            (format!("cited by {}", citing.join(", ")), "it says what the pattern says".to_owned())
        }
        ([], None) => ("left".to_owned(), check.why.clone()),
        ([], Some(star)) => {
            let (medoid, said) = star.medoid;
            let key = choir.learnings[medoid].statements[said].key();
            match Shelf::of(choir).known_by(&edges, star) {
                Some(pattern) => ("left".into(), format!("{pattern} says it already")),
                None if Made::of(ledger).has(&key, &paths_of(choir, star)) => (
                    "left".into(),
                    "a page of it was compiled before and is gone, so it is not made again".into(),
                ),
                None => (
                    "compiled into a pattern".into(),
                    format!("{} learnings say it", star.voices().count()),
                ),
            }
        }
    };
    let path = |other: usize| choir.learnings[other].path().to_owned();
    let sources = others.into_iter().map(|(other, checks)| (path(other), checks)).collect();
    Some(Told { verdict, why, checks: vec![check], sources })
}

#[expect(clippy::cast_precision_loss, reason = "few learnings say the same")]
fn enough(saying: &[&Voice]) -> Check {
    let value = independent(saying) as f64;
    let bound = SOURCES_MIN as f64;
    Check::from(&Bound { name: "independent learnings", value, side: Side::AtLeast, bound })
}
