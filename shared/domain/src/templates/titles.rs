//! Titles of calls: one line of a template with `{input.x}` and `{output.x}`.
//!
//! The template is parsed before any value is inserted, so a value is never parsed as a
//! placeholder.

use serde_json::Value;
use utoipa::openapi::Object;

use crate::{
    quoting::{hidden_pattern, joiner_pattern, must_escape},
    schemas,
    templates::at,
    texts::excerpt,
};

/// The most characters of a title, with its values.
const TITLE_CHARS: usize = 200;
/// The most characters of one value, so that a long one leaves room for the rest.
const VALUE_CHARS: usize = 100;
const ELLIPSIS: char = '…';
/// What may stand before a value. It goes if the title ends with a value that there is not (yet).
const SEPARATORS: [char; 10] = [' ', ':', ',', ';', '-', '–', '—', '·', '→', '='];

/// A placeholder between its braces.
macro_rules! placeholder_pattern {
    () => {
        concat!(
            r" *(?:input|output)(?:\.(?:[^{}. ",
            hidden_pattern!(),
            "]|[",
            joiner_pattern!(),
            "])+)* *"
        )
    };
}

const PATTERN: &str = concat!(
    "^(?:[^{",
    hidden_pattern!(),
    "]|[",
    joiner_pattern!(),
    r"]|\{",
    placeholder_pattern!(),
    r"\}|\{\{",
    placeholder_pattern!(),
    r"\}\})*$"
);

/// The schema of the template of a title.
pub(crate) fn title_schema() -> Object {
    let description = "What the row of a call's card says in place of the tool's name, on one \
                       line. It may hold values of the call, as in `Deploy {input.version}: \
                       {output.status}`.";
    let text = schemas::text(description).max_length(Some(TITLE_CHARS)).pattern(Some(PATTERN));
    schemas::or_null(text.build())
}

