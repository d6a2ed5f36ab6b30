//! 21 ways to get a call made without the approvals that its rule wants. None works.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    support::{
        model::{Answer, answer, call, say, stop, think},
        routes::{id, triggered_run},
        tool_scene::{but, http_tool},
        waiting::SOON,
    },
    tools::approvals::act::{ActScene, asks, decide, outcome, pay, pay_what, transfer},
};

/// An agent whose `transfer` two members approve, with a call that waits. Returns its run and its
/// card.
async fn waiting() -> (ActScene, String, Value) {
    let rules = json!([{"tools": ["transfer"], "quorum": 2}]);
    let scene = ActScene::with(rules, json!({}), [answer([pay(900)]), stop()]).await;
    let run = scene.waits().await;
    let card = scene.cards().await.remove(0);
    (scene, run, card)
}

/// Checks that the run still waits, and that nothing was sent.
async fn still_waits(scene: &ActScene, run: &str, after: &str) {
    assert_eq!(scene.stack.run(run).await["status"], "waiting_tool", "{after}");
    assert_eq!(scene.transfers().len(), 0, "{after}");
}

#[tokio::test]
async fn tokens_of_others_decide_nothing() {
    let (scene, run, card) = waiting().await;
    let stack = &scene.stack;
    let approve = json!({"action": "approve"});
    scene.approves(0, &run, &card).await;

    // 1. An agent's token. 2. The token of a person outside of the space. 3. A guest's token.
    let agent = stack.as_entity(&scene.agent);
    assert_eq!(decide(&agent, &run, &card, approve.clone()).await.status, 403);
    let stranger = stack.as_entity(&stack.person("Eve").await);
    assert_eq!(decide(&stranger, &run, &card, approve.clone()).await.status, 404);
    let invites = format!("/v1/spaces/{}/invites", scene.space);
    let invite = stack.create(&invites, json!({})).await.must_be(201);
    let accept = json!({"token": invite["token"], "name": "Guest"});
    let request = stack.request(Method::POST, "/v1/invites/accept").json(&accept);
    let guest = stack.send(request).await.must_be(200)["token"].as_str().unwrap().to_owned();
    assert_eq!(decide(&stack.with(&guest), &run, &card, approve.clone()).await.status, 403);
    // 4. The operator without a person, and 5. in the name of the agent.
    assert_eq!(decide(stack, &run, &card, approve.clone()).await.status, 422);
    let as_agent = json!({"action": "approve", "senderId": scene.agent});
    assert_eq!(decide(stack, &run, &card, as_agent).await.status, 403);
    // 6. The same person a second time, also by an edit.
    scene.approves(0, &run, &card).await;
    still_waits(&scene, &run, "the same person").await;
    let same = json!({"action": "edit", "input": {"amount": 900}});
    scene.decides(0, &run, &card, same).await.must_be(202);
    scene.approves(0, &run, &card).await;
    still_waits(&scene, &run, "the same person, by an edit").await;
    // 7. The answer of a form, by the agent and 8. without an action.
    let path = format!("/v1/runs/{run}/toolCalls/{}/result", card["callId"].as_str().unwrap());
    let as_form = json!({"output": {"action": "approve"}});
    assert_eq!(agent.create(&path, as_form).await.status, 403);
    let max = stack.as_entity(&scene.people[1]);
    assert_eq!(max.create(&path, json!({"output": {"choice": "Approve"}})).await.status, 422);
    still_waits(&scene, &run, "tokens of others").await;
}

#[tokio::test]
async fn an_approval_counts_for_its_call_and_its_input_alone() {
    let (scene, run, card) = waiting().await;
    // 9. An input that was edited after an approval.
    scene.approves(0, &run, &card).await;
    let edit = json!({"action": "edit", "input": {"amount": 9000}});
    let edited = scene.decides(1, &run, &card, edit).await.must_be(202);
    assert_eq!(edited, json!({"approvals": {"given": 1, "needed": 2}}));
    still_waits(&scene, &run, "an edit").await;
    // 10. An edit that does not fit the tool.
    let wrong = json!({"action": "edit", "input": {"amount": 1, "targetSpaceId": scene.space}});
    assert_eq!(scene.decides(2, &run, &card, wrong).await.status, 422);
    // 11. A decline that is approved afterwards.
    scene.decides(2, &run, &card, json!({"action": "decline"})).await.must_be(202);
    let late = scene.decides(0, &run, &card, json!({"action": "approve"})).await;
    assert_eq!(late.status, 409);
    let calls = scene.ended(&run, 0).await;
    assert_eq!(outcome(&calls[0]).1, &json!({"declined": true}));
    assert_eq!(scene.transfers().len(), 0);
    // 12. The card of a run that has ended, and 13. its call under the id of another run.
    scene.stack.model.plays("ada", [answer([pay(900)]), stop()]);
    let other = scene.waits().await;
    let crossed = scene.decides(0, &other, &card, json!({"action": "approve"})).await;
    assert_eq!(crossed.status, 404);
    still_waits(&scene, &other, "an old card").await;
}

