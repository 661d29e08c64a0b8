//! What has had its day goes to the archive.

use std::path::Path;
use std::sync::Arc;

use ao_contract::{CertificateVerdict, Defrag, DefragKept, DefragPrune, PruneRule};

use super::dedup::stem;
use super::edits::Reasons;
use super::rewriting::Queue;
use super::{DefragError, kept};
use crate::certificate;
use crate::corpus::{Entry, Kind};
use crate::index::Index;
use crate::merge::MERGED_FROM;
use crate::past::Past;
use crate::prune::{self, Candidate};
use crate::search::Places;
use crate::tree::Tree;

pub(super) fn prune(
    place: (&Path, Option<&Past>),
    tree: &mut Tree,
    queue: &Queue,
    (against, index): (prune::Against, Option<Index>),
    report: &mut Defrag,
    reasons: &mut Reasons,
) -> Result<(), DefragError> {
    let candidates = prune::candidates(tree, against);
    report.as_of = Some(candidates.now.to_string());
    let told = candidates.kept.into_iter().map(|(path, why)| kept(&path, why));
    report.kept.extend(told);
    if candidates.found.is_empty() {
        return Ok(());
    }
    let referrers = match prune::referrers(place, tree, queue.now(), &candidates.found)? {
        Ok(referrers) => referrers,
        Err(why) => {
            let why = format!("{why}, so it is not known what it refers to");
            let told = candidates.found.iter().map(|candidate| kept(&candidate.path, why.clone()));
            report.kept.extend(told);
            return Ok(());
        }
    };
    let (going, stay) = prune::unreferred(candidates.found, &referrers);
    report.kept.extend(stay.into_iter().map(|(path, why)| kept(&path, why)));
    if going.is_empty() {
        return Ok(());
    }
    let index = match index {
        Some(index) => index,
        None => Index::of_tree(tree)?,
    };
    let places = Places::of(&index)?;
    for candidate in going {
        archive(tree, &places, candidate, report, reasons)?;
    }
    Ok(())
}

fn archive(
    tree: &mut Tree,
    places: &Places<'_>,
    candidate: Candidate,
    report: &mut Defrag,
    reasons: &mut Reasons,
) -> Result<(), DefragError> {
    let Candidate { path, rule, reason, successor, .. } = candidate;
    let Some(entry) = tree.entry(&path) else { return Ok(()) };
    let successor = successor.and_then(|path| tree.entry(&path));
    let certificate = match (rule, &successor) {
        (PruneRule::Superseded, Some(successor)) => certificate::hidden(places, &entry, successor)?,
        (PruneRule::Superseded, None) => return Ok(()),
        (PruneRule::Expired, _) => certificate::expired(places, &entry)?,
    };
    if certificate.verdict == CertificateVerdict::Refused {
        let why = certificate.why.clone();
        report.kept.push(DefragKept { path, why, certificate: Some(certificate) });
        return Ok(());
    }
    // What only waited was never known by its names, and whoever wrote them there would write into the successor.
    let is_named =
        entry.kind != Kind::Pending || ao_mutant::active("GRD-07/what-waits-names-others");
    if let Some(successor) = successor.filter(|_| is_named) {
        match with_name(&successor, &entry) {
            Ok(successor) => {
                reasons.named(&successor.path, &path);
                tree.write(Arc::new(successor));
            }
            Err(why) => {
                report.kept.push(kept(&path, why));
                return Ok(());
            }
        }
    }
    tree.delete(&path);
    reasons.prune(&path, &reason, &certificate);
    let id = stem(&path).to_owned();
    report.prunes.push(DefragPrune { id, path, rule, reason, certificate });
    Ok(())
}

/// The successor, which is now known by the names of the entry that goes too.
fn with_name(successor: &Entry, entry: &Entry) -> Result<Entry, String> {
    let document = &successor.document;
    let mut names: Vec<String> =
        document.texts(MERGED_FROM).into_iter().map(std::borrow::Cow::into_owned).collect();
    let id = entry.document.text("id").map(std::borrow::Cow::into_owned);
    let former = entry.document.texts(MERGED_FROM).into_iter().map(std::borrow::Cow::into_owned);
    for name in std::iter::once(entry.stem().to_owned()).chain(id).chain(former) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let document = document.draft().set(MERGED_FROM, names).finish();
    let document = document.map_err(|error| format!("its successor: {error}"))?;
    Ok(Entry { path: successor.path.clone(), kind: successor.kind, document })
}
