//! What the council is asked.

use ao_contract::CouncilPacket;
use ao_runner::{Budget, Form, Material, Request};
use serde_json::Value;

const NAME: &str = "runner-report";

/// The question to one runner. The packet is made of files that anybody may have written.
pub(crate) fn question(
    packet: &CouncilPacket,
    runner: &str,
    budget: Budget,
) -> Result<Request, String> {
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
    let form = ao_contract::schema(NAME)
        .map(|named| Form { name: named.name, schema: named.schema, read: named.read })
        .ok_or("there is no form for a report")?;
    Ok(Request {
        purpose: "council",
        prompt,
        material: vec![Material {
            label: "the results of the night, as JSON".into(),
            text: serde_json::to_string_pretty(packet).map_err(|error| error.to_string())?,
        }],
        form: form.with_constant("runner", runner),
        budget,
    })
}
