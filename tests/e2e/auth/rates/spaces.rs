//! The limit of messages that one space accepts in a second, whoever sends them.

use std::collections::BTreeMap;

use futures::future::join_all;
use serde_json::{Value, json};

use crate::{
    api::bad_input::assert_problem,
    support::{
        client::Reply,
        model::{Answer, call, stop},
        routes::{id, text, triggered_run},
        stack::{Stack, random},
        waiting::{SOON, is_ended, wait_for},
    },
};

/// How many messages of one sender a space accepts in a second.
const HALF: usize = 10;

/// How many messages of each sender count in each second. Messages are stored in the order of their
/// times by one process.
fn by_second(messages: &[Value]) -> BTreeMap<(String, String), usize> {
    let mut counts = BTreeMap::new();
    for message in messages {
        let second = message["createdAt"].as_str().unwrap()[..19].to_owned();
        let sender = message["sender"]["id"].as_str().unwrap().to_owned();
        *counts.entry((second, sender)).or_default() += 1;
    }
    counts
}

#[track_caller]
fn assert_within_limits(messages: &[Value]) {
    let counts = by_second(messages);
    assert!(counts.values().all(|count| *count <= HALF), "{counts:?}");
}

/// Posts ten messages at once with the admin key.
async fn ten(stack: &Stack, space: &str, sender: &str) -> Vec<Reply> {
    let post = || stack.send(stack.post_request(space, sender, "Hello", None));
    join_all((0..HALF).map(|_| post())).await
}

/// Posts messages until one is refused, and returns the refusal.
async fn refused(stack: &Stack, space: &str, sender: &str) -> Reply {
    wait_for("a message is refused", SOON, async || {
        ten(stack, space, sender).await.into_iter().find(|reply| reply.status == 429)
    })
    .await
}

#[tokio::test]
async fn a_flooding_member_is_refused_and_a_quiet_member_is_not() {
    let Some(stack) = Stack::alone("it counts by the clock of one process").await else { return };
    let husam = stack.person("Husam").await;
    let sarah = stack.person("Sarah").await;
    let space = stack.space("Team", &[&husam, &sarah]).await;
    let mut refusals = Vec::new();
    // Even if all of this happens in one second, there is room for her next to his half.
    for _ in 0..5 {
        refusals.extend(
            ten(&stack, &space, &husam).await.into_iter().filter(|reply| reply.status != 201),
        );
        let hers = stack.send(stack.post_request(&space, &sarah, "And me?", None)).await;
        assert_eq!(hers.status, 201, "{}", hers.text);
    }
    assert!(!refusals.is_empty());
    for refusal in &refusals {
        let detail = "a space accepts 20 messages and 65536 bytes a second";
        assert_problem(refusal, &[429], detail, "a flood");
        assert_eq!(refusal.header("retry-after"), "1");
    }
    let messages = stack.messages(&space).await;
    assert_eq!(messages.len() + refusals.len(), 55, "what was not refused is stored");
    assert_within_limits(&messages);
}

#[tokio::test]
async fn one_message_of_the_largest_size_is_accepted_in_a_second() {
    let Some(stack) = Stack::alone("it counts by the clock of one process").await else { return };
    let husam = stack.person("Husam").await;
    let sarah = stack.person("Sarah").await;
    let space = stack.space("Team", &[&husam, &sarah]).await;
    let large = "x".repeat(32_768);
    for _ in 0..2 {
        stack.post(&space, &husam, &large).await;
        stack.post(&space, &sarah, "short").await;
    }
    let messages = stack.messages(&space).await;
    let of_husam: Vec<_> =
        messages.iter().filter(|message| message["sender"]["id"] == husam.as_str()).collect();
    assert!(
        of_husam[0]["createdAt"].as_str().unwrap()[..19]
            < of_husam[1]["createdAt"].as_str().unwrap()[..19],
        "64 KiB of one sender take two seconds"
    );
}

#[tokio::test]
async fn a_repeated_request_is_answered_even_if_its_space_is_full() {
    let Some(stack) = Stack::alone("it counts by the clock of one process").await else { return };
    let husam = stack.person("Husam").await;
    let space = stack.space("Team", &[&husam]).await;
    let key = random();
    let first = stack.post_with_key(&space, &husam, "Hello", &key).await.must_be(201);
    let again = async {
        refused(&stack, &space, &husam).await;
        stack.post_with_key(&space, &husam, "Hello", &key).await
    };
    assert_eq!(id(&again.await.must_be(201)), id(&first));
}

