//! Answers to forms: who may answer, bad answers, and races of which exactly one wins.

use std::time::Duration;

use futures::future::join_all;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    support::{
        client::Client,
        model::{Gate, answer, call, say, say_held, stop},
        stack::Stack,
        waiting::{SOON, is_ended, wait_for},
    },
    tools::forms::{
        FormScene, amount, amount_schema, answer_form, approval, approval_call, form_tool, part,
    },
};

#[tokio::test]
async fn of_ten_concurrent_answers_exactly_one_is_accepted() {
    let answers = [approval_call(), say("Done.").into(), stop()];
    let scene = FormScene::new(json!([approval()]), answers).await;
    let run = scene.wake().await;
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
async fn only_the_named_person_may_answer_and_only_by_the_schema() {
    let stack = Stack::with_secret(&[]).await.expect("a product that accepts tokens");
    let sarah = stack.person("Only Sarah").await;
    let stranger = stack.person("Stranger").await;
    let only_sarah = json!({"resultSchema": amount_schema(), "answerBy": [sarah]});
    let tools = json!([form_tool("getAmount", only_sarah)]);
    let calls = answer([call("getAmount", json!({"title": "How much?"}))]);
    let scene = FormScene::on(stack, tools, [calls, stop()]).await;
    let membership = format!("/v1/spaces/{}/members/{sarah}", scene.space);
    scene.stack.put(&membership, json!({})).await.must_be(200);
    scene.wake().await;
    let form = scene.requested("getAmount").await;
    assert_eq!(form["answerBy"], json!([sarah]));
    let by = |entity: &str| scene.stack.as_entity(entity);
    let three = json!({"output": {"amount": 3}});
    assert_eq!(answer_form(&by(&stranger), &form, three.clone()).await.status, 404);
    assert_eq!(scene.answers(0, &form, three.clone()).await.status, 403);
    assert_eq!(answer_form(&by(&scene.agent), &form, three.clone()).await.status, 403);
    refuse_missing_calls(&by(&sarah), &form).await;
    refuse_bad_answers(&by(&sarah), &form).await;
    answer_form(&by(&sarah), &form, three.clone()).await.must_be(202);
    answer_form(&by(&sarah), &form, three.clone()).await.must_be(202);
    let four = json!({"output": {"amount": 4}});
    assert_eq!(answer_form(&by(&sarah), &form, four).await.status, 409);

    // The operator is another caller than Sarah, but may answer in her name.
    assert_eq!(answer_form(&scene.stack, &form, three).await.status, 409);
    let as_sender = |id: &str| json!({"output": {"amount": 3}, "senderId": id});
    answer_form(&scene.stack, &form, as_sender(&sarah)).await.must_be(202);
    let by_other_member = answer_form(&scene.stack, &form, as_sender(&scene.people[0])).await;
    assert_eq!(by_other_member.status, 403, "a person that the form does not ask");
    let by_stranger = answer_form(&scene.stack, &form, as_sender(&stranger)).await;
    assert_eq!(by_stranger.status, 404, "a person outside the space");
    let forged = answer_form(&by(&sarah), &form, as_sender(&scene.people[0])).await;
    assert_eq!(forged.status, 403, "an answer in another person's name");
    scene.stack.quiet(&scene.space).await;
    assert_eq!(scene.results(), [json!({"amount": 3})]);
}

async fn refuse_missing_calls(caller: &Client, form: &Value) {
    let run = form["runId"].as_str().unwrap();
    let call = form["callId"].as_str().unwrap();
    for (run, call) in [
        (run, "cal_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        ("run_01ARZ3NDEKTSV4RRFFQ69G5FAV", call),
        (run, "nonsense"),
    ] {
        let path = format!("/v1/runs/{run}/toolCalls/{call}/result");
        let reply = caller.create(&path, json!({"output": {"amount": 3}})).await;
        assert_eq!(reply.status, 404, "{}", reply.text);
    }
}

async fn refuse_bad_answers(caller: &Client, form: &Value) {
    let bad = [
        (json!({"output": {"amount": 0}}), "/output/amount"),
        (json!({"output": {"amount": "3"}}), "/output/amount"),
        (json!({"output": {}}), "/output/amount"),
        (json!({"output": null}), "/output"),
        (json!({}), ""),
        (json!({"output": {"amount": 3}, "declined": true}), "/declined"),
        (json!({"output": {"amount": 3}, "reason": "why"}), "/reason"),
        (json!({"declined": true, "reason": "x".repeat(1_001)}), "/reason"),
    ];
    for (body, pointer) in bad {
        let problem = answer_form(caller, form, body.clone()).await.must_be(422);
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{body}: {problem}");
    }
    let unknown_field = json!({"output": {"amount": 3}, "more": 1});
    assert_eq!(answer_form(caller, form, unknown_field).await.status, 422);
}

#[tokio::test]
async fn an_answer_before_the_run_pauses_is_not_lost() {
    let gate = Gate::closed();
    let forms = answer([
        call("getAmount", json!({"title": "How much?"})),
        say_held("Wait for", &gate, " it."),
    ]);
    let scene = FormScene::new(json!([amount("10 minutes")]), [forms, stop()]).await;
    let run = scene.wake().await;
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
        let run = scene.wake().await;
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
    let run = scene.wake().await;
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
