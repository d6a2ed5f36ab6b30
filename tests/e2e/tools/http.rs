//! HTTP tools: the server receives each input in its place of the request, and nothing else
//! changes.

use std::collections::BTreeSet;

use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use crate::support::{
    model::{answer, call, say, stop},
    tool_scene::{ToolScene, but, http_tool},
    tool_server::ReceivedRequest,
    waiting::SOON,
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

fn error_of(call: &Value) -> &str {
    assert_eq!(call["status"], "failed", "{call:.500}");
    call["output"]["error"].as_str().unwrap_or_else(|| panic!("no error in {call}"))
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

#[tokio::test]
async fn an_input_too_long_for_a_url_is_reported_and_the_run_continues() {
    let tools = |url: &str| {
        json!([
            http_tool("path", "GET", &format!("{url}/echo/{{{{input.x}}}}"), json!({})),
            http_tool("body", "PUT", &format!("{url}/echo"), json!({"body": "{{input.x}}"})),
        ])
    };
    let Some(scene) = ToolScene::with(tools).await else { return };
    let x = "x".repeat(70_000);
    let calls =
        scene.calls(vec![call("path", json!({"x": x})), call("body", json!({"x": x}))]).await;
    assert!(error_of(&calls[0]).len() < 300, "{calls:.500?}");
    assert_eq!(scene.server.of_call(&calls[1])[0].json(), json!(x));
    let output = calls[1]["output"].as_str().unwrap();
    assert!(output.len() < 33_000 && output.ends_with(" more bytes)"), "{output:.300}");
}

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

#[tokio::test]
async fn a_request_carries_an_idempotency_key_a_trace_and_its_chain_depth() {
    let tools = |url: &str| {
        let headers = json!({"headers": {"Accept": "text/csv"}});
        json!([http_tool("echo", "GET", &format!("{url}/echo"), headers)])
    };
    let Some(scene) = ToolScene::with(tools).await else { return };
    let stack = &scene.stack;
    // Ada's message wakes Bea, whose run is one deeper in the chain.
    let model = json!({"provider": "openai", "name": stack.model.name("bea")});
    let settings = json!({"model": model, "tools": tools(&scene.server.url)});
    let bea = stack.agent_with("Bea", settings).await;
    let path = format!("/v1/spaces/{}", scene.space);
    stack.put(&format!("{path}/members/{bea}"), json!({})).await.must_be(200);
    stack.patch(&path, json!({"triggerPolicy": "mention"})).await.must_be(200);
    let twice = || answer([call("echo", json!({})), call("echo", json!({}))]);
    let once = call("echo", json!({})).into();
    stack.model.plays("ada", [twice(), once, say("@Bea and you?").into(), stop()]);
    stack.model.plays("bea", [twice(), stop()]);
    stack.post(&scene.space, &scene.person, "@Ada go on").await;
    stack.quiet(&scene.space).await;

    let mut traces = BTreeSet::new();
    let mut spans = BTreeSet::new();
    for (run, expected) in stack.runs_of(&scene.space).await.iter().zip([2, 3]) {
        let run = stack.run(run["id"].as_str().unwrap()).await;
        let depth = run["chainDepth"].as_u64().unwrap() + 1;
        let calls: Vec<_> = run["steps"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|step| step["calls"].as_array().unwrap())
            .collect();
        let mut traces_of_run = BTreeSet::new();
        let mut requests = 0;
        for call in calls.into_iter().filter(|call| call["name"] == "echo") {
            let received = scene.server.of_call(call);
            assert_eq!(received.len(), 1, "the idempotency key must be the call's id: {call}");
            let request = &received[0];
            assert_eq!(request.header("smartspace-chain-depth"), depth.to_string());
            assert_eq!([request.header("accept"), request.header("cookie")], ["text/csv", ""]);
            assert!(request.header("user-agent").starts_with("smartspace/"), "{request:?}");
            let (trace, span) = trace_and_span(request);
            traces_of_run.insert(trace);
            assert!(spans.insert(span), "two calls have the same span");
            requests += 1;
        }
        assert_eq!((traces_of_run.len(), requests), (1, expected), "{run:.300}");
        traces.extend(traces_of_run);
    }
    assert_eq!(traces.len(), 2, "each run has its own trace");
    let requests = scene.server.requests();
    assert_eq!(requests.len(), 5);
    let mut depths: Vec<_> =
        requests.iter().map(|request| request.header("smartspace-chain-depth")).collect();
    depths.dedup();
    assert_eq!(depths, ["1", "2"]);
}

/// The ids of the trace and of the span in a request's `traceparent`.
fn trace_and_span(request: &ReceivedRequest) -> (String, String) {
    let parts: Vec<_> = request.header("traceparent").split('-').collect();
    let is_hex = |part: &str, length| {
        part.len() == length && part.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'))
    };
    let [version, trace, span, flags] = parts[..] else { panic!("{parts:?}") };
    assert!(
        version == "00" && is_hex(trace, 32) && is_hex(span, 16) && is_hex(flags, 2),
        "{parts:?}"
    );
    assert!(![trace, span].iter().any(|id| id.trim_matches('0').is_empty()), "{parts:?}");
    (trace.to_owned(), span.to_owned())
}

#[tokio::test]
async fn outputs_are_json_or_text_and_input_that_violates_the_schema_is_not_sent() {
    let schema = json!({
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": false,
    });
    let tools = |url: &str| {
        json!([
            but(
                http_tool("echo", "GET", &format!("{url}/echo?city={{{{input.city}}}}"), json!({})),
                json!({"inputSchema": schema})
            ),
            http_tool("text", "GET", &format!("{url}/text"), json!({})),
            http_tool("empty", "GET", &format!("{url}/status/204"), json!({})),
        ])
    };
    let Some(scene) = ToolScene::with(tools).await else { return };
    let calls = scene.calls(vec![
        call("echo", json!({"city": "Oslo"})),
        call("echo", json!({"city": 5})),
        call("echo", json!({"city": "Oslo", "url": "http://evil.test"})),
        call("text", json!({})),
        call("empty", json!({})),
    ]);
    let calls = calls.await;
    assert_eq!(calls[0]["output"]["target"], "/echo?city=Oslo");
    assert!(
        error_of(&calls[1]).starts_with(
            "the input of echo does not fit at /city: 5 is not of type \"string\"; expected {"
        ),
        "{calls:?}"
    );
    assert!(error_of(&calls[2]).contains("url"), "{calls:?}");
    assert_eq!(
        (&calls[3]["output"], &calls[4]["output"]),
        (&json!("plain text"), &json!({"status": 204}))
    );
    assert_eq!(scene.server.requests().len(), 3);
    let socket = scene.stack.socket().await;
    socket.subscribe(&scene.space, Some(0)).await;
    socket.frame("message.created", SOON, |frame| frame["message"]["seq"] == 1).await;
    assert_eq!(scene.cards().await, [] as [Value; 0], "a hidden call has a card");
}
