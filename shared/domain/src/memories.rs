//! What an agent wants to know in every later run.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{Error, Result, Time, limits};

/// Something that an agent keeps, under a key of its own choice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    /// Its key, 1 to 128 characters.
    pub key: String,
    /// What is kept, 1 to 4,000 characters.
    pub value: String,
    /// When it was last set.
    pub updated_at: Time,
}

/// Checks a key of a memory, or the id of a goal: 1 to 128 characters without NUL. `pointer` is the place in the input.
pub fn check_key(key: &str, pointer: &str) -> Result<()> {
    check(key, limits::MEMORY_KEY_CHARS, pointer)
}

/// Checks what is to be kept: 1 to 4,000 characters without NUL. `pointer` is the place in the input.
pub fn check_value(value: &str, pointer: &str) -> Result<()> {
    check(value, limits::MEMORY_CHARS, pointer)
}

fn check(text: &str, most: usize, pointer: &str) -> Result<()> {
    let chars = text.chars().count();
    if (1..=most).contains(&chars) && !text.contains('\0') {
        return Ok(());
    }
    Err(Error::invalid(pointer, format!("expected 1 to {most} characters without NUL, got {chars}")))
}
