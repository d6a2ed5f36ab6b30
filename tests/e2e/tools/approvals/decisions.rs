//! Decisions: what each one does, who may make it, and races between them.

use futures::future::join_all;
use serde_json::{Value, json};

use crate::{
    support::{
        model::{answer, say, stop},
        waiting::{SOON, wait_for},
    },
    tools::approvals::act::{ActScene, outcome, pay},
};

/// An agent whose `transfer` of 900 waits for approvals by this rule, in a space that the first and
/// the third person own. Returns its run and its card.
async fn waiting(rule: Value) -> (ActScene, String, Value) {
    let mut rules = json!([{"tools": ["transfer"]}]);
    rules[0].as_object_mut().unwrap().extend(rule.as_object().unwrap().clone());
    let scene = ActScene::with(rules, json!({}), [answer([pay(900)]), stop()]).await;
    let sarah = format!("/v1/spaces/{}/members/{}", scene.space, scene.people[2]);
    assert!(scene.stack.put(&sarah, json!({"role": "owner"})).await.status < 300);
    let run = scene.waits().await;
    let card = scene.cards().await.remove(0);
    (scene, run, card)
}

fn approve() -> Value {
    json!({"action": "approve"})
}

/// The entities and actions of the decisions on the only card.
async fn decisions(scene: &ActScene) -> Vec<(Value, Value)> {
    let card = scene.cards().await.remove(0);
    let made = card["approval"]["decisions"].as_array().unwrap().clone();
    made.iter().map(|made| (made["by"].clone(), made["action"].clone())).collect()
}

#[tokio::test]
async fn a_card_shows_what_is_missing_and_each_approval() {
    let (scene, run, card) = waiting(json!({"quorum": 2, "by": "owners"})).await;
    assert_eq!(
        card["approval"],
        json!({"by": "owners", "needed": 2, "state": "open", "decisions": []})
    );
    assert_eq!((&card["ui"], &card["status"]), (&json!("approval"), &json!("pending")));
    let actions = &card["resultSchema"]["properties"]["action"]["enum"];
    assert_eq!(*actions, json!(["approve", "edit", "respond", "decline", "end"]));
    let count = |given: u32| json!({"approvals": {"given": given, "needed": 2}});
    for _ in 0..2 {
        let made = scene.decides(0, &run, &card, approve()).await.must_be(202);
        assert_eq!(made, count(1), "one person counts once");
    }
    assert_eq!(scene.decides(1, &run, &card, approve()).await.status, 403, "no owner");
    assert_eq!(decisions(&scene).await, [(json!(scene.people[0]), json!("approve"))]);
    let made = scene.decides(2, &run, &card, approve()).await.must_be(202);
    assert_eq!(made, count(2));
    scene.ended(&run, 0).await;
    let made = scene.decides(2, &run, &card, approve()).await.must_be(202);
    assert_eq!(made, count(2), "a repeated last approval");
    assert_eq!(scene.decides(0, &run, &card, json!({"action": "decline"})).await.status, 409);
    assert_eq!(scene.paid(), [json!(900)]);
}

#[tokio::test]
async fn one_person_declines_or_answers_in_place_of_the_call() {
    let table = [
        (json!({"action": "decline"}), json!({"declined": true})),
        (
            json!({"action": "decline", "text": "too much"}),
            json!({"declined": true, "reason": "too much"}),
        ),
        (
            json!({"action": "respond", "text": "Paid by hand."}),
            json!({"response": "Paid by hand."}),
        ),
    ];
    for (decision, output) in table {
        let (scene, run, card) = waiting(json!({"quorum": 2})).await;
        scene.approves(0, &run, &card).await;
        scene.decides(1, &run, &card, decision.clone()).await.must_be(202);
        let calls = scene.ended(&run, 0).await;
        assert_eq!(outcome(&calls[0]), ("completed", &output), "{decision}");
        scene.decides(1, &run, &card, decision.clone()).await.must_be(202);
        assert_eq!(scene.decides(0, &run, &card, approve()).await.status, 409, "{decision}");
        let shown = scene.cards().await.remove(0);
        assert_eq!(outcome(&shown), ("completed", &output), "{decision}");
        assert_eq!(shown["approval"]["state"], "declined", "{decision}");
        assert_eq!(shown["resolvedBy"], scene.people[1], "{decision}");
        assert_eq!(decisions(&scene).await.len(), 2, "{decision}");
        assert_eq!((scene.results(), scene.transfers().len()), (vec![output], 0));
    }
}

