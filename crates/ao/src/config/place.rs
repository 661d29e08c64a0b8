//! The keys of a configuration file, each with its line.

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

/// A key, where it stands, and its value if that is a word or a list of words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KeyPlace {
    pub(super) path: Vec<String>,
    /// From 1; `None` for a variable.
    pub(super) line: Option<u64>,
    /// The variable that says it, if one does.
    pub(super) variable: Option<String>,
    pub(super) value: Option<String>,
}

impl KeyPlace {
    /// Dotted.
    pub(super) fn name(&self) -> String {
        self.path.join(".")
    }
}

/// All keys of a file, in their order. A file that is not understood has none: the typed reader says why.
pub(super) fn keys(text: &str) -> Vec<KeyPlace> {
    let mut found = Vec::new();
    let read = serde_saphyr::with_deserializer_from_str(text, |deserializer| {
        KeyWalk { path: Vec::new(), found: &mut found }.deserialize(deserializer)
    });
    if read.is_ok() { found } else { Vec::new() }
}

/// Goes through a value and notes every key beneath it; gives the value in words.
struct KeyWalk<'a> {
    path: Vec<String>,
    found: &'a mut Vec<KeyPlace>,
}

impl<'de> DeserializeSeed<'de> for KeyWalk<'_> {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for KeyWalk<'_> {
    type Value = Option<String>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a configuration")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let mut path = self.path.clone();
            path.push(key.value);
            let at = self.found.len();
            let slip = u64::from(ao_mutant::active("RUN-46/the-line-after"));
            let line = Some(key.referenced.line() + slip);
            let place = KeyPlace { path: path.clone(), line, variable: None, value: None };
            self.found.push(place);
            let value = map.next_value_seed(KeyWalk { path, found: self.found })?;
            self.found[at].value = value;
        }
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut words = Vec::new();
        while let Some(word) =
            list.next_element_seed(KeyWalk { path: self.path.clone(), found: self.found })?
        {
            words.extend(word);
        }
        Ok(Some(words.join(", ")))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(text.to_owned()))
    }

    fn visit_bool<E>(self, is_on: bool) -> Result<Self::Value, E> {
        Ok(Some(is_on.to_string()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Some(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Some(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Some(number.to_string()))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}
