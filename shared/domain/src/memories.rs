//! Memories: what an agent stores for all of its later runs.

use serde::{Deserialize, Serialize};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr,
        schema::{Object, Schema},
    },
};

use crate::{InvalidText, Time, checked_text::checked_text, limits, schemas};

/// A memory of an agent, under a key that the agent chooses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    /// The key, 1 to 128 characters.
    pub key: String,
    /// The value, 1 to 4,000 characters.
    pub value: String,
    /// When the memory was last set.
    pub updated_at: Time,
}

checked_text! {
    /// The key of a memory or the id of a goal: 1 to 128 characters without NUL.
    MemoryKey
}

impl MemoryKey {
    /// Checks that a text is the key of a memory.
    pub fn check(text: &str) -> Result<(), InvalidText> {
        check(text, limits::MEMORY_KEY_CHARS)
    }
}

impl PartialSchema for MemoryKey {
    fn schema() -> RefOr<Schema> {
        schemas::without_nul(limits::MEMORY_KEY_CHARS).into()
    }
}

impl ToSchema for MemoryKey {}

checked_text! {
    /// The value of a memory, the description of a goal or the instruction of a plan: 1 to 4,000
    /// characters without NUL.
    MemoryValue
}

impl MemoryValue {
    /// Checks that a text is the value of a memory.
    pub fn check(text: &str) -> Result<(), InvalidText> {
        check(text, limits::MEMORY_CHARS)
    }

    /// The schema of a value, with this description.
    pub(crate) fn described(description: &str) -> Object {
        schemas::without_nul(limits::MEMORY_CHARS).description(Some(description)).build()
    }
}

impl PartialSchema for MemoryValue {
    fn schema() -> RefOr<Schema> {
        Self::described("1 to 4,000 characters without NUL.").into()
    }
}

impl ToSchema for MemoryValue {}

fn check(text: &str, most: usize) -> Result<(), InvalidText> {
    let chars = text.chars().count();
    if (1..=most).contains(&chars) && !text.contains('\0') {
        return Ok(());
    }
    Err(InvalidText::new(format!("expected 1 to {most} characters without NUL, got {chars}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_have_a_limited_number_of_characters() {
        let key = "ä".repeat(128);
        assert_eq!(MemoryKey::check(&key), Ok(()));
        assert_eq!(MemoryKey::check(" "), Ok(()));
        let refused = |text: &str| MemoryKey::check(text).unwrap_err().at("/key").to_string();
        assert_eq!(refused(""), "/key: expected 1 to 128 characters without NUL, got 0");
        assert_eq!(refused("a\0"), "/key: expected 1 to 128 characters without NUL, got 2");
        assert_eq!(
            refused(&format!("{key}x")),
            "/key: expected 1 to 128 characters without NUL, got 129"
        );
        assert_eq!(MemoryValue::check(&"ä".repeat(4_000)), Ok(()));
        assert_eq!(
            MemoryValue::check(&"ä".repeat(4_001)).unwrap_err().to_string(),
            "expected 1 to 4000 characters without NUL, got 4001"
        );
    }
}
