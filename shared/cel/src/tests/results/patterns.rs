//! Regular expressions have the syntax and the meaning of RE2.

use serde_json::json;

use super::assert_refused;
use crate::tests::{check, evaluate};

#[track_caller]
fn assert_matches(pattern: &str, matching: &[&str], other: &[&str]) {
    for (texts, expected) in [(matching, true), (other, false)] {
        for text in texts {
            let input = json!({"text": text, "pattern": pattern});
            let result = evaluate("input.text.matches(input.pattern)", &input);
            assert_eq!(result, Ok(json!(expected)), "{pattern} in {text:?}");
        }
    }
}

#[test]
fn letters_of_all_scripts_ignore_case() {
    assert_matches("(?i)^müller$", &["MÜLLER", "Müller"], &["Mueller"]);
    assert_matches("(?i)ΣΊΣΥΦΟΣ", &["σίσυφος"], &[]);
    assert_matches("^(?i:é)é$", &["Éé"], &["ÉÉ"]);
    assert_matches("(?i)^[a-zàâçéèêëîïôûùüÿñæœäöß -]+$", &["FRÈRE Müller-Ñ"], &["Zoë!"]);
    assert_matches("(?i)^[α-ω]+$", &["ΑΩ"], &["a"]);
    // As in RE2, the sign of Kelvin is a letter k.
    assert_matches("(?i)^[a-z]$", &["K", "\u{212a}"], &["ä"]);
}

#[test]
fn short_classes_and_borders_are_ascii() {
    assert_matches(r"^\d$", &["7"], &["\u{667}", "a"]);
    assert_matches(r"^\w+$", &["Ab_9"], &["ä"]);
    assert_matches(r"^[\W]$", &["ä", "-"], &["a"]);
    assert_matches(r"^\s$", &[" ", "\t"], &["\u{b}", "\u{a0}"]);
    assert_matches(r"\bAda\b", &["äAdaä", "@Ada!"], &["Adam"]);
    assert_matches(r"a\Bb", &["ab"], &["a-b"]);
}

#[test]
fn classes_of_unicode_have_one_letter_or_a_name() {
    assert_matches(r"^\pL+$", &["Zoë", "小明"], &["a1"]);
    assert_matches(r"^\p{Greek}$", &["π"], &["p"]);
    assert_matches(r"^\P{Greek}\PN\p{^Greek}$", &["abc"], &["a1c", "abπ"]);
    assert_matches(r"^[\pL\d]+$", &["é1"], &["-"]);
    assert_matches("^[[:alpha:]]$", &["a"], &["1", "é"]);
}

#[test]
fn signs_mean_what_they_mean_in_re2() {
    assert_matches(r"^\Qa.b\E*$", &["a.", "a.bb"], &["axb"]);
    assert_matches(r"\Q(", &["("], &[]);
    assert_matches(r"^\101\x42\x{43}$", &["ABC"], &[]);
    assert_matches("^[[a]$", &["[", "a"], &["]"]);
    assert_matches("^[]a]$", &["]", "a"], &[]);
    assert_matches("^[^]a]$", &["b"], &["]"]);
    assert_matches("^[a&&b~~c]$", &["&", "~", "b"], &["d"]);
    assert_matches("^[+--]$", &["+", ",", "-"], &["."]);
    assert_matches(r"^[\w-[:punct:]]$", &["a", "-", "!"], &[" "]);
    assert_matches(r"^[\d-\s]$", &["1", "-", " "], &["a"]);
    assert_matches("^[-[:alpha:]]$", &["a", "-"], &["1"]);
    assert_matches("^[!-[:alpha:](?i)]a$", &["!a", "ba", "(a"], &["!A", "]a"]);
    assert_matches("^[[:]$", &["[", ":"], &["]"]);
    assert_matches("^[[:a]$", &["[", ":", "a"], &["b"]);
    assert_matches(r"^\<a\>$", &["<a>"], &["a"]);
    assert_matches("^a{,2}{$", &["a{,2}{"], &["aa"]);
    assert_matches("^(?P<name>a{2,3}?)b??$", &["aab", "aaa"], &["a"]);
    assert_matches(r"^a\ b\.$", &["a b."], &["a bc"]);
}

#[test]
fn what_re2_refuses_is_refused() {
    let twice = "a repetition of a repetition; put the inner one in parentheses";
    for (pattern, reason) in [
        ("a**", twice),
        ("a{2}{3}", twice),
        ("a{1001}", "a repetition of more than 1000 times"),
        ("(?x)a b", "unknown flag 'x'"),
        (r"(a)\1", r"'\1' refers to a group, which is not supported"),
        (r"\u0061", r"unknown escape '\u'"),
        (r"\8", r"unknown escape '\8'"),
        ("[[:letter:]]", "unknown class '[:letter:]'"),
        (r"[[:a]\D1:]]", r"unknown class '[:a]\D1:]'"),
        (r"\p", r"\p needs the name of a class"),
        ("(?=a)", "look-around, including look-ahead and look-behind, is not supported"),
        ("((a{1000}){1000}){1000}", "it is too large"),
    ] {
        let expected = format!("'{pattern}' is not a usable regular expression: {reason}");
        assert_refused(&[(&format!("'a'.matches(r'{pattern}')"), &expected)]);
    }
    let expected = r"'a\' is not a usable regular expression: it ends with a backslash";
    assert_refused(&[(r"'a'.matches('a\\')", expected)]);
}

#[test]
fn patterns_of_too_many_wide_classes_are_refused() {
    for (class, count) in [(r"[\D1]", 199), (r"[\Wa]", 199), ("[[:^digit:]1]", 70), (r"\PL", 100)] {
        let pattern = format!("(?i){}", class.repeat(count));
        let expected = format!(
            "'{}…' is not a usable regular expression: it has too many classes of many characters",
            &pattern[..59]
        );
        assert_refused(&[(&format!("'a'.matches(r'{pattern}')"), &expected)]);
    }
    // A few are no problem.
    assert_matches(r"(?i)^[\D1][\Wa][[:^digit:]1]$", &["k-k", "1A1"], &["2aa", "aBa"]);
}

#[test]
fn wide_classes_of_several_patterns_add_up() {
    let matching = |count: usize| {
        let expression = r"input.exists(a, ''.matches(r'(?i)[\D1]' + string(a)))";
        evaluate(expression, &json!((0..count).collect::<Vec<_>>()))
    };
    assert_eq!(matching(15), Ok(json!(false)));
    let too_long = "the expression takes too long over this input; give it a smaller input";
    assert_eq!(matching(100), Err(too_long.to_owned()));

    let constants = |count: usize| {
        let calls = (0..count).map(|number| format!(r"''.matches(r'(?i)[\D1]{number}')"));
        check(&calls.collect::<Vec<_>>().join(" || "))
    };
    assert_eq!(constants(15), Ok(()));
    let too_many = "the constants of the expression take too long; use fewer or simpler patterns";
    assert_eq!(constants(30), Err(too_many.to_owned()));
}
