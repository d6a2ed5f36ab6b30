//! A form for an approval: its card, its frames, and the run that resumes with the answer.

use serde_json::{Value, json};

use crate::{
    support::{
        model::{say, stop},
        stack::Stack,
        waiting::SOON,
    },
    tools::forms::scene::{FormScene, approval, approval_call, part},
};

#[tokio::test]
async fn an_approval_survives_a_kill_and_its_run_resumes_once() {
    let Some(stack) = Stack::local().await else { return };
    let answers = [approval_call(), say("Deployment complete!").into(), stop()];
    let scene = FormScene::on(stack, json!([approval()]), answers).await;
    let run = scene.trigger().await;
    let form = scene.requested("getApproval").await;
    assert_approval_is_shown(&scene, &run, &form).await;

    let FormScene { mut stack, people, agent, space, .. } = scene;
    stack.kill9();
    stack.restart().await;
    let sarah = stack.socket_of(&people[1]).await;
    let subscribed = sarah.subscribe(&space, None).await;
    assert_eq!(
        subscribed["active"],
        json!([{"runId": run, "agentId": agent, "status": "waiting_tool"}])
    );
    let answer = json!({
        "action": "toolResult",
        "runId": run,
        "callId": form["callId"],
        "output": {"choice": "Approve"},
    });
    assert_eq!(sarah.request(answer.clone()).await["type"], "accepted");
    let resolved =
        sarah.frame("tool.resolved", SOON, |frame| frame["callId"] == form["callId"]).await.body;
    assert_eq!(resolved["resolvedBy"], people[1].as_str());
    sarah.frame("run.resumed", SOON, |frame| frame["run"]["id"] == run.as_str()).await;
    sarah.frame("run.completed", SOON, |frame| frame["run"]["id"] == run.as_str()).await;
    assert_eq!(sarah.request(answer).await["type"], "accepted", "a repeated answer");

    let messages = stack.messages(&space).await;
    let [_, card, reply] = &messages[..] else { panic!("{messages:#?}") };
    assert_eq!(
        (&part(card)["status"], &part(card)["output"]),
        (&json!("completed"), &json!({"choice": "Approve"}))
    );
    assert_eq!((&part(card)["resolvedBy"], &card["rev"]), (&json!(people[1]), &json!(2)));
    assert_eq!(part(reply)["text"], "Deployment complete!");
    let ended = stack.run(&run).await;
    assert_eq!(
        (&ended["status"], &ended["attempt"]),
        (&json!("completed"), &json!(1)),
        "a pause is not another attempt"
    );
    assert_eq!(ended["steps"][0]["calls"][0]["output"], json!({"choice": "Approve"}));
    assert_eq!(stack.model.requests("ada")[1].results(), [json!({"choice": "Approve"})]);
}

/// Checks the frames of the paused run, and the card with its form.
async fn assert_approval_is_shown(scene: &FormScene, run: &str, form: &Value) {
    let waiting =
        scene.socket.frame("run.waiting_tool", SOON, |frame| frame["run"]["id"] == run).await.body;
    assert_eq!(
        (&waiting["run"]["status"], &waiting["spaceId"]),
        (&json!("waiting_tool"), &json!(scene.space))
    );
    let schema = json!({
        "type": "object",
        "properties": {"choice": {"enum": ["Approve", "Reject"]}, "comment": {"type": "string"}},
        "required": ["choice"],
        "additionalProperties": false
    });
    assert_eq!(
        form["input"],
        json!({"message": "Deploy to prod?", "options": ["Approve", "Reject"]})
    );
    assert_eq!(
        (&form["ui"], &form["answerBy"], &form["resultSchema"]),
        (&json!("buttons"), &json!("humans"), &schema)
    );
    assert!(
        form["resolvedBy"].is_null() && form["expiresAt"].is_string() && form["runId"] == run,
        "{form}"
    );
    let shown = scene
        .socket
        .frame("message.created", SOON, |frame| frame["message"]["id"] == form["messageId"])
        .await
        .body;
    let card = part(&shown["message"]);
    assert_eq!(
        (&card["status"], &card["output"], &card["resultSchema"]),
        (&json!("pending"), &Value::Null, &schema)
    );
    assert_eq!(shown["message"]["dispatch"], json!([]), "a card triggered an agent");
    assert!(shown["message"]["streamId"].is_string(), "the input was not streamed");
}
