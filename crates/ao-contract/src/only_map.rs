//! Closed types are read from maps alone.
//!
//! A reader that serde derives also takes a list of the fields in their order, so that
//! `["codex", "All is well", …]` would pass for a runner's report. Types with an `extra` map do not
//! have this gap. The others carry `#[serde(remote = "Self")]`, which turns the derived reader and
//! writer into private functions, and get their impls here.

macro_rules! only_from_map {
    ($($type:ty),+ $(,)?) => {$(
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct FromMap;

                impl<'de> serde::de::Visitor<'de> for FromMap {
                    type Value = $type;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("a map")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        map: A,
                    ) -> Result<Self::Value, A::Error> {
                        <$type>::deserialize(serde::de::value::MapAccessDeserializer::new(map))
                    }
                }

                deserializer.deserialize_map(FromMap)
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                Self::serialize(self, serializer)
            }
        }
    )+};
}

pub(crate) use only_from_map;
