//! Calls that wait for approval, in the inbox of those who may decide them.

use serde_json::{Value, json};

use super::{InboxScene, cards_of, has};
use crate::support::client::Client;

/// Tools whose calls the members approve, two people approve, and one person decides.
const TOOLS: [&str; 3] = ["pay", "transfer", "drop"];

fn tools() -> Value {
    let tool = |name: &str| {
        json!({
            "name": name,
            "description": "Counts.",
            "inputSchema": {"type": "object"},
            "execution": {"type": "static", "output": 1},
        })
    };
    json!(TOOLS.map(tool))
}

#[tokio::test]
async fn a_call_waits_in_the_inbox_of_those_who_may_decide_it_until_the_last_decision() {
    let calls = TOOLS.map(|tool| json!({"tool": tool, "input": {"to": "Max", "amount": 900}}));
    let Some(scene) = InboxScene::new(tools(), &[("go", json!(calls))]).await else { return };
    let stack = &scene.stack;
    let [omar, noor] = [stack.person("Omar").await, stack.person("Noor").await];
    let rules = json!([
        {"tools": ["pay"]},
        {"tools": ["transfer"], "quorum": 2},
        {"tools": ["drop"], "by": [omar]},
    ]);
    let change = json!({"agent": {"approvals": rules}});
    stack.patch(&format!("/v1/entities/{}", scene.agent), change).await.must_be(200);
    let members = [&scene.person, &omar, &noor, &scene.agent];
    let spaces = [stack.space("Deployments", &members).await];
    scene.ask(&spaces[0], "go").await;
    let cards = has(stack, &spaces, 3).await;
    let card = |tool: &str| cards.iter().find(|card| card["tool"] == tool).unwrap();
    let pay = card("pay");
    assert_eq!(
        (&pay["kind"], &pay["question"], &pay["input"]),
        (&json!("approval"), &Value::Null, &json!({"to": "Max", "amount": 900}))
    );

    let [sara, omar, noor] = [&scene.person, &omar, &noor].map(|person| stack.as_entity(person));
    let tools_of = async |caller: &Client| {
        let cards = cards_of(caller, &spaces).await;
        let mut tools: Vec<_> = cards.iter().map(|card| card["tool"].to_string()).collect();
        tools.sort_unstable();
        tools.join(" ")
    };
    assert_eq!(tools_of(&noor).await, r#""pay" "transfer""#);
    assert_eq!(tools_of(&omar).await, r#""drop" "pay" "transfer""#);
    let mut forms = stack.all("/v1/inbox?kind=form").await;
    forms.retain(|card| card["spaceId"] == spaces[0].as_str());
    assert_eq!(forms, Vec::<Value>::new());

    let decide = async |caller: &Client, tool: &str, action: &str| {
        let [run, call] = ["runId", "callId"].map(|id| card(tool)[id].as_str().unwrap());
        let path = format!("/v1/runs/{run}/toolCalls/{call}/decision");
        caller.create(&path, json!({"action": action})).await.must_be(202)["approvals"].clone()
    };
    assert_eq!(decide(&sara, "transfer", "approve").await, json!({"given": 1, "needed": 2}));
    assert_eq!(tools_of(&noor).await, r#""pay" "transfer""#, "one approval is missing");
    assert_eq!(tools_of(&sara).await, r#""pay""#, "who has approved waits for the others");
    assert_eq!(decide(&noor, "transfer", "approve").await, json!({"given": 2, "needed": 2}));
    // The call is not made yet: the one before it waits.
    assert_eq!(tools_of(&noor).await, r#""pay""#);
    decide(&sara, "pay", "decline").await;
    assert_eq!(tools_of(&omar).await, r#""drop""#);
    decide(&omar, "drop", "approve").await;
    assert_eq!(tools_of(&omar).await, "");
    assert_eq!(cards_of(stack, &spaces).await, Vec::<Value>::new());
    stack.quiet(&spaces[0]).await;
}
