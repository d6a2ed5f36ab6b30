//! JSON stored as text, for `#[serde(with)]`. The table's own maps restrict numbers, attribute
//! names and nesting depth in ways that JSON does not.

use serde::{Deserialize, Deserializer, Serializer, de};
use serde_json::Value;

pub(crate) fn serialize<S: Serializer>(value: &Value, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    serde_json::from_str(&String::deserialize(deserializer)?).map_err(de::Error::custom)
}

/// The same for a value that may be absent.
pub(crate) mod optional {
    use serde::{Deserialize, Deserializer, Serializer, de};
    use serde_json::Value;

    #[expect(clippy::ref_option, reason = "serde passes a reference")]
    pub(crate) fn serialize<S: Serializer>(
        value: &Option<Value>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => serializer.collect_str(value),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Value>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| serde_json::from_str(&text)).transpose().map_err(de::Error::custom)
    }
}
