//! An approved call is made once, as it was approved, and its card shows the result.

use serde_json::{Value, json};

use crate::{
    support::{
        model::{answer, call, say, stop},
        tool_scene::{but, http_tool},
        waiting::{SOON, wait_for},
    },
    tools::{
        approvals::act::{ActScene, asks, outcome, pay},
        forms::scene::form_tool,
    },
};

#[tokio::test]
async fn a_call_is_made_once_when_enough_people_have_approved_it() {
    let rules = json!([{"tools": ["transfer"], "quorum": 2}]);
    let scene = ActScene::with(rules, json!({}), [answer([pay(900)]), stop()]).await;
    let run = scene.waits().await;
    let card = scene.cards().await.remove(0);
    scene.approves(0, &run, &card).await;
    scene.approves(0, &run, &card).await;
    assert_eq!(scene.stack.run(&run).await["status"], "waiting_tool", "one person counts once");
    assert_eq!(scene.transfers().len(), 0);
    scene.approves(1, &run, &card).await;
    let calls = scene.ended(&run, 0).await;
    assert_eq!((outcome(&calls[0]).0, scene.paid()), ("completed", vec![json!(900)]));
    let cards = scene.cards().await;
    assert_eq!(cards.len(), 1, "the call has a second card");
    assert_eq!(outcome(&cards[0]), outcome(&calls[0]), "the card does not show the result");
    assert_eq!(cards[0]["approval"]["state"], "approved");
    assert_eq!(scene.stack.run(&run).await["stepCount"], 2);
}

#[tokio::test]
async fn an_edited_input_is_the_one_that_is_sent() {
    let rules = json!([
        asks(&["transfer"]),
        {"tools": ["transfer"], "action": "deny", "when": "double(input.amount) == 13.0"},
    ]);
    let scene = ActScene::with(rules, json!({}), [answer([pay(900)]), stop()]).await;
    let run = scene.waits().await;
    let card = scene.cards().await.remove(0);
    let forbidden = json!({"action": "edit", "input": {"amount": 13}});
    assert_eq!(scene.decides(1, &run, &card, forbidden).await.status, 409);
    let edit = json!({"action": "edit", "input": {"amount": 600}});
    scene.decides(1, &run, &card, edit).await.must_be(202);
    scene.ended(&run, 0).await;
    assert_eq!(scene.paid(), [json!(600)]);
}

#[tokio::test]
async fn a_rule_that_denies_is_checked_again_when_the_call_begins() {
    let scene =
        ActScene::with(json!([asks(&["transfer"])]), json!({}), [answer([pay(1)]), stop()]).await;
    let run = scene.waits().await;
    let rules = json!([{"tools": ["transfer"], "action": "deny"}]);
    let path = format!("/v1/entities/{}", scene.agent);
    scene.stack.patch(&path, json!({"agent": {"approvals": rules}})).await.must_be(200);
    let card = scene.cards().await.remove(0);
    scene.approves(1, &run, &card).await;
    let calls = scene.ended(&run, 0).await;
    let text = "a rule of this agent forbids transfer: rule 1 (transfer)";
    assert_eq!(outcome(&calls[0]), ("failed", &json!({"error": text})));
    assert_eq!(scene.transfers().len(), 0);
    assert_eq!(outcome(&scene.cards().await[0]), ("failed", &json!({"error": text})));
}

#[tokio::test]
async fn a_card_keeps_its_rule_if_the_agent_has_none_any_longer() {
    let scene =
        ActScene::with(json!([asks(&["transfer"])]), json!({}), [answer([pay(1)]), stop()]).await;
    let run = scene.waits().await;
    let path = format!("/v1/entities/{}", scene.agent);
    scene.stack.patch(&path, json!({"agent": {"approvals": []}})).await.must_be(200);
    scene.approves(1, &run, &scene.cards().await[0]).await;
    scene.ended(&run, 0).await;
    assert_eq!(scene.paid(), [json!(1)]);
}