#[tokio::test]
async fn an_edit_ends_the_approvals_of_the_old_input() {
    let (scene, run, card) = waiting(json!({"quorum": 2})).await;
    scene.approves(0, &run, &card).await;
    let edit = json!({"action": "edit", "input": {"amount": 600}});
    let made = scene.decides(1, &run, &card, edit.clone()).await.must_be(202);
    assert_eq!(made, json!({"approvals": {"given": 1, "needed": 2}}));
    let again = scene.decides(1, &run, &card, edit).await.must_be(202);
    assert_eq!(again, made, "a repeated edit");
    assert_eq!(scene.stack.run(&run).await["status"], "waiting_tool");
    let shown = scene.cards().await.remove(0);
    assert_eq!(shown["input"], json!({"amount": 600}));
    assert_eq!(decisions(&scene).await, [(json!(scene.people[1]), json!("edit"))]);
    scene.approves(0, &run, &card).await;
    scene.ended(&run, 0).await;
    assert_eq!(scene.paid(), [json!(600)]);
}

#[tokio::test]
async fn nobody_approves_an_input_that_they_have_not_seen() {
    let (scene, run, card) = waiting(json!({"quorum": 2})).await;
    let approve = |revision: u32| json!({"action": "approve", "inputRevision": revision});
    let edit = |amount: u32, revision: u32| {
        let input = json!({"amount": amount});
        json!({"action": "edit", "input": input, "inputRevision": revision})
    };
    scene.decides(0, &run, &card, approve(0)).await.must_be(202);
    let edited = scene.decides(1, &run, &card, edit(600, 0)).await.must_be(202);
    let inbox = scene.stack.as_entity(&scene.people[0]).all("/v1/inbox").await;
    assert_eq!(inbox[0]["inputRevision"], 1);
    assert_eq!(scene.cards().await[0]["approval"]["inputRevision"], 1);
    // A stale page, and the request before the edit that is repeated.
    for (person, stale) in [(0, approve(0)), (2, approve(0)), (2, edit(700, 0)), (2, approve(2))] {
        let problem = scene.decides(person, &run, &card, stale.clone()).await.must_be(409);
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains("its inputRevision is 1"), "{stale} {detail}");
    }
    assert_eq!(scene.decides(1, &run, &card, edit(600, 0)).await.must_be(202), edited);
    assert_eq!(decisions(&scene).await, [(json!(scene.people[1]), json!("edit"))]);
    scene.decides(2, &run, &card, approve(1)).await.must_be(202);
    scene.ended(&run, 0).await;
    assert_eq!(scene.paid(), [json!(600)]);
    scene.decides(2, &run, &card, approve(1)).await.must_be(202);
    scene.decides(2, &run, &card, approve(0)).await.must_be(409);
}

#[tokio::test]
async fn a_wrong_decision_is_refused_and_the_card_stays_open() {
    let (scene, run, card) = waiting(json!({"quorum": 2})).await;
    let remember = json!({"in": "space"});
    let large = json!({"amount": 1, "to": "x".repeat(64 * 1024)});
    let table = [
        (json!({}), ""),
        (json!({"action": "accept"}), "/action"),
        (json!({"action": "edit"}), "/input"),
        (json!({"action": "edit", "input": {"amount": "900"}}), "/input/amount"),
        (json!({"action": "edit", "input": {}}), "/input/amount"),
        (json!({"action": "edit", "input": large}), "/input"),
        (json!({"action": "approve", "input": {"amount": 1}}), "/input"),
        (json!({"action": "approve", "text": "ok"}), "/text"),
        (json!({"action": "approve", "remember": remember}), "/remember"),
        (json!({"action": "decline", "remember": remember}), "/remember"),
        (json!({"action": "decline", "text": "x".repeat(1_001)}), "/text"),
        (json!({"action": "respond"}), "/text"),
        (json!({"action": "end", "text": "why"}), "/text"),
    ];
    for (decision, pointer) in table {
        let problem = scene.decides(1, &run, &card, decision.clone()).await.must_be(422);
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{decision:.200}: {problem}");
    }
    assert!(decisions(&scene).await.is_empty());
    let missing = json!({"callId": "cal_01ARZ3NDEKTSV4RRFFQ69G5FAV"});
    assert_eq!(scene.decides(1, &run, &missing, approve()).await.status, 404);
    assert_eq!(scene.stack.run(&run).await["status"], "waiting_tool");
}

#[tokio::test]
async fn only_the_operator_remembers_an_approval_everywhere() {
    let (scene, run, card) = waiting(json!({})).await;
    let everywhere = json!({"action": "approve", "remember": {"in": "everywhere"}});
    assert_eq!(scene.decides(1, &run, &card, everywhere.clone()).await.status, 403);
    assert_eq!(scene.stack.run(&run).await["status"], "waiting_tool");
    let mut by_operator = everywhere;
    by_operator["senderId"] = json!(scene.people[1]);
    let call = card["callId"].as_str().unwrap();
    let path = format!("/v1/runs/{run}/toolCalls/{call}/decision");
    scene.stack.create(&path, by_operator).await.must_be(202);
    scene.ended(&run, 0).await;
    let shown = scene.cards().await.remove(0);
    let made = &shown["approval"]["decisions"][0];
    assert_eq!((&made["by"], &made["byOperator"]), (&json!(scene.people[1]), &json!(true)));
    assert_eq!(scene.paid(), [json!(900)]);
}

