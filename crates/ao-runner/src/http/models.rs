//! Which models a server has.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::Value;

use super::call::Endpoint;
use super::deadline::Deadline;
use super::reply::{complaint, shown};
use crate::failure::Failure;

/// Of a list of models.
const BYTES_MAX: u64 = 4 * 1024 * 1024;

/// A model that a server has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    pub name: String,
    /// What it consists of, so that two nights can be told apart, where the server says so.
    pub digest: Option<String>,
}

/// Where a protocol has its list.
pub(super) struct List {
    pub(super) path: &'static str,
    /// The field with the models.
    pub(super) field: &'static str,
    /// What a model's name may be called.
    pub(super) names: &'static [&'static str],
}

/// What the server has. To ask it costs nothing, and says whether the key is taken.
pub(super) fn models(
    runner: &str,
    endpoint: &Endpoint,
    list: &List,
    time: Duration,
    stop: &AtomicBool,
) -> Result<Vec<Model>, Failure> {
    let deadline = Deadline::new(time, stop);
    let reply = endpoint.get(list.path, BYTES_MAX, &deadline)?;
    let answer = reply.json(runner, endpoint)?;
    let models = answer[list.field].as_array().ok_or_else(|| {
        Failure::Broken(complaint(&answer).unwrap_or_else(|| "it has no list of models".to_owned()))
    })?;
    let text = |value: &Value| value.as_str().map(|text| shown(text.as_bytes()));
    let of = |model: &Value| {
        let name = list.names.iter().find_map(|name| text(&model[*name]))?;
        Some(Model { name, digest: text(&model["digest"]) })
    };
    Ok(models.iter().filter_map(of).collect())
}
