//! JSON changed in place: the bytes of one value are replaced, and no others.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserializer as _, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// The members of an object: each key, and where its value stands.
pub(super) fn members(text: &str) -> Option<Vec<(String, Range<usize>)>> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let found = reader.deserialize_map(Pieces { text }).ok()?;
    reader.end().ok()?;
    Some(found)
}

/// Whether a key stands twice in an object: readers differ in which one counts.
pub(super) fn has_doubles(text: &str) -> bool {
    let mut seen = BTreeSet::new();
    members(text).is_some_and(|members| !members.into_iter().all(|(key, _)| seen.insert(key)))
}

/// Where the elements of a list stand.
pub(super) fn elements(text: &str) -> Option<Vec<Range<usize>>> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let found = reader.deserialize_seq(Pieces { text }).ok()?;
    reader.end().ok()?;
    Some(found.into_iter().map(|(_, range)| range).collect())
}

/// Where the value of a key stands, if the key is there once.
pub(super) fn member(text: &str, key: &str) -> Option<Range<usize>> {
    let members = members(text)?;
    let mut found = members.into_iter().filter(|(name, _)| name == key);
    let (_, range) = found.next()?;
    found.next().is_none().then_some(range)
}

/// The object with one member set; `None` if the key is there twice, or this is no object.
pub(super) fn set(text: &str, key: &str, value: &Value) -> Option<String> {
    let members = members(text)?;
    let mut new = text.to_owned();
    let mut found = members.iter().filter(|(name, _)| name == key);
    match (found.next(), found.next()) {
        (Some((_, range)), None) => new.replace_range(range.clone(), &value.to_string()),
        (None, _) => {
            let end = text[..text.rfind('}')?].trim_end().len();
            let (comma, colon) = if is_spaced(text) { (", ", ": ") } else { (",", ":") };
            let comma = if members.is_empty() { "" } else { comma };
            new.insert_str(end, &format!("{comma}{}{colon}{value}", Value::from(key)));
        }
        (Some(_), Some(_)) => return None,
    }
    Some(new)
}

/// The list with one more element at its end.
pub(super) fn push(text: &str, element: &str) -> Option<String> {
    let comma = if elements(text)?.is_empty() {
        ""
    } else if is_spaced(text) {
        ", "
    } else {
        ","
    };
    let end = text[..text.rfind(']')?].trim_end().len();
    let mut new = text.to_owned();
    new.insert_str(end, &format!("{comma}{element}"));
    Some(new)
}

/// Whether the author of this text puts spaces between its parts.
fn is_spaced(text: &str) -> bool {
    text.contains("\": ")
}

struct Pieces<'a> {
    text: &'a str,
}

impl<'a> Pieces<'a> {
    fn range<E: serde::de::Error>(&self, value: &'a RawValue) -> Result<Range<usize>, E> {
        let start = (value.get().as_ptr() as usize).checked_sub(self.text.as_ptr() as usize);
        let start = start.ok_or_else(|| E::custom("a value outside of the text"))?;
        Ok(start..start + value.get().len())
    }
}

impl<'de> Visitor<'de> for Pieces<'de> {
    type Value = Vec<(String, Range<usize>)>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object or a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, &'de RawValue>()? {
            found.push((key, self.range::<A::Error>(value)?));
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut found = Vec::new();
        while let Some(value) = list.next_element::<&'de RawValue>()? {
            found.push((String::new(), self.range::<A::Error>(value)?));
        }
        Ok(found)
    }
}
