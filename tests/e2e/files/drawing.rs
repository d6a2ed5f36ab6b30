//! Tools of the type `image`: an agent draws a picture.

use std::fs;

use serde_json::{Value, json};

use crate::support::{
    files::PIXEL,
    model::{answer, call, say},
    routes::triggered_run,
    stack::Stack,
    waiting::{SOON, wait_for},
};

fn drawing_tool(provider: &str, model: &str, size: &str) -> Value {
    json!({
        "name": "draw",
        "description": "Draws a picture.",
        "execution": {"type": "image", "provider": provider, "model": model, "size": size},
    })
}

struct Scene {
    stack: Stack,
    person: String,
    agent: String,
    space: String,
}

impl Scene {
    /// An agent with this tool. Its model sees.
    async fn with(stack: Stack, tool: Value) -> Self {
        let person = stack.person("Husam").await;
        let model = json!({"provider": "openai", "name": stack.model.name("gpt-4o-ada")});
        let agent = stack.agent_with("Ada", json!({"model": model, "tools": [tool]})).await;
        let space = stack.space("Team", &[&person, &agent]).await;
        Self { stack, person, agent, space }
    }

    /// Lets the agent draw and then speak. Returns the run.
    async fn draw(&self, prompt: &str) -> String {
        let first = answer([call("draw", json!({ "prompt": prompt }))]);
        self.stack.model.plays("gpt-4o-ada", [first, answer([say("Done.")])]);
        let message = self.stack.post(&self.space, &self.person, "Go on.").await;
        triggered_run(&message, &self.agent).unwrap()
    }

    /// The card of the call.
    async fn card(&self) -> Value {
        let messages = self.stack.messages(&self.space).await;
        let is_card = |message: &Value| message["parts"][0]["type"] == "tool";
        messages.into_iter().find(is_card).expect("a card")
    }
}

#[tokio::test]
async fn a_picture_is_drawn_shown_and_paid() {
    let stack = Stack::start().await;
    let model = stack.model.name("gpt-image-1");
    let scene = Scene::with(stack, drawing_tool("openai", &model, "1536x1024")).await;
    let run = scene.draw("A red cat").await;
    scene.stack.quiet(&scene.space).await;
    let card = scene.card().await;
    let [call, file] = &card["parts"].as_array().unwrap()[..] else { panic!("{card:#}") };
    assert_eq!(
        (&call["status"], &call["input"], &call["output"]),
        (
            &json!("completed"),
            &json!({"prompt": "A red cat"}),
            &json!({"attachmentId": file["attachmentId"]})
        )
    );
    assert_eq!((&file["name"], &file["width"]), (&json!("A red cat.png"), &json!(1)));
    let id = file["attachmentId"].as_str().unwrap();
    assert_eq!(scene.stack.bytes_of(&scene.space, id).await, PIXEL);
    let expected = json!({"model": model, "prompt": "A red cat", "size": "1536x1024", "n": 1});
    assert_eq!(scene.stack.model.drawn(), [expected]);
    let request = &scene.stack.model.requests("gpt-4o-ada")[1];
    assert_eq!(request.files(), [("image/png".to_owned(), PIXEL.to_vec())]);

    // The run's usage counts it, and the report of the day does, too.
    let run = scene.stack.run(&run).await;
    assert_eq!(run["usage"]["images"], 1, "{run:.2000}");
    let report = scene.stack.get("/v1/usage?by=model").await.must_be(200);
    let rows = report["items"].as_array().unwrap();
    let row = rows.iter().find(|row| row["model"] == json!(model)).expect("a row of the model");
    assert_eq!(
        (&row["images"], &row["inputTokens"], &row["outputTokens"]),
        (&json!(1), &json!(12), &json!(1_056))
    );
}

#[tokio::test]
async fn a_scripted_picture_needs_no_key() {
    let stack = Stack::start().await;
    let mut tool = drawing_tool("scripted", "", "320x200");
    tool["execution"].as_object_mut().unwrap().remove("model");
    let scene = Scene::with(stack, tool).await;
    scene.draw("Grüße aus Oslo").await;
    scene.stack.quiet(&scene.space).await;
    let card = scene.card().await;
    let file = &card["parts"][1];
    assert_eq!(
        (&file["contentType"], &file["width"], &file["height"]),
        (&json!("image/png"), &json!(320), &json!(200))
    );
    assert_eq!(scene.stack.model.drawn(), [Value::Null; 0]);
}

#[tokio::test]
async fn a_refused_picture_is_an_error_that_the_model_reads() {
    let stack = Stack::start().await;
    let model = stack.model.name("gpt-image-1");
    let scene = Scene::with(stack, drawing_tool("openai", &model, "1024x1024")).await;
    let run = scene.draw("refuse this").await;
    scene.stack.quiet(&scene.space).await;
    let error = "the picture was not drawn: the provider answered 400: not this";
    assert_eq!(scene.card().await["parts"][0]["output"], json!({ "error": error }));
    assert_eq!(scene.stack.model.requests("gpt-4o-ada")[1].results(), [json!({ "error": error })]);
    assert_eq!(scene.stack.run(&run).await["usage"]["images"], Value::Null);
}

