//! Tools of an MCP server: the protocol's own reference server, which somebody else wrote.

use serde_json::{Value, json};

use super::{
    acting::Acting,
    mcp_server::McpServer,
    model::{Answer, call, say, stop},
    stack::Stack,
    tool_server::ToolServer,
    waiting::{SOON, wait_for},
};

/// An agent with the tools of this server; `more` is added to its entry.
async fn with(server: &McpServer, more: Value) -> Option<Acting> {
    let stack = Stack::with_env(&[("SMARTSPACE_TOOL_HOSTS", &server.allowed())]).await?;
    let acting = Acting::on(stack, ToolServer::start().await, |_| json!([])).await;
    let mut entry = json!({"name": "every", "url": server.url()});
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    acting.stack.patch(&format!("/v1/entities/{}", acting.agent), json!({"agent": {"mcp": {"servers": [entry]}}})).await.must_be(200);
    Some(acting)
}

#[tokio::test]
async fn its_tools_are_listed_and_called() {
    let server = McpServer::start().await;
    let Some(acting) = with(&server, json!({})).await else { return };
    let calls = acting
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
    let shown: Vec<_> = calls.iter().map(|call| (call["status"].as_str().unwrap(), &call["output"])).collect();
    assert_eq!(shown[0], ("completed", &json!("Echo: Hello <b>\"you\"</b>\u{1f600}")));
    assert_eq!(shown[1], ("completed", &json!("The sum of 2 and 40 is 42.")));
    assert_eq!(shown[2].0, "completed");
    assert!(shown[2].1["temperature"].is_number() && shown[2].1["conditions"].is_string(), "{}", shown[2].1);
    let image = shown[3].1.as_str().unwrap();
    assert!(image.contains("[image image/png, ") && image.contains("not shown]") && image.len() < 1_000, "{image}");
    for (index, expected) in
        [(4, "does not fit at /message: 1 is not of type \"string\""), (5, "does not fit"), (6, "there is no tool \"every__nothing\"")]
    {
        let (status, error) = (shown[index].0, shown[index].1["error"].as_str().unwrap());
        assert!(status == "failed" && error.contains(expected), "{error}");
    }
    let asked = &acting.stack.model.asked("ada")[0];
    assert!(asked.tools().contains(&"every__trigger-long-running-operation") && asked.tools().contains(&"send_message"));
    assert!(asked.tools().is_sorted(), "the same bytes each time");
}

#[tokio::test]
async fn only_what_is_allowed_is_offered_and_called() {
    let server = McpServer::start().await;
    let Some(acting) = with(&server, json!({"allowedTools": ["echo", "no-such-tool"]})).await else { return };
    let calls = acting.calls(vec![call("every__get-sum", json!({"a": 1, "b": 1})), call("every__echo", json!({"message": "a"}))]).await;
    assert!(calls[0]["output"]["error"].as_str().unwrap().starts_with("there is no tool \"every__get-sum\""), "{}", calls[0]);
    assert_eq!(calls[1]["output"], "Echo: a");
    let asked = &acting.stack.model.asked("ada")[0];
    assert_eq!(asked.tools().iter().filter(|name| name.starts_with("every__")).collect::<Vec<_>>(), [&"every__echo"]);
}

