//! Answers that are refused: by other people, and against the schema.

use serde_json::{Value, json};

use crate::{
    support::{
        client::Client,
        model::{answer, call, stop},
        stack::Stack,
    },
    tools::forms::scene::{FormScene, amount_schema, answer_form, form_tool},
};

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
    scene.trigger().await;
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
