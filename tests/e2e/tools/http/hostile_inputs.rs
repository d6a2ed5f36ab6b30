//! Hostile inputs stay in their place of the request.

use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use crate::{
    support::{
        model::call,
        tool_scene::{ToolScene, http_tool},
        tool_server::ReceivedRequest,
    },
    tools::http::error_of,
};

/// Inputs that are known to break programs.
fn hostile() -> Vec<String> {
    let texts = [
        "Oslo",
        "",
        " ",
        " a b ",
        "a/b",
        "/",
        "//evil.test/",
        "../../admin",
        "..",
        ".",
        "...",
        "%2e%2e",
        "%2e%2e%2fadmin",
        "..;/",
        "..\\..\\admin",
        "a?b#c&d=e%f+g;h",
        "x&z=2",
        "http://evil.test/?q=1#f",
        "@evil.test:80/",
        "a\r\nHost: evil.test\r\n\r\nGET /admin HTTP/1.1",
        "a\nb",
        "nul \0 inside",
        "\u{7f}\u{85}\u{1b}[31m",
        "\"quoted\" and 'quoted' and \\",
        "{\"a\": [1]}",
        "} , \"admin\": true, {",
        "${secret.KEY} ${secret.X}",
        "{{input.y}} {{input}} {{",
        "$(id) `id` ;id |id",
        "<script>alert(1)</script>",
        "' OR 1=1 --",
        "Zürich 東京 👩‍👩‍👧 🇳🇴",
        "\u{202e}right to left\u{2066}",
        "%",
        "%00",
        "+",
    ];
    texts.map(str::to_owned).into_iter().chain(["x/ä".repeat(5_000)]).collect()
}

/// The decoded text between `before` and `after`. `None` if the text does not begin and end so, or
/// if the part between them is not encoded.
fn decoded_between(text: &str, before: &str, after: &str) -> Option<String> {
    let encoded = text.strip_prefix(before)?.strip_suffix(after)?;
    let is_encoded = !encoded.contains(['/', '?', '#', '&', '=', '+', ' ', '"', '\\']);
    is_encoded.then(|| percent_decode_str(encoded).decode_utf8().unwrap().into_owned())
}

/// A tool for each place of a request that an input can be in.
fn one_tool_per_place(url: &str) -> Value {
    let headers = json!({"headers": {"X-Input": "[{{input.x}}]"}});
    let body = json!({"body": {"x": "{{input.x}}", "in": "<{{input.x}}>", "z": 1}});
    json!([
        http_tool("path", "GET", &format!("{url}/echo/{{{{input.x}}}}/end?z=1"), json!({})),
        http_tool("query", "GET", &format!("{url}/echo?q={{{{input.x}}}}&z=1"), json!({})),
        http_tool("header", "GET", &format!("{url}/echo"), headers),
        http_tool("body", "POST", &format!("{url}/echo"), body),
    ])
}

/// The error of the tool for an input that its place cannot hold, or `None` if it can.
fn refusal(tool: &str, input: &str) -> Option<String> {
    match tool {
        "path" if input == "." || input == ".." => Some(format!(
            "expected an input that does not turn a part of the URL's path into {input}"
        )),
        "header" if input.contains(char::is_control) => Some(
            "the header X-Input of this tool can't be sent: input.x holds a line break \
             or another control character, which no header can carry"
                .to_owned(),
        ),
        _ => None,
    }
}

/// The input as the server received it.
fn received_input(tool: &str, request: &ReceivedRequest) -> Option<String> {
    match tool {
        "path" => decoded_between(&request.target, "/echo/", "/end?z=1"),
        "query" => decoded_between(&request.target, "/echo?q=", "&z=1"),
        "header" => {
            let value = request.header("x-input").strip_prefix('[')?.strip_suffix(']')?;
            Some(value.to_owned())
        }
        _ => {
            let input = request.json()["x"].as_str()?.to_owned();
            let expected = json!({"x": input, "in": format!("<{input}>"), "z": 1});
            assert_eq!(request.json(), expected);
            Some(input)
        }
    }
}

#[tokio::test]
async fn hostile_inputs_stay_in_their_place_of_the_request() {
    let Some(scene) = ToolScene::with(one_tool_per_place).await else { return };
    let inputs = hostile();
    for tool in ["path", "query", "header", "body"] {
        let with_input = |x: &String| call(tool, json!({"x": x, "y": "not this", "z": 2}));
        let calls = scene.calls(inputs.iter().map(with_input).collect()).await;
        assert_eq!(calls.len(), inputs.len());
        for (input, call) in inputs.iter().zip(&calls) {
            assert_in_place(&scene, tool, input, call);
        }
    }
    assert!(
        scene.server.requests().iter().all(|request| request.target.starts_with("/echo")),
        "an input smuggled in a request"
    );
}

/// Checks the request of this call, or that the call was refused.
fn assert_in_place(scene: &ToolScene, tool: &str, input: &str, call: &Value) {
    let requests = scene.server.of_call(call);
    if let Some(refusal) = refusal(tool, input) {
        assert_eq!(error_of(call), refusal, "{tool} {input:.100?}");
        assert_eq!(requests.len(), 0, "{tool} {input:.100?}");
        return;
    }
    assert_eq!(call["status"], "completed", "{tool} {input:.100?}: {call:.500}");
    assert_eq!(requests.len(), 1, "{tool} {input:.100?}: {call:.500}");
    let request = &requests[0];
    let received = received_input(tool, request);
    assert_eq!(received.as_deref(), Some(input), "{tool}: {:.300}", request.target);
    assert_eq!(request.header("host"), scene.server.allowed());
    assert_eq!(request.body.is_empty(), tool != "body");
}
