//! The encodings in which a secret may show up, and a search for all of them.

use std::collections::BTreeSet;

use aho_corasick::AhoCorasick;
use base64::{
    Engine,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

const UNRESERVED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The value in plain and in the encodings that servers and programs use, each with its name.
pub(crate) fn spellings(value: &str) -> Vec<(&'static str, String)> {
    let hex = |upper: bool| {
        value
            .bytes()
            .map(|byte| if upper { format!("{byte:02X}") } else { format!("{byte:02x}") })
            .collect()
    };
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
        // The characters that depend only on the value, not on the text around it.
        let of_value = (before * 8).div_ceil(6)..bytes.len() * 8 / 6;
        all.push(("base64", STANDARD_NO_PAD.encode(&bytes)[of_value.clone()].to_owned()));
        all.push(("base64 for addresses", URL_SAFE_NO_PAD.encode(&bytes)[of_value].to_owned()));
    }
    all
}

/// A search for values in any bytes.
pub(crate) struct Search {
    automaton: AhoCorasick,
    names: Vec<String>,
}

impl Search {
    /// A search for these named values in all spellings, also in JSON that is nested in JSON texts
    /// up to three times.
    pub(crate) fn of(values: &[(&str, &str)]) -> Self {
        let mut names = Vec::new();
        let mut texts = Vec::new();
        for (value_name, value) in values {
            for (spelling, mut text) in spellings(value) {
                for depth in 0..4 {
                    names.push(format!("{value_name} as {spelling}, {depth} deep in JSON"));
                    texts.push(text.clone());
                    text = in_json(&text);
                }
            }
        }
        Self { automaton: AhoCorasick::new(texts).unwrap(), names }
    }

    /// The distinct matches in these bytes: the names of the values and their spellings.
    pub(crate) fn in_bytes(&self, bytes: &[u8]) -> BTreeSet<&str> {
        self.automaton.find_iter(bytes).map(|found| self.names[found.pattern()].as_str()).collect()
    }
}

fn in_json(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// The text escaped as Python's `json.dumps` and many other programs do.
fn in_ascii(text: &str) -> String {
    let mut ascii = String::new();
    for char in in_json(text).chars() {
        if char.is_ascii() {
            ascii.push(char);
        } else {
            ascii
                .extend(char.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    ascii
}

/// The text with `%2f` instead of `%2F`.
fn small_digits(text: &str) -> String {
    let mut parts = text.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| format!("{text}%{}{}", part[..2].to_lowercase(), &part[2..]))
}

mod tests;