#[tokio::test]
async fn an_equal_call_needs_its_own_approval() {
    // 14. The same call twice in one answer. 15. A name that is nearly the tool's.
    let near = call("Transfer", json!({"amount": 1}));
    let calls = answer([near, pay(5), pay(5)]);
    let scene = ActScene::with(json!([asks(&["transfer"])]), json!({}), [calls, stop()]).await;
    let run = scene.waits().await;
    let cards = scene.cards().await;
    assert_eq!(cards.len(), 2);
    scene.approves(1, &run, &cards[0]).await;
    scene.decides(1, &run, &cards[1], json!({"action": "decline"})).await.must_be(202);
    let calls = scene.ended(&run, 0).await;
    assert!(outcome(&calls[0]).1["error"].as_str().unwrap().starts_with("there is no tool"));
    assert_eq!(scene.paid(), [json!(5)]);
}

#[tokio::test]
async fn a_rule_names_all_tools_that_its_pattern_fits_and_an_odd_input_is_asked() {
    // 16. Another tool of the same server. 17. An input over which the condition fails.
    let rules = json!([{"tools": ["transfer*"], "when": "double(input.amount) > 500.0"}]);
    let calls = answer([
        call("transfer_fast", json!({"amount": 900})),
        call("transfer_fast", json!({"amount": "a lot"})),
    ]);
    let scene = ActScene::with(rules, json!({}), [calls, stop()]).await;
    let url = format!("{}/echo/transfer", scene.server.url);
    let fast = but(http_tool("transfer_fast", "POST", &url, json!({})), json!({}));
    let tools = json!([transfer(&scene.server.url), fast]);
    let path = format!("/v1/entities/{}", scene.agent);
    scene.stack.patch(&path, json!({"agent": {"tools": tools}})).await.must_be(200);
    let run = scene.waits().await;
    assert_eq!(scene.cards().await.len(), 2);
    still_waits(&scene, &run, "another tool").await;
}

#[tokio::test]
async fn a_retry_and_a_fork_use_no_approval_of_the_first_run() {
    let answers: [Answer; 2] = [answer([pay(900)]), stop()];
    let scene = ActScene::with(json!([asks(&["transfer"])]), json!({}), answers).await;
    let run = scene.waits().await;
    scene.approves(1, &run, &scene.cards().await[0]).await;
    scene.ended(&run, 0).await;
    assert_eq!(scene.paid(), [json!(900)]);
    // 18. A fork has the stored outcome, asks nobody, and sends nothing.
    scene.stack.model.plays("ada", [answer([pay(900)]), stop()]);
    let path = format!("/v1/runs/{run}/fork");
    let request = scene.stack.request(Method::POST, &path).bearer_auth(&scene.stack.key);
    let request = request.header("Idempotency-Key", "fork").json(&json!({"fromStep": 0}));
    let fork = id(&scene.stack.send(request).await.must_be(201));
    let ended = scene.stack.ended(&fork, SOON).await;
    let [first, second] = [&scene.stack.run(&run).await, &ended];
    let output = |run: &Value| run["steps"][0]["calls"][0]["output"].clone();
    assert_eq!(output(first), output(second));
    assert_eq!((scene.transfers().len(), scene.cards().await.len()), (1, 1));
    // A later run asks again.
    scene.stack.model.plays("ada", [answer([pay(900)]), stop()]);
    scene.waits().await;
    assert_eq!((scene.transfers().len(), scene.cards().await.len()), (1, 2));
}

#[tokio::test]
async fn an_allowance_of_another_space_counts_there_alone() {
    let answers = [answer([pay(1)]), stop(), answer([pay(2)]), stop()];
    let scene = ActScene::with(json!([asks(&["transfer"])]), json!({}), answers).await;
    let run = scene.waits().await;
    let always = json!({"action": "approve", "remember": {"in": "space"}});
    scene.decides(1, &run, &scene.cards().await[0], always).await.must_be(202);
    scene.ended(&run, 0).await;
    // 19. The agent is asked in another space.
    let other = scene.stack.space("Other", &[&scene.people[2], &scene.agent]).await;
    let question = scene.stack.post(&other, &scene.people[2], "Pay Ben.").await;
    let second = triggered_run(&question, &scene.agent).unwrap();
    scene.status(&second, "waiting_tool").await;
    assert_eq!(scene.paid(), [json!(1)]);
    // It is void once its rule is another one.
    scene.stack.cancel(&second).await.must_be(202);
    let rules = json!([{"tools": ["transfer"], "by": "owners"}]);
    let path = format!("/v1/entities/{}", scene.agent);
    scene.stack.patch(&path, json!({"agent": {"approvals": rules}})).await.must_be(200);
    scene.stack.model.plays("ada", [answer([pay(3)]), stop()]);
    scene.waits().await;
    assert_eq!(scene.paid(), [json!(1)]);
}

