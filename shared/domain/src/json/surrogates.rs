//! Escapes of halves of surrogate pairs, which no JSON text of ours may have.

use std::borrow::Cow;

const REPLACEMENT: &str = "\\ufffd";
/// The length of an escape such as `\ud83d`.
const ESCAPE: usize = 6;

/// Replaces the escape of each lone surrogate by that of U+FFFD. Pairs stay.
///
/// Models write lone surrogates, and servers cut texts between the halves of a pair. Python and
/// JavaScript accept them, but no Rust string can hold one.
pub fn replace_lone_surrogates(json: &str) -> Cow<'_, str> {
    let mut replaced = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = json.as_bytes()[at..].iter().position(|byte| *byte == b'\\') {
        at += found;
        match unit_at(json, at) {
            Some(0xD800..=0xDBFF)
                if matches!(unit_at(json, at + ESCAPE), Some(0xDC00..=0xDFFF)) =>
            {
                at += 2 * ESCAPE;
            }
            Some(0xD800..=0xDFFF) => {
                replaced.push_str(&json[copied..at]);
                replaced.push_str(REPLACEMENT);
                at += ESCAPE;
                copied = at;
            }
            // The character after a backslash may be a backslash, which starts no other escape.
            _ => at = (at + 2).min(json.len()),
        }
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    replaced.push_str(&json[copied..]);
    Cow::Owned(replaced)
}

/// The code unit that the escape at this position names.
fn unit_at(json: &str, at: usize) -> Option<u16> {
    let digits = json.get(at..at + ESCAPE)?.strip_prefix("\\u")?;
    if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A JSON text with these code units as escapes.
    fn escaped(units: &[u16]) -> String {
        let escapes: Vec<_> = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
        format!("\"{}\"", escapes.concat())
    }

    #[test]
    fn lone_halves_are_replaced_and_pairs_stay() {
        for (json, text) in [
            (r#""a\ud83db""#, "a\u{fffd}b"),
            (r#""\uD83D""#, "\u{fffd}"),
            (r#""\ude00x""#, "\u{fffd}x"),
            (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
            (r#""\ud83d\ude00\ude00""#, "😀\u{fffd}"),
            (r#""\ud83d\n\ude00""#, "\u{fffd}\n\u{fffd}"),
            (r#""\\ud83d \\\ud83d""#, "\\ud83d \\\u{fffd}"),
        ] {
            let replaced = replace_lone_surrogates(json);
            assert_eq!(serde_json::from_str::<String>(&replaced).unwrap(), text, "{json}");
        }
        for whole in
            [r#"{"a": "\ud83d\uDE00 é\u0041"}"#, "", "\\", "\\u", "\\ud8", "\\uzzzz", "é\\"]
        {
            assert!(matches!(replace_lone_surrogates(whole), Cow::Borrowed(_)), "{whole}");
        }
    }

    proptest! {
        #[test]
        fn any_code_units_are_read_as_the_replacement_of_their_lone_halves(
            units in prop::collection::vec(
                prop_oneof![any::<u16>(), 0xD7FF..0xE001_u16, Just(0xD83D), Just(0xDE00)], 0..12),
        ) {
            let json = escaped(&units);
            let read: String = serde_json::from_str(&replace_lone_surrogates(&json)).unwrap();
            prop_assert_eq!(read, String::from_utf16_lossy(&units));
        }

        #[test]
        fn other_texts_stay_as_they_are(text: String) {
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(&*replace_lone_surrogates(&json), json.as_str());
            // It need not be JSON.
            replace_lone_surrogates(&text);
        }
    }
}
