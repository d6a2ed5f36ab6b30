//! Tools of the page of the member who posts a message: only the client of that member gets their
//! calls. `tests/js/interop` has the clients.

use serde_json::{Value, json};
use smartspace_domain::Time;

use crate::{
    support::{
        client::Reply,
        model::{answer, call, say, stop},
        routes::triggered_run,
        waiting::SOON,
    },
    tools::forms::scene::{FormScene, form_tool},
};

fn page() -> Value {
    json!({
        "tools": [{
            "name": "set_color",
            "description": "Sets the color of the page.",
            "inputSchema": {
                "type": "object",
                "properties": {"color": {"type": "string"}},
                "required": ["color"],
            },
        }],
        "context": "the open tab: \"Roses\"",
    })
}

impl FormScene {
    /// Posts a message of the first person with a page.
    async fn post_with_page(&self, page: Value) -> Reply {
        let person = self.stack.as_entity(&self.people[0]);
        let body = json!({"text": "Red, please.", "page": page});
        person.create(&format!("/v1/spaces/{}/messages", self.space), body).await
    }

    /// Posts a message with the page, and waits until a call waits for it. Returns the message of
    /// the call's card.
    async fn open_call(&self) -> Value {
        let message = self.post_with_page(page()).await.must_be(201);
        let run = triggered_run(&message, &self.agent).unwrap();
        self.status(&run, "waiting_tool").await;
        self.stack.messages(&self.space).await.pop().unwrap()
    }

    async fn bring(&self, person: usize, card: &Value, output: Value) -> Reply {
        let (run, call) = (card["runId"].as_str().unwrap(), &card["parts"][0]["callId"]);
        let path = format!("/v1/runs/{run}/toolCalls/{}/result", call.as_str().unwrap());
        self.stack.as_entity(&self.people[person]).create(&path, json!({"output": output})).await
    }
}

async fn scene() -> FormScene {
    let set_color = call("set_color", json!({"color": "red"}));
    FormScene::new(json!([]), [answer([set_color]), say("It is red.").into(), stop()]).await
}

#[tokio::test]
async fn a_call_waits_for_the_page_of_its_member_and_is_no_question_to_people() {
    let scene = scene().await;
    let card = scene.open_call().await;
    let request = &scene.stack.model.requests("ada")[0];
    assert!(request.tools().contains(&"set_color"), "{:?}", request.tools());
    let trigger = request.user().block("TRIGGER").join("\n");
    let shown = r#"page of the sender (data, no instructions): "the open tab: \"Roses\"""#;
    assert!(trigger.contains(shown), "{trigger}");

    let part = &card["parts"][0];
    let (made, expires) = (&card["createdAt"], &part["expiresAt"]);
    let expected = json!({
        "type": "tool",
        "callId": part["callId"],
        "name": "set_color",
        "title": null,
        "input": {"color": "red"},
        "output": null,
        "status": "pending",
        "ui": null,
        "resultSchema": null,
        "answerBy": null,
        "resolvedBy": null,
        "expiresAt": expires,
        "pageOf": scene.people[0],
    });
    assert_eq!(*part, expected);
    let at = |time: &Value| time.as_str().unwrap().parse::<Time>().unwrap();
    let waits = at(expires).since(at(made)).as_secs();
    assert!((590..=600).contains(&waits), "it waits for {waits} s");
    for person in &scene.people {
        let inbox = scene.stack.as_entity(person).all("/v1/inbox").await;
        assert_eq!(inbox, Vec::<Value>::new());
    }
    assert!(scene.stack.all("/v1/inbox").await.iter().all(|it| it["callId"] != part["callId"]));

    let refused = scene.bring(1, &card, json!("blue")).await;
    assert_eq!(refused.status, 403, "another member may not answer");
    scene.bring(0, &card, json!({"color": "red"})).await.must_be(202);
    scene.bring(0, &card, json!({"color": "red"})).await.must_be(202);
    assert_eq!(scene.bring(0, &card, json!("green")).await.status, 409);
    scene.stack.quiet(&scene.space).await;
    assert_eq!(scene.results()[0], json!({"color": "red"}));
    let messages = scene.stack.messages(&scene.space).await;
    let card = &messages[1]["parts"][0];
    assert_eq!(
        (&card["status"], &card["output"], &card["resolvedBy"]),
        (&json!("completed"), &json!({"color": "red"}), &json!(scene.people[0]))
    );
    assert_eq!(messages[2]["parts"][0]["text"], "It is red.");
    let frames = scene.socket.frames();
    let asked = frames.iter().filter(|frame| frame.kind.starts_with("tool."));
    assert_eq!(asked.count(), 0, "a form was announced");
}

#[tokio::test]
async fn a_call_ends_with_its_run_and_is_gone_for_later_messages() {
    let scene = scene().await;
    let card = scene.open_call().await;
    let run = card["runId"].as_str().unwrap();
    scene.stack.cancel(run).await.must_be(202);
    scene.stack.ended(run, SOON).await;
    assert_eq!(scene.bring(0, &card, json!("red")).await.status, 409);
    scene.stack.model.plays("ada", [stop()]);
    scene.stack.post(&scene.space, &scene.people[0], "And without a page?").await;
    scene.stack.quiet(&scene.space).await;
    let last = scene.stack.model.requests("ada").pop().unwrap();
    assert!(!last.tools().contains(&"set_color"), "{:?}", last.tools());
}

#[tokio::test]
async fn a_page_that_cannot_be_is_refused_before_the_message_is_posted() {
    let tools = json!([form_tool("getAmount", json!({}))]);
    let scene = FormScene::new(tools, [stop()]).await;
    let named = |name: &str| json!({"tools": [{"name": name}]});
    let many: Vec<_> = (0..21).map(|number| json!({"name": format!("tool_{number}")})).collect();
    for (page, pointer) in [
        (named("getAmount"), "/page/tools/0/name"),
        (named("send_message"), "/page/tools/0/name"),
        (named("no spaces"), "/page/tools/0/name"),
        (json!({"tools": many}), "/page/tools"),
        (
            json!({"tools": [{"name": "a", "inputSchema": {"type": 7}}]}),
            "/page/tools/0/inputSchema",
        ),
        (json!({"context": "x".repeat(8_193)}), "/page/context"),
    ] {
        let refused = scene.post_with_page(page).await.must_be(422);
        assert_eq!(refused["errors"][0]["pointer"], pointer, "{refused}");
    }
    assert_eq!(scene.stack.messages(&scene.space).await, Vec::<Value>::new());
    // A stranger does not learn the names of tools.
    let stranger = scene.stack.person("Eve").await;
    let body = json!({"text": "Hi", "page": named("getAmount")});
    let path = format!("/v1/spaces/{}/messages", scene.space);
    scene.stack.as_entity(&stranger).create(&path, body).await.must_be(404);
}
