//! Tools of an MCP server, tested with the protocol's reference server.

use serde_json::{Value, json};

use crate::support::{
    mcp_server::McpServer,
    model::{Answer, Gate, call, say, stop, wait},
    stack::Stack,
    tool_scene::ToolScene,
    tool_server::ToolServer,
    waiting::{SOON, wait_for},
};

/// An agent with the tools of this server. The fields of `more` are added to the server's entry.
async fn with(server: &McpServer, more: Value) -> Option<ToolScene> {
    let stack = Stack::with_env(&[("SMARTSPACE_TOOL_HOSTS", &server.allowed())]).await?;
    let scene = ToolScene::on(stack, ToolServer::start().await, |_| json!([])).await;
    let mut entry = json!({"name": "every", "url": server.url()});
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let path = format!("/v1/entities/{}", scene.agent);
    let settings = json!({"agent": {"mcp": {"servers": [entry]}}});
    scene.stack.patch(&path, settings).await.must_be(200);
    Some(scene)
}

#[tokio::test]
async fn tools_of_a_server_are_listed_and_called() {
    let server = McpServer::start().await;
    let Some(scene) = with(&server, json!({})).await else { return };
    let calls = scene
        .calls(vec![
            call("every__echo", json!({"message": "Hello <b>\"you\"</b>\u{1f600}"})),
            call("every__get-sum", json!({"a": 2, "b": 40})),
            call("every__get-structured-content", json!({"location": "Chicago"})),
            call("every__get-tiny-image", json!({})),
            call("every__echo", json!({"message": 1})),
            call("every__get-sum", json!({"a": "two"})),
            call("every__nothing", json!({})),
        ])
        .await;
    let shown: Vec<_> =
        calls.iter().map(|call| (call["status"].as_str().unwrap(), &call["output"])).collect();
    assert_eq!(shown[0], ("completed", &json!("Echo: Hello <b>\"you\"</b>\u{1f600}")));
    assert_eq!(shown[1], ("completed", &json!("The sum of 2 and 40 is 42.")));
    assert_eq!(shown[2].0, "completed");
    assert!(
        shown[2].1["temperature"].is_number() && shown[2].1["conditions"].is_string(),
        "{}",
        shown[2].1
    );
    let image = shown[3].1.as_str().unwrap();
    assert!(
        image.contains("[image image/png, ") && !image.contains("shown") && image.len() < 1_000,
        "{image}"
    );
    for (index, expected) in [
        (4, "does not fit at /message: 1 is not of type \"string\""),
        (5, "does not fit"),
        (6, "there is no tool \"every__nothing\""),
    ] {
        let (status, output) = shown[index];
        let error = output["error"].as_str().unwrap();
        assert!(status == "failed" && error.contains(expected), "{error}");
    }
    let request = &scene.stack.model.requests("ada")[0];
    assert!(
        request.tools().contains(&"every__trigger-long-running-operation")
            && request.tools().contains(&"send_message")
    );
    // Prompt caches need the same bytes in each request.
    assert!(request.tools().is_sorted());
}

#[tokio::test]
async fn only_allowed_tools_are_offered_and_called() {
    let server = McpServer::start().await;
    let Some(scene) = with(&server, json!({"allowedTools": ["echo", "no-such-tool"]})).await else {
        return;
    };
    let calls = scene
        .calls(vec![
            call("every__get-sum", json!({"a": 1, "b": 1})),
            call("every__echo", json!({"message": "a"})),
        ])
        .await;
    assert!(
        calls[0]["output"]["error"]
            .as_str()
            .unwrap()
            .starts_with("there is no tool \"every__get-sum\""),
        "{}",
        calls[0]
    );
    assert_eq!(calls[1]["output"], "Echo: a");
    let request = &scene.stack.model.requests("ada")[0];
    assert_eq!(
        request.tools().iter().filter(|name| name.starts_with("every__")).collect::<Vec<_>>(),
        [&"every__echo"]
    );
}

