//! Escaping of characters that could move, hide or break text. In texts for models they are always
//! escaped.

use std::fmt::Write;

/// Whether a character is escaped: a control character, a line or paragraph separator, a
/// bidirectional mark, or an invisible character.
pub fn must_escape(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{2028}' | '\u{2029}')
        || is_bidi_mark(char)
        || is_invisible(char)
}

/// Whether a character changes the direction of a text.
pub fn is_bidi_mark(char: char) -> bool {
    matches!(char, '\u{061c}' | '\u{200e}' | '\u{200f}')
        || matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether nothing shows a character to a reader: letters and marks without a shape, and tags,
/// which can spell out hidden texts.
///
/// The joiners that some scripts and emoji need, and the selectors of an emoji's form, are not
/// among them: see [`joins_or_selects`].
pub fn is_invisible(char: char) -> bool {
    matches!(char, '\u{00ad}' | '\u{034f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}')
        || matches!(char, '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{2060}'..='\u{2065}')
        || matches!(char, '\u{206a}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}')
        || matches!(char, '\u{fff0}'..='\u{fffc}' | '\u{fffe}' | '\u{ffff}' | '\u{070f}')
        || matches!(char, '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}')
        || matches!(char, '\u{1d159}' | '\u{1d173}'..='\u{1d17a}')
        || matches!(char, '\u{e0000}'..='\u{e0fff}')
}

/// Whether a character joins its neighbours or selects a form of the one before. Texts need them;
/// in a name they make two names look the same.
pub fn joins_or_selects(char: char) -> bool {
    matches!(char, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

/// Whether a name with this character can look like another one, or say more than it shows.
pub fn is_hidden(char: char) -> bool {
    must_escape(char) || joins_or_selects(char)
}

/// The characters of [`is_hidden`] up to U+FFFF as part of a class in a regular expression. Those
/// beyond are left out: many readers of schemas compile patterns without the flag `u` and would
/// take such a range for one of halves of characters, which is no valid class.
macro_rules! hidden_pattern {
    () => {
        concat!(
            r"\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u070f\u115f\u1160\u17b4\u17b5",
            r"\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff",
            r"\uffa0\ufff0-\ufffc\ufffe\uffff",
        )
    };
}
pub(crate) use hidden_pattern;

/// The characters of [`joins_or_selects`] as part of a class in a regular expression.
macro_rules! joiner_pattern {
    () => {
        r"\u200c\u200d\ufe00-\ufe0f"
    };
}
pub(crate) use joiner_pattern;

/// Writes the escape sequence of a character in JSON. One outside of the basic plane takes two.
pub fn write_escaped(out: &mut impl Write, char: char) -> std::fmt::Result {
    char.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}"))
}

/// JSON with these characters escaped. They occur only in its texts, so its value does not change.
pub fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for char in json.chars() {
        if must_escape(char) {
            // Writing to a `String` cannot fail.
            let _ = write_escaped(&mut text, char);
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

    #[test]
    fn invisible_characters_are_escaped_and_those_of_scripts_and_emoji_stay() {
        let value = serde_json::json!("a\u{200b}\u{feff}\u{3164}\u{e0041}b 👩\u{200d}💻 ❤\u{fe0f}");
        let text = escaped(&value.to_string());
        let visible = "👩\u{200d}💻 ❤\u{fe0f}";
        assert_eq!(text, format!(r#""a\u200b\ufeff\u3164\udb40\udc41b {visible}""#));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
