//! Results and errors of expressions.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{check, evaluate};

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
        ("int('12a')", "'12a' is not a valid int"),
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
        (
            "'a'.matches('(')",
            "'(' is not a usable regular expression: found open group without closing ')'",
        ),
        ("bool('yes')", "'yes' is not a valid bool"),
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
fn lists_and_maps() {
    assert_values(&[
        ("input.tags[0] + input.tags[2u] + input.tags[1.0]", json!("acb")),
        ("[1, 2] + [3]", json!([1, 2, 3])),
        ("size(input.tags) + size({'a': 1}) + input.items.size()", json!(7)),
        ("'b' in input.tags && !('d' in input.tags) && 2.0 in [1, 2u]", json!(true)),
        (
            "'name' in input && !('no' in input) && !(1 in input) \
             && 1.0 in {1: 2} && !(1.5 in {1: 2})",
            json!(true),
        ),
        ("{1: 'a'}[1u] + {2u: 'b'}[2] + {true: 'c'}[true] + {1: 'd'}[1.0]", json!("abcd")),
        ("{'a': {'b': 1}}.a.b", json!(1)),
    ]);
    assert_errors(&[
        ("input.tags[3]", "the index is out of range: the list has 3 items, counted from 0"),
        ("input.tags[-1]", "the index is out of range: the list has 3 items, counted from 0"),
        (
            "input.tags['a']",
            "'[_]' takes a list and a whole number, or a map and a key, not list and string",
        ),
        (
            "input.none",
            "there is no key 'none'; the map has 'a-b', 'age', 'height', 'huge', 'items', …",
        ),
        ("{'a': 1}['b']", "there is no key 'b'; the map has 'a'"),
        ("{}[1]", "there is no key 1; the map is empty"),
        (
            "input.name.first",
            "only a map has fields; 'first' was looked for in a value of type string",
        ),
        ("null.a", "only a map has fields; 'a' was looked for in a value of type null_type"),
        ("1 in 'abc'", "'in' takes a value and a list, or a key and a map, not int and string"),
        ("{'a': 1, 'a': 2}", "a map has the key 'a' twice"),
        ("{1: 1, 1u: 2}", "a map has the key 1 twice"),
        ("{null: 1}", "expected a string, an int, a uint or a bool as a key, got null_type"),
        ("{1.0: 1}", "expected a string, an int, a uint or a bool as a key, got double"),
        (
            "null in {'a': 1}",
            "'in' takes a value and a list, or a key and a map, not null_type and map",
        ),
        ("{1: 1, '1': 2}", "two keys of a map in the result are both written as '1'"),
    ]);
}

#[test]
fn macros() {
    assert_values(&[
        ("input.numbers.all(n, n > 0) && !input.numbers.all(n, n > 1)", json!(true)),
        ("input.numbers.exists(n, n == 3) && !input.numbers.exists(n, n == 4)", json!(true)),
        (
            "[1, 2, 2].exists_one(n, n == 1) && ![1, 2, 2].exists_one(n, n == 2) \
             && [1].existsOne(n, true)",
            json!(true),
        ),
        ("input.numbers.map(n, n * 2)", json!([6, 2, 4])),
        ("input.numbers.map(n, n > 1, n * 2)", json!([6, 4])),
        ("input.numbers.filter(n, n > 1)", json!([3, 2])),
        ("input.items.filter(i, has(i.sold) && i.sold).map(i, i.name)", json!(["pen"])),
        (
            "input.items.map(i, \
             {'label': i.name + ' for ' + string(i.price), 'cheap': i.price < 5})[1]",
            json!({"label": "book for 12", "cheap": false}),
        ),
        ("[[1, 2], [3]].map(x, x.map(x, x * 10))", json!([[10, 20], [30]])),
        ("[1, 2].map(x, [10, 20].map(y, x + y))", json!([[11, 21], [12, 22]])),
        ("[[1], [2]].map(input, input[0])", json!([1, 2])),
        ("[1].map(input, .input.name)", json!(["Ada"])),
        ("{'b': 1, 'a': 2}.map(k, k)", json!(["a", "b"])),
        ("{'b': 1, 'a': 2}.exists(k, k == 'b')", json!(true)),
        ("[].all(x, false) && ![].exists(x, true)", json!(true)),
        // An item that decides overrides an error of another one.
        ("[0, 2].exists(n, 4 / n == 2)", json!(true)),
        ("[0, 2].all(n, 4 / n == 1)", json!(false)),
        ("[input.items].map(all, all.filter(i, i.price == 2).size())", json!([1])),
    ]);
    assert_errors(&[
        ("[0, 2].exists(n, 4 / n == 1)", "division by zero"),
        ("[0, 2].all(n, 4 / n == 2)", "division by zero"),
        ("[0, 2].exists_one(n, 4 / n == 2)", "division by zero"),
        ("[0, 2].map(n, 4 / n)", "division by zero"),
        (
            "input.name.map(c, c)",
            "expected a list or a map for a macro such as map, filter, all or exists, got string",
        ),
        ("[1].filter(n, n)", "expected a bool as a condition, got int"),
    ]);
}

