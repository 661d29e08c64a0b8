//! What learnings say alike becomes a pattern.

use std::path::Path;
use std::sync::Arc;

use ao_contract::Defrag;
use ao_tree::Edit;
use jiff::civil::Date;

use super::edits::Reasons;
use super::kept;
use crate::corpus::newest_of;
use crate::past::Past;
use crate::patterns;
use crate::tree::Tree;

/// Compiles the patterns of the tree that the plan leads to, on the corpus's newest day or `as_of`. Gives the
/// edits of the ledger.
pub(super) fn compile_into(
    place: (&Path, Option<&Past>),
    (as_of, latest): (Option<Date>, Option<Date>),
    tree: &mut Tree,
    report: &mut Defrag,
    reasons: &mut Reasons,
) -> Vec<Edit> {
    let archived: Vec<(String, String)> =
        report.prunes.iter().map(|prune| (prune.path.clone(), prune.reason.clone())).collect();
    let day = as_of.or_else(|| newest(tree, latest)).map(|day| day.to_string());
    let compiled = patterns::compile(place, tree, day.as_deref(), &archived);
    report.patterns = compiled.patterns;
    report.kept.extend(compiled.kept.into_iter().map(|(path, why)| kept(&path, why)));
    for edit in &compiled.ledger {
        reasons.prior(edit);
    }
    reasons.join_groups(&compiled.ledger);
    for (entry, why, sources) in compiled.pages {
        // A source that this plan writes is there only if the plan is made.
        let fresh = sources.iter().filter(|path| tree.change(path).is_some());
        let ledger = compiled.ledger.first().map(|edit| &edit.path);
        let is_new = tree.entry(&entry.path).is_none();
        let with: Vec<&String> = fresh.chain(ledger.filter(|_| is_new)).collect();
        reasons.compiled(&entry.path, &why, &sources, &with);
        tree.write(Arc::clone(&entry));
    }
    compiled.ledger
}

fn newest(tree: &Tree, latest: Option<Date>) -> Option<Date> {
    let paths = tree.paths();
    let days = paths.iter().filter_map(|path| tree.entry(path)?.date());
    newest_of(days, latest)
}
