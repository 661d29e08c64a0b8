//! Copies become one, round by round, until another run would find nothing more.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ao_contract::{Defrag, DefragMember, DefragMerge, DefragPair, Unit};

use super::DefragError;
use super::disagreements::Disagreements;
use super::edits::Reasons;
use super::rewriting::Queue;
use super::round::{Came, Kept, Merge, Refused, Round};
use crate::duplicates::{Cluster, Finder, Member, Pair};
use crate::index::{Broken, Index};
use crate::tree::Tree;

/// A merged entry can be a copy of another one. What is left after so many rounds is for the next
/// pass.
const ROUNDS_MAX: usize = 6;
/// A pass is what another run would do. The last one finds nothing, so that another run does not either; each of
/// the others merges something, and hardly ever is there a third.
const PASSES_MAX: usize = 32;

#[derive(Debug)]
pub(super) struct Done {
    /// By the path of the survivor.
    pub(super) merges: BTreeMap<String, Vec<Merge>>,
    review: BTreeMap<(String, String), Pair>,
    refused: Refused,
    /// Files with rewritten references, and to which entries that go.
    referrers: BTreeMap<String, BTreeSet<String>>,
    /// Clusters of copies before anything is merged, and those that are left.
    pub(super) copies: Copies,
    /// Of the tree that this leads to, if one was made.
    pub(super) index: Option<Index>,
    /// Nothing was looked for yet.
    is_first: bool,
}

impl Default for Done {
    fn default() -> Self {
        Self {
            merges: BTreeMap::new(),
            review: BTreeMap::new(),
            refused: Refused::new(),
            referrers: BTreeMap::new(),
            copies: Copies::default(),
            index: None,
            is_first: true,
        }
    }
}

/// Clusters of copies, by their paths.
#[derive(Debug, Clone, Default)]
pub struct Copies {
    pub before: Vec<Vec<String>>,
    pub after: Vec<Vec<String>>,
}

pub(super) fn dedup(
    agents: Option<&Path>,
    tree: &mut Tree,
    queue: &mut Queue,
    tell: &dyn Fn(&str),
) -> Result<Done, DefragError> {
    tell("Looking for copies.");
    let finder = Finder::new(tree);
    let mut plan = Planner { agents, tree, queue, tell, finder, disputed: None };
    let mut done = Done::default();
    for _ in 0..PASSES_MAX {
        if !plan.pass(&mut done)? || ao_mutant::active("LOOP-25/one-pass-is-all") {
            break;
        }
        plan.finder.begin_anew();
    }
    Ok(done)
}

/// What the rounds of all passes work on.
struct Planner<'a> {
    agents: Option<&'a Path>,
    tree: &'a mut Tree,
    queue: &'a mut Queue,
    tell: &'a dyn Fn(&str),
    finder: Finder,
    /// What was disputed before anything was merged; looked for when the first merge is tried.
    disputed: Option<Disagreements>,
}

impl Planner<'_> {
    /// Everything that one run finds, of the tree as it is by now. Whether anything was merged.
    fn pass(&mut self, done: &mut Done) -> Result<bool, DefragError> {
        done.review.clear();
        done.refused.clear();
        let mut among: Option<BTreeSet<String>> = None;
        // What was refused is not tried twice in a pass: it would be asked the same.
        let mut tried: BTreeSet<(String, String)> = BTreeSet::new();
        let mut is_changed = false;
        for _ in 0..ROUNDS_MAX {
            let mut found = self.finder.find(self.tree, among.as_ref());
            let clusters = found.clusters.iter().cloned();
            done.copies.after = clusters.map(Cluster::into_paths).collect();
            if done.is_first {
                done.copies.before.clone_from(&done.copies.after);
            }
            done.is_first = false;
            found.clusters.retain_mut(|cluster| {
                let pair = |path: &str| (cluster.survivor.clone(), path.to_owned());
                cluster.members.retain(|member| tried.insert(pair(&member.path)));
                !cluster.members.is_empty()
            });
            for pair in found.review {
                done.review.insert((pair.one.clone(), pair.other.clone()), pair);
            }
            if found.clusters.is_empty() {
                break;
            }
            let Some(changed) = self.round(found.clusters, done)? else { break };
            is_changed = true;
            self.finder.update(self.tree, &changed);
            among = Some(changed);
        }
        Ok(is_changed)
    }

    /// Tries to merge these; the entries that were changed, refused or merged away, if any was merged.
    fn round(
        &mut self,
        clusters: Vec<Cluster>,
        done: &mut Done,
    ) -> Result<Option<BTreeSet<String>>, DefragError> {
        let count: usize = clusters.iter().map(|cluster| cluster.members.len()).sum();
        (self.tell)(&format!("Asking what {count} copies are found by, before and after."));
        let index = match done.index.take() {
            Some(index) => index,
            None => index_of(self.agents, self.tree)?,
        };
        let disputed = self.disputed.get_or_insert_with(|| Disagreements::of(self.tree));
        let round = Round { base: self.tree, queue: self.queue, done, disputed };
        let (refused, came) = round.run(clusters, index)?;
        let kept = match came {
            Came::Merged(kept) => kept,
            Came::Nothing(index) => {
                done.index = Some(*index);
                done.refused.extend(refused);
                return Ok(None);
            }
        };
        let Kept { merges, after, index, queue, referrers } = *kept;
        let mut changed: BTreeSet<String> = refused.keys().cloned().collect();
        for (survivor, merges) in merges {
            changed.insert(survivor.clone());
            changed.extend(merges.iter().map(|merge| merge.member.path.clone()));
            done.take(&survivor, merges);
        }
        done.refused.extend(refused);
        done.referrers.extend(referrers);
        *self.tree = after;
        *self.queue = queue;
        done.index = Some(index);
        Ok(Some(changed))
    }
}

