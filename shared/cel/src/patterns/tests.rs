//! What the classes of a pattern cost.

use super::{WIDE, WIDE_IGNORING_CASE, class_steps, re2::translated};

#[track_caller]
fn assert_counts(pattern: &str, wide: usize, holding_negated: usize) {
    let made = translated(pattern).unwrap();
    assert_eq!((made.wide, made.holding_negated), (wide, holding_negated), "{pattern}");
}

#[track_caller]
fn assert_steps(pattern: &str, expected: usize) {
    assert_eq!(class_steps(&translated(pattern).unwrap()), expected, "{pattern}");
}

#[test]
fn classes_of_many_characters_are_counted() {
    assert_counts(r"\d\D\W\S[^a][\d\w\s][[:digit:]]", 0, 0);
    assert_counts(r"[\D1]", 0, 1);
    assert_counts(r"[!-\D]", 0, 1);
    assert_counts(r"[\Wa][^\Sa]", 0, 2);
    assert_counts("[[:^digit:]1]", 0, 1);
    assert_counts(r"[\D\W\S[:^alpha:]]", 0, 1);
    assert_counts(r"[\D]\D[\d]", 0, 1);
    assert_counts(r"\PL[\pL1][\x{0}-\x{10ffff}]", 3, 0);
    assert_counts(r"[\PL\D]", 1, 1);
    assert_counts(&r"[\D1]".repeat(199), 0, 199);
}

#[test]
fn classes_cost_more_if_their_case_is_ignored() {
    assert_steps(r"[\D1]", 0);
    assert_steps(r"[\D1]\pL", WIDE);
    assert_steps(r"(?i)\D", 0);
    assert_steps(r"(?i)[\D1]\pL", 2 * WIDE_IGNORING_CASE);
    assert_steps(r"[\D1](?i:a)", WIDE_IGNORING_CASE);
    assert_steps(r"[!-[:alpha:](?i)][\D1]", 0);
    assert_steps(&format!("(?i){}", r"[\Wa]".repeat(199)), 199 * WIDE_IGNORING_CASE);
}
