//! A learning as one JSON object on the first line of a file.

use std::fmt;
use std::ops::Range;

use ao_contract::Extra;
use serde::de::{Deserializer as _, Error as _, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// One member of the object: its key, and where its value stands in the line.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) value: Range<usize>,
}

pub(super) fn object(line: &str) -> Result<Extra, String> {
    let bare = line.trim_start_matches('\u{feff}');
    let mut fields = Extra::new();
    for member in members(bare)? {
        let value = &bare[member.value];
        let value: Value =
            serde_json::from_str(value).map_err(|error| format!("is not JSON: {error}"))?;
        if fields.insert(member.key.clone(), value).is_some() {
            return Err(format!("has the key `{}` twice on its first line", member.key));
        }
    }
    Ok(fields)
}

/// The members in their order.
pub(super) fn members(line: &str) -> Result<Vec<Member>, String> {
    let mut reader = serde_json::Deserializer::from_str(line);
    let found = reader.deserialize_map(Members { line }).and_then(|found| {
        reader.end()?;
        Ok(found)
    });
    found.map_err(|error| format!("does not begin with one JSON object: {error}"))
}

struct Members<'a> {
    line: &'a str,
}

impl<'de> Visitor<'de> for Members<'de> {
    type Value = Vec<Member>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, &'de RawValue>()? {
            let start = (value.get().as_ptr() as usize)
                .checked_sub(self.line.as_ptr() as usize)
                .ok_or_else(|| A::Error::custom("a value outside of the line"))?;
            found.push(Member { key, value: start..start + value.get().len() });
        }
        Ok(found)
    }
}

/// The line with one member set, added or, with `None`, taken out.
pub(super) fn set(line: &str, key: &str, value: Option<&Value>) -> Result<String, String> {
    let found = members(line)?;
    let at = found.iter().position(|member| member.key == key);
    let mut text = line.to_owned();
    match (at, value) {
        (Some(at), Some(value)) => text.replace_range(found[at].value.clone(), &value.to_string()),
        (Some(at), None) => text.replace_range(with_comma(line, &found, at), ""),
        (None, Some(value)) => {
            let end = line.rfind('}').ok_or("has no closing brace")?;
            let end = line[..end].trim_end().len();
            let (comma, colon) = if line.contains("\": ") { (", ", ": ") } else { (",", ":") };
            let comma = if found.is_empty() { "" } else { comma };
            let key = Value::from(key);
            text.insert_str(end, &format!("{comma}{key}{colon}{value}"));
        }
        (None, None) => {}
    }
    Ok(text)
}

/// A member and the comma that parts it from its neighbour.
fn with_comma(line: &str, found: &[Member], at: usize) -> Range<usize> {
    let open = line.find('{').map_or(0, |at| at + 1);
    match (at.checked_sub(1), found.get(at + 1)) {
        (Some(before), _) => found[before].value.end..found[at].value.end,
        (None, Some(_)) => {
            let end = found[at].value.end;
            let comma = line[end..].find(',').map_or(end, |comma| end + comma + 1);
            open..comma
        }
        (None, None) => open..found[at].value.end,
    }
}
