//! Forms, the cards of `space` tools: a run asks people, pauses, and continues with their answers.
//! [`answers`] tests who may answer, and answers that conflict. [`other_spaces`] tests forms in a
//! space other than the run's.

mod answers;
mod approvals;
mod files;
mod other_spaces;
mod pauses;
pub(crate) mod scene;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    support::{
        model::{answer, call, say, stop},
        waiting::SOON,
    },
    tools::forms::scene::{FormScene, amount, approval, approval_call, form_tool, part},
};

#[tokio::test]
async fn a_run_with_three_forms_resumes_once_all_are_answered_or_expired() {
    let ask = |title: &str| call("getAmount", json!({"title": title}));
    let late = form_tool("getOpinion", json!({"expiresAfter": "12 seconds"}));
    let forms = answer([
        ask("First"),
        call("getOpinion", json!({})),
        ask("Third"),
        say("I have asked you three things."),
    ]);
    let tools = json!([amount("10 minutes"), late]);
    let scene = FormScene::new(tools, [forms, say("Thanks.").into(), stop()]).await;
    let run = scene.trigger().await;
    scene.status(&run, "waiting_tool").await;
    let requested = amount_forms_by_title(&scene);
    let messages = scene.stack.messages(&scene.space).await;
    let texts: Vec<_> = messages.iter().map(|message| part(message)["text"].clone()).collect();
    let last = json!("I have asked you three things.");
    assert_eq!(texts, [json!("Deploy v2.1"), Value::Null, Value::Null, Value::Null, last]);

    scene.answers(2, &requested["Third"], json!({"output": {"amount": 3}})).await.must_be(202);
    let declined = json!({"declined": true, "reason": "no money"});
    scene.answers(1, &requested["First"], declined.clone()).await.must_be(202);
    assert_eq!(scene.stack.run(&run).await["status"], "waiting_tool", "one form is open");
    scene.stack.quiet(&scene.space).await;
    let results = scene.results();
    let expected = [declined, json!({"error": "expired"}), json!({"amount": 3})];
    assert_eq!(results[..3], expected);
    // The run resumed once: the other two results belong to `send_message`.
    assert_eq!((results.len(), scene.stack.model.requests("ada").len()), (5, 3));
    let run = scene.stack.run(&run).await;
    let statuses: Vec<_> = run["steps"][0]["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| call["status"].as_str().unwrap())
        .collect();
    assert_eq!(statuses, ["completed", "expired", "completed", "completed"]);
    let resumed = scene.socket.frames().iter().filter(|frame| frame.kind == "run.resumed").count();
    assert_eq!(resumed, 1);
}

/// The `tool.requested` frames of the `getAmount` forms so far, by the form's title.
fn amount_forms_by_title(scene: &FormScene) -> BTreeMap<String, Value> {
    scene
        .socket
        .frames()
        .into_iter()
        .filter(|frame| frame.kind == "tool.requested" && frame.body["name"] == "getAmount")
        .map(|frame| (frame.body["input"]["title"].as_str().unwrap().to_owned(), frame.body))
        .collect()
}

#[tokio::test]
async fn canceling_a_run_closes_its_forms() {
    let scene = FormScene::new(json!([approval()]), [approval_call(), stop()]).await;
    let run = scene.trigger().await;
    let form = scene.requested("getApproval").await;
    scene.status(&run, "waiting_tool").await;
    scene.stack.cancel(&run).await.must_be(202);
    let resolved = scene
        .socket
        .frame("tool.resolved", SOON, |frame| frame["callId"] == form["callId"])
        .await
        .body;
    assert!(resolved["resolvedBy"].is_null());
    let card = scene.card(&form).await;
    assert_eq!((&part(&card)["status"], &card["rev"]), (&json!("canceled"), &json!(2)));
    assert_eq!(scene.answers(1, &form, json!({"output": {"choice": "Approve"}})).await.status, 409);
    assert_eq!(scene.stack.run(&run).await["steps"][0]["calls"][0]["status"], "canceled");
    assert_eq!(scene.stack.model.requests("ada").len(), 1, "the canceled run resumed");
}