#[test]
fn times() {
    assert_values(&[
        ("timestamp(input.when)", json!("2026-01-31T12:30:45.678Z")),
        ("timestamp('2026-01-31T12:30:45+02:00')", json!("2026-01-31T10:30:45Z")),
        ("timestamp(0)", json!("1970-01-01T00:00:00Z")),
        ("int(timestamp('2026-01-31T00:00:00Z'))", json!(1_769_817_600)),
        ("timestamp(input.when) + duration('36h')", json!("2026-02-02T00:30:45.678Z")),
        ("duration('1s') + timestamp(0) - duration('1.5s')", json!("1969-12-31T23:59:59.5Z")),
        (
            "timestamp('2026-03-01T00:00:00Z') - timestamp('2026-02-01T00:00:00Z')",
            json!("2419200s"),
        ),
        (
            "(timestamp('2026-03-01T00:00:00Z') - timestamp('2026-02-01T00:00:00Z')) \
             .getHours() / 24",
            json!(28),
        ),
        ("duration('1h30m') + duration('15s')", json!("5415s")),
        ("duration('1s') - duration('1500ms')", json!("-0.5s")),
        ("string(duration('90m')) + string(timestamp(0))", json!("5400s1970-01-01T00:00:00Z")),
        ("duration('60s') == duration('1m') && duration('1m') < duration('1h')", json!(true)),
        ("timestamp(0) < timestamp(1) && timestamp(timestamp(1)) == timestamp(1)", json!(true)),
        (
            "[timestamp(input.when)].map(t, [t.getFullYear(), t.getMonth(), t.getDate(), \
             t.getDayOfMonth(), t.getDayOfWeek(), t.getDayOfYear(), t.getHours(), \
             t.getMinutes(), t.getSeconds(), t.getMilliseconds()])[0]",
            json!([2026, 0, 31, 30, 6, 30, 12, 30, 45, 678]),
        ),
        (
            "[timestamp('2026-01-01T01:30:00Z')].map(t, [t.getHours('+05:30'), \
             t.getDate('-02:00'), t.getHours('UTC'), t.getHours('02:00')])[0]",
            json!([7, 31, 1, 3]),
        ),
        (
            "[duration('3723.004s')].map(d, [d.getHours(), d.getMinutes(), d.getSeconds(), \
             d.getMilliseconds()])[0]",
            json!([1, 62, 3723, 4]),
        ),
    ]);
}

