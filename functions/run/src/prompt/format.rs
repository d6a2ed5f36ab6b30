//! Formats texts of others for a prompt, so that they can't forge a line, a marker or a block.

use std::fmt::{self, Write};

use smartspace_domain::{
    messages::excerpt,
    quoting::{escaped, is_invisible, joins_or_selects, must_escape, write_escaped},
};
use smartspace_store::messages::CutJson;
use unicode_security::confusable_detection::skeleton;

/// Writes a text as a JSON string. Every control character, line or paragraph separator,
/// bidirectional mark and invisible character is escaped, so that the text stays on one line and in
/// its order, and hides nothing.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        quote(f, self.0, must_escape)
    }
}

fn quote(f: &mut fmt::Formatter<'_>, text: &str, escape: fn(char) -> bool) -> fmt::Result {
    f.write_char('"')?;
    for char in text.chars() {
        match char {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            char if escape(char) => write_escaped(f, char)?,
            char => f.write_char(char)?,
        }
    }
    f.write_char('"')
}

/// Writes a name. It is quoted unless it consists of visible letters, digits, spaces, `-`, `_` and
/// `.`. Two different names never look the same because of characters that nobody sees.
pub(crate) struct Name<'a>(pub(crate) &'a str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Some characters without a shape count as letters.
        let plain =
            |char: char| (char.is_alphanumeric() && !is_invisible(char)) || " -_.".contains(char);
        // Some letters look like a colon or a quotation mark.
        let looks_plain =
            || skeleton(self.0).all(|char| !char.is_ascii_punctuation() || "-_.".contains(char));
        if !self.0.is_empty() && self.0.chars().all(plain) && looks_plain() {
            f.write_str(self.0)
        } else {
            quote(f, self.0, |char| must_escape(char) || joins_or_selects(char))
        }
    }
}

/// Writes a message's text, cut to a length, and how much was cut.
pub(crate) struct CutText<'a> {
    pub(crate) text: &'a str,
    /// The characters of the message that `text` does not contain.
    pub(crate) more: usize,
    /// The most characters of `text` that are written.
    pub(crate) max_chars: usize,
}

impl fmt::Display for CutText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (text, cut) = excerpt(self.text, self.max_chars);
        Quoted(text).fmt(f)?;
        match self.more + cut {
            0 => Ok(()),
            more => write!(
                f,
                " … ({} more characters; read_messages shows all)",
                Thousands(more as u64)
            ),
        }
    }
}

/// Writes a key or an id that an agent chose. It is quoted unless it consists of ASCII letters,
/// digits, `.`, `_` and `-`.
pub(crate) struct Key<'a>(pub(crate) &'a str);

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |char: char| char.is_ascii_alphanumeric() || "._-".contains(char);
        // A key in brackets must not look like the mark of a message.
        let is_mark = ["NEW", "SEEN"].contains(&self.0);
        if (1..=128).contains(&self.0.len()) && self.0.chars().all(plain) && !is_mark {
            f.write_str(self.0)
        } else {
            Quoted(self.0).fmt(f)
        }
    }
}

/// The longest payload of a service that is shown, in characters. The limit leaves a model room to
/// read the rest of the prompt.
pub(crate) const PAYLOAD_CHARS: usize = 131_072;

/// Writes JSON on one line. Characters that must be escaped occur only in its strings, so the
/// result is still JSON.
pub(crate) struct Json<'a> {
    pub(crate) value: &'a serde_json::Value,
    pub(crate) max_chars: usize,
    /// How to read the rest, if the JSON is cut.
    pub(crate) hint: &'static str,
}

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.value.to_string();
        let (text, more) = excerpt(&text, self.max_chars);
        f.write_str(&escaped(text))?;
        if more == 0 {
            Ok(())
        } else {
            write!(f, " … ({} more characters{})", Thousands(more as u64), self.hint)
        }
    }
}

/// Writes the JSON of a card on one line, and how much of it was cut.
pub(crate) struct CardJson<'a>(pub(crate) &'a CutJson);

impl fmt::Display for CardJson<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escaped(&self.0.text))?;
        match self.0.more {
            0 => Ok(()),
            more => write!(
                f,
                " … ({} more characters; read_messages shows all)",
                Thousands(more as u64)
            ),
        }
    }
}

