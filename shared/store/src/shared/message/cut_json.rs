//! JSON whose end may be stored elsewhere.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use smartspace_domain::{limits, messages::excerpt};

/// The first 4,000 characters of a JSON text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutJson {
    pub text: String,
    /// How many more characters there are. The whole text is then in `TEXT#`.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub more: usize,
}

impl CutJson {
    /// The beginning of a value, and the whole text if the value is longer.
    pub fn of(value: &Value) -> (Self, Option<String>) {
        let text = value.to_string();
        let (short, more) = excerpt(&text, limits::TIMELINE_CHARS);
        (Self { text: short.to_owned(), more }, (more > 0).then_some(text))
    }

    pub(super) fn complete(&mut self, overflow: Option<String>) {
        if let Some(text) = overflow {
            *self = Self { text, more: 0 };
        }
    }

    pub(super) fn whole(&self, overflow: Option<&String>) -> Value {
        serde_json::from_str(overflow.unwrap_or(&self.text)).unwrap_or_default()
    }
}
