//! The names of entities, spaces, plans, secrets and services.

pub mod look_alike;

use unicode_general_category::{GeneralCategory, get_general_category};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr,
        schema::{Object, Schema},
    },
};

use crate::{
    InvalidText,
    checked_text::checked_text,
    quoting::{hidden_pattern, is_hidden, joiner_pattern, joins_or_selects},
    schemas,
};

/// A character of Braille that looks like a blank.
const BRAILLE_BLANK: char = '\u{2800}';

/// Whether a character takes room and shows nothing.
pub(crate) fn is_blank(char: char) -> bool {
    char.is_whitespace() || char == BRAILLE_BLANK
}

/// Whether Unicode gives a character no meaning. A font may show it as any other.
fn is_unassigned(char: char) -> bool {
    matches!(get_general_category(char), GeneralCategory::Unassigned | GeneralCategory::PrivateUse)
}

/// Whether a text has a hidden character. A joiner or a selector after a character beyond ASCII is
/// none: Persian and emoji need them.
fn hides_something(text: &str) -> bool {
    let mut before = '\0';
    text.chars().any(|char| {
        let is_needed = joins_or_selects(char) && !before.is_ascii();
        before = char;
        is_hidden(char) && !is_needed
    })
}

checked_text! {
    /// The name of an entity, a space or a plan: 1 to 128 characters that a reader sees, not only
    /// blanks.
    Name
}

impl Name {
    const CHARS: usize = 128;
    const PATTERN: &str = concat!(
        "^(?:[^",
        hidden_pattern!(),
        "]|[^\\u0000-\\u007f",
        hidden_pattern!(),
        "][",
        joiner_pattern!(),
        "]+)*(?:[^\\s\\u2800",
        hidden_pattern!(),
        "]|[^\\s\\u2800\\u0000-\\u007f",
        hidden_pattern!(),
        "][",
        joiner_pattern!(),
        "]+)(?:[^",
        hidden_pattern!(),
        "]|[^\\u0000-\\u007f",
        hidden_pattern!(),
        "][",
        joiner_pattern!(),
        "]+)*$"
    );

    /// Checks that a text is a name.
    pub fn check(text: &str) -> Result<(), InvalidText> {
        if !(1..=Self::CHARS).contains(&text.chars().count()) || text.chars().all(is_blank) {
            return Err(InvalidText::new("expected 1 to 128 characters, not only blanks"));
        }
        if hides_something(text) || text.chars().any(is_unassigned) {
            return Err(InvalidText::new(
                "expected a name without control characters, and without characters that are not \
                 shown, change its direction or are not assigned by Unicode",
            ));
        }
        Ok(())
    }

    /// The name in a text of others: what a reader sees of it. `None` if that is no name.
    pub fn seen_in(text: &str) -> Option<String> {
        let is_seen = |char: &char| !is_hidden(*char) && !is_unassigned(*char);
        let seen: String = text.chars().filter(is_seen).collect();
        Self::check(&seen).is_ok().then_some(seen)
    }

    /// The schema of a name, with this description.
    pub(crate) fn described(description: &str) -> Object {
        schemas::text(description)
            .min_length(Some(1))
            .max_length(Some(Self::CHARS))
            .pattern(Some(Self::PATTERN))
            .build()
    }
}

impl PartialSchema for Name {
    fn schema() -> RefOr<Schema> {
        let description = "1 to 128 characters, not only blanks, without control characters, \
                           invisible ones and ones that Unicode does not assign. A joiner or a \
                           selector stands only after a character beyond ASCII.";
        Self::described(description).into()
    }
}

impl ToSchema for Name {}

checked_text! {
    /// The name of a secret: `[A-Z][A-Z0-9_]*`, at most 64 characters.
    SecretName
}

impl SecretName {
    /// Checks that a text is the name of a secret.
    pub fn check(text: &str) -> Result<(), InvalidText> {
        let is_name = text.len() <= 64
            && text.starts_with(|first: char| first.is_ascii_uppercase())
            && text
                .chars()
                .all(|char| char.is_ascii_uppercase() || char.is_ascii_digit() || char == '_');
        let expected = "expected the name of a secret: [A-Z][A-Z0-9_]*, at most 64 characters";
        if is_name { Ok(()) } else { Err(InvalidText::new(expected)) }
    }
}

impl PartialSchema for SecretName {
    fn schema() -> RefOr<Schema> {
        schemas::text("The name of a secret.").pattern(Some("^[A-Z][A-Z0-9_]{0,63}$")).into()
    }
}

impl ToSchema for SecretName {}

checked_text! {
    /// The name of a service that may trigger an agent: a letter or digit, followed by up to 63 of
    /// `[A-Za-z0-9._-]`.
    ServiceName
}

