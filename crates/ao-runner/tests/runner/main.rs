//! The runners over HTTP, the ledger and the cassettes, against a server that speaks both protocols.

#![expect(
    clippy::disallowed_methods,
    reason = "tests make their own files and start processes of their own"
)]
#![expect(clippy::unwrap_used, reason = "the helpers of a test stop it as its own lines do")]

mod asked;
mod bounds;
mod cassette;
mod ledger;
mod metered;
mod model;
mod model_server;
mod ollama;
mod openai;
mod server;
mod tls;

pub(crate) use asked::is_sweep;
