//! The reports of a council put together. The same reports give the same synthesis.

use std::collections::BTreeMap;

use ao_contract::{ConsensusPolicy, Extra, Level, RecommendedKind, RunnerReport, Synthesis};

use super::lane::Lane;

/// Puts reports together, in the order in which the runners were asked.
pub(crate) fn synthesis(
    requested: &[String],
    failed: &[String],
    reports: Vec<RunnerReport>,
    policy: ConsensusPolicy,
    lane: Lane,
) -> Synthesis {
    let kind = consensus(&reports, failed, policy);
    let first = kind.and_then(|kind| surest(&reports, kind));
    let mut action =
        first.map(|report| report.recommended_first_action.clone()).unwrap_or_default();
    let disagreements = disagreements(&reports, failed, kind, policy);
    let said = |report: &RunnerReport| {
        let idea = report.wildcard_idea.trim();
        let is_asked = lane == Lane::Creative || ao_mutant::active("RUN-38/ideas-unasked");
        (is_asked && !idea.is_empty()).then(|| format!("{}: {idea}", report.runner))
    };
    if ao_mutant::active("RUN-38/idea-becomes-the-first-move") && lane == Lane::Creative {
        action = reports.iter().find_map(said).unwrap_or(action);
    }
    Synthesis {
        requested_runners: requested.to_vec(),
        completed_runners: reports.iter().map(|report| report.runner.clone()).collect(),
        failed_runners: failed.to_vec(),
        consensus_policy: policy,
        consensus_kind: kind,
        recommended_first_action: action,
        wildcard_ideas: reports.iter().filter_map(said).collect(),
        disagreements,
        reports,
        extra: Extra::new(),
    }
}

/// Tenths: as much as the confidence of an entry of knowledge that says the same.
fn weight(confidence: Level) -> u32 {
    match confidence {
        Level::High => 9,
        Level::Medium => 6,
        Level::Low => 3,
    }
}

fn consensus(
    reports: &[RunnerReport],
    failed: &[String],
    policy: ConsensusPolicy,
) -> Option<RecommendedKind> {
    let mut votes: BTreeMap<RecommendedKind, u32> = BTreeMap::new();
    for report in reports {
        *votes.entry(report.recommended_kind).or_default() += match policy {
            ConsensusPolicy::Weighted => weight(report.confidence),
            ConsensusPolicy::Majority | ConsensusPolicy::Unanimous => 1,
        };
    }
    if ao_mutant::active("RUN-37/first-report-decides") {
        return reports.first().map(|report| report.recommended_kind);
    }
    match policy {
        // Whoever did not answer did not agree.
        ConsensusPolicy::Unanimous if votes.len() > 1 || !failed.is_empty() => None,
        _ => {
            // The kinds are in the order that decides a tie: the first of the most.
            let most = votes.values().copied().max()?;
            votes.into_iter().find(|(_, count)| *count == most).map(|(kind, _)| kind)
        }
    }
}

/// Of those that would do this kind of work: the surest, and of these the one that was asked first.
fn surest(reports: &[RunnerReport], kind: RecommendedKind) -> Option<&RunnerReport> {
    let of_kind = reports.iter().filter(|report| report.recommended_kind == kind);
    of_kind.rev().max_by_key(|report| weight(report.confidence))
}