/// `agents` is where the index of the tree may be kept.
fn index_of(agents: Option<&Path>, tree: &Tree) -> Result<Index, Broken> {
    match (agents, tree.in_memory()) {
        (Some(agents), Some(entries)) => Index::of_known(agents, &entries),
        _ => Index::of_tree(tree),
    }
}

impl Done {
    /// Records merges; what an entry that goes had taken in is now its survivor's.
    fn take(&mut self, survivor: &str, merges: Vec<Merge>) {
        for merge in merges {
            let inherited = self.merges.remove(&merge.member.path).unwrap_or_default();
            let all = self.merges.entry(survivor.to_owned()).or_default();
            all.extend(inherited);
            all.push(merge);
        }
    }

    /// Everything that went, with the survivor that stands for it now.
    pub(super) fn losers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.merges.iter().flat_map(|(survivor, merges)| {
            merges.iter().map(move |merge| (merge.member.path.as_str(), survivor.as_str()))
        })
    }

    pub(super) fn tell(self, tree: &Tree, report: &mut Defrag, reasons: &mut Reasons) {
        let is_there = |path: &str| tree.entry(path).is_some();
        let mut referrers: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let survivors: BTreeMap<&str, &str> = self.losers().collect();
        for (file, targets) in &self.referrers {
            for target in targets {
                if let Some(survivor) = survivors.get(target.as_str()) {
                    referrers.entry((*survivor).to_owned()).or_default().push(file.clone());
                }
            }
            reasons.referrer(file, targets);
        }
        for (survivor, merges) in self.merges {
            let mut files = referrers.remove(&survivor).unwrap_or_default();
            files.dedup();
            reasons
                .merge(&survivor, merges.iter().map(|merge| (&merge.member, &merge.certificate)));
            let reason = reason(&survivor, &merges);
            let members: Vec<DefragMember> = merges.into_iter().map(member_of).collect();
            let id = members.first().map_or("", |member| stem(&member.path)).to_owned();
            report.merges.push(DefragMerge { id, survivor, members, reason, referrers: files });
        }
        let gone = |path: &str| !is_there(path);
        for pair in self.review.into_values().filter(|pair| !gone(&pair.one) && !gone(&pair.other))
        {
            let Pair { one, other, stems, pairs, why } = pair;
            let (stems, pairs) = (unit(stems), unit(pairs));
            report.review.push(DefragPair {
                one,
                other,
                stems,
                pairs,
                why: why.unwrap_or_default(),
            });
        }
        report.kept.extend(self.refused.into_values().filter(|kept| is_there(&kept.path)));
    }
}

fn reason(survivor: &str, merges: &[Merge]) -> String {
    let exact = merges.iter().filter(|merge| merge.member.is_exact).count();
    let others = merges.len() - exact;
    let kinds = match (exact, others) {
        (0, _) => format!("{others} in other words"),
        (_, 0) => format!("{exact} word for word"),
        _ => format!("{exact} word for word, {others} in other words"),
    };
    format!("copies of {survivor}, the better one: {kinds}")
}

fn member_of(merge: Merge) -> DefragMember {
    let Member { path, stems, pairs, is_exact } = merge.member;
    let (stems, pairs) = (unit(stems), unit(pairs));
    DefragMember { path, stems, pairs, is_exact, certificate: merge.certificate }
}

fn unit(value: f64) -> Unit {
    let rounded = (value * 10_000.0).round() / 10_000.0;
    Unit::new(rounded)
        .or_else(|| Unit::new(0.0))
        .unwrap_or_else(|| unreachable!("0 is from 0 to 1"))
}

pub(super) fn stem(path: &str) -> &str {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}
