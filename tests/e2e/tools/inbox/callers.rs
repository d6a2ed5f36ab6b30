//! Nobody sees a card that it may not answer or decide.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{asking_agent, cards_of};
use crate::{
    auth::access_table::{CALLERS, scene::Scene},
    support::{
        stack::Stack,
        waiting::{SOON, wait_for},
    },
    tools::forms::scene::form_tool,
};

#[tokio::test]
async fn every_caller_sees_the_cards_that_it_may_answer_or_decide_and_no_others() {
    let flags = ["--invites", "guests", "--no-rate-limit"];
    let Some(stack) = Stack::with_secret(&flags).await else { return };
    let scene = Scene::new(&stack).await;
    let space = scene.id("space").to_owned();
    let [guest, owner] = ["guest", "owner"].map(|name| scene.id(name));
    let tools = json!([
        form_tool("guests", json!({"answerBy": [guest, owner]})),
        form_tool("peoples", json!({})),
        form_tool("all", json!({"answerBy": "anyone"})),
    ]);
    let calls = ["guests", "peoples", "all"].map(|tool| json!({"tool": tool, "input": {}}));
    let host = asking_agent(tools, &[("forms", json!(calls))]);
    let host = stack.agent_with("Host", host).await;
    stack.put(&format!("/v1/spaces/{space}/members/{host}"), json!({})).await.must_be(200);
    stack.post(&space, owner, "@Host the forms, please.").await;
    wait_for("the cards of both spaces", SOON, async || {
        let waits = stack.all("/v1/inbox").await;
        let own = |card: &&Value| {
            let runs = ["asking", "approving"].map(|name| scene.id(name));
            card["spaceId"] == space.as_str() || runs.iter().any(|run| card["runId"] == *run)
        };
        (waits.iter().filter(own).count() == 8).then_some(())
    })
    .await;

    // The forms and the guarded calls of the scene, and the forms of the host.
    let all =
        ["all", "anyones", "approval", "form", "guests", "owners", "ownersApproval", "peoples"];
    let expected: [&[&str]; 6] = [
        &[],
        &["all", "anyones", "approval", "form", "peoples"],
        &all,
        &["all", "anyones"],
        &["guests", "peoples"],
        &all,
    ];
    for (caller, expected) in CALLERS.into_iter().zip(expected) {
        let cards = scene.client(&stack, caller).all("/v1/inbox").await;
        let seen: BTreeSet<_> = cards.iter().filter_map(|card| card["tool"].as_str()).collect();
        assert_eq!(seen, expected.iter().copied().collect(), "{caller}");
    }
    let spaces = [space.clone()];
    let member = stack.as_entity(scene.id("member"));
    assert_eq!(cards_of(&member, &spaces).await.len(), 2);
    let left = format!("/v1/spaces/{space}/members/{}", scene.id("member"));
    stack.delete(&left).await.must_be(204);
    assert_eq!(cards_of(&member, &spaces).await, Vec::<Value>::new(), "after it left");
}
