//! Results and errors of expressions.

mod checks;
mod collections;
mod patterns;
mod properties;
mod times;

use serde_json::{Value, json};

use crate::tests::{check, evaluate};

fn input() -> Value {
    json!({
        "name": "Ada",
        "age": 36,
        "height": 1.7,
        "huge": u64::MAX,
        "nothing": null,
        "tags": ["a", "b", "c"],
        "numbers": [3, 1, 2],
        "items": [
            {"name": "pen", "price": 2, "sold": true},
            {"name": "book", "price": 12, "sold": false},
            {"name": "ink", "price": 7},
        ],
        "when": "2026-01-31T12:30:45.678Z",
        "a-b": {"c": [[1], [2, 3]]},
    })
}

#[track_caller]
fn assert_values(values: &[(&str, Value)]) {
    for (expression, expected) in values {
        assert_eq!(check(expression), Ok(()), "{expression}");
        assert_eq!(evaluate(expression, &input()).as_ref(), Ok(expected), "{expression}");
    }
}

#[track_caller]
fn assert_errors(errors: &[(&str, &str)]) {
    for (expression, expected) in errors {
        assert_eq!(check(expression), Ok(()), "{expression}");
        assert_eq!(evaluate(expression, &input()), Err((*expected).to_owned()), "{expression}");
    }
}

/// For constants, which are refused before the expression is used.
#[track_caller]
fn assert_refused(errors: &[(&str, &str)]) {
    for (expression, expected) in errors {
        assert_eq!(check(expression), Err((*expected).to_owned()), "{expression}");
        assert_eq!(evaluate(expression, &input()), Err((*expected).to_owned()), "{expression}");
    }
}

