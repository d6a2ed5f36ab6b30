//! Stopping a chain, or everything in a space.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::support::{
    model::{call, say, silent},
    routes::triggered_run,
    stack::Stack,
    waiting::{SOON, patient, wait_for},
};

/// Two agents that answer each other, and a person.
struct Talkers {
    person: String,
    ada: String,
    bob: String,
}

impl Talkers {
    async fn new(stack: &Stack) -> Self {
        stack.model.replies("talker", |_| say("And you?"));
        let person = stack.person("Husam").await;
        let ada = stack.agent("Ada", &stack.model.name("talker")).await;
        let bob = stack.agent("Bob", &stack.model.name("talker")).await;
        for agent in [&ada, &bob] {
            let limits = json!({
                "concurrency": {"mode": "parallel"},
                "maxChainDepth": 100,
                "budget": {"runsPerMinute": 100_000},
            });
            let change = json!({ "agent": limits });
            stack.patch(&format!("/v1/entities/{agent}"), change).await.must_be(200);
        }
        Self { person, ada, bob }
    }

    /// A space in which they have begun to talk.
    async fn talking(&self, stack: &Stack) -> String {
        let members = [&self.person, &self.ada, &self.bob];
        let settings = json!({ "maxChainDepth": 100, "budget": {"runsPerMinute": 100_000} });
        let space = stack.space_with("Debate", &members, settings).await;
        stack.post(&space, &self.person, "@Ada Begin!").await;
        wait_for("the agents talk", SOON, async || {
            (stack.messages(&space).await.len() > 4).then_some(())
        })
        .await;
        space
    }
}

async fn stop_chain(stack: &Stack, space: &str, seq: u64) -> Value {
    let path = format!("/v1/spaces/{space}/messages/{seq}/chain/cancel");
    stack.create(&path, Value::Null).await.must_be(200)
}

async fn stop_space(stack: &Stack, space: &str) -> Value {
    stack.create(&format!("/v1/spaces/{space}/stop"), Value::Null).await.must_be(200)
}

async fn lines(stack: &Stack, space: &str) -> Vec<Value> {
    let page = stack.get(&format!("/v1/spaces/{space}/messages?limit=100")).await.must_be(200);
    page["lines"].as_array().cloned().unwrap_or_default()
}

fn is_active(run: &Value) -> bool {
    ["queued", "running", "waiting_tool"].contains(&run["status"].as_str().unwrap())
}

/// Fails if anything goes on in a space.
async fn is_still(stack: &Stack, space: &str) {
    let runs = stack.runs_of(space).await;
    assert_eq!(runs.iter().filter(|run| is_active(run)).count(), 0, "no run is left");
    let messages = stack.messages(space).await;
    sleep(patient(Duration::from_millis(500))).await;
    assert_eq!(stack.runs_of(space).await.len(), runs.len(), "no further run starts");
    let after = stack.messages(space).await;
    // What a model had written when its run was canceled is kept, and wakes nobody.
    let is_whole = |message: &&Value| message["parts"][0]["partial"] != true;
    assert_eq!(after[messages.len()..].iter().filter(is_whole).count(), 0, "{after:?}");
}

#[tokio::test]
async fn after_a_stopped_chain_nothing_of_it_goes_on_in_twenty_plays() {
    let stack = Stack::start().await;
    let talkers = Talkers::new(&stack).await;
    for play in 0..20_u64 {
        let space = talkers.talking(&stack).await;
        // Any message of the chain names it.
        let stopped = stop_chain(&stack, &space, 1 + play % 4).await;
        assert_eq!(stopped["line"]["kind"], "chainStopped", "{stopped}");
        is_still(&stack, &space).await;
    }
}

