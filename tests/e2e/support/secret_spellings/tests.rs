use serde_json::json;

use super::*;

#[test]
fn every_spelling_is_found_at_any_position() {
    let value = r#"p&ss"w\o/rd+=%é"#;
    let search = Search::of(&[("it", value)]);
    assert_eq!(search.in_bytes(b"nothing of it, not even p&ss"), BTreeSet::new());
    for (name, spelling) in spellings(value) {
        let deep =
            json!({ "a": json!({ "b": json!([spelling]).to_string() }).to_string() }).to_string();
        for text in [format!("<{spelling}>"), json!([spelling]).to_string(), deep] {
            assert!(!search.in_bytes(text.as_bytes()).is_empty(), "{name}: {text}");
        }
    }
    for around in ["", "a", "ab", "abc"] {
        let encoded = STANDARD_NO_PAD.encode(format!("{around}{value}{around}"));
        assert!(!search.in_bytes(encoded.as_bytes()).is_empty(), "{encoded}");
    }
}
