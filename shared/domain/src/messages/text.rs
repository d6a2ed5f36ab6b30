//! The text of a message.

use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, schema::Schema},
};

use crate::{InvalidText, checked_text::checked_text, limits::MESSAGE_BYTES, schemas};

checked_text! {
    /// The text of a message: 1 to 32,768 bytes without NUL.
    MessageText
}

impl MessageText {
    /// Checks that a text can be that of a message.
    pub fn check(text: &str) -> Result<(), InvalidText> {
        if text.is_empty() {
            return Err(InvalidText::new(format!(
                "expected 1 to {MESSAGE_BYTES} bytes of text, got none"
            )));
        }
        if text.len() > MESSAGE_BYTES {
            let got = text.len();
            return Err(InvalidText::new(format!(
                "expected 1 to {MESSAGE_BYTES} bytes of text, got {got}"
            )));
        }
        if text.contains('\0') {
            return Err(InvalidText::new("expected text without NUL (U+0000)"));
        }
        Ok(())
    }
}

impl PartialSchema for MessageText {
    fn schema() -> RefOr<Schema> {
        schemas::without_nul(MESSAGE_BYTES)
            .description(Some("1 to 32,768 bytes without NUL."))
            .into()
    }
}

impl ToSchema for MessageText {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_a_limited_number_of_bytes() {
        let most = "ä".repeat(MESSAGE_BYTES / 2);
        assert_eq!(MessageText::check(&most), Ok(()));
        assert_eq!(MessageText::check(" "), Ok(()));
        let refused = |text: &str| MessageText::check(text).unwrap_err().at("/text").to_string();
        assert_eq!(refused(""), "/text: expected 1 to 32768 bytes of text, got none");
        assert_eq!(
            refused(&format!("{most}x")),
            "/text: expected 1 to 32768 bytes of text, got 32769"
        );
        assert_eq!(refused("a\0"), "/text: expected text without NUL (U+0000)");
    }
}
