//! Words that occur in one text only, so that the oracle finds the text wherever it is stored, also
//! within JSON that is stored as text.

use std::collections::BTreeSet;

/// The beginning and the end of a marker in a person's text.
const FRAME: &str = "mk";
/// The digits of a marker in a person's text.
const DIGITS: usize = 16;

/// The beginning of the input in the line of a card that shows an edit.
const EDIT_CARD: &str = "[tool edit_message] input=";

/// The marker of a text that is made at this place.
pub(crate) fn of(place: &str) -> String {
    let hash = place.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{FRAME}{hash:016x}{FRAME}")
}

/// All markers in a text: those of people, and the words of models, as `a12c0w3`.
pub(crate) fn all_in(text: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    let bytes = text.as_bytes();
    for at in 0..bytes.len() {
        let length = match bytes[at] {
            b'm' => of_person(&bytes[at..]),
            b'a' => of_model(&bytes[at..]),
            _ => None,
        };
        found.extend(length.and_then(|length| text.get(at..at + length)));
    }
    found
}

/// All markers that a prompt or one of its lines shows, except those of inputs that cards of edits
/// show: such a card loses its input a while after the deletion, and its line stays in prompts.
pub(crate) fn shown_in(prompt: &str) -> BTreeSet<String> {
    let text = without_edits(prompt);
    all_in(&text).into_iter().map(str::to_owned).collect()
}

/// A text without the inputs that the lines of cards of `edit_message` show. A line ends with a
/// line break, or with an escaped one if the text is JSON.
pub(crate) fn without_edits(text: &str) -> String {
    let mut parts = text.split(EDIT_CARD);
    let mut rest = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find('\n').into_iter().chain(part.find("\\n")).min();
        rest.push_str(end.map_or("", |end| &part[end..]));
    }
    rest
}

/// The length of the marker of a person with which a text begins.
fn of_person(text: &[u8]) -> Option<usize> {
    let length = DIGITS + 2 * FRAME.len();
    let marker = text.get(..length)?;
    let digits = marker.strip_prefix(FRAME.as_bytes())?.strip_suffix(FRAME.as_bytes())?;
    digits.iter().all(u8::is_ascii_hexdigit).then_some(length)
}

/// The length of the word of a model with which a text begins.
fn of_model(text: &[u8]) -> Option<usize> {
    let mut length = 0;
    for letter in [b'a', b'c', b'w'] {
        if text.get(length) != Some(&letter) {
            return None;
        }
        length += 1;
        let digits = text[length..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return None;
        }
        length += digits;
    }
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_found_within_escaped_json() {
        let person = of("person 0/3");
        let text = format!(r#"{{"text":"@Ada person 0/3 {person} \\na12c0w1 xa7c1w10"}}"#);
        let expected: BTreeSet<&str> = [person.as_str(), "a12c0w1", "a7c1w10"].into();
        assert_eq!(all_in(&text), expected);
        assert!(all_in("mk12mk a1c w1 ac1w1").is_empty());
        let line =
            r#"#5 14:02 You: [tool edit_message] input={"text":"a1c0w0"} (approved by Olga)"#;
        let text = format!("{line}\n#6 14:02 You: \"a2c0w0\"");
        assert_eq!(shown_in(&text), ["a2c0w0".to_owned()].into());
    }
}
