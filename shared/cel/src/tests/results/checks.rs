//! Expressions that are refused before they are evaluated.

use serde_json::json;

use crate::tests::{check, evaluate};

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

#[test]
fn an_expression_uses_the_variables_that_it_is_given() {
    let (input, space) = (json!({"a": 1}), json!({"name": "Desk"}));
    let variables = [("input", &input), ("space", &space)];
    let names = ["input", "space"];
    for (expression, expected) in [
        ("input.a", Ok(json!(1))),
        ("space.name + string(.input.a)", Ok(json!("Desk1"))),
        // The variable of a macro hides the one with the same name.
        ("[2].map(space, space + input.a)", Ok(json!([3]))),
        ("[2].map(x, .space.name)", Ok(json!(["Desk"]))),
    ] {
        assert_eq!(crate::check(expression, &names), Ok(()), "{expression}");
        assert_eq!(crate::evaluate(expression, &variables), expected, "{expression}");
    }
    let unknown = "unknown name 'tool'; an expression can use 'input', 'space' and the variables \
                   of macros";
    assert_eq!(crate::check("tool", &names), Err(unknown.to_owned()));
    assert_eq!(crate::evaluate("tool", &variables), Err(unknown.to_owned()));
    assert_eq!(crate::evaluate("tool", &[("tool", &input)]), Ok(input));
}
