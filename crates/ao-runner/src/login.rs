//! How a runner is known to its API.

use ao_guard::cell::{Authorization, Hidden};
use ao_vault::Name;
use serde::Serialize;

/// Which of the two ways was used; part of every report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// It needs none.
    None,
    /// The engine adds the key to each request; the program never has it.
    ApiKey,
    /// The program has a token of its user's subscription in its environment.
    Subscription,
}

/// What a runner is given to be known by.
#[derive(Debug, Clone)]
pub enum Login {
    None,
    Key(Authorization),
    Token { name: Name, variable: &'static str, value: Hidden },
}

impl Login {
    pub fn way(&self) -> Way {
        match self {
            Self::None => Way::None,
            Self::Key(_) => Way::ApiKey,
            Self::Token { .. } => Way::Subscription,
        }
    }

    /// The name of the secret, as everybody may see it.
    pub fn reference(&self) -> Option<String> {
        match self {
            Self::None => None,
            Self::Key(key) => Some(key.placeholder.clone()),
            Self::Token { name, .. } => Some(name.reference()),
        }
    }
}
