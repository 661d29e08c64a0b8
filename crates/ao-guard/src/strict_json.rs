//! JSON that can be read in one way only.
//!
//! A key that stands twice means one thing to one reader and another to the next, so it is refused, and
//! so is anything after the value. Depth is bounded by the parser, size by the caller.

use std::fmt;

use serde::de::{Deserializer as _, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Reads a whole text as one JSON value.
pub fn read(text: &[u8]) -> Result<Value, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let value = reader.deserialize_any(Strict)?;
    reader.end()?;
    Ok(value)
}

struct Strict;

struct Seed;

impl<'de> serde::de::DeserializeSeed<'de> for Seed {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(Strict)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("not a finite number"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(Seed)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format!(
                    "the key `{}` stands twice",
                    key.escape_debug()
                )));
            }
            object.insert(key, members.next_value_seed(Seed)?);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn what_two_readers_could_read_differently_is_refused() {
        for text in ["", "{", "{}{}", r#"{"a":1,"a":2}"#, r#"[{"b":{"a":1,"a":1}}]"#, "NaN", "{}x"]
        {
            assert!(read(text.as_bytes()).is_err(), "{text}");
        }
        assert!(read("[".repeat(100_000).as_bytes()).is_err());
        assert_eq!(read(br#"{"a":[1,-2,3.5,null,true,"x"]}"#).unwrap()["a"][5], "x");
    }
}
