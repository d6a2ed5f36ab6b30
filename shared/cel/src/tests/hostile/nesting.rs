//! The limit of nesting, which bounds every recursion.

use proptest::prelude::*;
use serde_json::json;

use super::{assert_refused, evaluated, letters, nested};
use crate::{
    syntax::{Macro, Node, depth::levels, parse},
    tests::check,
};

const TOO_DEEP: &str = "the expression is nested too deeply; simplify it";

/// The forms that nest: each has a start, a middle and an end.
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

fn depth(node: &Node) -> usize {
    let deepest = |nodes: &mut dyn Iterator<Item = &Node>| nodes.map(depth).max().unwrap_or(0);
    1 + match node {
        Node::Constant(_) | Node::Input(_) | Node::Variable(_) => 0,
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
        if let (Ok(levels), Ok(node)) = (levels(&expression), parse(&expression, &["input"])) {
            prop_assert!(depth(&node) <= levels + 1, "{} levels of {}", levels, expression);
        }
    }
}
