//! A text out of JSON that is still being written: cuts change nothing, and a document says what
//! serde reads of it.

#![no_main]

use libfuzzer_sys::{arbitrary, fuzz_target};
use smartspace_models::partial_json::TextScanner;

#[derive(Debug, arbitrary::Arbitrary)]
struct Written<'a> {
    size: u8,
    json: &'a str,
}

fuzz_target!(|written: Written<'_>| {
    let whole = TextScanner::new("text").push(written.json);
    let mut scanner = TextScanner::new("text");
    let chars: Vec<char> = written.json.chars().collect();
    let pieces = chars
        .chunks(usize::from(written.size).max(1))
        .map(|piece| scanner.push(&piece.iter().collect::<String>()));
    assert_eq!(pieces.collect::<String>(), whole);
    // With the field once, both read the same; where it stands twice, serde reads the last.
    let fields: Option<serde_json::Map<_, _>> = serde_json::from_str(written.json).ok();
    if let Some(fields) = fields
        && once(written.json)
    {
        assert_eq!(fields.get("text").and_then(|text| text.as_str()).unwrap_or_default(), whole);
    }
});

/// Whether the field stands in the JSON at most once, however it is spelled.
fn once(json: &str) -> bool {
    json.matches("\"text\"").count() + json.matches("\\u").count() <= 1
}
