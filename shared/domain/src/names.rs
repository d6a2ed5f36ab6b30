//! The names of entities, spaces, plans, secrets and services.

use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr,
        schema::{Object, Schema},
    },
};

use crate::{InvalidText, checked_text::checked_text, schemas};

checked_text! {
    /// The name of an entity, a space or a plan: 1 to 128 characters, not only blanks, without NUL.
    Name
}

impl Name {
    const CHARS: usize = 128;

    /// Checks that a text is a name.
    pub fn check(text: &str) -> Result<(), InvalidText> {
        let is_name = (1..=Self::CHARS).contains(&text.chars().count())
            && !text.trim().is_empty()
            && !text.contains('\0');
        let expected = "expected 1 to 128 characters, not only blanks, without NUL";
        if is_name { Ok(()) } else { Err(InvalidText::new(expected)) }
    }

    /// The schema of a name, with this description.
    pub(crate) fn described(description: &str) -> Object {
        schemas::text(description)
            .min_length(Some(1))
            .max_length(Some(Self::CHARS))
            .pattern(Some(r"^[^\u0000]*[^\s\u0000][^\u0000]*$"))
            .build()
    }
}

impl PartialSchema for Name {
    fn schema() -> RefOr<Schema> {
        Self::described("1 to 128 characters, not only blanks, without NUL.").into()
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
        let is_name = (1..=64).contains(&text.len())
            && text.starts_with(|first: char| first.is_ascii_alphanumeric())
            && text.chars().all(|char| char.is_ascii_alphanumeric() || "._-".contains(char));
        let expected = "expected a letter or digit and up to 63 of [A-Za-z0-9._-]";
        if is_name { Ok(()) } else { Err(InvalidText::new(expected)) }
    }
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
        for name in ["Ada", " Ada ", "a\nb", &most] {
            assert_eq!(Name::check(name), Ok(()), "{name:?}");
        }
        for text in ["", " ", "\u{2003}", "a\0b", &format!("{most}x")] {
            assert!(Name::check(text).is_err(), "{text:?}");
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
