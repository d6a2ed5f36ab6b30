//! The order of calls around one that people decide.

use serde_json::{Value, json};

use crate::{
    support::{
        model::{answer, call, say, stop},
        waiting::SOON,
    },
    tools::{
        approvals::act::{ActScene, asks, outcome, pay},
        forms::scene::form_tool,
    },
};

#[tokio::test]
async fn an_act_in_one_answer_with_its_question_waits() {
    let both = answer([
        call("getApproval", json!({"message": "Pay?", "options": ["Approve", "Reject"]})),
        pay(900),
    ]);
    let form = form_tool("getApproval", json!({"ui": "buttons", "expiresAfter": "10 minutes"}));
    let scene = ActScene::with(json!([asks(&["transfer"])]), json!({}), [both, stop()]).await;
    let path = format!("/v1/entities/{}", scene.agent);
    let tools = json!([super::act::transfer(&scene.server.url), form]);
    scene.stack.patch(&path, json!({"agent": {"tools": tools}})).await.must_be(200);
    let run = scene.waits().await;
    let cards = scene.cards().await;
    assert_eq!(cards.len(), 2, "{cards:#?}");
    assert_eq!((&cards[1]["ui"], &cards[1]["name"]), (&json!("approval"), &json!("transfer")));
    assert_eq!(scene.transfers().len(), 0, "the act did not wait");

    // The answer to the question does not make the call.
    let caller = scene.stack.as_entity(&scene.people[1]);
    let path = format!("/v1/runs/{run}/toolCalls/{}/result", cards[0]["callId"].as_str().unwrap());
    caller.create(&path, json!({"output": {"choice": "Approve"}})).await.must_be(202);
    assert_eq!(scene.stack.run(&run).await["status"], "waiting_tool");
    assert_eq!(scene.transfers().len(), 0, "the form made the call");
    scene.approves(1, &run, &cards[1]).await;
    let calls = scene.ended(&run, 0).await;
    assert_eq!((outcome(&calls[1]).0, scene.paid()), ("completed", vec![json!(900)]));
}

#[tokio::test]
async fn calls_behind_a_waiting_one_wait_and_keep_their_order() {
    let calls = answer([say("First."), pay(900), say("Paid.")]);
    let scene = ActScene::with(json!([asks(&["transfer"])]), json!({}), [calls, stop()]).await;
    let run = scene.waits().await;
    assert_eq!(scene.texts().await, ["Pay Ben.", "First."]);
    let steps = scene.stack.run(&run).await;
    assert_eq!(steps["steps"][0]["calls"][2]["status"], "pending", "{steps:.3000}");
    scene.approves(1, &run, &scene.cards().await[0]).await;
    let calls = scene.ended(&run, 0).await;
    let statuses: Vec<_> = calls.iter().map(|call| outcome(call).0).collect();
    assert_eq!(statuses, ["completed", "completed", "completed"]);
    assert_eq!(scene.texts().await, ["Pay Ben.", "First.", "Paid."]);
}

#[tokio::test]
async fn neighbours_that_also_ask_are_shown_together_and_made_in_order() {
    let calls = answer([pay(1), pay(2), say("Between."), pay(3)]);
    let scene = ActScene::with(json!([asks(&["transfer"])]), json!({}), [calls, stop()]).await;
    let run = scene.waits().await;
    let cards = scene.cards().await;
    let inputs: Vec<_> = cards.iter().map(|card| card["input"]["amount"].clone()).collect();
    assert_eq!(inputs, [json!(1), json!(2)], "the third is no direct neighbour");
    scene.approves(1, &run, &cards[1]).await;
    assert_eq!(scene.transfers().len(), 0, "the second call did not wait for the first one");
    scene.approves(2, &run, &cards[0]).await;
    scene.socket.frame("tool.requested", SOON, |frame| frame["input"]["amount"] == 3).await;
    assert_eq!(scene.paid(), [json!(1), json!(2)]);
    scene.status(&run, "waiting_tool").await;
    let last = scene.cards().await.pop().unwrap();
    scene
        .decides(1, &run, &last, json!({"action": "decline", "text": "too much"}))
        .await
        .must_be(202);
    let calls = scene.ended(&run, 0).await;
    assert_eq!(outcome(&calls[3]).1, &json!({"declined": true, "reason": "too much"}));
    assert_eq!(scene.paid(), [json!(1), json!(2)]);
    assert_eq!(scene.texts().await, ["Pay Ben.", "Between."]);
}

#[tokio::test]
async fn a_message_that_people_decide_does_not_stream_and_ends_the_run_when_it_is_posted() {
    let more = json!({"loop": {"endAfterSend": true}});
    let scene = ActScene::with(
        json!([asks(&["send_message"])]),
        more,
        [say("The secret number is 4711.").into(), stop()],
    )
    .await;
    let run = scene.waits().await;
    let card = scene.cards().await.remove(0);
    assert_eq!((&card["name"], &card["ui"]), (&json!("send_message"), &json!("approval")));
    assert_eq!(scene.texts().await, ["Pay Ben."]);
    let frames = scene.socket.frames();
    assert!(frames.iter().all(|frame| frame.kind != "stream.started"), "its text was streamed");

    let edit = json!({"action": "edit", "input": {"text": "It is a secret."}});
    scene.decides(1, &run, &card, edit).await.must_be(202);
    let ended = scene.stack.ended(&run, SOON).await;
    assert_eq!(
        (&ended["status"], &ended["endReason"], &ended["stepCount"]),
        (&json!("completed"), &json!("done"), &json!(1)),
        "{ended:.3000}"
    );
    assert_eq!(scene.texts().await, ["Pay Ben.", "It is a secret."]);
    let card = scene.cards().await.remove(0);
    assert_eq!(
        (&card["status"], &card["approval"]["state"]),
        (&json!("completed"), &json!("approved")),
        "{card}"
    );
    assert_eq!(scene.stack.messages(&scene.space).await.len(), 3);
}

#[tokio::test]
async fn canceling_a_run_closes_its_approvals() {
    let scene =
        ActScene::with(json!([asks(&["transfer"])]), json!({}), [answer([pay(1)]), stop()]).await;
    let run = scene.waits().await;
    let card = scene.cards().await.remove(0);
    scene.stack.cancel(&run).await.must_be(202);
    let resolved = |frame: &Value| frame["callId"] == card["callId"];
    scene.socket.frame("tool.resolved", SOON, resolved).await;
    assert_eq!(scene.cards().await[0]["status"], "canceled");
    let late = scene.decides(1, &run, &card, json!({"action": "approve"})).await;
    assert_eq!((late.status, scene.transfers().len()), (409, 0));
}