#[tokio::test]
async fn a_picture_that_was_cut_off_is_not_drawn_again() {
    let Some(stack) = Stack::local().await else { return };
    let model = stack.model.name("held-gpt-image-1");
    let mut scene = Scene::with(stack, drawing_tool("openai", &model, "1024x1024")).await;
    let run = scene.draw("A red cat").await;
    scene.stack.model.drawing().reached(1).await;
    assert_eq!(scene.card().await["parts"][0]["status"], "pending");
    scene.stack.kill9();
    scene.stack.restart().await;
    let run = scene.stack.ended(&run, SOON * 2).await;
    assert_eq!((&run["status"], &run["attempt"]), (&json!("completed"), &json!(2)));
    let call = &run["steps"][0]["calls"][0];
    assert_eq!(call["status"], "unknown", "{call:#}");
    assert_eq!(scene.stack.model.drawn().len(), 1);
    let card = scene.card().await;
    assert_eq!(card["parts"].as_array().map(Vec::len), Some(1), "{card:#}");
    let messages = scene.stack.messages(&scene.space).await;
    assert_eq!(messages.last().unwrap()["parts"][0]["text"], "Done.");
}

#[tokio::test]
async fn a_picture_that_finds_no_room_is_not_paid() {
    let Some(stack) = Stack::with(&["--files-per-space", "1 MiB"]).await else { return };
    let model = stack.model.name("gpt-image-1");
    let scene = Scene::with(stack, drawing_tool("openai", &model, "1024x1024")).await;
    let run = scene.draw("A red cat").await;
    let run = scene.stack.ended(&run, SOON).await;
    let error = "the picture was not drawn: the files of this space have 0 bytes, and may have \
                 1048576 bytes: there is no room for 3145728 bytes; delete files that are not \
                 needed";
    let call = &run["steps"][0]["calls"][0];
    assert_eq!(call["output"], json!({ "error": error }), "{call:#}");
    assert_eq!(run["usage"]["images"], Value::Null, "{}", run["usage"]);
    assert_eq!(scene.stack.model.drawn(), [Value::Null; 0]);
}

#[tokio::test]
async fn a_budget_pays_for_pictures() {
    let prices = std::env::temp_dir().join(format!("image-prices-{}.json", std::process::id()));
    let written = json!({
        "openai/gpt-4o*": {"input": 1, "output": 1},
        "openai/gpt-image*": {"input": 0, "output": 0, "image": 0.5},
    });
    fs::write(&prices, written.to_string()).unwrap();
    let Some(stack) = Stack::with(&["--prices", prices.to_str().unwrap()]).await else { return };
    let model = stack.model.name("gpt-image-1");
    let scene = Scene::with(stack, drawing_tool("openai", &model, "1024x1024")).await;
    let path = format!("/v1/entities/{}", scene.agent);
    let budget = json!({"agent": {"budget": {"costPerDay": 0.7}}});
    scene.stack.patch(&path, budget).await.must_be(200);
    let run = scene.draw("one").await;
    let run = scene.stack.ended(&run, SOON).await;
    assert!(run["usage"]["cost"].as_f64().unwrap() >= 0.5, "{}", run["usage"]);
    scene.stack.quiet(&scene.space).await;
    let run = scene.draw("two").await;
    let run = scene.stack.ended(&run, SOON).await;
    let output = &run["steps"][0]["calls"][0]["output"]["error"];
    assert!(output.as_str().unwrap().starts_with("the picture was not drawn: "), "{output}");
    wait_for("one picture", SOON, async || (scene.stack.model.drawn().len() == 1).then_some(()))
        .await;
    fs::remove_file(prices).unwrap();
}

#[tokio::test]
async fn a_tool_that_cannot_draw_is_refused_with_what_was_expected() {
    let stack = Stack::start().await;
    let agent = stack.agent("Ada", "ada").await;
    let path = format!("/v1/entities/{agent}");
    for (tool, pointer) in [
        (drawing_tool("openai", "gpt-image-1", "1024"), "/agent/tools/0/execution"),
        (drawing_tool("midjourney", "m", "1024x1024"), "/agent/tools/0/execution"),
        (drawing_tool("openai", "", "1024x1024"), "/agent/tools/0/execution/model"),
        (drawing_tool("bedrock", "anthropic.claude", "64x64"), "/agent/tools/0/execution/model"),
    ] {
        let answer = stack.patch(&path, json!({"agent": {"tools": [tool]}})).await;
        let refused = answer.must_be(422);
        let found = refused["errors"][0]["pointer"].as_str().unwrap();
        assert!(found.starts_with(pointer), "{refused:#}");
    }
    let mut tool = drawing_tool("scripted", "m", "64x64");
    tool["inputSchema"] = json!({"type": "object", "properties": {"style": {"type": "string"}}});
    let refused = stack.patch(&path, json!({"agent": {"tools": [tool]}})).await.must_be(422);
    assert_eq!(refused["errors"][0]["pointer"], "/agent/tools/0/inputSchema");
}
