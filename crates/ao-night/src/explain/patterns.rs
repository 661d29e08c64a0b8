//! Why an entry is in a pattern or in none, and what a pattern was compiled from.

use ao_corpus::defrag::Parts;
use ao_corpus::patterns::tell;

use super::{Neighbour, Rule, Ruling, Scene, Thought};
use crate::iteration::PARTS;

/// So many of those that say the same are shown.
const SHOWN_MAX: usize = 40;

/// Of a page that was compiled, and of a learning that others agree with.
pub(super) fn ruling(
    scene: &Scene,
    thought: &Thought,
    path: &str,
) -> Result<Option<Ruling>, String> {
    // As the rule finds the corpus: what is merged and archived is so.
    let before = scene.think_of(&[], Parts { patterns: false, sweep: false, ..PARTS })?;
    let Some(told) = tell(&before.plan.tree, scene.ledger(), path) else { return Ok(None) };
    let mut ruling = Ruling::new(Rule::Pattern, &told.verdict);
    let patterns = &thought.plan.report.patterns;
    let is_changed = |paths: &[String]| paths.iter().any(|one| one == path);
    ruling.acts = patterns.iter().any(|one| one.path == path || is_changed(&one.sources));
    ruling.why = told.why;
    ruling.checks = told.checks;
    let neighbour = |(path, checks)| Neighbour { path, checks, rank: Vec::new() };
    ruling.beside = told.sources.into_iter().take(SHOWN_MAX).map(neighbour).collect();
    ruling.no_flip = Some("whether others say the same is not tried out".into());
    Ok(Some(ruling))
}
