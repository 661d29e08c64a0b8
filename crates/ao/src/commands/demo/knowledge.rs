//! The second half of the demo: copies become one with proof, contradictions stay two.

use std::collections::BTreeMap;

use ao_contract::{Certificate, Defrag};
use ao_corpus::defrag::{self, Asked, Parts};
use ao_corpus::index::{Index, Question};
use ao_corpus::lineage::{Found, Lineage};
use ao_corpus::search::{Asking, search};
use ao_corpus::{Corpus, SEARCHED};
use serde_json::{Value, json};

use super::{Stage, Tree, broken, corpus, request};
use crate::clock;
use crate::failure::Failure;
use crate::printer::{Printer, STRONG, paint};

const QUERY: &str = "how many times may the payment client retry";
const SHOWN: usize = 3;

/// What came of it.
pub(super) struct Consolidated {
    pub(super) merged: usize,
    pub(super) kept_apart: usize,
    pub(super) is_old_name_found: bool,
    pub(super) is_undone_exactly: bool,
}

impl Consolidated {
    pub(super) fn json(&self) -> Value {
        json!({
            "merged": self.merged,
            "kept_apart": self.kept_apart,
            "old_name_found": self.is_old_name_found,
            "undone_exactly": self.is_undone_exactly,
        })
    }

    pub(super) fn is_good(&self) -> bool {
        self.merged == 1 && self.kept_apart == 1 && self.is_old_name_found && self.is_undone_exactly
    }
}

impl Stage {
    pub(super) fn consolidate(&self, printer: &Printer) -> Result<Consolidated, Failure> {
        self.make("notes", corpus::notes())?;
        let before = self.read()?;
        printer.note(&format!("{} `ao search \"{QUERY}\"`:", paint(STRONG, "4.")));
        for hit in self.ask(QUERY)? {
            printer.note(&format!("   {hit}"));
        }
        printer.note(&format!("{} `ao defrag --dedup`:", paint(STRONG, "5.")));
        let parts = Parts { dedup: true, prune: false, sweep: false, patterns: false };
        let fixed = BTreeMap::new();
        let today = clock::now().day();
        let asked = Asked { parts, today, as_of: None, fixed: &fixed, prior: &[], past: None };
        let tree = ao_corpus::Tree::list(&self.repo.agents()).map_err(|error| broken(&error))?;
        let plan = defrag::plan(&self.repo.agents(), tree, asked, &|_| {})
            .map_err(|error| broken(&error))?;
        tell(&plan.report, printer);
        self.make("consolidated", plan.edits)?;
        let is_old_name_found = self.is_old_name_found(&plan.report)?;
        printer.note(if is_old_name_found {
            "   the name that went leads to the one that stayed"
        } else {
            "   the name that went leads nowhere"
        });
        self.undo("consolidated")?;
        let is_undone_exactly = self.read()? == before;
        Ok(Consolidated {
            merged: plan.report.merges.len(),
            kept_apart: plan.report.review.len(),
            is_old_name_found,
            is_undone_exactly,
        })
    }

    pub(super) fn make(&self, id: &str, edits: Vec<ao_tree::Edit>) -> Result<Tree, Failure> {
        let _lock = self.repo.lock(clock::now())?;
        self.door.apply(request(id, "part of the demo", edits))?;
        self.read()
    }

    fn index(&self) -> Result<Index, Failure> {
        let corpus =
            Corpus::read(&self.repo.agents(), &SEARCHED).map_err(|error| broken(&error))?;
        Index::of_entries(&corpus.entries).map_err(|error| broken(&error))
    }

    fn ask(&self, query: &str) -> Result<Vec<String>, Failure> {
        let asking = Asking { limit: SHOWN, as_of: None };
        let hits = search(&self.index()?, &Question::new(query), asking);
        let hits = hits.map_err(|error| broken(&error))?;
        Ok(hits.into_iter().map(|hit| format!("{:6.3}  {}", hit.score, hit.path)).collect())
    }

    fn is_old_name_found(&self, report: &Defrag) -> Result<bool, Failure> {
        let lineage = Lineage::of(&self.index()?).map_err(|error| broken(&error))?;
        Ok(report.merges.iter().all(|merge| {
            let leads_there = |name: &str| matches!(lineage.find(name), Found::Entry { path, .. } if path == merge.survivor);
            merge.members.iter().all(|member| leads_there(&member.path))
        }))
    }
}

fn tell(report: &Defrag, printer: &Printer) {
    for merge in &report.merges {
        for member in &merge.members {
            printer.note(&format!("   merge  {}", member.path));
            printer.note(&format!("   into   {}", merge.survivor));
            printer.note(&format!("   proof  {}", proof(&member.certificate)));
        }
    }
    for pair in &report.review {
        printer.note(&format!("   apart  {}", pair.one));
        printer.note(&format!("   and    {}", pair.other));
        printer.note(&format!("   since  {}", pair.why));
    }
}

fn proof(certificate: &Certificate) -> String {
    let asked: Vec<String> = certificate
        .probes
        .iter()
        .filter(|probe| probe.before.is_some())
        .take(2)
        .map(|probe| format!("`{}`", probe.query))
        .collect();
    format!(
        "{} questions from its text found it before and find the survivor after, such as {}",
        certificate.counted,
        asked.join(" and ")
    )
}
