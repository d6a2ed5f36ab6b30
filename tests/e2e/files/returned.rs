//! Pictures that tools return: kept, shown on the card, and handed to models that see.

use serde_json::{Value, json};

use crate::support::{
    files::PIXEL,
    mcp_server::McpServer,
    model::{answer, call, say, stop},
    routes::triggered_run,
    stack::Stack,
    tool_scene::{ToolScene, but, http_tool},
    tool_server::ToolServer,
};

/// A scene whose agent sees. `visible` says whether its tools have cards.
async fn scene(visible: bool) -> Option<ToolScene> {
    let server = ToolServer::start().await;
    let stack = Stack::with_env(&[("SMARTSPACE_TOOL_HOSTS", &server.allowed())]).await?;
    let scene = ToolScene::on(stack, server, |url| {
        let tool = |name: &str, kind: &str| {
            let url = format!("{url}/picture/{kind}");
            but(http_tool(name, "GET", &url, json!({})), json!({ "visible": visible }))
        };
        json!([tool("chart", "png"), tool("wrong", "gif"), tool("drawing", "svg+xml")])
    })
    .await;
    sees(&scene, "Ada").await;
    Some(scene)
}

/// Lets the agent use a model that sees.
async fn sees(scene: &ToolScene, name: &str) {
    let model = json!({"provider": "openai", "name": scene.stack.model.name("gpt-4o-ada")});
    let path = format!("/v1/entities/{}", scene.agent);
    scene.stack.patch(&path, json!({"name": name, "agent": {"model": model}})).await.must_be(200);
}

fn file_of(message: &Value) -> &Value {
    message["parts"].as_array().unwrap().iter().find(|part| part["type"] == "file").unwrap()
}

#[tokio::test]
async fn a_picture_of_a_visible_call_is_on_its_card_and_before_the_model() {
    let Some(scene) = scene(true).await else { return };
    let stack = &scene.stack;
    stack
        .model
        .plays("gpt-4o-ada", [answer([call("chart", json!({}))]), answer([say("A pixel.")])]);
    let run = scene.trigger().await;
    stack.quiet(&scene.space).await;
    let messages = stack.messages(&scene.space).await;
    let card = &messages[1];
    let file = file_of(card);
    assert_eq!(
        (&file["name"], &file["contentType"], &file["width"], &file["height"]),
        (&json!("chart.png"), &json!("image/png"), &json!(1), &json!(1))
    );
    let id = file["attachmentId"].as_str().unwrap();
    assert_eq!(card["parts"][0]["output"], json!({ "attachmentId": id }));
    assert_eq!(stack.bytes_of(&scene.space, id).await, PIXEL);
    // The model gets it right after the results.
    let requests = stack.model.requests("gpt-4o-ada");
    let picture = [("image/png".to_owned(), PIXEL.to_vec())];
    assert_eq!((requests[0].files(), requests[1].files()), (Vec::new(), picture.to_vec()));
    let label =
        format!("From chart: [file #1 \"chart.png\" (image/png, {} bytes) {id}]", PIXEL.len());
    assert!(
        requests[1].body.to_string().contains(&label.replace('"', "\\\"")),
        "{}",
        requests[1].body
    );
    // The run shows it at the call and in the prompt of the next step.
    let run = stack.run(&run).await;
    let shown = &run["steps"][0]["calls"][0]["files"];
    assert_eq!(
        (&shown[0]["attachmentId"], &shown[0]["spaceId"]),
        (&json!(id), &json!(scene.space))
    );
    let prompt = run["steps"][1]["prompt"]["messages"].as_array().unwrap();
    assert_eq!(prompt.last().unwrap()["files"][0]["label"], label);
}

#[tokio::test]
async fn a_picture_of_a_hidden_call_can_be_sent() {
    let Some(scene) = scene(false).await else { return };
    let stack = &scene.stack;
    let step = std::sync::atomic::AtomicUsize::new(0);
    stack.model.answers("gpt-4o-ada", move |request| {
        match step.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            0 => answer([call("chart", json!({}))]),
            1 => {
                let text = request.body.to_string();
                let id = &text[text.find("att_").unwrap()..][..30];
                let input = json!({"text": "Here it is.", "attachments": [id]});
                answer([call("send_message", input)])
            }
            _ => stop(),
        }
    });
    scene.trigger().await;
    stack.quiet(&scene.space).await;
    let messages = stack.messages(&scene.space).await;
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert_eq!(file_of(&messages[1])["name"], "chart.png");
}

