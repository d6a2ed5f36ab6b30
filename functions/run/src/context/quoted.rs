//! How texts of others stand in a prompt: as data that can't forge a line, a marker or a block.

use std::fmt::{self, Write};

use smartspace_domain::{
    entities::EntityType,
    limits::TIMELINE_CHARS,
    messages::{Sender, excerpt},
    quoting::{escaped, must_escape},
};
use smartspace_store::messages::CutJson;

/// A text as a JSON string. Every control character, line or paragraph separator and bidirectional mark is escaped, so that it stays on
/// one line and shows in the order in which it was written.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for char in self.0.chars() {
            match char {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                char if must_escape(char) => write!(f, "\\u{:04x}", u32::from(char))?,
                char => f.write_char(char)?,
            }
        }
        f.write_char('"')
    }
}

/// A name: bare where it is made of letters, digits, spaces, `-`, `_` and `.` only, else quoted.
pub(crate) struct Name<'a>(pub(crate) &'a str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |char: char| char.is_alphanumeric() || " -_.".contains(char);
        if !self.0.is_empty() && self.0.chars().all(plain) { f.write_str(self.0) } else { Quoted(self.0).fmt(f) }
    }
}

/// `Husam (human)`.
pub(crate) struct Who<'a>(pub(crate) &'a Sender);

impl fmt::Display for Who<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", Name(&self.0.name), kind(self.0.kind))
    }
}

pub(crate) fn kind(kind: EntityType) -> &'static str {
    kind.as_str()
}

/// A message's text, of which `more` characters stand elsewhere, with a note of them.
pub(crate) struct Cut<'a> {
    pub(crate) text: &'a str,
    pub(crate) more: usize,
}

impl fmt::Display for Cut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (text, cut) = excerpt(self.text, TIMELINE_CHARS);
        Quoted(text).fmt(f)?;
        match self.more + cut {
            0 => Ok(()),
            more => write!(f, " … ({} more characters; read_messages shows all)", Thousands(more as u64)),
        }
    }
}

/// A key or an id that an agent chose: bare where it is made of ASCII letters, digits, `.`, `_` and `-` only, else quoted.
pub(crate) struct Key<'a>(pub(crate) &'a str);

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |char: char| char.is_ascii_alphanumeric() || "._-".contains(char);
        if (1..=128).contains(&self.0.len()) && self.0.chars().all(plain) { f.write_str(self.0) } else { Quoted(self.0).fmt(f) }
    }
}

/// JSON on one line, of at most `most` characters. What must be escaped can only stand in its texts, so it is JSON still.
pub(crate) struct Json<'a> {
    pub(crate) value: &'a serde_json::Value,
    pub(crate) most: usize,
    /// How to see the rest.
    pub(crate) rest: &'static str,
}

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.value.to_string();
        let (text, more) = excerpt(&text, self.most);
        f.write_str(&escaped(text))?;
        if more == 0 { Ok(()) } else { write!(f, " … ({} more characters{})", Thousands(more as u64), self.rest) }
    }
}

/// JSON of a card, of which some may stand elsewhere, on one line.
pub(crate) struct CardJson<'a>(pub(crate) &'a CutJson);

impl fmt::Display for CardJson<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escaped(&self.0.text))?;
        match self.0.more {
            0 => Ok(()),
            more => write!(f, " … ({} more characters; read_messages shows all)", Thousands(more as u64)),
        }
    }
}

/// How long until something: `17h 53m`, `3d 4h`, `12m`.
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

/// The beginning of a text, as a JSON string; `…` stands for the rest.
pub(crate) struct Excerpt<'a>(pub(crate) &'a str, pub(crate) usize);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match excerpt(self.0, self.1) {
            (text, 0) => Quoted(text).fmt(f),
            (text, _) => Quoted(&format!("{text}…")).fmt(f),
        }
    }
}

/// A number with a comma between thousands.
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
        fn a_bare_name_is_made_of_harmless_characters(name in "[a-zA-Zéö \\-_.()\"\\n\u{202e}←]{0,12}") {
            let shown = Name(&name).to_string();
            prop_assert!(shown == name || serde_json::from_str::<String>(&shown).unwrap() == name);
            let harmful = ['(', '\n', '←', '\u{202e}'];
            prop_assert!(shown.starts_with('"') || !shown.contains(harmful));
        }
    }

    #[test]
    fn spans_and_keys() {
        let span = |minutes| Span(std::time::Duration::from_mins(minutes)).to_string();
        assert_eq!([0, 59, 60, 1_073, 4_560].map(span), ["0m", "59m", "1h 0m", "17h 53m", "3d 4h"]);
        assert_eq!(["a.b_C-9", "a b", "", "é"].map(|key| Key(key).to_string()), ["a.b_C-9", "\"a b\"", "\"\"", "\"é\""]);
        let value = serde_json::json!({"a": "\u{202e}\n\u{85}"});
        let whole = Json { value: &value, most: 100, rest: "" }.to_string();
        assert_eq!(whole, r#"{"a":"\u202e\n\u0085"}"#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&whole).unwrap(), value);
        assert_eq!(Json { value: &value, most: 5, rest: "; look" }.to_string(), r#"{"a": … (7 more characters; look)"#);
    }

    #[test]
    fn marks_and_numbers() {
        assert_eq!(Quoted("a\n\u{202e}\"\\\u{2028}").to_string(), r#""a\u000a\u202e\"\\\u2028""#);
        let numbers = [0, 999, 1_000, 1_234_567].map(|number| Thousands(number).to_string());
        assert_eq!(numbers, ["0", "999", "1,000", "1,234,567"]);
        let long = "x".repeat(TIMELINE_CHARS + 2);
        assert!(Cut { text: &long, more: 1_232 }.to_string().ends_with("x\" … (1,234 more characters; read_messages shows all)"));
    }
}
