//! What the council is asked.

use ao_contract::{CouncilPacket, RunnerReport};
use ao_runner::{Budget, Form, Material, Request};
use serde_json::Value;

const NAME: &str = "runner-report";

fn schema() -> Value {
    let all = ao_contract::schemas().into_iter();
    all.filter(|one| one.name == NAME).map(|one| one.schema).next().unwrap_or_default()
}

/// The question to one runner. The packet is made of files that anybody may have written.
pub(crate) fn question(
    packet: &CouncilPacket,
    runner: &str,
    budget: Budget,
) -> Result<Request, serde_json::Error> {
    let wildcard = if packet.creative_lane {
        "In wildcard_idea name one unconventional option, in one sentence."
    } else {
        "Leave wildcard_idea empty."
    };
    let prompt = format!(
        "A night has gone over the knowledge of a repository. Its results are below: what was closed, the health of the \
         corpus, how well it is found, and the first move as it stands. Judge them as a reviewer who has no other \
         knowledge of the repository: what kind of work should be done first in the morning, and what is the one thing to \
         begin with? Name what could go wrong and what could be gained.\n\n\
         Answer with one JSON object and nothing else. Its field runner is exactly {}. Texts are plain, one line \
         each. {wildcard}",
        Value::from(runner)
    );
    Ok(Request {
        purpose: "council",
        prompt,
        material: vec![Material {
            label: "the results of the night, as JSON".into(),
            text: serde_json::to_string_pretty(packet)?,
        }],
        form: Form {
            name: NAME,
            schema: schema(),
            read: |value| {
                ao_contract::read::<RunnerReport>(value)
                    .map(drop)
                    .map_err(|error| error.to_string())
            },
        },
        budget,
    })
}
