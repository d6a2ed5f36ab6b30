//! Templates of HTTP requests: texts with placeholders such as `{{input.x}}` and `${secret.NAME}`.
//! Their values are encoded for their position in the request.
//!
//! `pieces` parses a template before any value is inserted, so a value is never parsed as a
//! placeholder.

mod pieces;
#[cfg(test)]
mod tests;
mod titles;

use std::fmt::Write as _;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

pub(crate) use self::titles::title_schema;
pub use self::titles::{inputs_of_title, title, title_fault};
use crate::templates::pieces::{Piece, parse};

/// All characters except those that RFC 3986 leaves unreserved (section 2.3).
const RESERVED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The values of placeholders.
pub struct PlaceholderValues<'a> {
    /// The call's input.
    pub input: &'a Value,
    /// The value of a secret, or why it cannot be used.
    pub secret: &'a dyn Fn(&str) -> Result<String, String>,
}

/// The position of a text in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplatePosition {
    /// The value of a header, or a text of a body.
    Value,
    /// A URL, after its host.
    Address,
    /// A text of an MCP server's configuration, which has no input.
    WithoutInput,
}

/// What is wrong with a template; `None` if it is valid.
pub fn fault_of(text: &str, position: TemplatePosition) -> Option<String> {
    let pieces = match parse(text) {
        Ok(pieces) => pieces,
        Err(error) => return Some(error),
    };
    match position {
        TemplatePosition::Value => None,
        TemplatePosition::WithoutInput => pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Input(_)))
            .then(|| "expected no {{input}}: url and headers of a server have no input".to_owned()),
        TemplatePosition::Address => {
            let (_, path, _) = parts(text);
            let has_secret = parse(path)
                .is_ok_and(|pieces| pieces.iter().any(|piece| matches!(piece, Piece::Secret(_))));
            has_secret.then(|| {
                "expected no secret in the path, because servers log paths; \
                 headers, query and body may hold one"
                    .to_owned()
            })
        }
    }
}

/// The names of the secrets in a template.
pub fn secrets_of(text: &str) -> Vec<&str> {
    let secret = |piece| if let Piece::Secret(name) = piece { Some(name) } else { None };
    parse(text).unwrap_or_default().into_iter().filter_map(secret).collect()
}

/// The names of the input's fields in a template.
pub fn inputs_of(text: &str) -> Vec<&str> {
    let field = |piece| if let Piece::Input(path) = piece { path.first().copied() } else { None };
    parse(text).unwrap_or_default().into_iter().filter_map(field).collect()
}

/// The scheme, host and port of a URL, as they are written.
pub fn base_of(address: &str) -> &str {
    parts(address).0
}

/// A URL with its values. They are percent-encoded, so that no input changes the host, the depth of
/// the path or another parameter. A parameter is left out if its whole value is an input that is
/// absent or null.
///
/// # Errors
/// What is wrong with the template, the input or a secret.
pub fn address(template: &str, values: &PlaceholderValues<'_>) -> Result<String, String> {
    let (base, path, query) = parts(template);
    let mut address = base.to_owned();
    let filled = values.encoded(path)?;
    if path.contains("{{") {
        let is_dots = |segment: &str| {
            matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..")
        };
        if let Some(dots) = filled.split('/').find(|segment| is_dots(segment)) {
            return Err(format!(
                "expected an input that does not turn a part of the URL's path into {dots}"
            ));
        }
    }
    address.push_str(&filled);
    let mut mark = '?';
    for pair in query.into_iter().flat_map(|query| query.split('&')) {
        let value = pair.split_once('=').map_or("", |(_, value)| value);
        if let [Piece::Input(path)] = parse(value)?.as_slice()
            && at(values.input, path).is_none()
        {
            continue;
        }
        address.push(mark);
        address.push_str(&values.encoded(pair)?);
        mark = '&';
    }
    Ok(address)
}

/// The value of a header; `None` if the whole value is an input that is absent or null.
///
/// # Errors
/// If an input or a secret contains a control character, or the template or a secret is wrong.
pub fn header(template: &str, values: &PlaceholderValues<'_>) -> Result<Option<String>, String> {
    let mut value = String::with_capacity(template.len());
    let pieces = parse(template)?;
    if let [Piece::Input(path)] = pieces.as_slice()
        && at(values.input, path).is_none()
    {
        return Ok(None);
    }
    for piece in pieces {
        let more = values.text(&piece)?;
        if more.chars().any(char::is_control) {
            return Err(format!(
                "{} holds a line break or another control character, which no header can carry",
                piece.name()
            ));
        }
        value.push_str(&more);
    }
    Ok(Some(value))
}

/// A JSON body with its values. A text that consists of one input becomes that input, whatever its
/// type; a field is left out if that input is absent or null. Names of fields do not change.
///
/// # Errors
/// What is wrong with the template or a secret.
pub fn body(template: &Value, values: &PlaceholderValues<'_>) -> Result<Value, String> {
    Ok(part_of_body(template, values)?.unwrap_or_default())
}

fn part_of_body(template: &Value, values: &PlaceholderValues<'_>) -> Result<Option<Value>, String> {
    Ok(Some(match template {
        Value::String(text) => match parse(text)?.as_slice() {
            [Piece::Input(path)] => return Ok(at(values.input, path).cloned()),
            pieces => Value::String(
                pieces.iter().map(|piece| values.text(piece)).collect::<Result<_, _>>()?,
            ),
        },
        Value::Array(items) => Value::Array(
            items
                .iter()
                .map(|item| part_of_body(item, values).map(Option::unwrap_or_default))
                .collect::<Result<_, _>>()?,
        ),
        Value::Object(fields) => {
            let mut object = Map::new();
            for (name, value) in fields {
                if let Some(value) = part_of_body(value, values)? {
                    object.insert(name.clone(), value);
                }
            }
            Value::Object(object)
        }
        other => other.clone(),
    }))
}

/// Calls `check` with each text of a body and each name of a field. The flag says whether it is a
/// name.
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

impl PlaceholderValues<'_> {
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
        for piece in parse(template)? {
            if let Piece::Text(text) = piece {
                encoded.push_str(text);
            } else {
                // Writing to a `String` cannot fail.
                let _ = write!(encoded, "{}", utf8_percent_encode(&self.text(&piece)?, &RESERVED));
            }
        }
        Ok(encoded)
    }
}

/// The value at a path of the input; `None` if it is absent or null.
fn at<'a>(input: &'a Value, path: &[&str]) -> Option<&'a Value> {
    let found = path.iter().try_fold(input, |value, name| match value {
        Value::Object(fields) => fields.get(*name),
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        _ => None,
    });
    found.filter(|value| !value.is_null())
}

/// The parts of a URL: everything up to its host and port, its path, and its query. The fragment
/// after `#` is dropped, because it is never sent.
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
