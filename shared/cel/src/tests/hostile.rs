//! The limits that careless expressions and hostile inputs reach.

mod nesting;

use std::{
    thread,
    time::{Duration, Instant},
};

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::tests::evaluate;

const TOO_LONG: &str = "the expression takes too long over this input; give it a smaller input";
const TOO_MUCH: &str =
    "the expression takes too much memory over this input; give it a smaller input";
const TOO_LARGE: &str = "a value is too large";

/// Half of a thread's usual stack, since callers need some of it too.
const STACK: usize = 1024 * 1024;
/// The longest time without optimisation and while other tests run. An optimised build takes a
/// tenth of a second.
const LONGEST: Duration = Duration::from_secs(20);

/// Evaluates on a small stack, and checks the time.
#[track_caller]
fn evaluated(expression: &str, input: &Value) -> Result<Value, String> {
    let start = Instant::now();
    let evaluate = || evaluate(expression, input);
    let result = thread::scope(|scope| {
        thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, evaluate)
            .unwrap()
            .join()
            .unwrap()
    });
    assert!(start.elapsed() < LONGEST, "{expression:.80} took {:?}", start.elapsed());
    result
}

#[track_caller]
fn assert_refused(expression: &str, input: &Value, expected: &str) {
    assert_eq!(evaluated(expression, input), Err(expected.to_owned()), "{expression:.200}");
}

/// `middle` between `count` times `before` and `count` times `after`.
fn nested(count: usize, before: &str, middle: &str, after: &str) -> String {
    format!("{}{middle}{}", before.repeat(count), after.repeat(count))
}

fn numbers() -> Value {
    json!(vec![0; 32_000])
}

fn letters(count: usize) -> String {
    "a".repeat(count)
}

#[test]
fn work_is_bounded() {
    for expression in [
        "input.all(a, input.all(b, true))",
        "input.filter(a, input.exists(b, a + b == 1)).size()",
        "input.exists_one(a, input.filter(b, false) == [1])",
        "input.all(a, input == input)",
        "input.all(a, !(1 in input))",
        "input.exists(a, input.exists(b, 1 / b == 1) || a.none)",
        "input.exists(a, input.exists(b, timestamp('x') == timestamp(b)))",
        "input.all(a, input.all(b, double('2.4703282292062327208299439e-324') == 1.0 || true))",
    ] {
        assert_refused(expression, &numbers(), TOO_LONG);
    }
    let input =
        json!({"list": vec![0; 5000], "text": letters(30_000), "same": letters(20_000) + "b"});
    for expression in [
        "input.list.all(a, !input.text.contains(input.same))",
        "input.list.all(a, input.text == input.text && input.text <= input.text)",
        "input.list.all(a, input.text.size() > 0)",
        "input.list.all(a, input.list.all(b, has(input.text)))",
    ] {
        assert_refused(expression, &input, TOO_LONG);
    }
    assert_refused("input.list.all(a, int(input.text) == 0 || true)", &input, TOO_MUCH);
}

#[test]
fn memory_is_bounded() {
    assert_refused("input.map(a, input.map(b, b))", &numbers(), TOO_MUCH);
    assert_refused("input.map(a, input + input)", &numbers(), TOO_MUCH);
    assert_refused("input.map(a, {'': a})", &numbers(), TOO_LARGE);
    for what in ["y + y", "y + y + y"] {
        assert_refused(
            &format!("['a']{}", format!(".map(y, {what})").repeat(60)),
            &json!(null),
            TOO_MUCH,
        );
        assert_refused(
            &format!("[b'a']{}", format!(".map(y, {what})").repeat(60)),
            &json!(null),
            TOO_MUCH,
        );
        assert_refused(
            &format!("[[0]]{}", format!(".map(y, {what})").repeat(60)),
            &json!(null),
            TOO_MUCH,
        );
    }
    // Small in memory, because parts are shared, but large as JSON.
    assert_refused(&format!("[0]{}", ".map(y, [y, y])".repeat(40)), &json!(null), TOO_LARGE);
    assert_refused(
        &format!("[0]{}", ".map(y, {'a': y, 'b': y})".repeat(40)),
        &json!(null),
        TOO_LARGE,
    );
    assert_refused(
        &format!("[[]]{}.map(y, y == y)", ".map(y, [y, y, y, y])".repeat(40)),
        &json!(null),
        TOO_LARGE,
    );
    assert_refused("input.map(a, input)", &json!(vec!["abcdef"; 5000]), TOO_LARGE);
    let list = format!("[{}]", "1,".repeat(4000));
    assert_eq!(evaluated(&format!("size({list})"), &json!(null)), Ok(json!(4000)));
}