#[tokio::test]
async fn two_people_at_the_same_moment_each_count_once() {
    for round in 0..6 {
        let (scene, run, card) = waiting(json!({"quorum": 3})).await;
        // Two people press, each of them twice.
        let pressed = (0..4).map(|press| scene.decides(press % 2, &run, &card, approve()));
        for made in join_all(pressed).await {
            made.must_be(202);
        }
        assert_eq!(decisions(&scene).await.len(), 2, "round {round}");
        let last = scene.decides(2, &run, &card, approve()).await.must_be(202);
        assert_eq!(last["approvals"]["given"], 3, "round {round}");
        scene.ended(&run, 0).await;
        assert_eq!(scene.paid(), [json!(900)], "round {round}");
    }
}

#[tokio::test]
async fn of_an_approval_and_a_refusal_at_once_the_first_one_counts() {
    for round in 0..6 {
        let (scene, run, card) = waiting(json!({})).await;
        let (approved, declined) = tokio::join!(
            scene.decides(round % 2, &run, &card, approve()),
            scene.decides(2, &run, &card, json!({"action": "decline"})),
        );
        let calls = scene.ended(&run, 0).await;
        let paid = scene.transfers().len();
        let is_declined = *outcome(&calls[0]).1 == json!({"declined": true});
        let found = (approved.status, declined.status, paid, is_declined);
        let possible = [(202, 409, 1, false), (409, 202, 0, true)];
        assert!(possible.contains(&found), "round {round}: {found:?}");
    }
}

#[tokio::test]
async fn the_approval_of_a_person_who_leaves_still_counts() {
    let (scene, run, card) = waiting(json!({"quorum": 2})).await;
    scene.approves(2, &run, &card).await;
    let sarah = scene.stack.as_entity(&scene.people[2]);
    let membership = format!("/v1/spaces/{}/members/{}", scene.space, scene.people[2]);
    assert!(sarah.delete(&membership).await.status < 300);
    assert_eq!(scene.decides(2, &run, &card, approve()).await.status, 404, "no longer a member");
    let made = scene.decides(1, &run, &card, approve()).await.must_be(202);
    assert_eq!(made["approvals"]["given"], 2);
    scene.ended(&run, 0).await;
    assert_eq!(scene.paid(), [json!(900)]);
}

#[tokio::test]
async fn a_card_is_answered_like_a_form() {
    let (scene, run, card) = waiting(json!({"quorum": 2})).await;
    let call = card["callId"].as_str().unwrap();
    let path = format!("/v1/runs/{run}/toolCalls/{call}/result");
    let by = |person: usize| scene.stack.as_entity(&scene.people[person]);
    for (output, pointer) in [
        (json!({}), "/output/action"),
        (json!({"action": "edit"}), "/output/input"),
        (json!({"action": "edit", "input": {"amount": "1"}}), "/output/input/amount"),
    ] {
        let problem = by(1).create(&path, json!({"output": output})).await.must_be(422);
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{problem}");
    }
    by(0).create(&path, json!({"output": {"action": "approve"}})).await.must_be(202);
    assert_eq!(decisions(&scene).await.len(), 1);
    let declined = json!({"declined": true, "reason": "too much"});
    by(1).create(&path, declined.clone()).await.must_be(202);
    by(1).create(&path, declined.clone()).await.must_be(202);
    let calls = scene.ended(&run, 0).await;
    assert_eq!(outcome(&calls[0]), ("completed", &declined));
    let last = decisions(&scene).await.remove(1);
    assert_eq!(last, (json!(scene.people[1]), json!("decline")));
}

#[tokio::test]
async fn the_end_of_a_run_does_not_wait_for_its_other_cards() {
    let rules = json!([{"tools": ["transfer"]}]);
    let calls = answer([pay(1), pay(2), pay(3), say("Paid.")]);
    let scene = ActScene::with(rules, json!({}), [calls, stop()]).await;
    let run = scene.waits().await;
    let cards = scene.cards().await;
    assert_eq!(cards.len(), 3);
    scene.approves(0, &run, &cards[0]).await;
    scene.decides(1, &run, &cards[1], json!({"action": "end"})).await.must_be(202);
    let ended = scene.stack.ended(&run, SOON).await;
    assert_eq!(
        (&ended["status"], &ended["endReason"]),
        (&json!("canceled"), &json!("declined")),
        "{ended:.3000}"
    );
    // The first call was approved, and not made.
    let closed = ["canceled", "completed", "canceled"];
    wait_for("the other cards to close", SOON, async || {
        let cards = scene.cards().await;
        cards.iter().map(|card| &card["status"]).eq(closed).then_some(())
    })
    .await;
    assert_eq!((scene.transfers().len(), scene.texts().await.len()), (0, 1));
    assert_eq!(scene.decides(2, &run, &cards[2], approve()).await.status, 409);
}