#[test]
fn errors_of_times() {
    assert_errors(&[
        ("timestamp('yesterday')", "'yesterday' is not a timestamp such as '2026-01-31T12:00:00Z'"),
        ("timestamp(9223372036854775807)", "a time is out of range; years go from 1 to 9999"),
        (
            "timestamp('9999-12-30T12:00:00Z') + duration('24h')",
            "a time is out of range; years go from 1 to 9999",
        ),
        (
            "timestamp('0001-01-01T00:00:00Z') - duration('1ns')",
            "a time is out of range; years go from 1 to 9999",
        ),
        ("duration('soon')", "'soon' is not a duration such as '90s' or '1h30m'"),
        (
            "timestamp(0).getHours('Mars/Base')",
            "'Mars/Base' is not a supported time zone; use 'UTC' or an offset such as '+02:00'",
        ),
        (
            "duration('1s').getDate()",
            "'getDate' takes a timestamp and optionally an offset such as '+02:00', not duration",
        ),
    ]);
}

#[test]
fn check_finds_what_cannot_be_evaluated() {
    let wrong = [
        ("", "line 1, column 1: the expression ends too early"),
        ("1 +", "line 1, column 4: the expression ends too early"),
        ("[1,\n 2", "line 2, column 3: expected ']' before the end"),
        ("(1]", "line 1, column 3: unexpected ']'"),
        ("1)", "line 1, column 2: unexpected ')'"),
        ("'é' + é", "line 1, column 7: unexpected character"),
        ("'é' + + 1", "line 1, column 7: unexpected token"),
        ("'abc", "line 1, column 1: unterminated string literal"),
        ("input.?name", "line 1, column 6: unsupported syntax '.?'"),
        ("99999999999999999999", "line 1, column 1: invalid int literal"),
        (
            "price * 2",
            "unknown name 'price'; an expression can use 'input' and the variables of macros",
        ),
        (
            "[1].map(x, x) + x",
            "unknown name 'x'; an expression can use 'input' and the variables of macros",
        ),
        ("now()", "there is no function 'now'"),
        ("input.name.upper()", "there is no function 'upper'"),
        ("size()", "'size' takes a string, bytes, a list or a map; it got 0 arguments"),
        ("size(1, 2)", "'size' takes a string, bytes, a list or a map; it got 2 arguments"),
        ("contains('a', 'b')", "call 'contains' as value.contains(…)"),
        ("'1'.int()", "call 'int' as int(…)"),
        ("has(input)", "line 1, column 5: invalid argument to has() macro"),
        ("[1].map(1, 2)", "line 1, column 9: argument must be a simple name"),
        ("Point{x: 1}", "Point {…}: messages are not supported; write a map as {'key': value}"),
    ];
    for (expression, expected) in wrong {
        assert_eq!(check(expression), Err(expected.to_owned()), "{expression}");
        assert_eq!(evaluate(expression, &json!(null)), Err(expected.to_owned()), "{expression}");
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn an_input_is_returned_unchanged(input in any_json()) {
        prop_assert_eq!(evaluate("input", &input), Ok(input.clone()));
        prop_assert_eq!(evaluate("[input].map(x, {'a': x})[0].a", &input), Ok(input.clone()));
        prop_assert_eq!(evaluate("input == input", &input), Ok(json!(true)));
    }

    #[test]
    fn numbers_are_ordered_exactly(one in any::<i64>(), other in any::<i64>()) {
        let expression = format!("[{one} < {other}, {one} < double({other}), {one} == {other}]");
        let expected = json!([one < other, i128::from(one) < other as f64 as i128, one == other]);
        prop_assert_eq!(evaluate(&expression, &json!(null)), Ok(expected));
    }

    #[test]
    fn errors_are_short(expression in "\\PC{0,400}", key in "\\PC{0,400}") {
        let errors = [
            check(&expression),
            evaluate(&expression, &json!(null)).map(drop),
            evaluate("input.none.none", &json!({ key.clone(): 1 })).map(drop),
            evaluate("int(input)", &json!(key.clone())).map(drop),
            evaluate("''.matches(input)", &json!(key)).map(drop),
        ];
        for error in errors.into_iter().filter_map(Result::err) {
            prop_assert!(error.chars().count() <= 300, "{}", error);
        }
    }
}
