use super::*;

#[test]
fn a_list_that_is_too_long_says_how_much_is_missing() {
    let item = |bytes: usize| Value::String("x".repeat(bytes - 3));
    let full = [item(MAX_OUTPUT_BYTES / 2), item(MAX_OUTPUT_BYTES / 2)];
    assert_eq!(listed("l", full.clone()), json!({"l": full}));
    assert_eq!(
        listed("l", full.iter().cloned().chain([item(4), item(4)])),
        json!({"l": full, "more": 2})
    );
    assert_eq!(listed("l", []), json!({"l": []}));
}

#[test]
fn a_list_as_text_says_how_much_is_missing() {
    let lines: Vec<String> = ["one", "two", "three"].map(str::to_owned).into();
    assert_eq!(list_text("L", &lines, 100), ("L:\n- one\n- two\n- three".to_owned(), 3));
    assert_eq!(list_text("L", &lines, 12), ("L:\n- one\n- two\n… 1 more".to_owned(), 2));
    assert_eq!(list_text("L", &[], 12), ("L: none".to_owned(), 0));
}
