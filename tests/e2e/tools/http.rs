//! HTTP tools: their requests and their outputs.

mod hostile_inputs;
mod values;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{
    model::{answer, call, say, stop},
    tool_scene::{ToolScene, but, http_tool},
    tool_server::ReceivedRequest,
    waiting::SOON,
};

fn error_of(call: &Value) -> &str {
    assert_eq!(call["status"], "failed", "{call:.500}");
    call["output"]["error"].as_str().unwrap_or_else(|| panic!("no error in {call}"))
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

#[tokio::test]
async fn a_request_carries_an_idempotency_key_a_trace_and_its_chain_depth() {
    let tools = |url: &str| {
        let headers = json!({"headers": {"Accept": "text/csv"}});
        json!([http_tool("echo", "GET", &format!("{url}/echo"), headers)])
    };
    let Some(scene) = ToolScene::with(tools).await else { return };
    let stack = &scene.stack;
    // Ada's message triggers Bea, whose run is one deeper in the chain.
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
