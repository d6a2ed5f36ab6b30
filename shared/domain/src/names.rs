//! Names of entities, spaces, plans, secrets and services: what is allowed in them.

use crate::errors::Faults;

/// The fault of a text that is not the name of an entity, a space or a plan.
pub(crate) const NAME: &str = "expected 1 to 128 characters, not only blanks, without NUL";

/// Whether this is the name of an entity, a space or a plan: 1 to 128 characters, not only blanks,
/// without NUL.
pub(crate) fn is_name(name: &str) -> bool {
    (1..=128).contains(&name.chars().count()) && !name.trim().is_empty() && !name.contains('\0')
}

/// Adds a fault unless this is the name of an entity or a space: 1 to 128 characters, not only
/// blanks, without NUL.
pub fn check_name(faults: &mut Faults, name: &str) {
    faults.check(is_name(name), "name", NAME);
}

/// The fault of a text that is not the name of a secret.
pub const SECRET_NAME: &str =
    "expected the name of a secret: [A-Z][A-Z0-9_]*, at most 64 characters";

/// Whether this is the name of a secret: `[A-Z][A-Z0-9_]*`, at most 64 characters.
pub fn is_secret_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|first: char| first.is_ascii_uppercase())
        && name
            .chars()
            .all(|char| char.is_ascii_uppercase() || char.is_ascii_digit() || char == '_')
}

/// Whether this is the name of a service: a letter or digit, followed by up to 63 of
/// `[A-Za-z0-9._-]`.
pub fn is_service_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.chars().all(|char| char.is_ascii_alphanumeric() || "._-".contains(char))
}
