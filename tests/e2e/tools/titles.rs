//! Titles of tools: what the row of a call's card says.

use serde_json::{Value, json};

use crate::{
    support::{
        model::{answer, call, stop},
        stack::Stack,
        waiting::SOON,
    },
    tools::forms::scene::{FormScene, form_tool, part},
};

/// A form whose title names the input, and the answer as soon as there is one.
fn deploy() -> Value {
    let mut tool = form_tool("deploy", json!({"ui": "buttons"}));
    tool["title"] = json!("Deploy {input.version} for {input.who.name}: {output.choice}");
    tool
}

#[tokio::test]
async fn the_title_of_a_card_shows_the_input_and_then_the_answer() {
    let input = json!({
        "message": "Deploy it?", "options": ["Go"], "version": "v2.1",
        "who": {"name": "Sarah\n\u{202e}{output.choice}"},
    });
    let plain = json!({
        "name": "hours", "description": "When.", "visible": true, "title": "",
        "execution": {"type": "static", "output": {"from": 9}},
    });
    let calls = answer([call("deploy", input), call("hours", json!({}))]);
    let scene = FormScene::new(json!([deploy(), plain]), [calls, stop()]).await;
    let run = scene.trigger().await;
    let form = scene.requested("deploy").await;
    let asked = "Deploy v2.1 for Sarah {output.choice}";
    assert_eq!(part(&scene.card(&form).await)["title"], asked);
    scene.status(&run, "waiting_tool").await;
    scene.answers(1, &form, json!({"output": {"choice": "Go"}})).await.must_be(202);
    scene.stack.ended(&run, SOON).await;
    let messages = scene.stack.messages(&scene.space).await;
    let titles: Vec<_> =
        messages[1..].iter().map(|message| part(message)["title"].clone()).collect();
    assert_eq!(titles, [json!(format!("{asked}: Go")), Value::Null]);
    let is_resolved = |frame: &Value| {
        let shown = part(&frame["message"]);
        shown["callId"] == form["callId"] && shown["title"] == format!("{asked}: Go").as_str()
    };
    scene.socket.frame("message.updated", SOON, is_resolved).await;
}

#[tokio::test]
async fn a_title_with_a_wrong_placeholder_is_refused() {
    let stack = Stack::with_secret(&[]).await.expect("a product that accepts tokens");
    let closed = json!({"properties": {"city": {}}, "additionalProperties": false});
    for (title, schema, detail) in [
        (
            "{name}",
            json!({}),
            "expected {input.name} or {output.name} between braces, got \"name\"",
        ),
        ("{input.town}", closed.clone(), "expected a field of inputSchema, got input.town"),
        ("a\nb", json!({}), "expected no line breaks, control characters and invisible ones"),
        (&"x".repeat(201), json!({}), "expected at most 200 characters"),
    ] {
        let mut tool = deploy();
        tool["title"] = json!(title);
        tool["inputSchema"] = schema;
        let config = json!({"model": {"provider": "scripted", "name": "m"}, "tools": [tool]});
        let body = json!({"type": "agent", "name": "Ada", "agent": config});
        let problem = stack.create("/v1/entities", body).await.must_be(422);
        let fault = &problem["errors"][0];
        assert_eq!(
            (fault["pointer"].as_str(), fault["detail"].as_str()),
            (Some("/agent/tools/0/title"), Some(detail)),
            "{problem}"
        );
    }
}
