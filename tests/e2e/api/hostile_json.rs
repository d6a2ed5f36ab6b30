//! JSON that abuses a reserved key of the JSON library. A few kilobytes of it must not end the
//! process.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use crate::{
    support::{
        client::Client,
        model::{answer, call, raw_call, stop},
        stack::Stack,
        waiting::SOON,
    },
    tools::forms::scene::{answer_form, form_tool},
};

/// Nested lists with a reserved key at the bottom. Its value is a text that holds JSON of the same
/// kind, for the given number of levels.
fn hostile(levels: usize) -> String {
    let nested = |inner: &str| format!("{}{inner}{}", "[".repeat(100), "]".repeat(100));
    (0..levels).fold(nested("1"), |inner, _| {
        nested(&json!({"$serde_json::private::RawValue": inner}).to_string())
    })
}

#[tokio::test]
async fn deeply_nested_hostile_json_is_refused_everywhere() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let bad = hostile(10);
    stack.model.plays(
        "ada",
        [answer([raw_call("ask", &format!(r#"{{"a": {bad}}}"#)), call("ask", json!({}))]), stop()],
    );
    let person = stack.person("Husam").await;
    let model = json!({"provider": "openai", "name": stack.model.name("ada")});
    let tools = [form_tool("ask", json!({}))];
    let agent = stack.agent_with("Ada", json!({"model": model, "tools": tools})).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, None).await;
    stack.post(&space, &person, "Hello").await;
    let form = socket.frame("tool.requested", SOON, |_| true).await.body;

    let header = BASE64_URL_SAFE_NO_PAD.encode(format!(r#"{{"alg":"HS256","x":{bad}}}"#));
    let claims = BASE64_URL_SAFE_NO_PAD.encode(format!(r#"{{"sub":"x","name":{bad}}}"#));
    for token in [format!("{header}.e30.eA"), format!("eyJhbGciOiJIUzI1NiJ9.{claims}.eA")] {
        assert_eq!(Client::with(&stack, &token).get("/v1/spaces").await.status, 401);
    }
    let run = form["runId"].as_str().unwrap();
    let call = form["callId"].as_str().unwrap();
    let requests = [
        (format!("/v1/runs/{run}/toolCalls/{call}/result"), format!(r#"{{"output": {bad}}}"#)),
        (format!("/v1/spaces/{space}/messages"), format!(r#"{{"text": {bad}}}"#)),
        ("/v1/entities".to_owned(), bad.clone()),
    ];
    for (path, body) in requests {
        let sent = stack.request(reqwest::Method::POST, &path).bearer_auth(&stack.key).body(body);
        let reply = stack.send(sent).await;
        assert_eq!(reply.status, 400, "{path}: {}", reply.text);
    }
    let frame = format!(r#"{{"action": "ping", "spaces": {bad}}}"#);
    socket.send(tokio_tungstenite::tungstenite::Message::text(frame)).await;
    socket.frame("error", SOON, |frame| frame["status"] == 400).await;

    answer_form(&stack, &form, json!({"output": {"fine": true}})).await.must_be(202);
    stack.quiet(&space).await;
    let results = stack.model.requests("ada")[1].results();
    assert!(results[0]["error"].as_str().unwrap().contains("is not JSON"), "{results:?}");
    assert_eq!(results[1], json!({"fine": true}));
    let shown = stack.runs_of(&space).await;
    let steps = stack.run(shown[0]["id"].as_str().unwrap()).await["steps"].clone();
    assert!(
        matches!(steps[0]["calls"][0]["input"], Value::String(_)),
        "an input that is not JSON is shown as the model wrote it"
    );
}