#[tokio::test]
async fn an_approved_call_of_a_built_in_tool_finishes_its_card() {
    let memory = json!({"memories": [{"key": "limit", "value": "500"}]});
    let calls = answer([call("set_memories", memory), call("get_memories", json!({}))]);
    let rules = json!([asks(&["set_*", "get_*"])]);
    let scene = ActScene::with(rules, json!({}), [calls, stop()]).await;
    let run = scene.waits().await;
    let cards = scene.cards().await;
    let memories = format!("/v1/agents/{}/memories", scene.agent);
    assert_eq!(scene.stack.all(&memories).await.len(), 0);
    for card in &cards {
        scene.approves(1, &run, card).await;
    }
    let calls = scene.ended(&run, 0).await;
    assert_eq!(outcome(&calls[0]), ("completed", &json!({"saved": ["limit"]})));
    assert!(outcome(&calls[1]).1.as_str().unwrap().contains("500"), "{}", calls[1]);
    assert_eq!(scene.stack.all(&memories).await.len(), 1);
    let cards = scene.cards().await;
    let shown: Vec<_> = cards.iter().map(outcome).collect();
    assert_eq!(shown, calls.iter().map(outcome).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_visible_call_has_one_card() {
    let scene = ActScene::with(
        json!([asks(&["show"])]),
        json!({}),
        [answer([call("show", json!({"city": "Oslo"}))]), stop()],
    )
    .await;
    let tool = http_tool("show", "POST", &format!("{}/echo/show", scene.server.url), json!({}));
    let tools = json!([but(tool, json!({"visible": true}))]);
    let path = format!("/v1/entities/{}", scene.agent);
    scene.stack.patch(&path, json!({"agent": {"tools": tools}})).await.must_be(200);
    let run = scene.waits().await;
    scene.approves(1, &run, &scene.cards().await[0]).await;
    scene.ended(&run, 0).await;
    let cards = scene.cards().await;
    assert_eq!((cards.len(), outcome(&cards[0]).0), (1, "completed"), "{cards:#?}");
    assert_eq!(scene.server.requests().len(), 1);
}

#[tokio::test]
async fn a_form_that_people_have_approved_is_asked() {
    let question = json!({"message": "Restart?", "options": ["Yes", "No"]});
    let answers = [answer([call("getApproval", question)]), say("Thanks.").into(), stop()];
    let scene = ActScene::with(json!([asks(&["getApproval"])]), json!({}), answers).await;
    let form = form_tool("getApproval", json!({"ui": "buttons", "expiresAfter": "10 minutes"}));
    let path = format!("/v1/entities/{}", scene.agent);
    scene.stack.patch(&path, json!({"agent": {"tools": [form]}})).await.must_be(200);
    let run = scene.waits().await;
    scene.approves(1, &run, &scene.cards().await[0]).await;
    let is_form = |frame: &Value| frame["ui"] == "buttons";
    scene.socket.frame("tool.requested", SOON, is_form).await;
    scene.status(&run, "waiting_tool").await;
    let cards = scene.cards().await;
    assert_eq!(outcome(&cards[0]), ("completed", &json!({"approved": true})));
    assert_eq!((outcome(&cards[1]).0, &cards[1]["ui"]), ("pending", &json!("buttons")));
    let caller = scene.stack.as_entity(&scene.people[1]);
    let call = cards[1]["callId"].as_str().unwrap();
    let path = format!("/v1/runs/{run}/toolCalls/{call}/result");
    caller.create(&path, json!({"output": {"choice": "Yes"}})).await.must_be(202);
    let calls = scene.ended(&run, 0).await;
    assert_eq!(outcome(&calls[0]), ("completed", &json!({"choice": "Yes"})));
}

#[tokio::test]
async fn a_killed_product_makes_an_approved_call_once() {
    let mut scene =
        ActScene::on_disk(json!([asks(&["transfer"])]), [answer([pay(900)]), stop()]).await;
    let run = scene.waits().await;
    let card = scene.cards().await.remove(0);
    scene.approves(1, &run, &card).await;
    scene.stack.kill9();
    scene.stack.restart().await;
    let calls = scene.ended(&run, 0).await;
    let is_known = outcome(&calls[0]).0 == "completed";
    // The kill may come between the request and its result. Then nobody knows the outcome.
    let transfers = scene.transfers().len();
    assert!(transfers <= 1 && (transfers == 1 || !is_known), "{transfers}: {}", calls[0]);
    assert_eq!(scene.cards().await.len(), 1);
}

#[tokio::test]
async fn a_call_that_was_under_way_at_a_kill_is_not_made_again() {
    let slow = call("slow", json!({}));
    let mut scene = ActScene::on_disk(json!([asks(&["slow"])]), [answer([slow]), stop()]).await;
    let tool = http_tool("slow", "POST", &format!("{}/slow", scene.server.url), json!({}));
    let path = format!("/v1/entities/{}", scene.agent);
    scene.stack.patch(&path, json!({"agent": {"tools": [tool]}})).await.must_be(200);
    let run = scene.waits().await;
    let card = scene.cards().await.remove(0);
    scene.approves(1, &run, &card).await;
    wait_for("the request arrives", SOON, async || {
        (!scene.server.requests().is_empty()).then_some(())
    })
    .await;
    scene.stack.kill9();
    scene.server.gate.open();
    scene.stack.restart().await;
    let calls = scene.ended(&run, 0).await;
    assert_eq!((outcome(&calls[0]).0, scene.server.requests().len()), ("unknown", 1));
    let error = outcome(&calls[0]).1["error"].as_str().unwrap();
    assert!(error.contains("it was not repeated"), "{error}");
    assert_eq!(outcome(&scene.cards().await[0]).0, "failed");
}

#[tokio::test]
async fn an_allowance_makes_later_calls_without_asking() {
    let rules = json!([{"tools": ["transfer"]}]);
    let answers = [answer([pay(1)]), stop(), answer([pay(2), pay(700)]), stop()];
    let scene = ActScene::with(rules, json!({}), answers).await;
    let run = scene.waits().await;
    let card = scene.cards().await.remove(0);
    let remember = json!({"in": "space", "when": "double(input.amount) < 500.0"});
    let always = json!({"action": "approve", "remember": remember});
    scene.decides(1, &run, &card, always).await.must_be(202);
    scene.ended(&run, 0).await;
    let second = scene.waits().await;
    assert_eq!(scene.paid(), [json!(1), json!(2)]);
    let card = scene.cards().await.pop().unwrap();
    assert_eq!(card["input"]["amount"], 700, "the allowance does not fit this input");
    scene.decides(1, &second, &card, json!({"action": "decline"})).await.must_be(202);
    scene.ended(&second, 0).await;
    assert_eq!(scene.paid(), [json!(1), json!(2)]);
}
