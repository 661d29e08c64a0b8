//! Whether unconventional options are asked for.

/// What is asked of a council beside its recommendation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    Main,
    /// Each runner may name one unconventional option, which is kept apart.
    Creative,
}
