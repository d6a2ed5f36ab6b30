//! Extracts a text from JSON that is still being written. The size of the chunks does not matter.
//! The text of a complete document is the one that serde reads.

#![no_main]

use libfuzzer_sys::{arbitrary, fuzz_target};
use smartspace_models::partial_json::TextScanner;

#[derive(Debug, arbitrary::Arbitrary)]
struct Input<'a> {
    chunk_size: u8,
    json: &'a str,
}

fuzz_target!(|input: Input<'_>| {
    let whole = TextScanner::new("text").push(input.json);
    let mut scanner = TextScanner::new("text");
    let chars: Vec<char> = input.json.chars().collect();
    let pieces = chars
        .chunks(usize::from(input.chunk_size).max(1))
        .map(|piece| scanner.push(&piece.iter().collect::<String>()));
    assert_eq!(pieces.collect::<String>(), whole);
    // If the field occurs twice, serde reads the last one, so such documents are not compared.
    let fields: Option<serde_json::Map<_, _>> = serde_json::from_str(input.json).ok();
    if let Some(fields) = fields
        && has_field_at_most_once(input.json)
    {
        assert_eq!(fields.get("text").and_then(|text| text.as_str()).unwrap_or_default(), whole);
    }
});

/// Whether the field occurs at most once. Its name may contain escapes, which count too.
fn has_field_at_most_once(json: &str) -> bool {
    json.matches("\"text\"").count() + json.matches("\\u").count() <= 1
}