#[tokio::test]
async fn what_is_no_picture_is_not_kept() {
    let Some(scene) = scene(true).await else { return };
    let stack = &scene.stack;
    let calls = answer([call("wrong", json!({})), call("drawing", json!({}))]);
    stack.model.plays("gpt-4o-ada", [calls, answer([say("Nothing.")])]);
    scene.trigger().await;
    stack.quiet(&scene.space).await;
    let results = stack.model.requests("gpt-4o-ada").pop().unwrap().results();
    let why = "the call was made, but picture 1 is not stored: \
               the file's first bytes are not those of image/gif";
    assert_eq!(results[0], json!({ "error": why }));
    let text = results[1].to_string();
    assert!(text.contains("bytes of image/svg+xml, not shown]"), "{text}");
    for message in stack.messages(&scene.space).await {
        assert!(!message.to_string().contains("att_"), "{message}");
    }
}

#[tokio::test]
async fn a_run_without_a_space_keeps_no_picture() {
    let Some(scene) = scene(false).await else { return };
    let stack = &scene.stack;
    let plan = json!({"name": "p", "instruction": "Draw", "runAfter": "1 second"});
    let first = answer([call("set_plans", json!({ "plans": [plan] }))]);
    stack.model.plays("gpt-4o-ada", [first, stop(), answer([call("chart", json!({}))])]);
    scene.trigger().await;
    let request = stack.model.nth_request("gpt-4o-ada", 4).await;
    assert_eq!(
        request.results(),
        [json!({"error": "the call was made, but picture 1 is not stored: no space is active"})]
    );
    assert_eq!(request.files(), []);
}

#[tokio::test]
async fn a_picture_of_an_mcp_server_is_kept_beside_its_text() {
    let server = McpServer::start().await;
    let Some(stack) = Stack::with_env(&[("SMARTSPACE_TOOL_HOSTS", &server.allowed())]).await else {
        return;
    };
    let scene = ToolScene::on(stack, ToolServer::start().await, |_| json!([])).await;
    sees(&scene, "Ada").await;
    let stack = &scene.stack;
    let entry = json!({"name": "every", "url": server.url(), "visible": true});
    let path = format!("/v1/entities/{}", scene.agent);
    stack.patch(&path, json!({"agent": {"mcp": {"servers": [entry]}}})).await.must_be(200);
    let first = answer([call("every__get-tiny-image", json!({}))]);
    stack.model.plays("gpt-4o-ada", [first, answer([say("Tiny.")])]);
    scene.trigger().await;
    stack.quiet(&scene.space).await;
    let messages = stack.messages(&scene.space).await;
    let file = file_of(&messages[1]);
    assert_eq!(file["contentType"], "image/png");
    assert!(messages[1]["parts"][0]["output"].as_str().unwrap().contains("[image image/png, "));
    let requests = stack.model.requests("gpt-4o-ada");
    let [(kind, bytes)] = &requests[1].files()[..] else { panic!("expected one picture") };
    assert_eq!((kind.as_str(), json!(bytes.len())), ("image/png", file["bytes"].clone()));
}

#[tokio::test]
async fn another_agent_sees_the_picture_of_a_card() {
    let Some(scene) = scene(true).await else { return };
    let stack = &scene.stack;
    stack.model.plays("gpt-4o-ada", [answer([call("chart", json!({}))]), answer([say("Drawn.")])]);
    scene.trigger().await;
    stack.quiet(&scene.space).await;
    let model = json!({"provider": "openai", "name": stack.model.name("gpt-4o-bea")});
    let bea = stack.agent_with("Bea", json!({ "model": model })).await;
    let path = format!("/v1/spaces/{}", scene.space);
    stack.put(&format!("{path}/members/{bea}"), json!({})).await.must_be(200);
    stack.patch(&path, json!({"triggerPolicy": "mention"})).await.must_be(200);
    stack.model.plays("gpt-4o-bea", [answer([say("I see it, too.")])]);
    let message = stack.post(&scene.space, &scene.person, "@Bea look").await;
    assert!(triggered_run(&message, &bea).is_some());
    stack.quiet(&scene.space).await;
    let request = stack.model.requests("gpt-4o-bea").remove(0);
    assert_eq!(request.files(), [("image/png".to_owned(), PIXEL.to_vec())]);
    let text = request.body.to_string();
    assert!(text.contains("[file #1 \\\"chart.png\\\" (image/png, "), "{text}");
}
