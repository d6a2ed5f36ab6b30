//! Values of each type, and absent values, in each place of a request.

use serde_json::{Value, json};

use crate::support::{
    model::call,
    tool_scene::{ToolScene, http_tool},
};

/// Tools with values of each type and with absent values, in each place.
fn typed_tools(url: &str) -> Value {
    let body = json!({
        "number": "{{input.n}}",
        "float": "{{ input.f }}",
        "flag": "{{input.flag}}",
        "list": "{{input.list}}",
        "deep": {"a": "{{input.o.a.1}}"},
        "text": "n is {{input.n}}, {{input.list}}, {{input.gone}}.",
        "gone": "{{input.gone}}",
        "null": "{{input.null}}",
        "in": {"gone": "{{input.gone}}"},
        "items": ["{{input.gone}}", "{{input.flag}}", 7],
        "as it is": [true, null, 1.5, "$NAME {x} $"],
    });
    let headers = json!({
        "X-Gone": "{{input.gone}}",
        "X-Null": "{{input.null}}",
        "X-List": "{{input.list}}",
        "X-Part": "a{{input.gone}}b",
    });
    let query = [
        "a={{input.gone}}",
        "n={{input.n}}",
        "b={{input.null}}",
        "f=x{{input.gone}}",
        "l={{input.list}}",
        "e=",
    ]
    .join("&");
    let typed = json!({"body": body, "headers": headers});
    json!([
        http_tool("body", "POST", &format!("{url}/echo"), typed),
        http_tool("whole", "PATCH", &format!("{url}/echo"), json!({"body": "{{input}}"})),
        http_tool("query", "DELETE", &format!("{url}/echo?{query}"), json!({})),
        http_tool("bare", "GET", &format!("{url}/echo?a={{{{input.gone}}}}"), json!({})),
    ])
}

#[tokio::test]
async fn values_keep_their_types_in_a_body_and_absent_values_are_left_out() {
    let Some(scene) = ToolScene::with(typed_tools).await else { return };
    let input = json!({
        "n": 12_345_678_901_234_567_u64,
        "f": -0.5,
        "flag": false,
        "list": [1, "a\"", null],
        "o": {"a": [0, {"b": "c"}]},
        "null": null,
    });
    let tools = ["body", "whole", "query", "bare"];
    let calls = scene.calls(tools.iter().map(|tool| call(tool, input.clone())).collect()).await;
    let requests: Vec<_> = calls.iter().map(|call| scene.server.of_call(call).remove(0)).collect();
    let expected = json!({
        "number": 12_345_678_901_234_567_u64,
        "float": -0.5,
        "flag": false,
        "list": [1, "a\"", null],
        "deep": {"a": {"b": "c"}},
        "text": "n is 12345678901234567, [1,\"a\\\"\",null], .",
        "in": {},
        "items": [null, false, 7],
        "as it is": [true, null, 1.5, "$NAME {x} $"],
    });
    assert_eq!((requests[0].json(), requests[1].json()), (expected, input));
    let of_input = |name: &str| name.starts_with("x-").then(|| requests[0].header(name).to_owned());
    let mut sent: Vec<_> = requests[0]
        .headers
        .keys()
        .filter_map(|name| Some((name.as_str(), of_input(name.as_str())?)))
        .collect();
    sent.sort_unstable();
    assert_eq!(sent, [("x-list", r#"[1,"a\"",null]"#.to_owned()), ("x-part", "ab".to_owned())]);
    assert_eq!(
        [requests[0].header("content-type"), requests[2].header("content-type")],
        ["application/json", ""]
    );
    let list = "%5B1%2C%22a%5C%22%22%2Cnull%5D";
    assert_eq!(requests[2].target, format!("/echo?n=12345678901234567&f=x&l={list}&e="));
    assert_eq!(requests[3].target, "/echo");
    let methods: Vec<_> = requests.iter().map(|request| request.method.as_str()).collect();
    assert_eq!(methods, ["POST", "PATCH", "DELETE", "GET"]);
}
