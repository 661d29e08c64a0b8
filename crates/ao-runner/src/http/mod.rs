//! Runners that are called over HTTP: calls of the engine itself, to the configured address and nowhere else.
//!
//! The client is our own: a few hundred lines over the rustls that the cell's door has already. Nothing in
//! here reads the environment, so there is no proxy; a redirection is a failure and never followed; time and
//! bytes are counted while an answer is read; and whoever sets `stop` ends a call within an instant,
//! which a client that blocks cannot offer. Each call has a connection of its own.

mod address;
mod call;
mod deadline;
mod dial;
mod incoming;
mod models;
pub mod ollama;
pub mod openai;
mod reply;
mod reset;

pub use address::{Address, BadAddress, Scheme};
pub use call::{BadEndpoint, Endpoint};
pub use models::Model;
pub use ollama::Ollama;
pub use openai::OpenAi;

use crate::request::Request;

/// Same question, same answer, as far as a model can.
const SEED: u32 = 7;
/// How many bytes a token has at least, on the average, in texts that people write. With fewer the
/// question takes more of the budget than is thought, and the answer is cut off, which is a failure.
const TOKEN_BYTES: u64 = 4;
const ANSWER_TOKENS_MIN: u64 = 16;

/// How many tokens are left for the answer; nothing if the question alone takes too many.
fn answer_tokens(request: &Request, question: &str) -> Result<u64, crate::Failure> {
    let asked = question.len() as u64 / TOKEN_BYTES;
    let left = request.budget.tokens.saturating_sub(asked);
    if left < ANSWER_TOKENS_MIN {
        return Err(crate::Failure::NotStarted(format!(
            "the question has about {asked} tokens, and its budget is {}",
            request.budget.tokens
        )));
    }
    Ok(left)
}