#[derive(Debug, PartialEq)]
enum Piece<'a> {
    Text(&'a str),
    Input(Vec<&'a str>),
    Output(Vec<&'a str>),
}

/// What is wrong with the template of a title; `None` if it is valid.
pub fn title_fault(template: &str) -> Option<String> {
    if template.chars().count() > TITLE_CHARS {
        return Some(format!("expected at most {TITLE_CHARS} characters"));
    }
    if template.contains(must_escape) {
        return Some("expected no line breaks, control characters and invisible ones".to_owned());
    }
    parse(template).err()
}

/// The names of the input's fields in the template of a title.
pub fn inputs_of_title(template: &str) -> Vec<&str> {
    let field = |piece| if let Piece::Input(path) = piece { path.first().copied() } else { None };
    parse(template).unwrap_or_default().into_iter().filter_map(field).collect()
}

/// The title of a call, as one line. A value that is absent or null is left out. `None` if nothing
/// is left.
pub fn title(template: &str, input: &Value, output: Option<&Value>) -> Option<String> {
    let mut title = String::new();
    let mut lacks_end = false;
    for piece in parse(template).ok()? {
        let value = match &piece {
            Piece::Text(text) => {
                title.push_str(text);
                lacks_end = false;
                continue;
            }
            Piece::Input(path) => at(input, path),
            Piece::Output(path) => output.and_then(|output| at(output, path)),
        };
        let value = value.map(written).unwrap_or_default();
        lacks_end = value.is_empty();
        title.push_str(&value);
    }
    let line = line(&title, TITLE_CHARS);
    let line = if lacks_end { line.trim_end_matches(SEPARATORS) } else { &line };
    (!line.is_empty()).then(|| line.to_owned())
}

fn written(value: &Value) -> String {
    match value {
        Value::String(text) => line(text, VALUE_CHARS),
        other => line(&other.to_string(), VALUE_CHARS),
    }
}

/// A text as one line of at most `most` characters, without control characters and invisible ones.
fn line(text: &str, most: usize) -> String {
    let words = text.split(char::is_whitespace).map(|word| word.replace(must_escape, ""));
    let line = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    match excerpt(&line, most) {
        (_, 0) => line,
        _ => format!("{}{ELLIPSIS}", excerpt(&line, most - 1).0.trim_end()),
    }
}

/// Parses a template. Double braces mean the same, because those of requests are written so.
fn parse(template: &str) -> Result<Vec<Piece<'_>>, String> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some((before, from_brace)) = rest.split_once('{') {
        let (inner, after) = match from_brace.strip_prefix('{') {
            Some(inner) => inner.split_once("}}"),
            None => from_brace.split_once('}'),
        }
        .ok_or_else(|| fault(from_brace))?;
        if !before.is_empty() {
            pieces.push(Piece::Text(before));
        }
        pieces.push(placeholder(inner.trim_matches(' ')).ok_or_else(|| fault(inner))?);
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    Ok(pieces)
}

fn placeholder(inner: &str) -> Option<Piece<'_>> {
    let mut names = inner.split('.');
    let root = names.next()?;
    let path: Vec<_> = names.collect();
    let is_name = |name: &&str| !name.is_empty() && !name.contains(['{', '}', ' ']);
    match root {
        _ if !path.iter().all(is_name) => None,
        "input" => Some(Piece::Input(path)),
        "output" => Some(Piece::Output(path)),
        _ => None,
    }
}

fn fault(inner: &str) -> String {
    let (inner, _) = excerpt(inner, 40);
    format!("expected {{input.name}} or {{output.name}} between braces, got {inner:?}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_fill_the_title_and_absent_ones_are_left_out() {
        let input = json!({"env": "prod", "who": {"name": "Ana"}, "parts": [1, 2], "no": null});
        let output = json!({"status": "running", "count": 3});
        for (template, pending, done) in [
            ("Deploy", Some("Deploy"), Some("Deploy")),
            ("Deploy {input.env}", Some("Deploy prod"), Some("Deploy prod")),
            ("Status: {output.status}", Some("Status"), Some("Status: running")),
            (
                "{input.who.name} – {{ output.count }} left",
                Some("Ana – left"),
                Some("Ana – 3 left"),
            ),
            ("{input.parts.1} of {input.parts}", Some("2 of [1,2]"), Some("2 of [1,2]")),
            ("{input.no}{input.gone.x}{output.status}", None, Some("running")),
            ("{output}", None, Some(r#"{"status":"running","count":3}"#)),
            ("a } b", Some("a } b"), Some("a } b")),
            (" ", None, None),
        ] {
            assert_eq!(title_fault(template), None, "{template}");
            assert_eq!(title(template, &input, None).as_deref(), pending, "{template}");
            assert_eq!(title(template, &input, Some(&output)).as_deref(), done, "{template}");
        }
    }

    #[test]
    fn values_of_others_stay_one_line_and_are_no_placeholders() {
        let shown = |value: &str| {
            title("Read {input.text}!", &json!({"text": value, "key": "secret"}), None).unwrap()
        };
        assert_eq!(shown("two\r\nlines\u{2028}and\ttabs"), "Read two lines and tabs!");
        assert_eq!(shown("\u{202e}evil\u{7}\u{200b}"), "Read evil!");
        assert_eq!(shown("{input.key}"), "Read {input.key}!");
        assert_eq!(shown(&"x".repeat(101)), format!("Read {}…!", "x".repeat(99)));
        let long = title(&"{input.x} ".repeat(20), &json!({"x": "ü".repeat(30)}), None).unwrap();
        assert_eq!((long.chars().count(), long.ends_with('…')), (TITLE_CHARS, true));
    }

    #[test]
    fn a_wrong_placeholder_is_a_fault() {
        for template in
            ["{name}", "{inputs.x}", "{input.}", "{input.x", "{{input.x}", "${secret.K}"]
        {
            let fault = title_fault(template).unwrap();
            assert!(fault.starts_with("expected {input.name} or {output.name}"), "{fault}");
        }
        assert!(title_fault("a\nb").is_some());
        assert_eq!(title_fault(&"x".repeat(TITLE_CHARS)), None);
        assert!(title_fault(&"x".repeat(TITLE_CHARS + 1)).is_some());
        assert_eq!(inputs_of_title("{input.a.b} {output.c} {input}"), ["a"]);
    }
}
