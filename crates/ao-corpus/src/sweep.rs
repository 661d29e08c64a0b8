//! Targets of improvement cycles whose results go back and forth.

use std::collections::BTreeMap;

use ao_contract::{Cycle, Oscillation};

/// Only the newest lines say what is going on now.
pub const CYCLES_MAX: usize = 200;
/// A result that turned so often is not getting better.
pub const TURNS_MIN: u32 = 3;
/// The file that is read, beneath `.agents/`.
pub const HISTORY: &str = "evolve/cycle-history.jsonl";

/// What a sweep found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sweep {
    pub oscillations: Vec<Oscillation>,
    /// Lines that are no cycle.
    pub unread: u64,
}

/// Reads the history of cycles. Lines that cannot be read are counted, and otherwise left out.
pub fn sweep(history: &str) -> Sweep {
    let mut cycles: Vec<Cycle> = Vec::new();
    let mut unread = 0;
    for line in history.lines().filter(|line| !line.trim().is_empty()) {
        match serde_json::from_str(line.trim_start_matches('\u{feff}')) {
            Ok(cycle) => cycles.push(cycle),
            Err(_) => unread += 1,
        }
    }
    cycles.sort_by_key(|cycle| cycle.cycle);
    let from = cycles.len().saturating_sub(CYCLES_MAX);
    let mut results: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for cycle in &cycles[from..] {
        if let Some(result) = plain(&cycle.result) {
            results.entry(cycle.target.clone()).or_default().push(result.to_owned());
        }
    }
    let oscillations = results.into_iter().filter_map(|(target, results)| {
        let turns = results.windows(2).filter(|pair| pair[0] != pair[1]).count();
        let turns = u32::try_from(turns).unwrap_or(u32::MAX);
        let least = TURNS_MIN + u32::from(ao_mutant::active("LOOP-25/one-more-turn"));
        (turns >= least).then_some(Oscillation { target, turns, results, entry: None })
    });
    Sweep { oscillations: oscillations.collect(), unread }
}

/// Better or worse; a result that is neither says nothing.
fn plain(result: &str) -> Option<&'static str> {
    let result = result.trim().to_ascii_lowercase();
    let begins = |words: &[&str]| words.iter().any(|word| result.starts_with(word));
    if begins(&["improve", "success", "pass"]) {
        Some("improved")
    } else if begins(&["fail", "regress", "worse", "revert", "rolled"]) {
        Some("failed")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn results_that_turn_three_times_oscillate() {
        let line = |n: u32, target: &str, result: &str| {
            format!("{{\"cycle\":{n},\"target\":\"{target}\",\"result\":\"{result}\"}}\n")
        };
        let mut history = String::from("not json\n{\"cycle\":1}\n\n");
        for (n, result) in
            ["improved", "regressed", "unchanged", "improved", "fail"].iter().enumerate()
        {
            history.push_str(&line(u32::try_from(n).unwrap(), "a", result));
        }
        history.push_str(&line(9, "b", "improved"));
        history.push_str(&line(10, "b", "fail"));
        let swept = sweep(&history);
        assert_eq!(swept.unread, 2);
        assert_eq!(swept.oscillations.len(), 1);
        assert_eq!((swept.oscillations[0].target.as_str(), swept.oscillations[0].turns), ("a", 3));
    }

    #[test]
    fn only_the_newest_cycles_count() {
        let mut history = String::new();
        for n in 0..CYCLES_MAX + 10 {
            let (target, result) =
                if n < 10 { ("old", ["improved", "fail"][n % 2]) } else { ("new", "improved") };
            let _ = writeln!(
                history,
                "{{\"cycle\":{n},\"target\":\"{target}\",\"result\":\"{result}\"}}"
            );
        }
        assert!(sweep(&history).oscillations.is_empty());
    }
}
