use std::fmt::Write as _;

use proptest::{prelude::*, sample::Index};
use serde_json::{Value, json};

use super::TextScanner;

fn scan(pieces: &[&str]) -> Vec<String> {
    let mut scanner = TextScanner::new("text");
    pieces.iter().map(|piece| scanner.push(piece)).collect()
}

fn whole(json: &str) -> String {
    scan(&[json]).concat()
}

/// Splits the text between characters, like the pieces of a stream.
fn cut(json: &str, cuts: &[Index]) -> Vec<String> {
    let chars: Vec<char> = json.chars().collect();
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(chars.len() + 1)).collect();
    ends.extend([0, chars.len()]);
    ends.sort_unstable();
    ends.windows(2).map(|range| chars[range[0]..range[1]].iter().collect()).collect()
}

/// A way to write a character in a JSON string.
#[derive(Clone, Copy, Debug)]
enum Spelling {
    Short,
    Lower,
    Upper,
}

fn spelled(text: &str, spellings: &[Spelling]) -> String {
    let mut json = String::new();
    for (index, c) in text.chars().enumerate() {
        let spelling = spellings.get(index).unwrap_or(&Spelling::Short);
        for unit in c.encode_utf16(&mut [0; 2]) {
            match spelling {
                Spelling::Short => {}
                Spelling::Lower => write!(json, "\\u{unit:04x}").unwrap(),
                Spelling::Upper => write!(json, "\\u{unit:04X}").unwrap(),
            }
        }
        if let Spelling::Short = spelling {
            let quoted = serde_json::to_string(&c).unwrap();
            json += &quoted[1..quoted.len() - 1];
        }
    }
    json
}

fn any_json() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        any::<String>(),
        Just("\"text\":\"no\"".to_owned()),
        Just("text".to_owned()),
        Just("{[\\".to_owned())
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.clone().prop_map(Value::from)
    ];
    leaf.prop_recursive(3, 12, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((text.clone(), inner), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect()))
        ]
    })
}

fn any_other_fields() -> impl Strategy<Value = Vec<(String, Value)>> {
    prop::collection::vec(
        (any::<String>().prop_filter("another field", |key| key != "text"), any_json()),
        0..4,
    )
}

fn written(fields: &[(String, Value)], blank: &str) -> Vec<String> {
    let write = |(key, value): &(String, Value)| {
        format!("{blank}{}{blank}:{blank}{value}{blank}", json!(key))
    };
    fields.iter().map(write).collect()
}

fn any_spelling() -> impl Strategy<Value = Spelling> {
    prop_oneof![Just(Spelling::Short), Just(Spelling::Lower), Just(Spelling::Upper)]
}

fn any_garbage() -> impl Strategy<Value = String> {
    let json_bytes = prop::sample::select(&b"{}[]\",:\\u0dD8cC \ntext"[..]);
    prop::collection::vec(prop_oneof![any::<u8>(), json_bytes], 0..80)
        .prop_map(|bytes| bytes.into_iter().map(char::from).collect())
}

/// Fields of which some have the name `text` or a similar one.
fn any_fields() -> impl Strategy<Value = Vec<(String, Value)>> {
    let key = prop_oneof![Just("text".to_owned()), "tex?t{0,2}", any::<String>()];
    prop::collection::vec((key, any_json()), 0..6)
}

