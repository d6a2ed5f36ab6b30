//! The limits that careless expressions and hostile inputs reach.

use std::{
    thread,
    time::{Duration, Instant},
};

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{
    check, evaluate,
    syntax::{Macro, Node, depth::levels, parse},
};

const TOO_LONG: &str = "the expression takes too long over this input; give it a smaller input";
const TOO_MUCH: &str =
    "the expression takes too much memory over this input; give it a smaller input";
const TOO_LARGE: &str = "a value is too large";
const TOO_DEEP: &str = "the expression is nested too deeply; simplify it";

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

/// What nests: a start, a middle and an end.
const NESTING_FORMS: [(&str, &str, &str); 22] = [
    ("(", "1", ")"),
    ("(1 + ", "1", ")"),
    ("(true ? ", "1", " : 2)"),
    ("[", "1", "]"),
    ("{'a': ", "1", "}"),
    ("size(", "'a'", ")"),
    ("'a'.contains(", "'a'", ")"),
    ("[0, 0][", "0", "]"),
    ("[1].map(a, ", "1", ")"),
    ("[1].filter(a, true && !", "true", ")"),
    ("(true || 1 == 1 && 1 < 1 + 1 * -", "1", ")"),
    ("", "1", " + 1"),
    ("", "'a'", " + 'a'"),
    ("", "[1]", ".map(a, a)"),
    ("", "[1]", ".filter(a, true)"),
    ("", "input", ".a"),
    ("", "input", "['a']"),
    ("", "'a'", ".size()"),
    ("false ? 1 : ", "1", ""),
    ("!-", "1", ""),
    ("true && ", "true", ""),
    ("[[", "1", "]]"),
];

#[test]
fn depth_is_bounded() {
    let mut deep = json!(0);
    for _ in 0..127 {
        deep = json!([deep]);
    }
    for (before, middle, after) in NESTING_FORMS {
        // The largest count that fits, after counts up to and far beyond each limit.
        let mut fitting = 0;
        for count in (1..=260).chain([1000, 8000]) {
            let expression = nested(count, before, middle, after);
            if expression.len() <= 8192 && check(&expression).is_ok() {
                fitting = count;
            }
        }
        assert!(fitting >= 10, "{before}{after}");
        let expression = nested(fitting, before, middle, after);
        let _ = evaluated(&expression, &deep);
        let _ = evaluated(
            &format!(
                "[input == input, {}]",
                nested(fitting.saturating_sub(3), before, middle, after)
            ),
            &deep,
        );
    }
    assert_eq!(evaluated("input == input", &deep), Ok(json!(true)));
    assert_eq!(evaluated("input", &deep), Ok(deep.clone()));
    let too_deep = "lists and maps are nested too deeply; they may have at most 127 levels";
    assert_refused("[input]", &deep, too_deep);
    assert_refused(&format!("[0]{}", ".map(a, [[[a]]])".repeat(60)), &json!(null), too_deep);
    assert_refused(
        "1",
        &json!([deep]),
        "the input is nested too deeply; lists and maps may have at most 127 levels",
    );
    assert_refused(
        &nested(33, "(", "1", ")"),
        &json!(null),
        "line 1, column 33: the expression is nested too deeply; simplify it",
    );
    assert_refused(&nested(250, "", "1", "+1"), &json!(null), TOO_DEEP);
    assert_refused(&nested(8000, "-", "1", ""), &json!(null), TOO_DEEP);
    assert_refused(
        &letters(8193),
        &json!(null),
        "the expression is too long; it may have at most 8192 bytes",
    );
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

fn depth(node: &Node) -> usize {
    let deepest = |nodes: &mut dyn Iterator<Item = &Node>| nodes.map(depth).max().unwrap_or(0);
    1 + match node {
        Node::Constant(_) | Node::Input | Node::Variable(_) => 0,
        Node::Field(of, _) | Node::HasField(of, _) | Node::Unary(_, of) => depth(of),
        Node::List(items) => deepest(&mut items.iter()),
        Node::Map(entries) => deepest(&mut entries.iter().flat_map(|(key, value)| [key, value])),
        Node::And(operands) | Node::Or(operands) | Node::Binary(_, operands) => {
            deepest(&mut operands.iter())
        }
        Node::Conditional(operands) => deepest(&mut operands.iter()),
        Node::Macro(
            Macro::All(item)
            | Macro::Exists(item)
            | Macro::ExistsOne(item)
            | Macro::Map(None, item),
            over,
        ) => depth(item).max(depth(over)),
        Node::Macro(Macro::Map(Some(predicate), item), over) => {
            depth(predicate).max(depth(item)).max(depth(over))
        }
    }
}

fn any_expression() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec!["1", "'a'", "input", "true", "[1]", "{'a': 1}", "-1"])
        .prop_map(str::to_owned);
    leaf.prop_recursive(12, 200, 3, |inner| {
        let operator = prop::sample::select(vec!["+", "-", "*", "/", "==", "<", "in", "&&", "||"]);
        prop_oneof![
            (inner.clone(), operator, inner.clone())
                .prop_map(|(one, operator, other)| format!("{one} {operator} {other}")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(one, two, three)| format!("{one} ? {two} : {three}")),
            inner.clone().prop_map(|one| format!("({one})")),
            inner.clone().prop_map(|one| format!("!{one}")),
            inner.clone().prop_map(|one| format!("-{one}")),
            inner.clone().prop_map(|one| format!("{one}.a")),
            inner.clone().prop_map(|one| format!("{one}.size()")),
            inner.clone().prop_map(|one| format!("string({one})")),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| format!("{one}[{other}]")),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| format!("[{one}, {other}]")),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| format!("{{{one}: {other}}}")),
            (inner.clone(), inner.clone())
                .prop_map(|(one, other)| format!("{one}.map(x, {other})")),
            (inner.clone(), inner.clone())
                .prop_map(|(one, other)| format!("{one}.all(x, {other})")),
        ]
    })
}

proptest! {
    /// The recursion over an expression relies on the count of `levels`.
    #[test]
    fn no_expression_is_deeper_than_its_counted_levels(expression in any_expression()) {
        if let (Ok(levels), Ok(node)) = (levels(&expression), parse(&expression)) {
            prop_assert!(depth(&node) <= levels + 1, "{} levels of {}", levels, expression);
        }
    }

    #[test]
    fn any_text_is_parsed_or_refused_with_a_reason(
        expression in "[-+!.,:?()\\[\\]{}'\"\\\\a-z0-9 \n&|=<é😀`/@#_]{0,60}",
    ) {
        let result = evaluate(&expression, &json!({"a": [1, 2]}));
        prop_assert_ne!(result, Err("the expression can't be parsed".to_owned()));
    }
}
