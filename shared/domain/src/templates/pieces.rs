//! The parser of templates.

use crate::names::SecretName;

/// The start of a secret's placeholder, before its name.
const SECRET: &str = "${secret.";

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    Text(&'a str),
    /// The value at this path of the input. An empty path is the whole input.
    Input(Vec<&'a str>),
    Secret(&'a str),
}

impl Piece<'_> {
    /// The piece's name for an error.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Text(_) => "the text".to_owned(),
            Self::Input(path) => [&["input"], path.as_slice()].concat().join("."),
            Self::Secret(name) => format!("the secret {name}"),
        }
    }
}

/// Parses a template.
pub(super) fn parse(text: &str) -> Result<Vec<Piece<'_>>, String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    // Every `${` counts, so that a misspelled secret is refused and not sent as text.
    let placeholder = |rest: &str| ["{{", "${"].iter().filter_map(|mark| rest.find(mark)).min();
    while let Some(start) = placeholder(rest) {
        let (before, from_placeholder) = rest.split_at(start);
        let (piece, length) = if from_placeholder.starts_with("${") {
            secret(from_placeholder)?
        } else {
            input(from_placeholder)?
        };
        if !before.is_empty() {
            pieces.push(Piece::Text(before));
        }
        pieces.push(piece);
        rest = &from_placeholder[length..];
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    Ok(pieces)
}

/// The secret at the start of a text, and the length of its placeholder.
fn secret(text: &str) -> Result<(Piece<'_>, usize), String> {
    let name = text
        .strip_prefix(SECRET)
        .and_then(|rest| rest.split_once('}'))
        .map_or("", |(name, _)| name);
    if SecretName::check(name).is_err() {
        return Err("expected the name of a secret after ${, as in ${secret.NAME}: \
                    [A-Z][A-Z0-9_]*, at most 64 characters"
            .into());
    }
    Ok((Piece::Secret(name), SECRET.len() + name.len() + 1))
}

/// The input at the start of a text, and the length of its placeholder.
fn input(text: &str) -> Result<(Piece<'_>, usize), String> {
    let wrong = || "expected {{input.name}} between double braces".to_owned();
    let (inner, _) = text[2..].split_once("}}").ok_or_else(wrong)?;
    let mut names = inner.trim().split('.');
    if names.next() != Some("input") {
        return Err(wrong());
    }
    let path: Vec<_> = names.collect();
    let is_name = |name: &&str| {
        !name.is_empty()
            && !name.contains(['{', '}', '/', '?', '#', '&', '=', '$'])
            && !name.contains(char::is_whitespace)
    };
    if path.iter().all(is_name) { Ok((Piece::Input(path), inner.len() + 4)) } else { Err(wrong()) }
}