proptest! {
    #[test]
    fn pieces_join_to_the_text_between_any_other_fields(
        text: String,
        spellings in prop::collection::vec(any_spelling(), 0..40),
        key_spellings in prop::collection::vec(any_spelling(), 4),
        before in any_other_fields(),
        after in any_other_fields(),
        blank in "[ \t\r\n]{0,2}",
        cuts in prop::collection::vec(any::<Index>(), 0..20),
    ) {
        let key = spelled("text", &key_spellings);
        let value = spelled(&text, &spellings);
        let field = format!("{blank}\"{key}\"{blank}:{blank}\"{value}\"{blank}");
        let fields = [written(&before, &blank), vec![field], written(&after, &blank)].concat();
        let json = format!("{blank}{{{}}}", fields.join(","));
        let parsed: Value = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(&parsed["text"], &Value::from(text.clone()));

        let mut scanner = TextScanner::new("text");
        let mut so_far = String::new();
        for piece in cut(&json, &cuts) {
            so_far += &scanner.push(&piece);
            prop_assert!(text.starts_with(&so_far), "{:?} does not start with {:?}", text, so_far);
        }
        prop_assert_eq!(so_far, text);
    }

    /// The scanner holds back no character that is already complete.
    #[test]
    fn every_complete_character_is_returned_at_once(
        text in prop_oneof![any::<String>(), "[a😀\\\\\"é\u{ffff}\u{10000}]{0,12}"],
        spellings in prop::collection::vec(any_spelling(), 0..40),
        before in any_other_fields(),
        end: Index,
    ) {
        let text: Vec<char> = spelled(&text, &spellings).chars().collect();
        let start: String = text[..end.index(text.len() + 1)].iter().collect();
        let fields = [written(&before, ""), vec![format!("\"text\":\"{start}")]].concat();
        let received = format!("{{{}", fields.join(","));
        prop_assert_eq!(Some(whole(&received)), readable(&received));
    }

    #[test]
    fn a_document_with_several_fields_returns_the_first_one_of_the_name(
        fields in any_fields(),
        spellings in prop::collection::vec(any_spelling(), 0..8),
        cuts in prop::collection::vec(any::<Index>(), 0..12),
    ) {
        let field =
            |(key, value): &(String, Value)| format!("\"{}\": {value}", spelled(key, &spellings));
        let json = format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "));
        prop_assert!(serde_json::from_str::<Value>(&json).is_ok());
        let first = fields.iter().find(|(key, _)| key == "text");
        let first = first.and_then(|(_, value)| value.as_str()).unwrap_or_default();
        let mut scanner = TextScanner::new("text");
        let pieces: String = cut(&json, &cuts).iter().map(|piece| scanner.push(piece)).collect();
        prop_assert_eq!(pieces, first);
    }

    #[test]
    fn garbage_gives_the_same_text_however_it_is_split(
        garbage in any_garbage(),
        starts_well: bool,
        cuts in prop::collection::vec(any::<Index>(), 0..10),
    ) {
        let json = if starts_well { format!("{{\"text\":\"{garbage}") } else { garbage };
        let mut scanner = TextScanner::new("text");
        let pieces: String = cut(&json, &cuts).iter().map(|piece| scanner.push(piece)).collect();
        prop_assert_eq!(pieces, whole(&json));
    }
}

/// The text that serde reads from a document that ends in the middle of its text: everything up to
/// the last complete character.
fn readable(received: &str) -> Option<String> {
    let chars: Vec<char> = received.chars().collect();
    // The longest incomplete character is `\ud83d\ude0`.
    (0..=11).filter_map(|cut| chars.len().checked_sub(cut)).find_map(|end| {
        let closed = chars[..end].iter().collect::<String>() + "\"}";
        let document: Value = serde_json::from_str(&closed).ok()?;
        Some(document["text"].as_str()?.to_owned())
    })
}

#[test]
fn text_grows_while_it_is_written() {
    assert_eq!(
        scan(&["{\"te", "xt\":\"Hel", "lo", " \\", "n\\u00", "e9", "\"}"]),
        ["", "Hel", "lo", " ", "\n", "é", ""]
    );
}

#[test]
fn an_incomplete_surrogate_pair_is_held_back() {
    assert_eq!(scan(&["{\"text\":\"a\\ud83d", "\\u", "de00", "b\"}"]), ["a", "", "😀", "b"]);
}

#[test]
fn a_lone_surrogate_is_replaced() {
    let texts = [r"\ud83dx", r"\ud83d\n", r"\ud83d\ud83d\ude00", r"\ude00", r"\ud83d"]
        .map(|text| whole(&format!("{{\"text\":\"{text}\"}}")));
    assert_eq!(texts, ["\u{fffd}x", "\u{fffd}\n", "\u{fffd}😀", "\u{fffd}", "\u{fffd}"]);
}

#[test]
fn only_the_first_field_of_the_object_itself_counts() {
    let nested = r#""a":{"text":"no"},"b":["text",{"text":"no"}],"c":"\"text\":\"no\"""#;
    assert_eq!(whole(&format!(r#"{{{nested},"text":"yes","text":"late"}}"#)), "yes");
    assert_eq!(whole(r#"{"text":5,"text":"late"}"#), "");
    assert_eq!(whole(r#"[{"text":"no"}]"#), "");
    assert_eq!(whole(r#"{"a":1}{"text":"no"}"#), "");
    assert_eq!(whole(r#"{"textual":"no","tex":"no","":"no"}"#), "");
}

#[test]
fn invalid_json_ends_the_text() {
    let broken = [
        r#"{"a" "text":"no"}"#,
        r#"{"a":[},"text":"no"}"#,
        r#"{"a":{"b"},"text":"no"}"#,
        r#"{"a":tru,"text":"no"}"#,
        r#"{"a":1 2,"text":"no"}"#,
        r#"{"a":,"text":"no"}"#,
        r#"{,"text":"no"}"#,
        r#"{"a":1,,"text":"no"}"#,
        r#"{"a\x":1,"text":"no"}"#,
        r#"{text:"no"}"#,
        r#"x{"text":"no"}"#,
    ];
    assert_eq!(broken.map(whole), broken.map(|_| ""));
    assert_eq!(whole("{\"text\":\"yes\nno\"}"), "yes");
    assert_eq!(whole(r#"{"text":"yes\xno"}"#), "yes");
    assert_eq!(whole(r#"{"text":"yes\u12g4no"}"#), "yes");
}
