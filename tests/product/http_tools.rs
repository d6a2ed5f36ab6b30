//! Tools that send requests: what the server receives is the input, in its place, and nothing else changes.

use std::collections::BTreeSet;

use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::{
    acting::{Acting, but, http_tool},
    model::{answer, call, say, stop},
    waiting::SOON,
};

/// What has broken one program or another.
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

/// The input's place in a text that begins and ends so, decoded. None where anything around it is not as it should be.
fn place(text: &str, before: &str, after: &str) -> Option<String> {
    let place = text.strip_prefix(before)?.strip_suffix(after)?;
    let is_closed = !place.contains(['/', '?', '#', '&', '=', '+', ' ', '"', '\\']);
    is_closed.then(|| percent_decode_str(place).decode_utf8().unwrap().into_owned())
}

fn error_of(call: &Value) -> &str {
    assert_eq!(call["status"], "failed", "{call:.500}");
    call["output"]["error"].as_str().unwrap_or_else(|| panic!("no error in {call}"))
}

#[tokio::test]
async fn whatever_is_put_in_it_stays_in_its_place() {
    let tools = |url: &str| {
        json!([
            http_tool("path", "GET", &format!("{url}/echo/{{{{input.x}}}}/end?z=1"), json!({})),
            http_tool("query", "GET", &format!("{url}/echo?q={{{{input.x}}}}&z=1"), json!({})),
            http_tool("header", "GET", &format!("{url}/echo"), json!({"headers": {"X-Input": "[{{input.x}}]"}})),
            http_tool("body", "POST", &format!("{url}/echo"), json!({"body": {"x": "{{input.x}}", "in": "<{{input.x}}>", "z": 1}})),
        ])
    };
    let Some(acting) = Acting::with(tools).await else { return };
    for (tool, checks) in [("path", 0), ("query", 1), ("header", 2), ("body", 3)] {
        let inputs = hostile();
        let calls = acting.calls(inputs.iter().map(|x| call(tool, json!({"x": x, "y": "not this", "z": 2}))).collect()).await;
        assert_eq!(calls.len(), inputs.len());
        for (x, call) in inputs.iter().zip(&calls) {
            let seen = acting.server.of_call(call);
            let refusal = match checks {
                0 if x == "." || x == ".." => Some(format!("expected input that makes no {x} of a part of the address's path")),
                2 if x.contains(char::is_control) => Some(
                    "the header X-Input of this tool can't be sent: input.x holds a line break or another control character, which no header can carry".to_owned(),
                ),
                _ => None,
            };
            if let Some(refusal) = refusal {
                assert_eq!((error_of(call), seen.len()), (refusal.as_str(), 0), "{tool} {x:.100?}");
                continue;
            }
            assert_eq!((&call["status"], seen.len()), (&json!("completed"), 1), "{tool} {x:.100?}: {call:.500}");
            let seen = &seen[0];
            let received = match checks {
                0 => place(&seen.target, "/echo/", "/end?z=1"),
                1 => place(&seen.target, "/echo?q=", "&z=1"),
                2 => seen.header("x-input").strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).map(str::to_owned),
                _ => {
                    assert_eq!(seen.json(), json!({"x": x, "in": format!("<{x}>"), "z": 1}));
                    Some(x.clone())
                }
            };
            assert_eq!(received.as_ref(), Some(x), "{tool}: {:.300}", seen.target);
            assert_eq!(seen.header("host"), acting.server.allowed());
            assert_eq!(seen.body.is_empty(), checks != 3);
        }
    }
    assert!(acting.server.seen().iter().all(|seen| seen.target.starts_with("/echo")), "nothing was smuggled in");
}

#[tokio::test]
async fn what_is_longer_than_any_address_is_told_and_the_run_goes_on() {
    let tools = |url: &str| {
        json!([
            http_tool("path", "GET", &format!("{url}/echo/{{{{input.x}}}}"), json!({})),
            http_tool("body", "PUT", &format!("{url}/echo"), json!({"body": "{{input.x}}"})),
        ])
    };
    let Some(acting) = Acting::with(tools).await else { return };
    let x = "x".repeat(70_000);
    let calls = acting.calls(vec![call("path", json!({"x": x})), call("body", json!({"x": x}))]).await;
    assert!(error_of(&calls[0]).len() < 300, "{calls:.500?}");
    assert_eq!(acting.server.of_call(&calls[1])[0].json(), json!(x));
    let told = calls[1]["output"].as_str().unwrap();
    assert!(told.len() < 33_000 && told.ends_with(" more bytes)"), "{told:.300}");
}

