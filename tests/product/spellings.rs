//! The ways in which a value may be written somewhere, and where one of them is found.

use std::collections::BTreeSet;

use aho_corasick::AhoCorasick;
use base64::{
    Engine,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

const UNRESERVED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The value as it is and in the encodings that servers and programs put values into, each with its name.
pub(crate) fn of(value: &str) -> Vec<(&'static str, String)> {
    let hex = |upper: bool| value.bytes().map(|byte| if upper { format!("{byte:02X}") } else { format!("{byte:02x}") }).collect();
    let percent = utf8_percent_encode(value, &UNRESERVED).to_string();
    let mut all = vec![
        ("plain", value.to_owned()),
        ("percent, all", utf8_percent_encode(value, NON_ALPHANUMERIC).to_string()),
        ("percent, small", small_digits(&percent)),
        ("percent", percent),
        ("hex", hex(false)),
        ("HEX", hex(true)),
        ("JSON", in_json(value)),
        ("JSON in JSON", in_json(&in_json(value))),
        ("JSON in ASCII", in_ascii(value)),
    ];
    for before in 0..3 {
        let bytes = [&vec![b'.'; before], value.as_bytes()].concat();
        // What comes of the value alone, whatever stands around it.
        let of_it_alone = (before * 8).div_ceil(6)..bytes.len() * 8 / 6;
        all.push(("base64", STANDARD_NO_PAD.encode(&bytes)[of_it_alone.clone()].to_owned()));
        all.push(("base64 for addresses", URL_SAFE_NO_PAD.encode(&bytes)[of_it_alone].to_owned()));
    }
    all
}

/// Finds values in whatever is written down.
pub(crate) struct Search {
    finds: AhoCorasick,
    names: Vec<String>,
}

impl Search {
    /// For these values, each with its name: in all spellings, also as texts in JSON as deep as there may be JSON in JSON.
    pub(crate) fn of(values: &[(&str, &str)]) -> Self {
        let (mut names, mut texts) = (Vec::new(), Vec::new());
        for (value_name, value) in values {
            for (spelling, mut text) in of(value) {
                for depth in 0..4 {
                    names.push(format!("{value_name} as {spelling}, {depth} deep in JSON"));
                    texts.push(text.clone());
                    text = in_json(&text);
                }
            }
        }
        Self { finds: AhoCorasick::new(texts).unwrap(), names }
    }

    /// What is found in these bytes, each once: the names of values and how they are spelled there.
    pub(crate) fn in_bytes(&self, bytes: &[u8]) -> BTreeSet<&str> {
        self.finds.find_iter(bytes).map(|found| self.names[found.pattern()].as_str()).collect()
    }
}

fn in_json(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Escaped as `json.dumps` of Python does, and many others.
fn in_ascii(text: &str) -> String {
    let mut ascii = String::new();
    for char in in_json(text).chars() {
        if char.is_ascii() {
            ascii.push(char);
        } else {
            ascii.extend(char.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    ascii
}

/// `%2F` as `%2f`.
fn small_digits(text: &str) -> String {
    let mut parts = text.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| format!("{text}%{}{}", part[..2].to_lowercase(), &part[2..]))
}

mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_spelling_is_found_wherever_it_stands() {
        let value = r#"p&ss"w\o/rd+=%é"#;
        let search = Search::of(&[("it", value)]);
        assert_eq!(search.in_bytes(b"nothing of it, not even p&ss"), BTreeSet::new());
        for (name, spelling) in of(value) {
            let deep = json!({ "a": json!({ "b": json!([spelling]).to_string() }).to_string() }).to_string();
            for text in [format!("<{spelling}>"), json!([spelling]).to_string(), deep] {
                assert!(!search.in_bytes(text.as_bytes()).is_empty(), "{name}: {text}");
            }
        }
        for around in ["", "a", "ab", "abc"] {
            let encoded = STANDARD_NO_PAD.encode(format!("{around}{value}{around}"));
            assert!(!search.in_bytes(encoded.as_bytes()).is_empty(), "{encoded}");
        }
    }
}