#[tokio::test]
async fn a_tool_that_is_changed_while_people_decide_is_not_called() {
    // 21. The tool gets another address, the first time after an approval was remembered.
    let answers = [answer([pay(1)]), stop(), answer([pay(2)]), stop()];
    let scene = ActScene::with(json!([asks(&["transfer"])]), json!({}), answers).await;
    let path = format!("/v1/entities/{}", scene.agent);
    let change = async |url: &str, description: &str| {
        let tool = but(transfer(url), json!({"description": description}));
        scene.stack.patch(&path, json!({"agent": {"tools": [tool]}})).await.must_be(200);
    };
    let run = scene.waits().await;
    change(&scene.server.url, "Another description.").await;
    let always = json!({"action": "approve", "remember": {"in": "space"}});
    scene.decides(1, &run, &scene.cards().await[0], always).await.must_be(202);
    scene.ended(&run, 0).await;
    assert_eq!(scene.paid(), [json!(1)], "a description is no change");
    let moved = format!("{}/echo", scene.server.url);
    change(&moved, "Transfers.").await;
    let second = scene.waits().await;
    assert_eq!(scene.paid(), [json!(1)], "the allowance is void");
    change(&scene.server.url, "Transfers.").await;
    scene.approves(1, &second, &scene.cards().await[1]).await;
    let calls = scene.ended(&second, 0).await;
    let error = outcome(&calls[0]).1["error"].as_str().unwrap();
    assert!(error.starts_with("transfer was changed after people were asked"), "{error}");
    assert_eq!(scene.paid(), [json!(1)]);
    assert_eq!(scene.cards().await[1]["status"], "failed");
}

#[tokio::test]
async fn a_model_that_speaks_json_posts_only_what_people_approve() {
    // 20. The message that such a model implies.
    let scene = ActScene::with(
        json!([asks(&["send_message"])]),
        json!({}),
        [answer([think(r#"{"say": "Seven.", "reason": "asked"}"#)]), stop()],
    )
    .await;
    let name = scene.stack.model.name("ada");
    let model = json!({"provider": "openai", "name": name, "speaks": "json"});
    let path = format!("/v1/entities/{}", scene.agent);
    scene.stack.patch(&path, json!({"agent": {"model": model}})).await.must_be(200);
    let run = scene.waits().await;
    assert_eq!(scene.texts().await, ["Pay Ben."]);
    scene.approves(1, &run, &scene.cards().await[0]).await;
    let ended = scene.stack.ended(&run, SOON).await;
    assert_eq!((&ended["status"], &ended["endReason"]), (&json!("completed"), &json!("done")));
    assert_eq!(scene.texts().await, ["Pay Ben.", "Seven."]);
}

#[tokio::test]
async fn the_work_of_a_delegate_is_ruled_by_its_own_rules() {
    let scene = ActScene::with(json!([asks(&["transfer"])]), json!({}), [stop()]).await;
    let model = json!({"provider": "openai", "name": scene.stack.model.name("bea")});
    let bea = scene.stack.agent_with("Bea", json!({"model": model})).await;
    let member = format!("/v1/spaces/{}/members/{bea}", scene.space);
    assert!(scene.stack.put(&member, json!({})).await.status < 300);
    let admin = json!({"triggerPolicy": "admin", "adminAgentId": bea});
    let path = format!("/v1/spaces/{}", scene.space);
    scene.stack.patch(&path, admin).await.must_be(200);
    let hand_on = call("delegate", json!({"agent": scene.agent}));
    scene.stack.model.plays("bea", [answer([hand_on, say("Never said.")]), stop()]);
    scene.stack.model.plays("ada", [answer([pay_what(json!({"amount": 7}))]), stop()]);
    scene.stack.post(&scene.space, &scene.people[0], "Pay Ben.").await;
    scene.socket.frame("tool.requested", SOON, |frame| frame["name"] == "transfer").await;
    assert_eq!((scene.transfers().len(), scene.cards().await.len()), (0, 1));
}
