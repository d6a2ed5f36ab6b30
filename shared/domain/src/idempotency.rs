//! Idempotency keys: a caller names a request, so that repeating it has no second effect.

use crate::{InvalidText, checked_text::checked_text, limits::KEY_CHARS};

checked_text! {
    /// An idempotency key: 1 to 255 printable ASCII characters.
    IdempotencyKey
}

impl IdempotencyKey {
    /// Checks that a text is an idempotency key.
    pub fn check(text: &str) -> Result<(), InvalidText> {
        let is_key = (1..=KEY_CHARS).contains(&text.len())
            && text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        if is_key {
            return Ok(());
        }
        Err(InvalidText::new(format!("expected 1 to {KEY_CHARS} printable ASCII characters")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_printable_ascii() {
        let most = "~".repeat(255);
        for key in ["a", " a b ", &most] {
            assert_eq!(IdempotencyKey::check(key), Ok(()), "{key:?}");
        }
        for text in ["", "a\tb", "ä", "\u{7f}", &format!("{most}a")] {
            assert!(IdempotencyKey::check(text).is_err(), "{text:?}");
        }
    }
}