#[tokio::test]
async fn the_card_of_a_visible_call_shows_its_progress() {
    let server = McpServer::start().await;
    let Some(scene) = with(&server, json!({"visible": true})).await else { return };
    let socket = scene.stack.socket_of(&scene.person).await;
    socket.subscribe(&scene.space, None).await;
    let run = scene
        .begin(vec![
            call("every__trigger-long-running-operation", json!({"duration": 2, "steps": 4})),
            say("Done."),
        ])
        .await;
    let is_card = |body: &Value| body["message"]["parts"][0]["type"] == "tool";
    let created = socket.frame("message.created", SOON, is_card).await.body["message"].clone();
    assert_eq!(
        (&created["parts"][0]["status"], created["parts"].as_array().unwrap().len()),
        (&json!("pending"), 1)
    );
    let has_progress =
        |body: &Value| is_card(body) && body["message"]["parts"][1]["type"] == "text";
    let working = socket.frame("message.updated", SOON, has_progress).await.body["message"].clone();
    assert_eq!(
        (&working["id"], &working["parts"][0]["status"]),
        (&created["id"], &json!("pending"))
    );
    assert!(working["parts"][1]["text"].as_str().unwrap().contains('4'), "{working}");

    let run = scene.stack.ended(&run, SOON).await;
    assert_eq!(run["status"], "completed");
    let [card] = &scene.cards().await[..] else { panic!("one card") };
    assert_eq!(
        (&card["status"], &card["output"]),
        (
            &json!("completed"),
            &json!("Long running operation completed. Duration: 2 seconds, Steps: 4.")
        )
    );
    let last = scene
        .stack
        .messages(&scene.space)
        .await
        .into_iter()
        .find(|message| message["id"] == created["id"])
        .unwrap();
    assert_eq!(
        (last["parts"].as_array().unwrap().len(), &last["dispatch"]),
        (1, &json!([])),
        "the card still shows the progress"
    );
    assert!(last["rev"].as_u64() > working["rev"].as_u64());
}

#[tokio::test]
async fn a_run_continues_after_its_server_is_killed_during_a_call_and_restarted() {
    let mut server = McpServer::start().await;
    let Some(scene) = with(&server, json!({"visible": true})).await else { return };
    let long = call("every__trigger-long-running-operation", json!({"duration": 60, "steps": 60}));
    let echo = |text: &str| Answer::of(vec![call("every__echo", json!({"message": text}))]);
    let gate = Gate::closed();
    let held = Answer::of(vec![wait(&gate), call("every__echo", json!({"message": "back"}))]);
    scene
        .stack
        .model
        .plays("ada", [echo("first"), Answer::of(vec![long]), echo("away"), held, stop()]);
    let run = scene.trigger().await;
    // The card shows progress, so the server is working on the call.
    wait_for("the progress of the call", SOON, async || {
        let messages = scene.stack.messages(&scene.space).await;
        messages.iter().any(|message| message["parts"][1]["type"] == "text").then_some(())
    })
    .await;
    server.kill();
    gate.reached(1).await;
    server.restart().await;
    gate.open();
    let run = scene.stack.ended(&run, SOON * 2).await;
    assert_eq!(
        (&run["status"], &run["endReason"], &run["attempt"]),
        (&json!("completed"), &json!("done"), &json!(1))
    );
    let outputs: Vec<_> =
        (0..4).map(|step| run["steps"][step]["calls"][0]["output"].clone()).collect();
    let error = |step: usize| outputs[step]["error"].as_str().unwrap();
    assert_eq!(
        (&outputs[0], &outputs[3]),
        (&json!("Echo: first"), &json!("Echo: back")),
        "{outputs:?}"
    );
    assert!(error(1).contains("not known"), "{}", error(1));
    assert_eq!(error(2), "The server every is not available.");
    let states: Vec<_> = scene.cards().await.iter().map(|card| card["status"].clone()).collect();
    assert_eq!(states, ["completed", "failed", "failed", "completed"]);
}

#[tokio::test]
async fn a_run_continues_without_an_unreachable_server_and_its_model_is_notified() {
    let mut server = McpServer::start().await;
    let Some(scene) = with(&server, json!({})).await else { return };
    server.kill();
    let calls = scene
        .calls(vec![call("every__echo", json!({"message": "a"})), say("Nobody is there.")])
        .await;
    assert!(
        calls[0]["output"]["error"]
            .as_str()
            .unwrap()
            .starts_with("there is no tool \"every__echo\""),
        "{}",
        calls[0]
    );
    assert_eq!(scene.stack.texts(&scene.space).await, ["Go on.", "Nobody is there."]);
    let notes = scene.stack.model.requests("ada")[0].system_notes();
    assert_eq!(notes, ["The server every is not available."]);
    // The cause is for the operator alone.
    let runs = format!("/v1/agents/{}/runs", scene.agent);
    let run = scene.stack.all(&runs).await[0]["id"].as_str().unwrap().to_owned();
    let run = scene.stack.run(&run).await;
    let shown = &run["steps"][0]["systemMessages"][1];
    assert_eq!(shown["watcher"], "servers");
    let cause = shown["text"].as_str().unwrap();
    assert!(
        cause.starts_with("MCP server every: ") && cause.contains("can't be reached"),
        "{cause}"
    );
    assert!(!run["hints"].to_string().contains("reached"), "{}", run["hints"]);
    assert!(!run["steps"][0]["prompt"].to_string().contains("reached"));
}