#[tokio::test]
async fn values_keep_their_types_in_a_body_and_what_is_absent_is_left_out() {
    let body = json!({
        "number": "{{input.n}}", "float": "{{ input.f }}", "flag": "{{input.flag}}", "list": "{{input.list}}", "deep": {"a": "{{input.o.a.1}}"},
        "text": "n is {{input.n}}, {{input.list}}, {{input.gone}}.", "gone": "{{input.gone}}", "null": "{{input.null}}", "in": {"gone": "{{input.gone}}"},
        "items": ["{{input.gone}}", "{{input.flag}}", 7], "as it is": [true, null, 1.5, "$NAME {x} $"],
    });
    let headers = json!({"X-Gone": "{{input.gone}}", "X-Null": "{{input.null}}", "X-List": "{{input.list}}", "X-Part": "a{{input.gone}}b"});
    let tools = |url: &str| {
        json!([
            http_tool("body", "POST", &format!("{url}/echo"), json!({"body": body, "headers": headers})),
            http_tool("whole", "PATCH", &format!("{url}/echo"), json!({"body": "{{input}}"})),
            http_tool(
                "query",
                "DELETE",
                &format!(
                    "{url}/echo?a={{{{input.gone}}}}&n={{{{input.n}}}}&b={{{{input.null}}}}&f=x{{{{input.gone}}}}&l={{{{input.list}}}}&e="
                ),
                json!({})
            ),
            http_tool("bare", "GET", &format!("{url}/echo?a={{{{input.gone}}}}"), json!({})),
        ])
    };
    let Some(acting) = Acting::with(tools).await else { return };
    let input = json!({"n": 12_345_678_901_234_567_u64, "f": -0.5, "flag": false, "list": [1, "a\"", null], "o": {"a": [0, {"b": "c"}]}, "null": null});
    let calls = acting.calls(["body", "whole", "query", "bare"].iter().map(|tool| call(tool, input.clone())).collect()).await;
    let seen: Vec<_> = calls.iter().map(|call| acting.server.of_call(call).remove(0)).collect();
    let expected = json!({
        "number": 12_345_678_901_234_567_u64, "float": -0.5, "flag": false, "list": [1, "a\"", null], "deep": {"a": {"b": "c"}},
        "text": "n is 12345678901234567, [1,\"a\\\"\",null], .", "in": {}, "items": [null, false, 7], "as it is": [true, null, 1.5, "$NAME {x} $"],
    });
    assert_eq!((seen[0].json(), seen[1].json()), (expected, input));
    let of_input = |name: &str| name.starts_with("x-").then(|| seen[0].header(name).to_owned());
    let mut sent: Vec<_> = seen[0].headers.keys().filter_map(|name| Some((name.as_str(), of_input(name.as_str())?))).collect();
    sent.sort_unstable();
    assert_eq!(sent, [("x-list", r#"[1,"a\"",null]"#.to_owned()), ("x-part", "ab".to_owned())]);
    assert_eq!([seen[0].header("content-type"), seen[2].header("content-type")], ["application/json", ""]);
    let list = "%5B1%2C%22a%5C%22%22%2Cnull%5D";
    assert_eq!(seen[2].target, format!("/echo?n=12345678901234567&f=x&l={list}&e="));
    assert_eq!(seen[3].target, "/echo");
    let methods: Vec<_> = seen.iter().map(|seen| seen.method.as_str()).collect();
    assert_eq!(methods, ["POST", "PATCH", "DELETE", "GET"]);
}

#[tokio::test]
async fn a_request_tells_its_call_its_run_and_how_deep_it_is() {
    let tools = |url: &str| json!([http_tool("echo", "GET", &format!("{url}/echo"), json!({"headers": {"Accept": "text/csv"}}))]);
    let Some(acting) = Acting::with(tools).await else { return };
    let stack = &acting.stack;
    // What this one says wakes the other, whose run is one deeper.
    let bea = json!({"model": {"provider": "openai", "name": stack.model.name("bea")}, "tools": tools(&acting.server.url)});
    let bea = stack.agent_with("Bea", bea).await;
    stack.put(&format!("/v1/spaces/{}/members/{bea}", acting.space), json!({})).await.must_be(200);
    stack.patch(&format!("/v1/spaces/{}", acting.space), json!({"triggerPolicy": "mention"})).await.must_be(200);
    let twice = || answer([call("echo", json!({})), call("echo", json!({}))]);
    stack.model.plays("ada", [twice(), call("echo", json!({})).into(), say("@Bea and you?").into(), stop()]);
    stack.model.plays("bea", [twice(), stop()]);
    stack.post(&acting.space, &acting.person, "@Ada go on").await;
    stack.quiet(&acting.space).await;

    let mut traces = BTreeSet::new();
    let mut spans = BTreeSet::new();
    for (run, expected) in stack.runs_of(&acting.space).await.iter().zip([2, 3]) {
        let run = stack.run(run["id"].as_str().unwrap()).await;
        let depth = run["chainDepth"].as_u64().unwrap() + 1;
        let calls: Vec<_> = run["steps"].as_array().unwrap().iter().flat_map(|step| step["calls"].as_array().unwrap()).collect();
        let mut trace = BTreeSet::new();
        let mut requests = 0;
        for call in calls.into_iter().filter(|call| call["name"] == "echo") {
            let seen = acting.server.of_call(call);
            assert_eq!(seen.len(), 1, "its key is the call's id: {call}");
            assert_eq!(seen[0].header("smartspace-chain-depth"), depth.to_string());
            assert_eq!([seen[0].header("accept"), seen[0].header("cookie")], ["text/csv", ""]);
            assert!(seen[0].header("user-agent").starts_with("smartspace/"), "{seen:?}");
            let parts: Vec<_> = seen[0].header("traceparent").split('-').collect();
            let is_hex = |part: &str, length| part.len() == length && part.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'));
            let [version, of_run, span, flags] = parts[..] else { panic!("{parts:?}") };
            assert!(version == "00" && is_hex(of_run, 32) && is_hex(span, 16) && is_hex(flags, 2), "{parts:?}");
            assert!(![of_run, span].iter().any(|id| id.trim_matches('0').is_empty()), "{parts:?}");
            trace.insert(of_run.to_owned());
            assert!(spans.insert(span.to_owned()), "each call has a span of its own");
            requests += 1;
        }
        assert_eq!((trace.len(), requests), (1, expected), "{run:.300}");
        traces.extend(trace);
    }
    assert_eq!((traces.len(), acting.server.seen().len()), (2, 5), "a trace for each run");
    let mut depths: Vec<_> = acting.server.seen().iter().map(|seen| seen.header("smartspace-chain-depth").to_owned()).collect();
    depths.dedup();
    assert_eq!(depths, ["1", "2"]);
}

#[tokio::test]
async fn what_comes_back_is_json_or_text_and_what_does_not_fit_is_refused_before_it_is_sent() {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": false});
    let tools = |url: &str| {
        json!([
            but(http_tool("echo", "GET", &format!("{url}/echo?city={{{{input.city}}}}"), json!({})), json!({"inputSchema": schema})),
            http_tool("text", "GET", &format!("{url}/text"), json!({})),
            http_tool("empty", "GET", &format!("{url}/status/204"), json!({})),
        ])
    };
    let Some(acting) = Acting::with(tools).await else { return };
    let calls = acting.calls(vec![
        call("echo", json!({"city": "Oslo"})),
        call("echo", json!({"city": 5})),
        call("echo", json!({"city": "Oslo", "url": "http://evil.test"})),
        call("text", json!({})),
        call("empty", json!({})),
    ]);
    let calls = calls.await;
    assert_eq!(calls[0]["output"]["target"], "/echo?city=Oslo");
    assert!(
        error_of(&calls[1]).starts_with("the input of echo does not fit at /city: 5 is not of type \"string\"; expected {"),
        "{calls:?}"
    );
    assert!(error_of(&calls[2]).contains("url"), "{calls:?}");
    assert_eq!((&calls[3]["output"], &calls[4]["output"]), (&json!("plain text"), &json!({"status": 204})));
    assert_eq!(acting.server.seen().len(), 3);
    let nobody = acting.stack.socket().await;
    nobody.subscribe(&acting.space, Some(0)).await;
    nobody.frame("message.created", SOON, |frame| frame["message"]["seq"] == 1).await;
    assert_eq!(acting.cards().await, [] as [Value; 0], "what is not visible shows nothing");
}
