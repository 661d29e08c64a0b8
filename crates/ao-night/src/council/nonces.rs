//! The words around what is given to runners.

use std::fmt;
use std::sync::Arc;

use ao_runner::Failure;
use ao_runner::wrap::Nonce;

type Make = dyn Fn(&str) -> Result<Nonce, Failure> + Send + Sync;

/// Gives a word that nobody has seen before, a new one for each question to a runner. A replay gives those that
/// were given then.
#[derive(Clone)]
pub struct Nonces(Arc<Make>);

impl Nonces {
    pub fn new(make: impl Fn(&str) -> Result<Nonce, Failure> + Send + Sync + 'static) -> Self {
        Self(Arc::new(make))
    }

    pub(crate) fn next(&self, runner: &str) -> Result<Nonce, Failure> {
        (self.0)(runner)
    }
}

impl fmt::Debug for Nonces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Nonces")
    }
}