fn disagreements(
    reports: &[RunnerReport],
    failed: &[String],
    kind: Option<RecommendedKind>,
    policy: ConsensusPolicy,
) -> Vec<String> {
    let differs = |report: &&RunnerReport| kind != Some(report.recommended_kind);
    let are_one =
        reports.iter().all(|report| report.recommended_kind == reports[0].recommended_kind);
    let mut said = Vec::new();
    if policy == ConsensusPolicy::Unanimous && are_one && !reports.is_empty() && kind.is_none() {
        said.push(format!("no unanimity without {}", failed.join(", ")));
    } else {
        said.extend(reports.iter().filter(differs).map(|report| {
            let kind = super::word(report.recommended_kind);
            format!("{} would {kind} first: {}", report.runner, report.recommended_first_action)
        }));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use ConsensusPolicy::{Majority, Unanimous, Weighted};
    use Level::{High, Low, Medium};
    use RecommendedKind::{Document, Implement, Repair, Research, Validate};

    fn report(nth: usize, kind: RecommendedKind, confidence: Level) -> RunnerReport {
        RunnerReport {
            runner: format!("r{nth}"),
            headline: "h".into(),
            recommended_kind: kind,
            recommended_first_action: format!("act {nth}"),
            risks: Vec::new(),
            opportunities: Vec::new(),
            confidence,
            wildcard_idea: if nth == 0 { " fly ".into() } else { String::new() },
        }
    }

    fn put(
        votes: &[(RecommendedKind, Level)],
        failed: &[&str],
        policy: ConsensusPolicy,
    ) -> Synthesis {
        let reports: Vec<_> = votes
            .iter()
            .enumerate()
            .map(|(nth, (kind, level))| report(nth, *kind, *level))
            .collect();
        let failed: Vec<String> = failed.iter().map(|&name| name.to_owned()).collect();
        let requested: Vec<String> =
            reports.iter().map(|report| report.runner.clone()).chain(failed.clone()).collect();
        synthesis(&requested, &failed, reports, policy, Lane::Main)
    }

    // proves: RUN-37
    #[test]
    fn each_policy_over_ties_one_report_and_none() {
        let two = [(Repair, Low), (Validate, High)];
        let three = [(Document, Low), (Document, Low), (Research, High)];
        let tie = [(Document, Medium), (Research, Medium), (Implement, Medium)];
        let same = [(Repair, Low), (Repair, High), (Repair, Medium)];
        let one = [(Validate, Low)];
        for (votes, failed, policy, kind, action, disagreements) in [
            (two.as_slice(), [].as_slice(), Majority, Some(Validate), "act 1", 1),
            (&two, &[], Weighted, Some(Validate), "act 1", 1),
            (&two, &[], Unanimous, None, "", 2),
            (&three, &[], Majority, Some(Document), "act 0", 1),
            (&three, &[], Weighted, Some(Research), "act 2", 2),
            (&three, &[], Unanimous, None, "", 3),
            (&tie, &[], Majority, Some(Research), "act 1", 2),
            (&tie, &[], Weighted, Some(Research), "act 1", 2),
            (&tie, &[], Unanimous, None, "", 3),
            (&same, &[], Majority, Some(Repair), "act 1", 0),
            (&same, &[], Weighted, Some(Repair), "act 1", 0),
            (&same, &[], Unanimous, Some(Repair), "act 1", 0),
            (&same, &["x"], Unanimous, None, "", 1),
            (&one, &["x"], Majority, Some(Validate), "act 0", 0),
            (&one, &["x"], Weighted, Some(Validate), "act 0", 0),
            (&one, &["x"], Unanimous, None, "", 1),
            (&one, &[], Unanimous, Some(Validate), "act 0", 0),
            (&[], &["x"], Majority, None, "", 0),
            (&[], &["x"], Weighted, None, "", 0),
            (&[], &["x"], Unanimous, None, "", 0),
        ] {
            let put = put(votes, failed, policy);
            let told = format!("{votes:?} {failed:?} {policy:?}: {put:?}");
            assert_eq!(put.consensus_kind, kind, "{told}");
            assert_eq!(put.recommended_first_action, action, "{told}");
            assert_eq!(put.disagreements.len(), disagreements, "{told}");
            assert!(put.wildcard_ideas.is_empty(), "{told}");
            assert_eq!(put.failed_runners, failed, "{told}");
        }
    }

    #[test]
    fn unconventional_options_are_kept_apart_and_only_where_they_were_asked_for() {
        let reports = vec![report(0, Repair, High), report(1, Repair, Low)];
        let put = synthesis(&[], &[], reports, Majority, Lane::Creative);
        assert_eq!(put.wildcard_ideas, ["r0: fly"]);
        assert_eq!(put.recommended_first_action, "act 0");
    }
}
