//! The inbox: what waits for a caller, in all of its spaces.

mod approvals;
mod callers;
mod frames;

use std::time::Instant;

use serde_json::{Value, json};

use crate::{
    support::{
        client::Client,
        routes::triggered_run,
        stack::Stack,
        waiting::{SOON, wait_for},
    },
    tools::forms::scene::{answer_form, form_tool},
};

/// A product with a person, and an agent that asks for whatever a message calls for.
struct InboxScene {
    stack: Stack,
    person: String,
    agent: String,
}

impl InboxScene {
    /// Each of `answers` is a word of a message, and the calls that it leads to.
    async fn new(tools: Value, answers: &[(&str, Value)]) -> Option<Self> {
        let stack = Stack::with_secret(&["--no-rate-limit"]).await?;
        let person = stack.person("Sara").await;
        let agent = stack.agent_with("Clerk", asking_agent(tools, answers)).await;
        Some(Self { stack, person, agent })
    }

    async fn spaces(&self, count: usize) -> Vec<String> {
        let mut spaces = Vec::with_capacity(count);
        for number in 0..count {
            let name = format!("Customer {number:02}");
            spaces.push(self.stack.space(&name, &[&self.person, &self.agent]).await);
        }
        spaces
    }

    /// Posts a message. Returns the run that it triggers.
    async fn ask(&self, space: &str, text: &str) -> String {
        let question = self.stack.post(space, &self.person, text).await;
        triggered_run(&question, &self.agent).unwrap()
    }

    fn sara(&self) -> Client {
        self.stack.as_entity(&self.person)
    }
}

/// An agent that makes the calls of the first word that a message contains.
fn asking_agent(tools: Value, answers: &[(&str, Value)]) -> Value {
    let rule = |(word, calls): &(&str, Value)| {
        let steps = json!([{"calls": calls}]);
        json!({"when": {"contains": word}, "steps": steps})
    };
    let rules: Vec<_> = answers.iter().map(rule).collect();
    let script = json!({"rules": rules});
    json!({
        "model": {"provider": "scripted", "name": "demo", "script": script},
        "tools": tools,
        "concurrency": {"maxRuns": 100},
    })
}

/// Waits until the inbox of a caller has this many cards of these spaces.
async fn has(caller: &Client, spaces: &[String], count: usize) -> Vec<Value> {
    wait_for(&format!("{count} cards in an inbox"), SOON, async || {
        let cards = cards_of(caller, spaces).await;
        (cards.len() == count).then_some(cards)
    })
    .await
}

/// The cards of these spaces in the inbox of a caller.
async fn cards_of(caller: &Client, spaces: &[String]) -> Vec<Value> {
    let mut cards = caller.all("/v1/inbox").await;
    cards.retain(|card| spaces.iter().any(|space| card["spaceId"] == space.as_str()));
    cards
}

fn ask_tool() -> Value {
    json!([form_tool("ask", json!({"expiresAfter": "10 minutes"}))])
}

fn ask(input: Value) -> Value {
    json!([{"tool": "ask", "input": input}])
}

#[tokio::test]
async fn a_form_in_the_oldest_of_41_spaces_waits_in_the_inbox_until_it_is_answered() {
    let input = json!({"version": 21, "title": "Deploy v2.1?"});
    let Some(scene) = InboxScene::new(ask_tool(), &[("deploy", ask(input.clone()))]).await else {
        return;
    };
    let spaces = scene.spaces(41).await;
    let run = scene.ask(&spaces[0], "deploy").await;
    let sara = scene.sara();
    let seen = has(&sara, &spaces, 1).await;
    let card = scene.stack.messages(&spaces[0]).await.remove(1);
    let expected = json!({
        "id": card["id"],
        "kind": "form",
        "spaceId": spaces[0],
        "spaceName": "Customer 00",
        "seq": 2,
        "runId": run,
        "callId": card["parts"][0]["callId"],
        "agent": {"id": scene.agent, "name": "Clerk"},
        "tool": "ask",
        "question": "Deploy v2.1?",
        "input": input,
        "expiresAt": card["parts"][0]["expiresAt"],
        "createdAt": card["createdAt"],
    });
    assert_eq!(seen, std::slice::from_ref(&expected));
    let operators = has(&scene.stack, &spaces, 1).await;
    assert_eq!(operators, std::slice::from_ref(&expected));

    answer_form(&sara, &expected, json!({"output": "yes"})).await.must_be(202);
    let answered = Instant::now();
    assert_eq!(cards_of(&sara, &spaces).await, Vec::<Value>::new(), "the message decides");
    assert_eq!(cards_of(&scene.stack, &spaces).await, Vec::<Value>::new());
    println!("both inboxes were without the answered form after {:?}", answered.elapsed());
}

