//! Memories: what an agent stores for all of its later runs.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{Error, Result, Time, limits};

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

/// Checks the key of a memory or the id of a goal: 1 to 128 characters without NUL. A fault gets
/// the JSON pointer `pointer`.
pub fn check_key(key: &str, pointer: &str) -> Result<()> {
    check(key, limits::MEMORY_KEY_CHARS, pointer)
}

/// Checks the value of a memory, the description of a goal or the instruction of a plan: 1 to 4,000
/// characters without NUL. A fault gets the JSON pointer `pointer`.
pub fn check_value(value: &str, pointer: &str) -> Result<()> {
    check(value, limits::MEMORY_CHARS, pointer)
}

fn check(text: &str, most: usize, pointer: &str) -> Result<()> {
    let chars = text.chars().count();
    if (1..=most).contains(&chars) && !text.contains('\0') {
        return Ok(());
    }
    Err(Error::invalid(
        pointer,
        format!("expected 1 to {most} characters without NUL, got {chars}"),
    ))
}
