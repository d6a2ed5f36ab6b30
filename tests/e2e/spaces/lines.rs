//! The lines between the messages of a space.

use serde_json::{Value, json};

use crate::support::{
    stack::Stack,
    waiting::{SOON, wait_for},
};

/// The lines of a page: after which message, what they report, by whom, and from what to what.
async fn lines(stack: &Stack, space: &str, query: &str) -> Vec<Value> {
    let page = stack.get(&format!("/v1/spaces/{space}/messages{query}")).await.must_be(200);
    let lines = page["lines"].as_array().cloned().unwrap_or_default();
    let short = |line: &Value| {
        let who = line["member"]["name"].clone();
        json!([line["afterSeq"], line["kind"], line["by"]["name"], who, line["from"], line["to"]])
    };
    lines.iter().map(short).collect()
}

#[tokio::test]
async fn lines_report_what_changes_in_a_space_and_are_no_messages() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let owner = stack.person("Husam").await;
    let sara = stack.person("Sara").await;
    let by = stack.as_entity(&owner);
    let space = by.space("Team", &[]).await;
    assert_eq!(lines(&stack, &space, "").await, Vec::<Value>::new(), "its members are no change");
    stack.post(&space, &owner, "Hello").await;
    let socket = stack.socket_of(&owner).await;
    socket.subscribe(&space, None).await;

    let member = format!("/v1/spaces/{space}/members/{sara}");
    by.put(&member, json!({})).await.must_be(200);
    by.put(&member, json!({"role": "owner"})).await.must_be(200);
    let joined = socket.frame("space.line", SOON, |_| true).await.body;
    assert_eq!(joined["line"]["kind"], "joined", "{joined}");
    stack.patch(&format!("/v1/entities/{sara}"), json!({"name": "Sarah"})).await.must_be(200);
    wait_for("the new name", SOON, async || {
        (lines(&stack, &space, "").await.len() == 2).then_some(())
    })
    .await;
    stack.post(&space, &sara, "Hi").await;
    let path = format!("/v1/spaces/{space}");
    let change = json!({"name": "Crew", "triggerPolicy": "mention", "paused": true});
    by.patch(&path, change).await.must_be(200);
    by.patch(&path, json!({"maxChainDepth": 2})).await.must_be(200);
    stack.patch(&path, json!({"paused": false})).await.must_be(200);
    stack.as_entity(&sara).delete(&member).await.must_be(204);

    let nothing = Value::Null;
    let first = [
        json!([1, "joined", "Husam", "Sara", nothing, nothing]),
        json!([1, "renamed", "Sarah", "Sarah", "Sara", "Sarah"]),
    ];
    let second = [
        json!([2, "renamed", "Husam", nothing, "Team", "Crew"]),
        json!([2, "policyChanged", "Husam", nothing, "all", "mention"]),
        json!([2, "paused", "Husam", nothing, nothing, nothing]),
        json!([2, "resumed", nothing, nothing, nothing, nothing]),
        json!([2, "left", "Sarah", "Sarah", nothing, nothing]),
    ];
    let sorted = |mut lines: Vec<Value>| {
        lines.sort_by_key(ToString::to_string);
        lines
    };
    let all: Vec<_> = first.iter().chain(&second).cloned().collect();
    assert_eq!(sorted(lines(&stack, &space, "").await), sorted(all));
    assert_eq!(sorted(lines(&stack, &space, "?limit=1").await), sorted(second.to_vec()));
    assert_eq!(lines(&stack, &space, "?before=2").await, first);
    assert_eq!(sorted(lines(&stack, &space, "?after=2").await), sorted(second.to_vec()));
    let messages = stack.messages(&space).await;
    let seqs: Vec<_> = messages.iter().map(|message| message["seq"].clone()).collect();
    assert_eq!(seqs, [1, 2], "they are no messages");
}