#[tokio::test]
async fn a_stopped_chain_wakes_nobody_and_another_one_does() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let talkers = Talkers::new(&stack).await;
    let Talkers { person, ada, bob } = &talkers;
    let space = talkers.talking(&stack).await;
    let socket = stack.socket_of(person).await;
    socket.subscribe(&space, None).await;
    let by = stack.as_entity(person);
    let path = format!("/v1/spaces/{space}/messages/2/chain/cancel");
    let stopped = by.create(&path, Value::Null).await.must_be(200);
    let line = &stopped["line"];
    assert_eq!((&line["by"]["name"], &line["seq"]), (&json!("Husam"), &json!(2)), "{line}");
    assert_eq!(socket.frame("space.line", SOON, |_| true).await.body["line"], *line);
    assert_eq!(lines(&stack, &space).await, std::slice::from_ref(line));
    is_still(&stack, &space).await;

    // It is repeated, also by the operator and of another message of the chain.
    for seq in [2, 1] {
        let again = stop_chain(&stack, &space, seq).await;
        assert_eq!((&again["line"], &again["canceledRuns"]), (line, &json!(0)));
    }
    assert_eq!(lines(&stack, &space).await.len(), 1);

    // A message in an agent's name counts as an answer to the last one.
    let late = stack.post(&space, ada, "@Bob Still here?").await;
    let refused = json!([{"agentId": bob, "runId": null, "reason": "chain_stopped"}]);
    assert_eq!(late["dispatch"], refused);

    let fresh = stack.post(&space, person, "@Bob Something else.").await;
    assert!(triggered_run(&fresh, bob).is_some(), "{fresh}");
    let seq = fresh["seq"].as_u64().unwrap();
    let other = stop_chain(&stack, &space, seq).await;
    assert_ne!(other["line"]["id"], line["id"]);
    is_still(&stack, &space).await;
}

#[tokio::test]
async fn only_the_runs_of_the_stopped_chain_are_canceled() {
    let stack = Stack::start().await;
    stack.model.plays("ada", [silent(), silent()]);
    let (person, agent, space) = stack.pair().await;
    stack.side_by_side(&agent).await;
    let first = stack.post(&space, &person, "One?").await;
    let second = stack.post(&space, &person, "Two?").await;
    let [first, second] = [first, second].map(|asked| triggered_run(&asked, &agent).unwrap());
    let stopped = stop_chain(&stack, &space, 1).await;
    assert_eq!(stopped["canceledRuns"], 1);
    assert_eq!(stack.ended(&first, SOON).await["status"], "canceled");
    assert!(is_active(&stack.run(&second).await), "it belongs to another chain");
    assert_eq!(stop_chain(&stack, &space, 2).await["canceledRuns"], 1);
}

#[tokio::test]
async fn everything_in_a_space_is_stopped_in_one_call() {
    let stack = Stack::start().await;
    let talkers = Talkers::new(&stack).await;
    let Talkers { person, bob, .. } = &talkers;
    let space = talkers.talking(&stack).await;
    let stopped = stop_space(&stack, &space).await;
    assert_eq!(stopped["line"]["kind"], "stopped");
    assert_eq!(stopped["line"]["by"], Value::Null, "the operator");
    is_still(&stack, &space).await;
    let path = format!("/v1/spaces/{space}");
    assert_eq!(stack.get(&path).await.must_be(200)["paused"], true);
    assert_eq!(stop_space(&stack, &space).await["line"], stopped["line"]);
    let refused = stack.post(&space, person, "@Bob Hello?").await;
    assert_eq!(refused["dispatch"][1]["reason"], "paused", "{refused}");

    stack.patch(&path, json!({"paused": false})).await.must_be(200);
    let woken = stack.post(&space, person, "@Bob Hello?").await;
    assert!(triggered_run(&woken, bob).is_some(), "{woken}");
    let again = stop_space(&stack, &space).await;
    assert_ne!(again["line"]["id"], stopped["line"]["id"]);
    let kinds: Vec<_> = lines(&stack, &space).await.iter().map(|it| it["kind"].clone()).collect();
    assert_eq!(kinds, ["stopped", "resumed", "stopped"]);
}

#[tokio::test]
async fn a_member_stops_a_chain_in_its_space_and_the_operator_everywhere() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let person = stack.person("Husam").await;
    let ada = stack.agent("Ada", &stack.model.name("ada")).await;
    let bob = stack.agent("Bob", &stack.model.name("bob")).await;
    let home = stack.space("Home", &[&person, &ada]).await;
    let other = stack.space("Other", &[&person, &ada, &bob]).await;
    stack.model.plays("bob", [silent()]);
    let entered = call("enter_space", json!({"spaceId": other}));
    stack.model.plays("ada", [entered.into(), say("@Bob Well?").into(), silent()]);
    stack.post(&home, &person, "Ask Bob.").await;
    let woken = wait_for("Bob works", SOON, async || {
        let messages = stack.messages(&other).await;
        triggered_run(messages.first()?, &bob)
    })
    .await;
    stack.model.nth_request("bob", 1).await;
    let path = format!("/v1/spaces/{home}/messages/1/chain/cancel");
    stack.as_entity(&person).create(&path, Value::Null).await.must_be(200);
    assert!(is_active(&stack.run(&woken).await), "another space has triggered it");
    assert_eq!(stop_chain(&stack, &home, 1).await["canceledRuns"], 1);
    assert_eq!(stack.ended(&woken, SOON).await["status"], "canceled");
}