impl ServiceName {
    /// Checks that a text is the name of a service.
    pub fn check(text: &str) -> Result<(), InvalidText> {
        let expected = "expected a letter or digit and up to 63 of [A-Za-z0-9._-]";
        if is_plain(text, 64) { Ok(()) } else { Err(InvalidText::new(expected)) }
    }
}

/// Whether a text is a letter or digit, followed by `[A-Za-z0-9._-]`, at most `most` in all.
pub(crate) fn is_plain(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.len())
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.chars().all(|char| char.is_ascii_alphanumeric() || "._-".contains(char))
}

impl PartialSchema for ServiceName {
    fn schema() -> RefOr<Schema> {
        schemas::with_pattern("^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    }
}

impl ToSchema for ServiceName {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_a_visible_character() {
        let most = "ä".repeat(128);
        for name in ["Ada", " Ada ", "Zo\u{eb} \u{1f98a}", "\u{674e}\u{660e}", &most] {
            assert_eq!(Name::check(name), Ok(()), "{name:?}");
        }
        for text in ["", " ", "\u{2003}", "\u{2800} ", "a\0b", "a\nb", &format!("{most}x")] {
            assert!(Name::check(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_name_hides_nothing() {
        for hidden in [
            "Bob\u{200b}",
            "Olga\u{1d159}",
            "Olga\u{070f}",
            "Olga\u{13430}",
            "Olga\u{fffe}",
            "\u{fffc}",
            "\u{202e}boB",
            "Bob\u{2066}",
            "Bob\u{200d}",
            "Bob\u{fe0f}",
            "Bob\u{3164}",
            "\u{ffa0}",
            "Bob\u{e0041}",
            "Bob\u{7f}",
            "Bob\u{378}",
            "Bob\u{e000}",
            "\u{fdd0}",
        ] {
            assert!(Name::check(hidden).is_err(), "{hidden:?}");
        }
        for needed in [
            "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}",
            "\u{2764}\u{fe0f}",
            "\u{1f469}\u{200d}\u{1f4bb}",
        ] {
            assert_eq!(Name::check(needed), Ok(()), "{needed:?}");
        }
        assert_eq!(Name::seen_in("\u{202e}B\u{200d}ob\n").as_deref(), Some("Bob"));
        assert_eq!(Name::seen_in("\u{200b}\u{2800}"), None);
    }

    #[test]
    fn the_schema_describes_names_but_for_rare_characters() {
        let pattern = regex_lite::Regex::new(Name::PATTERN).unwrap();
        for char in ('\0'..='\u{1ffff}').chain('\u{dfff0}'..='\u{e100f}') {
            let name = format!("a{char}");
            // The pattern names no character beyond U+FFFF, and none without a meaning.
            let is_rare = is_unassigned(char) || (char > '\u{ffff}' && is_hidden(char));
            let is_described = pattern.is_match(&name) && !is_rare;
            assert_eq!(is_described, Name::check(&name).is_ok(), "{char:?}");
        }
        for name in
            ["\u{2764}\u{fe0f}", "\u{6cc}\u{200c}\u{62e} \u{1f469}\u{200d}\u{200d}\u{1f4bb}!"]
        {
            assert!(pattern.is_match(name) && Name::check(name).is_ok(), "{name:?}");
        }
        for blank in ["\u{2800}", " ", "\t"] {
            assert!(!pattern.is_match(blank), "{blank:?}");
        }
    }

    #[test]
    fn secrets_are_named_in_capitals() {
        let most = "A".repeat(64);
        for name in ["A", "KEY_2", "A__", &most] {
            assert_eq!(SecretName::check(name), Ok(()), "{name:?}");
        }
        for text in ["", "a", "_A", "2A", "A-B", "Ä", &format!("{most}A")] {
            assert!(SecretName::check(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn services_have_names_that_fit_a_path() {
        let most = "s".repeat(64);
        for name in ["jira", "7", "A.b_c-d", &most] {
            assert_eq!(ServiceName::check(name), Ok(()), "{name:?}");
        }
        for text in ["", ".", "-a", "a b", "a/b", "ä", &format!("{most}s")] {
            assert!(ServiceName::check(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn only_a_text_that_follows_its_rule_is_read() {
        let name: Name = serde_json::from_str(r#""Ada""#).unwrap();
        assert_eq!(name, "Ada".parse().unwrap());
        assert_eq!(serde_json::to_string(&name).unwrap(), r#""Ada""#);
        let error = serde_json::from_str::<Name>(r#"" ""#).unwrap_err();
        assert!(error.to_string().starts_with("expected 1 to 128 characters"), "{error}");
    }
}
