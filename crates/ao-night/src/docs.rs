//! The two documents that every report names.

/// By file name: how a run behaves, and what a report holds.
pub const DOCS: [(&str, &str); 2] =
    [("run.md", include_str!("../docs/run.md")), ("report.md", include_str!("../docs/report.md"))];
