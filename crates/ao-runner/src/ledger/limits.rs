//! How far it may go, and how far it went.

use crate::request::Usd;

/// How far runners may go in this run. What is not said has no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    pub calls: Option<u64>,
    pub tokens: Option<u64>,
    /// Real and imputed together.
    pub usd: Option<Usd>,
}

/// What was spent, or may be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    pub calls: u64,
    pub tokens: u64,
    /// Of an account, or of nobody knows whom.
    pub real: Usd,
    /// What it would have cost by the maker's prices.
    pub imputed: Usd,
}

impl Spent {
    /// Real and imputed together.
    pub fn usd(&self) -> Usd {
        Usd(self.real.0.saturating_add(self.imputed.0))
    }

    pub(super) fn plus(&self, more: &Self) -> Self {
        let sum = |one: Usd, two: Usd| Usd(one.0.saturating_add(two.0));
        Self {
            calls: self.calls.saturating_add(more.calls),
            tokens: self.tokens.saturating_add(more.tokens),
            real: sum(self.real, more.real),
            imputed: sum(self.imputed, more.imputed),
        }
    }
}

impl Limits {
    pub(super) fn take(&self, all: &Spent) -> Result<(), String> {
        let over = |limit: Option<u64>, all: u64| limit.filter(|limit| all > *limit);
        if let Some(limit) = over(self.calls, all.calls) {
            return Err(format!("would make {} calls, and may make {limit}", all.calls));
        }
        if let Some(limit) = over(self.tokens, all.tokens) {
            return Err(format!("would take {} tokens, and may take {limit}", all.tokens));
        }
        if let Some(limit) = over(self.usd.map(|usd| usd.0), all.usd().0) {
            return Err(format!("would cost {}, and may cost {}", all.usd(), Usd(limit)));
        }
        Ok(())
    }

    pub(super) fn less(&self, taken: &Spent) -> Self {
        Self {
            calls: self.calls.map(|limit| limit.saturating_sub(taken.calls)),
            tokens: self.tokens.map(|limit| limit.saturating_sub(taken.tokens)),
            usd: self.usd.map(|limit| Usd(limit.0.saturating_sub(taken.usd().0))),
        }
    }

    /// What keeps within both.
    #[must_use]
    pub fn least(&self, other: &Self) -> Self {
        fn least<T: Ord>(one: Option<T>, two: Option<T>) -> Option<T> {
            one.into_iter().chain(two).min()
        }
        Self {
            calls: least(self.calls, other.calls),
            tokens: least(self.tokens, other.tokens),
            usd: least(self.usd, other.usd),
        }
    }
}