#[test]
fn literals_and_the_input() {
    assert_values(&[
        ("null", json!(null)),
        ("true", json!(true)),
        ("-9223372036854775808", json!(i64::MIN)),
        ("0x1F", json!(31)),
        ("18446744073709551615u", json!(u64::MAX)),
        ("1.5e3", json!(1500.0)),
        ("-.5", json!(-0.5)),
        (r#""a\n\u00e9\"" + 'b' + r'\d' + """x"y""""#, json!("a\né\"b\\dx\"y")),
        ("'✌' // a comment\n + '🐱'", json!("✌🐱")),
        ("[1, 'a', null, [2.0]]", json!([1, "a", null, [2.0]])),
        ("{'a': 1, 'b': {'c': []}}", json!({"a": 1, "b": {"c": []}})),
        ("{1: 'a', 2u: 'b', true: 'c'}", json!({"1": "a", "2": "b", "true": "c"})),
        ("input", input()),
        (".input.name", json!("Ada")),
        ("input.huge", json!(u64::MAX)),
        ("input.height", json!(1.7)),
        ("input['a-b'].c[1][0]", json!(2)),
    ]);
}

#[test]
fn arithmetic() {
    assert_values(&[
        ("1 + 2 * 3 - 4 / 2", json!(5)),
        ("(1 + 2) * 3", json!(9)),
        ("-7 / 2", json!(-3)),
        ("-7 % 3", json!(-1)),
        ("7u % 4u", json!(3)),
        ("10 - 2 - 3", json!(5)),
        ("-input.age", json!(-36)),
        ("--1", json!(1)),
        ("- -1.5", json!(1.5)),
        ("1.0 / 4.0", json!(0.25)),
        ("input.height * 2.0", json!(3.4)),
        ("double(input.age) / 10.0", json!(3.6)),
        ("int(3.9) + int(-3.9) + int('12')", json!(12)),
        ("uint(3) + 4u", json!(7)),
        ("double('1.5') + double(2u)", json!(3.5)),
        ("9223372036854775807 - 1 + 1", json!(i64::MAX)),
    ]);
    assert_errors(&[
        ("1 / 0", "division by zero"),
        ("1u % 0u", "division by zero"),
        ("9223372036854775807 + 1", "integer overflow"),
        ("-9223372036854775808 - 1", "integer overflow"),
        ("-9223372036854775808 / -1", "integer overflow"),
        ("-(-9223372036854775808)", "integer overflow"),
        ("input.huge * input.huge", "integer overflow"),
        ("1u - 2u", "integer overflow"),
        ("int(1e30)", "the number is out of range for int"),
        ("int(0.0 / 0.0)", "the number is out of range for int"),
        ("uint(-0.5)", "the number is out of range for uint"),
        ("uint(-1)", "the number is out of range for uint"),
        ("int(input.name)", "'Ada' is not a valid int"),
        ("1.0 / 0.0", "the result has a number that JSON can't write: inf"),
        ("0.0 / 0.0", "the result has a number that JSON can't write: NaN"),
        (
            "input.age * 1.5",
            "'*' takes two numbers of one type, not int and double; \
             convert one with int(…), uint(…) or double(…)",
        ),
        (
            "5.0 % 2.0",
            "'%' takes two ints or two uints, not double and double; \
             convert one with int(…), uint(…) or double(…)",
        ),
        ("-1u", "'-' takes an int or a double, not uint"),
    ]);
}

#[test]
fn comparisons() {
    assert_values(&[
        ("1 == 1.0 && 1u == 1 && 1 != 1.5", json!(true)),
        ("1 == '1'", json!(false)),
        ("null == 0", json!(false)),
        ("[1, 2u, {'a': 1}] == [1.0, 2, {'a': 1u}]", json!(true)),
        ("[1] == [1, 2]", json!(false)),
        ("{'a': 1, 'b': 2} == {'b': 2, 'a': 1}", json!(true)),
        ("{'a': 1} == {'b': 1}", json!(false)),
        ("b'a' == bytes('a')", json!(true)),
        ("0.0 / 0.0 == 0.0 / 0.0", json!(false)),
        ("0.0 / 0.0 < 1.0 || 0.0 / 0.0 >= 1.0", json!(false)),
        ("1 < 1.5 && 2u > -1 && 1 <= 1.0", json!(true)),
        ("9007199254740993 == 9007199254740992.0", json!(false)),
        ("9007199254740993 > 9007199254740992.0", json!(true)),
        ("-1 > -1.5 && -2 < -1.5", json!(true)),
        ("input.huge < 1e30 && input.huge > -1e30", json!(true)),
        ("'a' < 'b' && 'B' < 'a' && 'a' < 'aa'", json!(true)),
        ("false < true && b'a' < b'b'", json!(true)),
        (
            "type(1) == int && type('') == string && type(null) == null_type && type(int) == type",
            json!(true),
        ),
        ("type(input.tags) == list && type(input) == map && type(1.0) != type(1)", json!(true)),
    ]);
    assert_errors(&[(
        "1 < 'a'",
        "'<' takes two numbers, two strings, two bools, two timestamps or two durations, \
         not int and string",
    )]);
}

#[test]
fn logic() {
    assert_values(&[
        ("input.age > 30 ? 'old' : 'young'", json!("old")),
        ("true ? 1 : 1 / 0", json!(1)),
        ("false ? 1 : true ? 2 : 3", json!(2)),
        ("!true || !false", json!(true)),
        ("!!true", json!(true)),
        // An operand that decides overrides an error of the other one.
        ("1 / 0 == 1 || true", json!(true)),
        ("true || 1 / 0 == 1", json!(true)),
        ("1 / 0 == 1 && false", json!(false)),
        ("'no bool' && false", json!(false)),
        ("has(input.name) && !has(input.surname)", json!(true)),
        ("has(input.nothing)", json!(true)),
        ("has({'a': 1}.a)", json!(true)),
    ]);
    assert_errors(&[
        ("1 / 0 == 1 || false", "division by zero"),
        ("1 ? 2 : 3", "expected a bool as a condition, got int"),
        ("true && 1", "expected a bool as a condition, got int"),
        ("!1", "'!' takes a bool, not int"),
        (
            "has(input.name.first)",
            "only a map has fields; 'first' was looked for in a value of type string",
        ),
        (
            "has(input.none.first)",
            "there is no key 'none'; the map has 'a-b', 'age', 'height', 'huge', 'items', …",
        ),
    ]);
}

#[test]
fn texts() {
    assert_values(&[
        ("'Dear ' + input.name + '!'", json!("Dear Ada!")),
        ("size('πέντε') + 'ab'.size() + size(b'πέ')", json!(11)),
        ("'abc'.contains('b') && !'abc'.contains('d') && 'abc'.contains('')", json!(true)),
        ("'abc'.startsWith('ab') && 'abc'.endsWith('bc')", json!(true)),
        (
            r"'a1'.matches('^[a-z]\\d$') && matches('xaay', 'a+') && !'b'.matches(r'\d')",
            json!(true),
        ),
        ("'né'.matches('^n.$')", json!(true)),
        (
            "string(1) + string(2u) + string(1.5) + string(true) + string('a') + string(b'b')",
            json!("121.5trueab"),
        ),
        ("bool('true') && !bool('f')", json!(true)),
        ("string(bytes('é') + b'a')", json!("éa")),
    ]);
    assert_errors(&[
        (
            "'a' + 1",
            "'+' takes two numbers of one type, two strings, two lists, \
             or a timestamp or duration and a duration, not string and int",
        ),
        ("'a'.contains(1)", "'contains' takes two strings, not string and int"),
        ("input.age.startsWith('a')", "'startsWith' takes two strings, not int and string"),
        ("bool(input.name)", "'Ada' is not a valid bool"),
        ("string(b'\\xff')", "the bytes are not UTF-8 text"),
        ("b'a'", "the result has bytes, which JSON can't write; make them a string with string(…)"),
        (
            "[int]",
            "the result has a type, which JSON can't write; \
             compare it, as in type(input) == string",
        ),
    ]);
}

#[test]
fn constant_texts_are_checked_before_an_expression_is_used() {
    assert_refused(&[
        ("'a'.matches('(')", "'(' is not a usable regular expression: unclosed group"),
        ("[1].all(x, input.name.matches('[a'))", UNCLOSED_CLASS),
        ("bool('yes')", "'yes' is not a valid bool"),
        ("{'a': [uint('-1')]}", "'-1' is not a valid uint"),
    ]);
    // It is refused although it is never reached.
    let unreached = "has(input.none) ? int('12a') : 0";
    assert_eq!(check(unreached), Err("'12a' is not a valid int".to_owned()));
    assert_eq!(evaluate(unreached, &input()), Ok(json!(0)));
    // What is no constant is not known before.
    assert_eq!(check("int(input.name)"), Ok(()));
    assert_eq!(check("'a'.matches(input.name + '(')"), Ok(()));
}

const UNCLOSED_CLASS: &str = "'[a' is not a usable regular expression: unclosed character class";
