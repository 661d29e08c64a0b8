//! Any server that speaks as the one of `OpenAI` does: `POST {base}/chat/completions`.

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use super::call::Endpoint;
use super::deadline::Deadline;
use super::models::{List, Model, models};
use super::reply::complaint;
use super::{SEED, answer_tokens};
use crate::answer::{Cost, Said, Usage};
use crate::failure::Failure;
use crate::login::Way;
use crate::request::{Request, Usd};
use crate::runner::{Exchange, Runner};

/// As many as there are things to leave out, and one more.
const TRIES_MAX: usize = 6;
const LIST: List = List { path: "/models", field: "data", names: &["id"] };
const NAME_CHARS_MAX: usize = 64;

#[derive(Debug)]
pub struct OpenAi {
    name: String,
    endpoint: Endpoint,
    model: String,
    /// What is known of the server by now.
    known: Mutex<Dialect>,
}

/// How a server is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Dialect {
    form: Form,
    tokens: Tokens,
    steady: Steady,
    is_probed: bool,
}

/// How it is told what the answer must look like. Where it cannot take the schema as such, the schema
/// stands in the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Schema,
    Object,
    Plain,
}

/// What it calls the limit of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tokens {
    Max,
    MaxCompletion,
}

/// Whether it can be told to answer the same each time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Steady {
    Yes,
    No,
}

impl OpenAi {
    pub fn new(name: impl Into<String>, endpoint: Endpoint, model: impl Into<String>) -> Self {
        let known = Dialect {
            form: Form::Schema,
            tokens: Tokens::Max,
            steady: Steady::Yes,
            is_probed: false,
        };
        Self { name: name.into(), endpoint, model: model.into(), known: Mutex::new(known) }
    }

    fn known(&self) -> MutexGuard<'_, Dialect> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn model(&self) -> &str {
        &self.model
    }

    /// What the server has.
    pub fn models(&self, time: Duration, stop: &AtomicBool) -> Result<Vec<Model>, Failure> {
        models(&self.name, &self.endpoint, &LIST, time, stop)
    }

    fn read(answer: &Value, cost: Cost) -> Result<(String, Usage), Failure> {
        let broken = |why: &str| Err(Failure::Broken(why.to_owned()));
        if let Some(complaint) = complaint(answer) {
            return Err(Failure::Broken(format!("it failed: {complaint}")));
        }
        let choice = &answer["choices"][0];
        match choice["finish_reason"].as_str() {
            Some("length") => return broken("its answer was cut off at the limit of its tokens"),
            Some("content_filter") => return broken("its answer was held back by a filter"),
            _ => {}
        }
        if choice["message"]["refusal"].as_str().is_some_and(|text| !text.is_empty()) {
            return broken("it refused to answer");
        }
        let text = choice["message"]["content"].as_str().filter(|text| !text.trim().is_empty());
        let Some(text) = text else { return broken("it answered nothing") };
        Ok((text.to_owned(), usage(&answer["usage"], cost)))
    }
}

fn usage(usage: &Value, cost: Cost) -> Usage {
    let total = usage["total_tokens"].as_u64();
    let parts = || {
        let (asked, said) =
            (usage["prompt_tokens"].as_u64()?, usage["completion_tokens"].as_u64()?);
        Some(asked.saturating_add(said))
    };
    // Some servers say what it cost; one of this machine may pass the question on to somebody who is paid.
    let cost = match usage["cost"].as_f64().and_then(micros) {
        Some(Usd(0)) if cost == Cost::Free => Cost::Free,
        Some(dollars) => Cost::Real(dollars),
        None => cost,
    };
    Usage { tokens: total.or_else(parts).map_or(Said::Nothing, Said::ByRunner), turns: 1, cost }
}

/// Rounded up: nothing is cheaper than it was.
fn micros(dollars: f64) -> Option<Usd> {
    const MICROS: f64 = 1e6;
    const DOLLARS_MAX: f64 = 1e9;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between nothing and a thousand million dollars"
    )]
    (0.0..DOLLARS_MAX).contains(&dollars).then(|| Usd((dollars * MICROS).ceil() as u64))
}

