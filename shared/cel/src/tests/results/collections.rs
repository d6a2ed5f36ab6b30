//! Lists, maps and macros.

use serde_json::json;

use super::{assert_errors, assert_values};

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
