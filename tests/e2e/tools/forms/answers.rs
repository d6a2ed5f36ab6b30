//! Answers to forms: who may answer, bad answers, and races of which exactly one wins.

mod refused;

use std::time::Duration;

use futures::future::join_all;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    support::{
        model::{Gate, answer, call, say, say_held, stop},
        waiting::{SOON, is_ended, wait_for},
    },
    tools::forms::scene::{FormScene, amount, answer_form, approval, approval_call, part},
};

#[tokio::test]
async fn of_ten_concurrent_answers_exactly_one_is_accepted() {
    let answers = [approval_call(), say("Done.").into(), stop()];
    let scene = FormScene::new(json!([approval()]), answers).await;
    let run = scene.trigger().await;
    let form = scene.requested("getApproval").await;
    let choice = |index: usize| if index.is_multiple_of(2) { "Approve" } else { "Reject" };
    let bodies: Vec<_> =
        (0..10).map(|index| (index % 3, json!({"output": {"choice": choice(index)}}))).collect();
    let replies =
        join_all(bodies.iter().map(|(person, body)| scene.answers(*person, &form, body.clone())))
            .await;
    let ended = scene.stack.ended(&run, SOON).await;
    let card = scene.card(&form).await;
    let won = (part(&card)["resolvedBy"].clone(), part(&card)["output"].clone());
    for ((person, body), reply) in bodies.iter().zip(&replies) {
        let is_won = (json!(scene.people[*person]), body["output"].clone()) == won;
        assert_eq!(reply.status, if is_won { 202 } else { 409 }, "{person} {body}: {}", reply.text);
    }
    assert_eq!(ended["steps"][0]["calls"][0]["output"], won.1);
    assert_eq!(
        (scene.stack.model.requests("ada").len(), card["rev"].as_u64()),
        (3, Some(2)),
        "the run did not resume exactly once"
    );
    assert_eq!(
        scene.socket.frames().iter().filter(|frame| frame.kind == "tool.resolved").count(),
        1
    );
}

#[tokio::test]
async fn an_answer_of_the_operator_says_so() {
    let scene = FormScene::new(json!([approval()]), [approval_call(), stop()]).await;
    scene.trigger().await;
    let form = scene.requested("getApproval").await;
    let body = json!({"output": {"choice": "Approve"}});
    answer_form(&scene.stack, &form, body).await.must_be(202);
    let is_form = |frame: &Value| frame["callId"] == form["callId"];
    let resolved = scene.socket.frame("tool.resolved", SOON, is_form).await.body;
    let operator = json!({"kind": "operator"});
    assert_eq!(resolved["resolvedBy"], operator);
    assert_eq!(part(&scene.card(&form).await)["resolvedBy"], operator);
}

#[tokio::test]
async fn an_answer_before_the_run_pauses_is_not_lost() {
    let gate = Gate::closed();
    let forms = answer([
        call("getAmount", json!({"title": "How much?"})),
        say_held("Wait for", &gate, " it."),
    ]);
    let scene = FormScene::new(json!([amount("10 minutes")]), [forms, stop()]).await;
    let run = scene.trigger().await;
    gate.reached(1).await;
    assert!(
        scene.socket.frames().iter().all(|frame| frame.kind != "tool.requested"),
        "a call was made before its model turn was complete"
    );
    gate.open();
    let form = scene.requested("getAmount").await;
    // As early as possible: the run is making its other call and is about to pause.
    scene.answers(1, &form, json!({"output": {"amount": 1}})).await.must_be(202);
    let ended = scene.stack.ended(&run, SOON).await;
    assert_eq!((&ended["status"], scene.results().len()), (&json!("completed"), 2));
}

#[tokio::test]
async fn a_concurrent_answer_and_cancel_have_one_outcome() {
    for round in 0..8_u64 {
        let scene = FormScene::new(json!([approval()]), [approval_call(), stop()]).await;
        let run = scene.trigger().await;
        let form = scene.requested("getApproval").await;
        let canceled = async {
            sleep(Duration::from_millis(round % 4)).await;
            scene.stack.cancel(&run).await
        };
        let (answered, canceled) = tokio::join!(
            scene.answers(1, &form, json!({"output": {"choice": "Approve"}})),
            canceled
        );
        scene.stack.quiet(&scene.space).await;
        let card = scene.card(&form).await;
        let status = scene.stack.run(&run).await["status"].clone();
        let outcome = (
            answered.status,
            canceled.status,
            status.as_str().unwrap(),
            part(&card)["status"].as_str().unwrap(),
        );
        let possible = [
            (202, 202, "canceled", "completed"),
            (202, 409, "completed", "completed"),
            (409, 202, "canceled", "canceled"),
        ];
        assert!(possible.contains(&outcome), "{outcome:?}");
    }
}

#[tokio::test]
async fn answers_around_the_expiry_of_a_form_have_one_outcome() {
    let question = answer([call("getAmount", json!({"title": "?"}))]);
    let scene = FormScene::new(json!([amount("6 seconds")]), [question, stop()]).await;
    let run = scene.trigger().await;
    let form = scene.requested("getAmount").await;
    // On a slow machine the form may have expired already.
    wait_for("the run to pause or end", SOON, async || {
        let run = scene.stack.run(&run).await;
        (run["status"] == "waiting_tool" || is_ended(&run)).then_some(())
    })
    .await;
    let until: Timestamp = form["expiresAt"].as_str().unwrap().parse().unwrap();
    let left = Duration::try_from(until.duration_since(Timestamp::now())).unwrap_or_default();
    // From 60 ms before the expiry to 60 ms after it.
    let first = left.saturating_sub(Duration::from_millis(60));
    let answers = (0_u32..7).map(async |number| {
        sleep(first + Duration::from_millis(20) * number).await;
        let body = json!({"output": {"amount": number + 7}});
        scene.answers(number as usize % 3, &form, body).await
    });
    let replies = join_all(answers).await;
    let ended = scene.stack.ended(&run, SOON).await;
    let accepted = replies.iter().filter(|reply| reply.status == 202).count();
    let status = ended["steps"][0]["calls"][0]["status"].as_str().unwrap().to_owned();
    assert!(replies.iter().all(|reply| [202, 409].contains(&reply.status)));
    assert_eq!(
        (accepted, status.as_str()),
        if accepted == 1 { (1, "completed") } else { (0, "expired") }
    );
    assert_eq!(part(&scene.card(&form).await)["status"], status.as_str());
}
