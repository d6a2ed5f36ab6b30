//! Escaping of characters that could move, hide or break text. In texts for models they are always
//! escaped.

use std::fmt::Write;

/// Whether a character is escaped: a control character, a line or paragraph separator, or a
/// bidirectional mark. All of these are in the basic plane, so one escape sequence is enough.
pub fn must_escape(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{2028}' | '\u{2029}' | '\u{061c}' | '\u{200e}' | '\u{200f}')
        || matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// JSON with these characters escaped. They occur only in its texts, so its value does not change.
pub fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for char in json.chars() {
        if must_escape(char) {
            // Writing to a `String` cannot fail.
            let _ = write!(text, "\\u{:04x}", u32::from(char));
        } else {
            text.push(char);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaping_does_not_change_the_json_value() {
        let value = serde_json::json!({"a\u{2028}": ["\u{202e}b\n", 1]});
        let text = escaped(&value.to_string());
        assert_eq!(text, r#"{"a\u2028":["\u202eb\n",1]}"#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