/// Writes a duration like `17h 53m`, `3d 4h` or `12m`.
pub(crate) struct Span(pub(crate) std::time::Duration);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let minutes = self.0.as_secs() / 60;
        match (minutes / 1_440, minutes / 60 % 24, minutes % 60) {
            (0, 0, minutes) => write!(f, "{minutes}m"),
            (0, hours, minutes) => write!(f, "{hours}h {minutes}m"),
            (days, hours, _) => write!(f, "{days}d {hours}h"),
        }
    }
}

/// Writes the first characters of a text as a JSON string. If the text is cut, it ends with `…`.
pub(crate) struct Excerpt<'a>(pub(crate) &'a str, pub(crate) usize);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match excerpt(self.0, self.1) {
            (text, 0) => Quoted(text).fmt(f),
            (text, _) => Quoted(&format!("{text}…")).fmt(f),
        }
    }
}

/// Writes a number with commas between thousands.
pub(crate) struct Thousands(pub(crate) u64);

impl fmt::Display for Thousands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (at, digit) in digits.char_indices() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                f.write_char(',')?;
            }
            f.write_char(digit)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use smartspace_domain::limits::TIMELINE_CHARS;

    use super::*;

    proptest! {
        #[test]
        fn a_text_stays_on_one_line_and_comes_back(text: String) {
            let quoted = Quoted(&text).to_string();
            prop_assert_eq!(quoted.lines().count(), 1);
            prop_assert!(!quoted.chars().any(must_escape));
            prop_assert_eq!(serde_json::from_str::<String>(&quoted).unwrap(), text);
        }

        #[test]
        fn an_unquoted_name_has_harmless_characters_only(
            name in "[a-zA-Zéö \\-_.()\"\\n\u{202e}←]{0,12}",
        ) {
            let shown = Name(&name).to_string();
            prop_assert!(shown == name || serde_json::from_str::<String>(&shown).unwrap() == name);
            let harmful = ['(', '\n', '←', '\u{202e}'];
            prop_assert!(shown.starts_with('"') || !shown.contains(harmful));
        }
    }

    #[test]
    fn invisible_letters_of_a_name_are_shown() {
        let names = ["Ada", "Ada\u{3164}", "A\u{200d}da", "Ad\u{e0061}a", "\u{1160}"];
        assert_eq!(
            names.map(|name| Name(name).to_string()),
            ["Ada", r#""Ada\u3164""#, r#""A\u200dda""#, r#""Ad\udb40\udc61a""#, r#""\u1160""#]
        );
    }

    #[test]
    fn spans_keys_and_json() {
        let span = |minutes| Span(std::time::Duration::from_mins(minutes)).to_string();
        assert_eq!([0, 59, 60, 1_073, 4_560].map(span), ["0m", "59m", "1h 0m", "17h 53m", "3d 4h"]);
        assert_eq!(
            ["a.b_C-9", "a b", "", "é"].map(|key| Key(key).to_string()),
            ["a.b_C-9", "\"a b\"", "\"\"", "\"é\""]
        );
        assert_eq!(Key("NEW").to_string(), "\"NEW\"");
        assert_eq!(Name("Husam\u{a4fd} \u{2ee}yes").to_string(), "\"Husam\u{a4fd} \u{2ee}yes\"");
        let value = serde_json::json!({"a": "\u{202e}\n\u{85}"});
        let whole = Json { value: &value, max_chars: 100, hint: "" }.to_string();
        assert_eq!(whole, r#"{"a":"\u202e\n\u0085"}"#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&whole).unwrap(), value);
        assert_eq!(
            Json { value: &value, max_chars: 5, hint: "; look" }.to_string(),
            r#"{"a": … (7 more characters; look)"#
        );
    }

    #[test]
    fn escapes_thousands_and_cut_texts() {
        assert_eq!(Quoted("a\n\u{202e}\"\\\u{2028}").to_string(), r#""a\u000a\u202e\"\\\u2028""#);
        let numbers = [0, 999, 1_000, 1_234_567].map(|number| Thousands(number).to_string());
        assert_eq!(numbers, ["0", "999", "1,000", "1,234,567"]);
        let long = "x".repeat(TIMELINE_CHARS + 2);
        assert!(
            CutText { text: &long, more: 1_232, max_chars: TIMELINE_CHARS }
                .to_string()
                .ends_with("x\" … (1,234 more characters; read_messages shows all)")
        );
    }
}