#[test]
fn regular_expressions_are_bounded() {
    let patterns = [
        "(a+)+$".to_owned(),
        "(a*)*(a*)*b".to_owned(),
        "a?".repeat(300) + &"a".repeat(300),
        "(a{0,30}){0,12}b".to_owned(),
        r"[\w\s]{0,250}b".to_owned(),
        "((a{1000}){1000}){1000}".to_owned(),
        "|".repeat(1000),
        "[^b]*".repeat(190) + "c",
        "(".repeat(1000),
        nested(45, "(", "a", ")*"),
        "a".to_owned() + &"*".repeat(900),
        "(?:(?:(?:a{0}){999}){999}){999}".to_owned(),
        letters(60_000),
        r"\pL".repeat(300),
        "(?i)".to_owned() + &r"[\x{0}-\x{10ffff}]".repeat(45),
        r"(?i)\PL".repeat(100),
        r"(\pL|\pN){0,90}$".to_owned(),
        "(?i)[^ä]{0,200}ö".to_owned(),
    ];
    for pattern in patterns {
        let input = json!({"text": letters(4000), "pattern": pattern, "list": vec![0; 1000]});
        let _ = evaluated("input.text.matches(input.pattern)", &input);
        let _ = evaluated(
            "input.list.all(a, input.list.all(b, input.text.matches(input.pattern) || true))",
            &input,
        );
        let _ = evaluated(
            "input.list.all(a, input.list.all(b, \
             'b'.matches(input.pattern + string(a) + string(b)) || true))",
            &input,
        );
    }
    assert_eq!(evaluated("input.matches('^(a+)+$')", &json!(letters(60_000))), Ok(json!(true)));
    let address = r"'^[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\\.[a-zA-Z]{2,}$'";
    let input = json!(vec!["somebody.else@example.com"; 2000]);
    assert_eq!(evaluated(&format!("input.all(a, a.matches({address}))"), &input), Ok(json!(true)));
}

#[test]
fn ordinary_work_fits() {
    let items: Vec<Value> = (0..400)
        .map(|id| json!({"id": id, "group": id % 7, "name": format!("item {id}"), "price": 1.5}))
        .collect();
    let input = json!({"items": items, "groups": [0, 1, 2, 3, 4, 5, 6], "long": vec![1; 20_000]});
    let grouped = "input.groups.map(g, {'group': g, 'names': input.items \
                   .filter(i, i.group == g).map(i, i.name + ' at ' + string(i.price))})";
    assert_eq!(evaluated(grouped, &input).unwrap()[6]["names"][0], json!("item 6 at 1.5"));
    assert_eq!(
        evaluated(
            "input.items.filter(i, input.items.exists(j, j.id == 399 - i.id)).size()",
            &input
        ),
        Ok(json!(400))
    );
    assert_eq!(evaluated("size(input.long.map(n, string(n * 2 + 1)))", &input), Ok(json!(20_000)));
    let conditions = vec!["input.groups[0] == 0"; 300].join(" && ");
    assert_eq!(evaluated(&conditions, &input), Ok(json!(true)));
    let text = vec!["input.items[3].name"; 150].join(" + ");
    assert_eq!(evaluated(&format!("size({text})"), &input), Ok(json!(6 * 150)));
}

proptest! {
    #[test]
    fn any_text_is_parsed_or_refused_with_a_reason(
        expression in "[-+!.,:?()\\[\\]{}'\"\\\\a-z0-9 \n&|=<é😀`/@#_]{0,60}",
    ) {
        let result = evaluate(&expression, &json!({"a": [1, 2]}));
        prop_assert_ne!(result, Err("the expression can't be parsed".to_owned()));
    }
}