#[tokio::test]
async fn thirty_open_cards_are_in_the_inbox_at_once_without_those_of_left_and_deleted_spaces() {
    let Some(scene) = InboxScene::new(ask_tool(), &[("go", ask(json!({"title": "?"})))]).await
    else {
        return;
    };
    let spaces = scene.spaces(30).await;
    for space in &spaces {
        scene.ask(space, "go").await;
    }
    let sara = scene.sara();
    has(&sara, &spaces, 30).await;
    let page = sara.get("/v1/inbox").await.must_be(200);
    assert_eq!((page["items"].as_array().unwrap().len(), &page["nextCursor"]), (30, &Value::Null));

    let left = format!("/v1/spaces/{}/members/{}", spaces[3], scene.person);
    scene.stack.delete(&left).await.must_be(204);
    scene.stack.delete(&format!("/v1/spaces/{}", spaces[4])).await.must_be(204);
    let cards = cards_of(&sara, &spaces).await;
    let is_gone = |card: &Value| card["spaceId"] == spaces[3] || card["spaceId"] == spaces[4];
    assert_eq!((cards.len(), cards.iter().any(is_gone)), (28, false));
    assert_eq!(cards_of(&scene.stack, &spaces).await.len(), 29, "the operator's");
}

#[tokio::test]
async fn the_inbox_is_in_the_order_of_expiry_in_pages_of_fifty() {
    let minutes = [30, 10, 20];
    let name = |minutes: i32| format!("ask_{minutes}");
    let tools = minutes.map(|minutes| {
        form_tool(&name(minutes), json!({"expiresAfter": format!("{minutes} minutes")}))
    });
    // A run has at most 20 open forms.
    let calls: Vec<_> = (0..18)
        .map(|number| json!({"tool": name(minutes[number % 3]), "input": {"number": number}}))
        .collect();
    let Some(scene) = InboxScene::new(json!(tools), &[("go", json!(calls))]).await else { return };
    let spaces = scene.spaces(3).await;
    for space in &spaces {
        scene.ask(space, "go").await;
    }
    let sara = scene.sara();
    let all = has(&sara, &spaces, 54).await;
    let expiry: Vec<_> = all.iter().map(|card| card["expiresAt"].as_str().unwrap()).collect();
    assert!(expiry.is_sorted(), "{expiry:?}");
    let tools: Vec<_> = all.iter().map(|card| card["tool"].as_str().unwrap()).collect();
    assert_eq!(tools, [["ask_10"; 18], ["ask_20"; 18], ["ask_30"; 18]].concat());

    let first = sara.get("/v1/inbox").await.must_be(200);
    assert_eq!(first["items"].as_array().unwrap()[..], all[..50]);
    let cursor = first["nextCursor"].as_str().unwrap();
    let second = sara.get(&format!("/v1/inbox?cursor={cursor}")).await.must_be(200);
    assert_eq!(second, json!({"items": all[50..], "nextCursor": null}));

    assert_eq!(sara.all("/v1/inbox?kind=form").await, all);
    assert_eq!(sara.all("/v1/inbox?kind=approval").await, Vec::<Value>::new());
    for query in ["kind=task", "cursor=x", "cursor=W10", "limit=1"] {
        sara.get(&format!("/v1/inbox?{query}")).await.must_be(400);
    }
}

#[tokio::test]
async fn the_input_of_a_card_is_left_out_if_it_is_long_and_its_question_is_cut() {
    let question = "q".repeat(3_000);
    let calls = json!([
        {"tool": "ask", "input": {"title": question}},
        {"tool": "ask", "input": {"title": "x".repeat(5_000)}},
        {"tool": "ask", "input": {"number": 1}},
    ]);
    let Some(scene) = InboxScene::new(ask_tool(), &[("go", calls)]).await else { return };
    let spaces = scene.spaces(1).await;
    scene.ask(&spaces[0], "go").await;
    let mut cards = has(&scene.sara(), &spaces, 3).await;
    cards.sort_by_key(|card| card["seq"].as_u64());
    let shown: Vec<_> = cards.iter().map(|card| (&card["question"], &card["input"])).collect();
    let expected = [
        (json!("q".repeat(1_000)), json!({"title": question})),
        (Value::Null, Value::Null),
        (Value::Null, json!({"number": 1})),
    ];
    assert_eq!(shown, expected.each_ref().map(|(question, input)| (question, input)));
}

#[tokio::test]
async fn an_expired_and_a_canceled_form_are_not_in_the_inbox() {
    let tools = json!([form_tool("ask", json!({"expiresAfter": "6 seconds"}))]);
    let Some(scene) = InboxScene::new(tools, &[("go", ask(json!({"title": "?"})))]).await else {
        return;
    };
    let spaces = scene.spaces(2).await;
    scene.ask(&spaces[0], "go").await;
    has(&scene.stack, &spaces, 1).await;
    has(&scene.stack, &spaces, 0).await;
    let run = scene.ask(&spaces[1], "go").await;
    has(&scene.stack, &spaces, 1).await;
    scene.stack.cancel(&run).await.must_be(202);
    has(&scene.stack, &spaces, 0).await;
}
