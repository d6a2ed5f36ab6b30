//! Requests of `http` tools as they are configured: texts in which `{{input.x}}` and `${secret.NAME}` are filled in, encoded for their place.
//!
//! A text is taken apart before anything is filled in: what is filled in is never read as a place of its own.

use std::fmt::Write as _;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

use crate::agents::is_secret_name;

/// All but what stands for itself everywhere in an address (RFC 3986, 2.3).
const RESERVED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What begins a secret's place, up to its name.
const SECRET: &str = "${secret.";

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece<'a> {
    Text(&'a str),
    /// What stands at this path of the input; the whole input where there is none.
    Input(Vec<&'a str>),
    Secret(&'a str),
}

/// Values for what a text names.
pub struct Filling<'a> {
    /// The call's input.
    pub input: &'a Value,
    /// The value of a secret; what is wrong where it can't be used.
    pub secret: &'a dyn Fn(&str) -> Result<String, String>,
}

/// Where in a request a text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Of a header, or of a body.
    Value,
    /// Of an address, behind the host.
    Address,
    /// Where there is no input.
    WithoutInput,
}

/// What is wrong with a text; none where it can be filled in.
pub fn fault_of(text: &str, place: Place) -> Option<String> {
    let pieces = match pieces(text) {
        Ok(pieces) => pieces,
        Err(error) => return Some(error),
    };
    match place {
        Place::Value => None,
        Place::WithoutInput => {
            pieces.iter().any(|piece| matches!(piece, Piece::Input(_))).then(|| "expected no {{input}}: there is none here".to_owned())
        }
        Place::Address => {
            let (_, path, _) = parts(text);
            let secret = self::pieces(path).is_ok_and(|pieces| pieces.iter().any(|piece| matches!(piece, Piece::Secret(_))));
            secret.then(|| "expected no secret in the path: servers write it down; headers, query and body may hold one".to_owned())
        }
    }
}

/// The names of the secrets that a text holds.
pub fn secrets_of(text: &str) -> Vec<&str> {
    let secret = |piece| if let Piece::Secret(name) = piece { Some(name) } else { None };
    pieces(text).unwrap_or_default().into_iter().filter_map(secret).collect()
}

/// The names of the fields of an input that a text holds.
pub fn inputs_of(text: &str) -> Vec<&str> {
    let field = |piece| if let Piece::Input(path) = piece { path.first().copied() } else { None };
    pieces(text).unwrap_or_default().into_iter().filter_map(field).collect()
}

/// The scheme, host and port of an address, as they are written.
pub fn base_of(address: &str) -> &str {
    parts(address).0
}

/// An address with all filled in: percent-encoded, so that no input changes its host, its path's depth, or another parameter. A parameter whose whole
/// value is an input that is absent or null is left out.
///
/// # Errors
/// What the caller has to mend.
pub fn address(template: &str, filling: &Filling<'_>) -> Result<String, String> {
    let (base, path, query) = parts(template);
    let mut address = base.to_owned();
    let filled = filling.encoded(path)?;
    if path.contains("{{") {
        let is_dots = |segment: &str| matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
        if let Some(dots) = filled.split('/').find(|segment| is_dots(segment)) {
            return Err(format!("expected input that makes no {dots} of a part of the address's path"));
        }
    }
    address.push_str(&filled);
    let mut mark = '?';
    for pair in query.into_iter().flat_map(|query| query.split('&')) {
        let value = pair.split_once('=').map_or("", |(_, value)| value);
        if let [Piece::Input(path)] = pieces(value)?.as_slice()
            && at(filling.input, path).is_none()
        {
            continue;
        }
        address.push(mark);
        address.push_str(&filling.encoded(pair)?);
        mark = '&';
    }
    Ok(address)
}

/// A header's value with all filled in; none where its whole value is an input that is absent or null.
///
/// # Errors
/// Where an input or a secret holds what no header can carry.
pub fn header(template: &str, filling: &Filling<'_>) -> Result<Option<String>, String> {
    let mut value = String::with_capacity(template.len());
    let pieces = pieces(template)?;
    if let [Piece::Input(path)] = pieces.as_slice()
        && at(filling.input, path).is_none()
    {
        return Ok(None);
    }
    for piece in pieces {
        let more = filling.text(&piece)?;
        if more.chars().any(char::is_control) {
            return Err(format!("{} holds a line break or another control character, which no header can carry", told(&piece)));
        }
        value.push_str(&more);
    }
    Ok(Some(value))
}

/// A JSON body with all filled in. A text that is one input and nothing else becomes that input as it is, whatever its type; a field whose input is absent
/// is left out. Names of fields are not filled in.
///
/// # Errors
/// What the caller has to mend.
pub fn body(template: &Value, filling: &Filling<'_>) -> Result<Value, String> {
    Ok(part_of_body(template, filling)?.unwrap_or_default())
}

