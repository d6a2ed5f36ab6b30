//! Which call a part belongs to, where servers number the calls wrongly or not at all.

use super::*;

/// The name and the input of each call.
fn made(deltas: &[Value]) -> Vec<(String, String)> {
    let mut made: Vec<(String, String)> = Vec::new();
    for piece in read(deltas, "tool_calls") {
        match piece {
            Piece::CallStarted { name, .. } => made.push((name, String::new())),
            Piece::CallInput { index, json } => made[index as usize].1.push_str(&json),
            _ => {}
        }
    }
    made
}

fn part(call: Value) -> Value {
    calls(json!([call]))
}

fn call(name: &str, input: &str) -> (String, String) {
    (name.to_owned(), input.to_owned())
}

#[test]
fn after_complete_input_a_name_begins_another_call() {
    let one = json!({"name": "f", "arguments": "{\"a\":1}"});
    let two = json!({"name": "f", "arguments": "{\"a\":2}"});
    let head = json!({"name": "f", "arguments": ""});
    let at_0 =
        |id: Value, function: &Value| part(json!({"index": 0, "id": id, "function": function}));
    let rest = |input: &str| part(json!({"index": 0, "function": {"arguments": input}}));
    for deltas in [
        // All are number 0, with empty ids, with none, or with one id.
        vec![at_0(json!(""), &one), at_0(json!(""), &two)],
        vec![calls(json!([{"index": 0, "function": one}, {"index": 0, "function": two}]))],
        vec![at_0(json!("a"), &one), at_0(json!("a"), &two)],
        vec![at_0(json!("a"), &one), part(json!({"index": 1, "id": "a", "function": two}))],
        vec![part(json!({"function": one})), part(json!({"function": two}))],
        // The head comes alone.
        vec![at_0(json!(""), &one), at_0(json!(""), &head), rest("{\"a\""), rest(":2}")],
    ] {
        let both = [call("f", "{\"a\":1}"), call("f", "{\"a\":2}")];
        assert_eq!(made(&deltas), both, "{deltas:?}");
    }
}

#[test]
fn a_name_that_is_repeated_begins_no_other_call() {
    let named = |more: Value, input: &str| {
        let mut call = json!({"function": {"name": "f", "arguments": input}});
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        part(call)
    };
    let at_0 = |input: &str| named(json!({"index": 0}), input);
    let known = |input: &str| named(json!({"index": 0, "id": "a"}), input);
    let bare = |input: &str| named(json!({}), input);
    for deltas in [
        vec![at_0("{\"a\""), at_0(":1}"), at_0("")],
        vec![known(""), known("{\"a\":1}"), known("")],
        vec![at_0(""), known("{\"a\":1}")],
        vec![bare("{\"a\""), bare(":1}")],
        vec![known(""), named(json!({"index": 7}), "{\"a\":1}")],
    ] {
        assert_eq!(made(&deltas), [call("f", "{\"a\":1}")], "{deltas:?}");
    }
}

#[test]
fn a_whole_call_that_is_repeated_is_one_call() {
    let whole = |more: Value| {
        let mut call = json!({"index": 0, "function": {"name": "f", "arguments": "{\"a\":1}"}});
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        part(call)
    };
    let known = || whole(json!({"id": "a"}));
    let unknown = || whole(json!({}));
    let head = json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"a\""}});
    let rest = json!({"index": 0, "function": {"arguments": ":1}"}});
    for deltas in [
        vec![known(), known()],
        vec![known(), unknown()],
        vec![unknown(), unknown()],
        vec![part(head), part(rest), known()],
    ] {
        assert_eq!(made(&deltas), [call("f", "{\"a\":1}")], "{deltas:?}");
    }
    let both = [call("f", "{\"a\":1}"), call("f", "{\"a\":1}")];
    assert_eq!(made(&[known(), whole(json!({"id": "b"}))]), both, "two ids are two calls");
    assert_eq!(made(&[known(), whole(json!({"index": 1, "id": "b"}))]), both);
}

#[test]
fn input_under_an_unknown_index_belongs_to_the_open_call() {
    let more = |index: Value, input: &str| {
        part(json!({"index": index, "id": null, "function": {"arguments": input}}))
    };
    let head = |index: u32, id: &str, name: &str| {
        part(json!({"index": index, "id": id, "function": {"name": name, "arguments": ""}}))
    };
    let wandering = [
        head(0, "a", "f"),
        more(json!(0), "{\"a\""),
        more(json!(1), ":"),
        more(json!(2), "1}"),
        more(json!(3), ""),
    ];
    assert_eq!(made(&wandering), [call("f", "{\"a\":1}")]);
    let first = || vec![head(0, "a", "f"), more(json!(0), "{\"a\":1}")];
    for second in [
        // The head of the second call has the number of the first one.
        vec![head(0, "b", "g"), more(json!(1), "{\"a\""), more(json!(1), ":2}")],
        // The input has the number of a call that is complete.
        vec![head(1, "b", "g"), more(json!(0), "{\"a\":2}")],
        // No number.
        vec![head(1, "b", "g"), more(json!("1"), "{\"a\""), more(json!(null), ":2}")],
    ] {
        let deltas = [first(), second].concat();
        let both = [call("f", "{\"a\":1}"), call("g", "{\"a\":2}")];
        assert_eq!(made(&deltas), both, "{deltas:?}");
    }
}

#[test]
fn a_known_id_counts_more_than_an_index() {
    let deltas = [
        part(json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{"}})),
        part(json!({"index": 1, "id": "b", "function": {"name": "g", "arguments": "["}})),
        part(json!({"index": 1, "id": "a", "function": {"arguments": "}"}})),
        part(json!({"index": 5, "id": "b", "function": {"arguments": "]"}})),
    ];
    assert_eq!(made(&deltas), [call("f", "{}"), call("g", "[]")]);
}

#[test]
fn the_providers_id_is_passed_on_once_when_it_comes() {
    let deltas = [
        part(json!({"index": 0, "id": "", "function": {"name": "f", "arguments": "{"}})),
        part(json!({"index": 0, "id": "late", "function": {"arguments": "}"}})),
        part(json!({"index": 0, "id": "other", "function": {"arguments": " "}})),
    ];
    assert_eq!(
        read(&deltas, "stop"),
        [
            started(0, "f"),
            input(0, "{"),
            call_id(0, "late"),
            input(0, "}"),
            input(0, " "),
            finished(FinishReason::ToolCalls, 1)
        ]
    );
}
