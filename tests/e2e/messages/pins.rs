//! Pinned messages: their list, their limit, and what agents read of them.

use serde_json::{Value, json};

use crate::support::{model::stop, routes::text, stack::Stack, waiting::SOON};

/// The texts of the pinned messages, as the list has them.
async fn pinned(stack: &Stack, space: &str) -> Vec<String> {
    let list = stack.get(&format!("/v1/spaces/{space}/pins")).await.must_be(200);
    let items = list["items"].as_array().unwrap();
    items.iter().map(|pin| text(&pin["message"]).to_owned()).collect()
}

#[tokio::test]
async fn members_pin_messages_and_followers_learn_of_it() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let husam = stack.person("Husam").await;
    let space = stack.space("Team", &[&husam]).await;
    for number in 1..=22 {
        stack.post(&space, &husam, &format!("message {number}")).await;
    }
    let watcher = stack.socket_of(&husam).await;
    watcher.subscribe(&space, None).await;
    let path = |seq: u64| format!("/v1/spaces/{space}/pins/{seq}");
    let his = stack.as_entity(&husam);
    for _ in 0..2 {
        let pin = his.put(&path(2), json!({})).await.must_be(200);
        assert_eq!(
            (&pin["message"]["seq"], &pin["pinnedBy"]["name"]),
            (&json!(2), &json!("Husam"))
        );
    }
    let refused = his.put(&path(2), json!({"by": husam})).await.must_be(422);
    assert_eq!(refused["errors"][0]["detail"], "unknown field `by`, there are no fields");
    let pin = stack.put(&path(1), json!({})).await.must_be(200);
    assert_eq!(pin["pinnedBy"], Value::Null, "the operator is no member");
    assert_eq!(pinned(&stack, &space).await, ["message 1", "message 2"]);
    let has_both = |frame: &Value| frame["space"]["pins"] == json!([2, 1]);
    watcher.frame("space.updated", SOON, has_both).await;
    let shown = stack.get(&format!("/v1/spaces/{space}")).await.must_be(200);
    assert_eq!(shown["pins"], json!([2, 1]));
    for seq in 3..=20 {
        stack.put(&path(seq), json!({})).await.must_be(200);
    }
    let refused = stack.put(&path(21), json!({})).await.must_be(409);
    assert_eq!(refused["detail"], "the space has 20 pins; unpin one first");
    stack.put(&path(23), json!({})).await.must_be(404);
    for _ in 0..2 {
        his.delete(&path(2)).await.must_be(204);
    }
    his.delete(&path(23)).await.must_be(404);
    stack.put(&path(21), json!({})).await.must_be(200);
    assert_eq!(pinned(&stack, &space).await[0], "message 21");
    // Settings and pins are changes of the same item, and neither loses the other.
    stack.patch(&format!("/v1/spaces/{space}"), json!({"name": "Ops"})).await.must_be(200);
    assert_eq!(pinned(&stack, &space).await.len(), 20);
}

#[tokio::test]
async fn pins_stand_before_the_history_in_the_prompts_of_agents() {
    let stack = Stack::start().await;
    let (person, _, space) = stack.pair().await;
    stack.model.plays("ada", [stop(), stop()]);
    stack.post(&space, &person, "We ship on Fridays.").await;
    stack.quiet(&space).await;
    let before = stack.model.requests("ada").pop().unwrap().user();
    assert!(!before.names().contains(&"PINNED"), "{before:?}");
    stack.put(&format!("/v1/spaces/{space}/pins/1"), json!({})).await.must_be(200);
    stack.post(&space, &person, "When do we ship?").await;
    stack.quiet(&space).await;
    let prompt = stack.model.requests("ada").pop().unwrap().user();
    assert_eq!(prompt.names()[..2], ["PINNED", "SPACE HISTORY"]);
    let [_, line] = prompt.block("PINNED") else { panic!("{prompt:?}") };
    assert!(line.starts_with("#1 2"), "{line}");
    assert!(line.ends_with(" Husam: \"We ship on Fridays.\""), "{line}");
}
