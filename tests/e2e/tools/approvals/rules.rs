//! What the loop does by a rule: it refuses, asks, or fails at once.

use serde_json::json;

use crate::{
    support::{
        model::{Answer, answer, say, stop},
        waiting::SOON,
    },
    tools::approvals::act::{ActScene, asks, outcome, pay},
};

#[tokio::test]
async fn a_forbidden_call_fails_and_the_model_reads_the_rule() {
    let rules = json!([asks(&["*"]), {"tools": ["trans*", "drop_*"], "action": "deny"}]);
    let scene = ActScene::with(rules, json!({}), [answer([pay(900)]), stop()]).await;
    let run = scene.trigger().await;
    let calls = scene.ended(&run, 0).await;
    let text = "a rule of this agent forbids transfer: rule 2 (trans*, drop_*)";
    assert_eq!(outcome(&calls[0]), ("failed", &json!({"error": text})));
    assert_eq!(scene.results(), [json!({"error": text})]);
    assert_eq!((scene.cards().await.len(), scene.transfers().len()), (0, 0));
}

#[tokio::test]
async fn a_rule_asks_only_about_inputs_that_it_names() {
    let rules = json!([{"tools": ["transfer"], "when": "double(input.amount) > 500.0"}]);
    let scene = ActScene::with(rules, json!({}), [answer([pay(400), pay(600)]), stop()]).await;
    let run = scene.waits().await;
    assert_eq!(scene.paid(), [json!(400)]);
    let card = scene.cards().await.remove(0);
    assert_eq!(card["input"], json!({"amount": 600}));
    scene.approves(1, &run, &card).await;
    scene.ended(&run, 0).await;
    assert_eq!(scene.paid(), [json!(400), json!(600)]);
}

#[tokio::test]
async fn a_call_fails_at_once_if_too_few_people_may_decide() {
    let rules = json!([{"tools": ["transfer"], "by": "owners", "quorum": 2}]);
    let scene = ActScene::with(rules, json!({}), [answer([pay(1)]), stop()]).await;
    let run = scene.trigger().await;
    let calls = scene.ended(&run, 0).await;
    let text = "nobody may approve this here: a call of transfer needs an approval by 2 owners, \
                and only 1 in this space may decide";
    assert_eq!(outcome(&calls[0]), ("failed", &json!({"error": text})));
    assert_eq!((scene.cards().await.len(), scene.transfers().len()), (0, 0));
}

#[tokio::test]
async fn a_wrong_input_fails_before_anybody_is_asked() {
    let wrong = super::act::pay_what(json!({"amount": "all"}));
    let scene =
        ActScene::with(json!([asks(&["transfer"])]), json!({}), [answer([wrong]), stop()]).await;
    let run = scene.trigger().await;
    let calls = scene.ended(&run, 0).await;
    let error = outcome(&calls[0]).1["error"].as_str().unwrap();
    assert!(error.starts_with("the input of transfer does not fit at /amount"), "{error}");
    assert_eq!(scene.cards().await.len(), 0);
}

#[tokio::test]
async fn an_input_over_64_kib_is_refused() {
    let long = json!({"amount": 1, "to": "a".repeat(66_000)});
    let long = super::act::pay_what(long);
    let scene =
        ActScene::with(json!([asks(&["transfer"])]), json!({}), [answer([long]), stop()]).await;
    let run = scene.trigger().await;
    let calls = scene.ended(&run, 0).await;
    let error = outcome(&calls[0]).1["error"].as_str().unwrap();
    assert!(error.starts_with("the input is too long to be shown"), "{error}");
    assert_eq!((scene.cards().await.len(), scene.transfers().len()), (0, 0));
}

#[tokio::test]
async fn a_declined_call_is_declined_again_without_asking() {
    let other = super::act::pay_what(json!({"to": "b", "amount": 1}));
    let same = super::act::pay_what(json!({"amount": 1, "to": "b"}));
    let answers: [Answer; 4] = [answer([other]), answer([same]), answer([pay(2)]), stop()];
    let scene = ActScene::with(json!([asks(&["transfer"])]), json!({}), answers).await;
    let run = scene.waits().await;
    let card = scene.cards().await.remove(0);
    scene.decides(1, &run, &card, json!({"action": "decline"})).await.must_be(202);
    // The third call is another one, so people are asked about it.
    scene.socket.frame("tool.requested", SOON, |frame| frame["input"]["amount"] == 2).await;
    scene.status(&run, "waiting_tool").await;
    let cards = scene.cards().await;
    assert_eq!(cards.len(), 2, "the same call was shown again");
    scene.decides(1, &run, &cards[1], json!({"action": "decline"})).await.must_be(202);
    let calls = scene.ended(&run, 1).await;
    let reason = "the same call was declined before in this run; nobody was asked again";
    assert_eq!(outcome(&calls[0]), ("completed", &json!({"declined": true, "reason": reason})));
    assert_eq!(scene.transfers().len(), 0);
}

#[tokio::test]
async fn a_run_without_a_space_enters_one_first() {
    let scene =
        ActScene::with(json!([asks(&["transfer"])]), json!({}), [answer([pay(1)]), stop()]).await;
    let sent = json!({"service": "shop", "payload": {"order": 1}});
    let path = format!("/v1/agents/{}/trigger", scene.agent);
    let received = scene.stack.create(&path, sent).await.must_be(202);
    let run = received["runId"].as_str().unwrap();
    let calls = scene.ended(run, 0).await;
    let error = outcome(&calls[0]).1["error"].as_str().unwrap();
    assert!(error.ends_with("none is active; call enter_space first"), "{error}");
    assert_eq!(scene.transfers().len(), 0);
}

#[tokio::test]
async fn an_undecided_call_expires_and_the_run_goes_on_or_ends() {
    for (on_expire, status, reason, steps) in
        [("decline", "completed", "done", 2), ("end", "canceled", "declined", 1)]
    {
        let rules = json!([{
            "tools": ["transfer"], "expiresAfter": "10 seconds", "onExpire": on_expire,
        }]);
        let more = json!({"loop": {"timeLimit": "10 seconds"}});
        let scene = ActScene::with(rules, more, [answer([pay(1), say("Paid.")]), stop()]).await;
        let run = scene.waits().await;
        let ended = scene.stack.ended(&run, SOON * 2).await;
        assert_eq!(
            (&ended["status"], &ended["endReason"]),
            (&json!(status), &json!(reason)),
            "{on_expire}: {ended:.3000}"
        );
        assert_eq!(ended["stepCount"], steps, "{on_expire}");
        let card = scene.cards().await.remove(0);
        assert_eq!(card["approval"]["state"], "expired", "{on_expire}: {card}");
        assert_eq!(scene.transfers().len(), 0, "{on_expire}");
        let paid = scene.texts().await.contains(&"Paid.".to_owned());
        assert_eq!(paid, on_expire == "decline", "{on_expire}");
    }
}

#[tokio::test]
async fn a_person_ends_the_run_in_place_of_approving() {
    let calls = answer([pay(1), say("Paid.")]);
    let scene = ActScene::with(json!([asks(&["transfer"])]), json!({}), [calls, stop()]).await;
    let run = scene.waits().await;
    let card = scene.cards().await.remove(0);
    scene.decides(1, &run, &card, json!({"action": "end"})).await.must_be(202);
    let ended = scene.stack.ended(&run, SOON).await;
    assert_eq!(
        (&ended["status"], &ended["endReason"]),
        (&json!("canceled"), &json!("declined")),
        "{ended:.3000}"
    );
    assert_eq!((scene.texts().await.len(), scene.transfers().len()), (1, 0));
}