#[tokio::test]
async fn a_socket_learns_when_to_repeat_a_message() {
    let Some(stack) = Stack::alone("it counts by the clock of one process").await else { return };
    let husam = stack.person("Husam").await;
    let space = stack.space("Team", &[&husam]).await;
    let socket = stack.socket_of(&husam).await;
    let message = json!({ "action": "send", "spaceId": space, "text": "Hello" });
    let error = wait_for("a message is refused", SOON, async || {
        refused(&stack, &space, &husam).await;
        let answer = socket.request(message.clone()).await;
        (answer["type"] == "error").then_some(answer)
    })
    .await;
    assert_eq!((&error["status"], &error["retryAfter"]), (&json!(429), &json!(1)), "{error}");
    assert!(socket.is_open().await);
}

/// An agent whose first answer has these calls, and the run in which it makes them.
async fn run_with_calls(stack: &Stack, calls: Answer, tools: Value) -> (String, String) {
    let husam = stack.person("Husam").await;
    stack.model.plays("ada", [calls, stop()]);
    let model = json!({ "provider": "openai", "name": stack.model.name("ada") });
    let agent = stack.agent_with("Ada", json!({ "model": model, "tools": tools })).await;
    let space = stack.space("Team", &[&husam, &agent]).await;
    let question = stack.post(&space, &husam, "Count to 25.").await;
    let run = triggered_run(&question, &agent).unwrap();
    (space, run)
}

#[tokio::test]
async fn an_agent_waits_until_its_space_accepts_its_messages() {
    let Some(stack) = Stack::alone("it counts by the clock of one process").await else { return };
    let says = (0..25).map(|number| call("send_message", json!({ "text": format!("{number}") })));
    let (space, run) = run_with_calls(&stack, Answer::of(says.collect()), json!([])).await;
    stack.quiet(&space).await;
    assert_eq!(stack.run(&run).await["status"], "completed");
    let messages = stack.messages(&space).await;
    let texts: Vec<_> = messages[1..].iter().map(|message| text(message).to_owned()).collect();
    assert_eq!(texts, (0..25).map(|number| number.to_string()).collect::<Vec<_>>());
    assert_within_limits(&messages);
}

#[tokio::test]
async fn calls_whose_cards_are_too_many_for_a_second_are_made_later() {
    let Some(stack) = Stack::alone("it counts by the clock of one process").await else { return };
    let tools = json!([{
        "name": "double",
        "description": "Doubles a number.",
        "inputSchema": { "type": "object", "properties": { "number": { "type": "integer" } } },
        "visible": true,
        "execution": { "type": "compute", "expression": "input.number * 2" },
    }]);
    let doubles = (0..15).map(|number| call("double", json!({ "number": number })));
    let (space, run) = run_with_calls(&stack, Answer::of(doubles.collect()), tools).await;
    stack.quiet(&space).await;
    assert_eq!(stack.run(&run).await["status"], "completed");
    let messages = stack.messages(&space).await;
    let outputs: Vec<_> =
        messages[1..].iter().map(|message| message["parts"][0]["output"].clone()).collect();
    assert_eq!(outputs, (0..15).map(|number| json!(number * 2)).collect::<Vec<_>>());
    assert_within_limits(&messages);
}

#[tokio::test]
async fn a_run_that_waits_for_its_space_can_be_canceled() {
    let Some(stack) = Stack::alone("it counts by the clock of one process").await else { return };
    let says = (0..200).map(|number| call("send_message", json!({ "text": format!("{number}") })));
    let (space, run) = run_with_calls(&stack, Answer::of(says.collect()), json!([])).await;
    wait_for("the agent has written", SOON, async || {
        (stack.messages(&space).await.len() > 5).then_some(())
    })
    .await;
    stack.cancel(&run).await.must_be(202);
    wait_for("the run has ended", SOON, async || is_ended(&stack.run(&run).await).then_some(()))
        .await;
    assert_eq!(stack.run(&run).await["status"], "canceled");
    assert!(stack.messages(&space).await.len() < 100);
}

#[tokio::test]
async fn a_host_without_rate_limits_accepts_every_message() {
    let Some(stack) = Stack::with(&["--no-rate-limit"]).await else { return };
    let husam = stack.person("Husam").await;
    let space = stack.space("Team", &[&husam]).await;
    for _ in 0..6 {
        let replies = ten(&stack, &space, &husam).await;
        assert!(replies.iter().all(|reply| reply.status == 201));
    }
}
