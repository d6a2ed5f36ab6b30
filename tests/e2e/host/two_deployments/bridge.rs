//! A bridge that carries messages between two deployments.

use serde_json::{Value, json};

use crate::{
    host::two_deployments::{depths, give_tool, peer_tool, two_stacks},
    support::{
        model::{answer, call, say, stop},
        routes::{text, triggered_run},
        stack::Stack,
        waiting::{SOON, wait_for},
    },
    webhooks::incoming::field,
};

/// One side of a bridge: a space in which messages of the other deployment arrive in the name of a
/// person.
struct Side {
    pub(crate) agent: String,
    bridge: String,
    space: String,
}

impl Side {
    pub(crate) async fn new(stack: &Stack) -> Self {
        stack.model.answers("ada", |request| match request.step() {
            0 => answer([
                say(&format!("I pass on: {}", request.trigger_text())),
                call("tell", json!({})),
            ]),
            _ => stop(),
        });
        let agent = stack.receiver(json!({})).await;
        // The bridge is a person, so only the header has the depth of its messages.
        let bridge = stack.person("Bridge").await;
        let space =
            stack.space_with("Team", &[&bridge, &agent], json!({ "maxChainDepth": 3 })).await;
        Self { agent, bridge, space }
    }

    /// The messages from the other deployment.
    async fn bridged(&self, stack: &Stack) -> Vec<Value> {
        let messages = stack.messages(&self.space).await;
        let is_bridged = |message: &Value| message["sender"]["id"] == self.bridge.as_str();
        messages.into_iter().filter(is_bridged).collect()
    }
}

#[tokio::test]
async fn agents_of_two_deployments_that_message_each_other_stop_at_the_chain_depth() {
    let Some(stacks) = two_stacks().await else { return };
    let sides = [Side::new(&stacks[0]).await, Side::new(&stacks[1]).await];
    for (index, peer) in [(0, 1), (1, 0)] {
        let url = format!("{}/v1/spaces/{}/messages", stacks[peer].url, sides[peer].space);
        let body = json!({ "text": "your turn", "senderId": sides[peer].bridge });
        give_tool(&stacks[index], &sides[index].agent, peer_tool(&url, body)).await;
    }
    stacks[0].post(&sides[0].space, &sides[0].bridge, "begin").await;
    let last = wait_for("the last message triggers no run", SOON, async || {
        let messages = sides[1].bridged(&stacks[1]).await;
        messages.into_iter().find(|message| triggered_run(message, &sides[1].agent).is_none())
    })
    .await;
    stacks[0].quiet(&sides[0].space).await;
    stacks[1].quiet(&sides[1].space).await;
    let first = sides[0].bridged(&stacks[0]).await;
    let second = sides[1].bridged(&stacks[1]).await;
    assert_eq!([depths(&first), depths(&second)], [vec![0, 2], vec![1, 3]]);
    assert_eq!(
        last["dispatch"],
        json!([{ "agentId": sides[1].agent, "runId": null, "reason": "chain_depth" }])
    );
    let shown = stacks[0].runs_of(&sides[0].space).await;
    let run = stacks[0].run(&field(&shown[0], "id")).await;
    let output = &run["steps"][0]["calls"][1]["output"];
    assert_eq!(
        (&output["id"], &output["dispatch"]),
        (&last["id"], &last["dispatch"]),
        "the calling agent learns that its message triggered no run"
    );
    assert_eq!(text(&last), "your turn");
}