fn part_of_body(template: &Value, filling: &Filling<'_>) -> Result<Option<Value>, String> {
    Ok(Some(match template {
        Value::String(text) => match pieces(text)?.as_slice() {
            [Piece::Input(path)] => return Ok(at(filling.input, path).cloned()),
            pieces => Value::String(pieces.iter().map(|piece| filling.text(piece)).collect::<Result<_, _>>()?),
        },
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| part_of_body(item, filling).map(Option::unwrap_or_default)).collect::<Result<_, _>>()?)
        }
        Value::Object(fields) => {
            let mut object = Map::new();
            for (name, value) in fields {
                if let Some(value) = part_of_body(value, filling)? {
                    object.insert(name.clone(), value);
                }
            }
            Value::Object(object)
        }
        other => other.clone(),
    }))
}

/// Calls `check` with each text of a body, and with each name of a field.
pub fn texts_of_body<'a>(body: &'a Value, check: &mut impl FnMut(&'a str, bool)) {
    match body {
        Value::String(text) => check(text, false),
        Value::Array(items) => items.iter().for_each(|item| texts_of_body(item, check)),
        Value::Object(fields) => {
            for (name, value) in fields {
                check(name, true);
                texts_of_body(value, check);
            }
        }
        _ => {}
    }
}

impl Filling<'_> {
    fn text(&self, piece: &Piece<'_>) -> Result<String, String> {
        match piece {
            Piece::Text(text) => Ok((*text).to_owned()),
            Piece::Input(path) => Ok(match at(self.input, path) {
                None => String::new(),
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
            }),
            Piece::Secret(name) => (self.secret)(name),
        }
    }

    fn encoded(&self, template: &str) -> Result<String, String> {
        let mut encoded = String::with_capacity(template.len());
        for piece in pieces(template)? {
            if let Piece::Text(text) = piece {
                encoded.push_str(text);
            } else {
                // Writing to a text can't fail.
                let _ = write!(encoded, "{}", utf8_percent_encode(&self.text(&piece)?, &RESERVED));
            }
        }
        Ok(encoded)
    }
}

fn told(piece: &Piece<'_>) -> String {
    match piece {
        Piece::Text(_) => "the text".to_owned(),
        Piece::Input(path) => [&["input"], path.as_slice()].concat().join("."),
        Piece::Secret(name) => format!("the secret {name}"),
    }
}

/// What stands at a path; none also for null.
fn at<'a>(input: &'a Value, path: &[&str]) -> Option<&'a Value> {
    let found = path.iter().try_fold(input, |value, name| match value {
        Value::Object(fields) => fields.get(*name),
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        _ => None,
    });
    found.filter(|value| !value.is_null())
}

/// An address up to its host, its path, and its query. What stands behind `#` goes to nobody.
fn parts(address: &str) -> (&str, &str, Option<&str>) {
    let host = address.find("://").map_or(0, |at| at + 3);
    let end = address[host..].find(['/', '?', '#']).map_or(address.len(), |at| host + at);
    let (base, rest) = address.split_at(end);
    let rest = rest.split_once('#').map_or(rest, |(rest, _)| rest);
    match rest.split_once('?') {
        Some((path, query)) => (base, path, Some(query)),
        None => (base, rest, None),
    }
}

/// Takes a text apart.
fn pieces(text: &str) -> Result<Vec<Piece<'_>>, String> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    // A secret that is misspelled must not go out as it stands.
    let begins = |rest: &str| ["{{", "${"].iter().filter_map(|mark| rest.find(mark)).min();
    while let Some(found) = begins(rest) {
        let (before, placed) = rest.split_at(found);
        let (piece, length) = if placed.starts_with("${") { secret(placed)? } else { input(placed)? };
        if !before.is_empty() {
            pieces.push(Piece::Text(before));
        }
        pieces.push(piece);
        rest = &placed[length..];
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    Ok(pieces)
}

/// A secret at the beginning of a text, and how long its place is.
fn secret(text: &str) -> Result<(Piece<'_>, usize), String> {
    let name = text.strip_prefix(SECRET).and_then(|rest| rest.split_once('}')).map_or("", |(name, _)| name);
    if !is_secret_name(name) {
        return Err("expected the name of a secret behind ${, as in ${secret.NAME}: [A-Z][A-Z0-9_]*, at most 64 characters".into());
    }
    Ok((Piece::Secret(name), SECRET.len() + name.len() + 1))
}

/// An input at the beginning of a text, and how long its place is.
fn input(text: &str) -> Result<(Piece<'_>, usize), String> {
    let wrong = || "expected {{input.name}} between double braces".to_owned();
    let (inner, _) = text[2..].split_once("}}").ok_or_else(wrong)?;
    let mut names = inner.trim().split('.');
    let path: Vec<_> = if names.next() == Some("input") { names.collect() } else { return Err(wrong()) };
    let is_name =
        |name: &&str| !name.is_empty() && !name.contains(['{', '}', '/', '?', '#', '&', '=', '$']) && !name.contains(char::is_whitespace);
    if path.iter().all(is_name) { Ok((Piece::Input(path), inner.len() + 4)) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests;
