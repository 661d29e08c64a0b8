//! What the engine is asked. The words are ours; what they are about is material.

use std::time::Duration;

use ao_contract::{CuratorLearnings, CuratorSeeds};
use ao_runner::{Budget, Form, Material, Request, Usd};
use serde_json::Value;

const LEARNINGS: &str = "curator-learnings";
const SEEDS: &str = "curator-seeds";

/// A local model is slow, and is asked for little.
const BUDGET: Budget = Budget {
    time: Duration::from_mins(3),
    tokens: 32_000,
    turns: 2,
    usd: Usd(0),
    output_bytes: 64 * 1024,
};

const ASK_LEARNINGS: &str = "\
You read a part of a session in which a person and an agent worked on software. Write down what somebody \
who does similar work should know: concrete things that were found out, each with the words of the session that \
show it, copied exactly into `quote`. Leave out what everybody knows, plans, and praise. Few are better than many; \
none is a good answer.
Answer with one JSON object of the form {\"learnings\": [{\"title\", \"learned\", \"why\", \"apply\", \"quote\"}]}, \
at most eight, every value a string.";

const ASK_SEEDS: &str = "\
You read notes of one person. Write down questions that are worth thinking about for a night: where two notes \
belong together and do not say so, where they disagree, where something is missing.
Answer with one JSON object of the form {\"seeds\": [{\"title\", \"question\", \"why\"}]}, at least one and at \
most eight, every value a string.";

pub(super) fn learnings(material: Vec<Material>) -> Request {
    request(
        "ingest-claude-session",
        ASK_LEARNINGS,
        material,
        Form { name: LEARNINGS, schema: schema(LEARNINGS), read: read_learnings },
    )
}

pub(super) fn seeds(material: Vec<Material>) -> Request {
    let form = Form { name: SEEDS, schema: schema(SEEDS), read: read_seeds };
    request("dream-seed", ASK_SEEDS, material, form)
}

fn request(purpose: &'static str, prompt: &str, material: Vec<Material>, form: Form) -> Request {
    Request { purpose, prompt: prompt.to_owned(), material, form, budget: BUDGET }
}

fn schema(name: &str) -> Value {
    let found = ao_contract::schemas().into_iter().find(|schema| schema.name == name);
    found.map_or(Value::Null, |found| found.schema)
}

fn read_learnings(value: &Value) -> Result<(), String> {
    let read: CuratorLearnings = ao_contract::read(value).map_err(|error| error.to_string())?;
    read.check_bounds()
}

fn read_seeds(value: &Value) -> Result<(), String> {
    let read: CuratorSeeds = ao_contract::read(value).map_err(|error| error.to_string())?;
    read.check_bounds()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schemas_that_are_sent_are_there() {
        assert!(learnings(Vec::new()).form.schema["properties"]["learnings"].is_object());
        assert!(seeds(Vec::new()).form.schema["properties"]["seeds"].is_object());
    }
}
