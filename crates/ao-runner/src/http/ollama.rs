//! Ollama: `/api/tags` and `/api/chat`.

use std::sync::atomic::AtomicBool;
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
use crate::request::Request;
use crate::runner::{Exchange, Runner};

const LIST: List = List { path: "/api/tags", field: "models", names: &["name", "model"] };
/// A context takes memory as long as it is; most models have no longer one.
const CONTEXT_TOKENS_MAX: u64 = 128 * 1024;
/// How long a model stays in memory after its answer: until the next question of the same night.
const KEEP_ALIVE: &str = "5m";

#[derive(Debug, Clone)]
pub struct Ollama {
    name: String,
    endpoint: Endpoint,
    model: String,
}

impl Ollama {
    pub fn new(name: impl Into<String>, endpoint: Endpoint, model: impl Into<String>) -> Self {
        Self { name: name.into(), endpoint, model: model.into() }
    }

    pub fn model(&self) -> &str {
        &self.model
    }

    /// What the server has.
    pub fn models(&self, time: Duration, stop: &AtomicBool) -> Result<Vec<Model>, Failure> {
        models(&self.name, &self.endpoint, &LIST, time, stop)
    }

    fn body(&self, request: &Request, question: &str) -> Result<Value, Failure> {
        let answer = answer_tokens(request, question)?;
        Ok(json!({
            "model": self.model,
            "messages": [{ "role": "user", "content": question }],
            "stream": false,
            "format": request.form.schema,
            "options": {
                "temperature": 0,
                "seed": SEED,
                // Without it the context is short, and what does not fit is left out without a word.
                "num_ctx": request.budget.tokens.min(CONTEXT_TOKENS_MAX),
                "num_predict": answer.min(CONTEXT_TOKENS_MAX),
            },
            // Newer servers refuse then what does not fit; older ones do not know the words.
            "truncate": false,
            "shift": false,
            "keep_alive": KEEP_ALIVE,
        }))
    }

    fn read(answer: &Value, cost: Cost, context: u64) -> Result<(String, Usage), Failure> {
        // A server that has already said 200 says an error like this.
        if let Some(complaint) = complaint(answer) {
            return Err(Failure::Broken(format!("it failed: {complaint}")));
        }
        let count = |name: &str| answer[name].as_u64();
        let asked = count("prompt_eval_count");
        match answer["done_reason"].as_str() {
            Some("length") => {
                return Err(Failure::Broken(
                    "its answer was cut off at the limit of its tokens".to_owned(),
                ));
            }
            _ if answer["done"] != true => {
                return Err(Failure::Broken("its answer is not complete".to_owned()));
            }
            _ => {}
        }
        if asked.is_some_and(|asked| asked >= context) {
            return Err(Failure::Broken(
                "the question was cut off at the length of its context".to_owned(),
            ));
        }
        let text = answer["message"]["content"].as_str().filter(|text| !text.trim().is_empty());
        let text = text.ok_or_else(|| Failure::Broken("it answered nothing".to_owned()))?;
        let tokens = asked.zip(count("eval_count")).map(|(asked, said)| asked.saturating_add(said));
        // A model of somebody else's behind a server of one's own is named with its host.
        let is_elsewhere =
            ["remote_host", "remote_model"].iter().any(|name| answer.get(name).is_some());
        let usage = Usage {
            tokens: tokens.map_or(Said::Nothing, Said::ByRunner),
            turns: 1,
            cost: if is_elsewhere { Cost::Unknown } else { cost },
        };
        Ok((text.to_owned(), usage))
    }
}

impl Runner for Ollama {
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
        let body = self.body(request, question)?;
        let reply = self.endpoint.post("/api/chat", &body, &request.budget, &deadline)?;
        let cost = self.endpoint.cost(&reply);
        let answer = reply.json(&self.name, &self.endpoint)?;
        let context = request.budget.tokens.min(CONTEXT_TOKENS_MAX);
        let (text, usage) = Self::read(&answer, cost, context)?;
        Ok(Exchange { text, usage, took: deadline.took(), exit: None })
    }
}
