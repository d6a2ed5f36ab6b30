//! Writes YAML that [`read`](super::read) reads back as the same value.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// Words that a reader of any version of YAML may take for something else than a text.
const WORDS: [&str; 13] =
    ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "~", ".inf", "-.inf", ".nan"];
/// How long a line of a text may be to stand without quotes.
const LINE: usize = 100;

/// A map as the text of a file, its fields in their order.
pub(crate) fn write(fields: &Map<String, Value>) -> String {
    let mut text = String::new();
    if fields.is_empty() {
        return "{}\n".to_owned();
    }
    write_fields(fields, 0, &mut text);
    text
}

fn write_fields(fields: &Map<String, Value>, depth: usize, text: &mut String) {
    for (at, (name, value)) in fields.iter().enumerate() {
        if at > 0 {
            indent(depth, text);
        }
        text.push_str(&scalar(name));
        text.push(':');
        write_value(value, depth, text);
    }
}

/// Writes a value behind the colon of its name.
fn write_value(value: &Value, depth: usize, text: &mut String) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            text.push('\n');
            indent(depth + 1, text);
            write_fields(fields, depth + 1, text);
        }
        Value::Array(items) if !items.is_empty() => {
            text.push('\n');
            write_items(items, depth, text);
        }
        Value::String(string) => write_string(string, depth, text),
        other => {
            text.push(' ');
            text.push_str(&other.to_string());
            text.push('\n');
        }
    }
}

fn write_items(items: &[Value], depth: usize, text: &mut String) {
    for item in items {
        indent(depth, text);
        text.push('-');
        match item {
            Value::Object(fields) if !fields.is_empty() => {
                text.push(' ');
                write_fields(fields, depth + 1, text);
            }
            Value::Array(items) if !items.is_empty() => {
                text.push('\n');
                write_items(items, depth + 1, text);
            }
            other => write_value(other, depth, text),
        }
    }
}

fn indent(depth: usize, text: &mut String) {
    for _ in 0..depth {
        text.push_str("  ");
    }
}

fn write_string(string: &str, depth: usize, text: &mut String) {
    text.push(' ');
    if !is_block(string) {
        text.push_str(&scalar(string));
        text.push('\n');
        return;
    }
    text.push_str(if string.ends_with('\n') { "|" } else { "|-" });
    text.push('\n');
    let lines = string.strip_suffix('\n').unwrap_or(string);
    for line in lines.split('\n') {
        if !line.is_empty() {
            indent(depth + 1, text);
            text.push_str(line);
        }
        text.push('\n');
    }
}

/// Whether a text of several lines reads back as it is when its lines are indented.
fn is_block(string: &str) -> bool {
    let lines = string.strip_suffix('\n').unwrap_or(string);
    let (first, last) = (lines.split('\n').next(), lines.split('\n').next_back());
    let is_plain = |char: char| char == '\n' || !is_escaped(char);
    // The first line says how far all lines are indented, and a reader drops blank ones at the end.
    string.contains('\n')
        && string.chars().all(is_plain)
        && first.is_some_and(|first| !first.is_empty() && !first.starts_with([' ', '\t']))
        && last.is_some_and(|last| !last.trim().is_empty())
        && lines.split('\n').all(|line| line.is_empty() || !line.trim().is_empty())
}

/// A text on one line: without quotes if it is a text for every reader.
fn scalar(string: &str) -> String {
    if is_bare(string) {
        return string.to_owned();
    }
    let mut quoted = String::from("\"");
    for char in string.chars() {
        match char {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            // None of them is above U+FFFF.
            _ if is_escaped(char) => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(char));
            }
            _ => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}

/// Characters that YAML does not take as they are, that it takes for the end of a line, or that
/// nobody sees.
fn is_escaped(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
                | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

fn is_bare(string: &str) -> bool {
    let begins = string.starts_with(|char: char| char.is_ascii_alphabetic() || char == '/')
        || string.starts_with("../");
    let ends = !string.ends_with([' ', ':']);
    let is_safe = |char: char| {
        char.is_alphanumeric()
            || matches!(char, ' ' | '_' | '-' | '.' | '/' | ',' | '(' | ')')
            || matches!(char, ':' | '\'' | '?' | '!' | ';' | '+' | '=' | '@' | '%' | '*' | '$')
    };
    let is_word = WORDS.iter().any(|word| word.eq_ignore_ascii_case(string));
    begins
        && ends
        && string.len() <= LINE
        && string.chars().all(is_safe)
        && !string.contains(": ")
        && !string.contains("  ")
        && !is_word
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::yaml::read;

    fn again(fields: &Map<String, Value>) -> Map<String, Value> {
        let text = write(fields);
        let read = read("a.yaml", text.as_bytes());
        read.unwrap_or_else(|fault| panic!("{fault}\n{text}")).root.to_map()
    }

    #[test]
    fn a_file_looks_as_a_person_would_write_it() {
        let Value::Object(fields) = json!({
            "name": "Ada",
            "instructions": "Keep the books.\n\n- Answer in one sentence.\n",
            "model": {"provider": "anthropic", "name": "${var.MODEL}"},
            "loop": {"maxSteps": 7},
            "tools": [{"name": "find", "execution": {"type": "http"}}, {}],
            "members": [{"id": "ada"}, {"id": "sara", "role": "owner"}],
            "cron": "0 9 * * 1-5",
            "text": "yes",
            "empty": "",
            "list": ["a", ["b"], null, 1.5],
        }) else {
            unreachable!()
        };
        let expected = "\
name: Ada
instructions: |
  Keep the books.

  - Answer in one sentence.
model:
  provider: anthropic
  name: \"${var.MODEL}\"
loop:
  maxSteps: 7
tools:
- name: find
  execution:
    type: http
- {}
members:
- id: ada
- id: sara
  role: owner
cron: \"0 9 * * 1-5\"
text: \"yes\"
empty: \"\"
list:
- a
-
  - b
- null
- 1.5
";
        assert_eq!(write(&fields), expected);
        assert_eq!(again(&fields), fields);
    }

    #[rustfmt::skip]
    const HOSTILE: [&str; 65] = [
        "", " ", "\n", "\n\n", "a\n", "a\n\n", " a\nb", "\ta\nb", "a\n b\n", "a\n \nb",
        "a\r\nb", "- a", "a: b", "a #b", "#a", "&a", "*a", "!a", "%a", "@a", "`a", "|", ">",
        "?", "? a", "---", "...", "--- a", "{a", "[a", "a]", "'a", "\"a", "~", "Null", "TRUE",
        "yes", "0x1", "1e5", ".5", "+1", "1_000", "0o7", "12:30:00", "2026-12-01", "<<", "=",
        "a:", ":a", "\u{feff}a", "a\u{85}b", "a\u{2028}b", "\u{1f600}", "\u{0}", "\u{7f}",
        "a\\b", "\u{202e}", "${var.A}", "$${", "a  b", "-", "- ", "a\t", "A. b?", "e\u{301}",
    ];

    fn texts() -> impl Strategy<Value = String> {
        let hostile = prop::sample::select(&HOSTILE[..]).prop_map(str::to_owned);
        prop_oneof![hostile, "[ -~\\n]{0,40}", "\\PC{0,20}", "[a-z ]{0,200}"]
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            (-1.0e6..1.0e6).prop_map(Value::from),
            texts().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec((texts(), inner), 0..5)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn what_is_written_is_read_back(
            fields in prop::collection::vec((texts(), values()), 0..6)
        ) {
            let fields: Map<String, Value> = fields.into_iter().collect();
            prop_assert_eq!(again(&fields), fields);
        }
    }
}