impl Dialect {
    fn body(self, model: &str, request: &Request, question: &str) -> Result<Value, Failure> {
        let schema = &request.form.schema;
        let told = match self.form {
            Form::Schema => question.to_owned(),
            Form::Object | Form::Plain => format!(
                "{question}\n\nAnswer with nothing but JSON that this JSON Schema takes:\n{schema}\n"
            ),
        };
        let answer = answer_tokens(request, &told)?;
        let mut body = json!({
            "model": model,
            "messages": [{ "role": "user", "content": told }],
            "stream": false,
        });
        let name: String = request.form.name.chars().take(NAME_CHARS_MAX).collect();
        match self.form {
            Form::Schema => {
                body["response_format"] = json!({
                    "type": "json_schema",
                    "json_schema": { "name": name, "strict": true, "schema": schema },
                });
            }
            Form::Object => body["response_format"] = json!({ "type": "json_object" }),
            Form::Plain => {}
        }
        match self.tokens {
            Tokens::Max => body["max_tokens"] = answer.into(),
            Tokens::MaxCompletion => body["max_completion_tokens"] = answer.into(),
        }
        if self.steady == Steady::Yes {
            body["temperature"] = 0.into();
            body["seed"] = SEED.into();
        }
        Ok(body)
    }

    /// What to try after a question was refused for its shape; nothing if there is nothing left.
    fn lower(self, complaint: &str) -> Option<Self> {
        let complaint = complaint.to_ascii_lowercase();
        let names = |words: &[&str]| words.iter().any(|word| complaint.contains(word));
        if self.tokens == Tokens::Max && names(&["max_tokens", "max_completion_tokens"]) {
            return Some(Self { tokens: Tokens::MaxCompletion, ..self });
        }
        if self.steady == Steady::Yes && names(&["temperature", "seed"]) {
            return Some(Self { steady: Steady::No, ..self });
        }
        match self.form {
            Form::Schema => Some(Self { form: Form::Object, ..self }),
            Form::Object => Some(Self { form: Form::Plain, ..self }),
            Form::Plain => None,
        }
    }
}

impl Runner for OpenAi {
    fn name(&self) -> &str {
        &self.name
    }

    fn login(&self) -> Way {
        self.endpoint.login()
    }

    fn exchange(
        &self,
        request: &Request,
        question: &str,
        stop: &AtomicBool,
    ) -> Result<Exchange, Failure> {
        let deadline = Deadline::new(request.budget.time, stop);
        let mut dialect = *self.known();
        for _ in 0..TRIES_MAX {
            let body = dialect.body(&self.model, request, question)?;
            let reply =
                self.endpoint.post("/chat/completions", &body, &request.budget, &deadline)?;
            // Only the first question finds out how the server is spoken to.
            let is_shape = matches!(reply.head.status, 400 | 422) && !dialect.is_probed;
            if let Some(lower) = is_shape.then(|| dialect.lower(&reply.complaint())).flatten() {
                dialect = lower;
                continue;
            }
            let cost = self.endpoint.cost(&reply);
            let answer = reply.json(&self.name, &self.endpoint)?;
            let (text, usage) = Self::read(&answer, cost)?;
            // A server that does not know the field may take no notice of it: then the next question says
            // it in words.
            let is_heard = dialect.is_probed || is_json(&text);
            *self.known() = if is_heard {
                Dialect { is_probed: true, ..dialect }
            } else {
                dialect.lower("").unwrap_or(dialect)
            };
            return Ok(Exchange { text, usage, took: deadline.took(), exit: None });
        }
        Err(Failure::NotStarted("it refuses every way of asking".to_owned()))
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_it_took_is_read_and_nothing_is_made_up() {
        let said = |value: Value, cost| {
            let usage = usage(&value, cost);
            (usage.tokens, usage.cost)
        };
        let tokens = json!({ "prompt_tokens": 5, "completion_tokens": 7 });
        assert_eq!(said(tokens, Cost::Free), (Said::ByRunner(12), Cost::Free));
        let dear = json!({ "total_tokens": 9, "cost": 0.000_001_2 });
        assert_eq!(said(dear, Cost::Unknown), (Said::ByRunner(9), Cost::Real(Usd(2))));
        for odd in [json!(-1.0), json!(1e300), json!("x")] {
            assert_eq!(said(json!({ "cost": odd }), Cost::Unknown), (Said::Nothing, Cost::Unknown));
        }
    }
}
