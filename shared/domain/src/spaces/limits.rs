//! Reads the limits of a space that are numbers from 0 to 100.

use std::fmt;

use serde::{
    Deserializer,
    de::{Error, Unexpected, Visitor},
};

struct UpTo100;

impl Visitor<'_> for UpTo100 {
    type Value = u32;

    fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str("0 to 100")
    }

    // A number over 100 is refused with the other faults of the settings.
    fn visit_u64<E: Error>(self, number: u64) -> Result<u32, E> {
        let wrong = |_| E::invalid_value(Unexpected::Unsigned(number), &self);
        u32::try_from(number).map_err(wrong)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<u32, E> {
        let wrong = |_| E::invalid_value(Unexpected::Signed(number), &self);
        u32::try_from(number).map_err(wrong)
    }
}

/// Reads such a limit. The error says which numbers it may be.
pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    deserializer.deserialize_u64(UpTo100)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn an_error_says_which_numbers_a_limit_may_be() {
        let of = |number: Value| read(number).map_err(|error| error.to_string());
        assert_eq!(of(json!(100)), Ok(100));
        let error = |given| Err(format!("invalid {given}, expected 0 to 100"));
        assert_eq!(of(json!(-1)), error("value: integer `-1`"));
        assert_eq!(of(json!(2.5)), error("type: floating point `2.5`"));
        assert_eq!(of(json!("3")), error("type: string \"3\""));
    }
}