#[tokio::test]
async fn a_visible_call_says_on_its_card_how_far_it_is() {
    let server = McpServer::start().await;
    let Some(acting) = with(&server, json!({"visible": true})).await else { return };
    let socket = acting.stack.socket_of(&acting.person).await;
    socket.subscribe(&acting.space, None).await;
    let run = acting.begin(vec![call("every__trigger-long-running-operation", json!({"duration": 2, "steps": 4})), say("Done.")]).await;
    let is_card = |body: &Value| body["message"]["parts"][0]["type"] == "tool";
    let created = socket.frame("message.created", SOON, is_card).await.body["message"].clone();
    assert_eq!((&created["parts"][0]["status"], created["parts"].as_array().unwrap().len()), (&json!("pending"), 1));
    let says = |body: &Value| is_card(body) && body["message"]["parts"][1]["type"] == "text";
    let working = socket.frame("message.updated", SOON, says).await.body["message"].clone();
    assert_eq!((&working["id"], &working["parts"][0]["status"]), (&created["id"], &json!("pending")));
    assert!(working["parts"][1]["text"].as_str().unwrap().contains('4'), "{working}");

    let run = acting.stack.ended(&run, SOON).await;
    assert_eq!(run["status"], "completed");
    let [card] = &acting.cards().await[..] else { panic!("one card") };
    assert_eq!(
        (&card["status"], &card["output"]),
        (&json!("completed"), &json!("Long running operation completed. Duration: 2 seconds, Steps: 4."))
    );
    let kept = acting.stack.messages(&acting.space).await.into_iter().find(|message| message["id"] == created["id"]).unwrap();
    assert_eq!((kept["parts"].as_array().unwrap().len(), &kept["dispatch"]), (1, &json!([])), "what it says last is its output");
    assert!(kept["rev"].as_u64() > working["rev"].as_u64());
}

#[tokio::test]
async fn a_server_that_is_killed_in_mid_call_and_comes_back_is_called_again_by_the_same_run() {
    let mut server = McpServer::start().await;
    let Some(acting) = with(&server, json!({"visible": true})).await else { return };
    let long = call("every__trigger-long-running-operation", json!({"duration": 60, "steps": 60}));
    let echo = |text: &str| Answer::of(vec![call("every__echo", json!({"message": text}))]);
    let gate = super::model::Gate::closed();
    let held = Answer::of(vec![super::model::wait(&gate), call("every__echo", json!({"message": "back"}))]);
    acting.stack.model.plays("ada", [echo("first"), Answer::of(vec![long]), echo("away"), held, stop()]);
    let run = acting.wake().await;
    // It says how far it is: so it is at work.
    wait_for("the call is under way", SOON, async || {
        let messages = acting.stack.messages(&acting.space).await;
        messages.iter().any(|message| message["parts"][1]["type"] == "text").then_some(())
    })
    .await;
    server.kill();
    gate.reached(1).await;
    server.restart().await;
    gate.open();
    let run = acting.stack.ended(&run, SOON * 2).await;
    assert_eq!((&run["status"], &run["endReason"], &run["attempt"]), (&json!("completed"), &json!("done"), &json!(1)), "the run goes on");
    let outputs: Vec<_> = (0..4).map(|step| run["steps"][step]["calls"][0]["output"].clone()).collect();
    let error = |step: usize| outputs[step]["error"].as_str().unwrap();
    assert_eq!((&outputs[0], &outputs[3]), (&json!("Echo: first"), &json!("Echo: back")), "{outputs:?}");
    assert!(error(1).contains("not known"), "{}", error(1));
    assert!(error(2).contains("can't be reached"), "{}", error(2));
    let states: Vec<_> = acting.cards().await.iter().map(|card| card["status"].clone()).collect();
    assert_eq!(states, ["completed", "failed", "failed", "completed"]);
}

#[tokio::test]
async fn the_run_goes_on_without_a_server_that_is_away_and_is_told() {
    let mut server = McpServer::start().await;
    let Some(acting) = with(&server, json!({})).await else { return };
    server.kill();
    let calls = acting.calls(vec![call("every__echo", json!({"message": "a"})), say("Nobody is there.")]).await;
    assert!(calls[0]["output"]["error"].as_str().unwrap().starts_with("there is no tool \"every__echo\""), "{}", calls[0]);
    assert_eq!(acting.stack.texts(&acting.space).await, ["Go on.", "Nobody is there."]);
    let told = acting.stack.model.asked("ada")[0].told();
    assert!(told.iter().any(|text| text.contains("every") && text.contains("can't be reached")), "{told:?}");
}
