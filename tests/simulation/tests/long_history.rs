//! The cost of a prompt does not depend on the length of the history, and parts that many prompts
//! share are stored once.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use axum::http::Method;
use serde_json::{Value, json};
use smartspace_domain::{
    Time,
    ids::{MessageId, SpaceId},
};
use smartspace_embedded_table::NAME;
use smartspace_simulation::{
    client::Caller, deployment::Deployment, fixtures, input::Input, parameters::Parameters,
};
use tokio::time::{Instant, sleep};

const CALL_LATENCY: Duration = Duration::from_millis(10);

/// The cost of a run up to the request to its model, in a process with empty memory.
#[derive(Debug)]
struct PromptCost {
    calls: usize,
    items: usize,
    bytes: usize,
    in_a_row: u128,
}

async fn deployment() -> (Arc<Deployment>, SpaceId) {
    let input = Input::default();
    let deployment =
        Deployment::with_parameters(&input, Parameters::quiet(), Some(CALL_LATENCY)).unwrap();
    fixtures::make(&deployment).await.unwrap();
    let space = deployment.env.ledger.lock().unwrap().spaces[0];
    (deployment, space)
}

async fn say(deployment: &Arc<Deployment>, space: SpaceId, text: &str) -> Value {
    let person = deployment.env.ledger.lock().unwrap().people[0];
    let body = json!({"text": text, "senderId": person});
    let answer = deployment
        .http(
            "person",
            Caller::Operator,
            Method::POST,
            &format!("/v1/spaces/{space}/messages"),
            None,
            Some(&body),
        )
        .await;
    let (status, made) = answer.unwrap();
    assert_eq!(status, 201, "{made}");
    made
}

/// Writes copies of the first message into the table, after number `after` and up to `last`.
fn fill(deployment: &Deployment, space: SpaceId, after: u64, last: u64) {
    let pk = json!({"S": format!("SPACE#{space}")});
    let first = json!({"PK": pk, "SK": {"S": format!("MSG#{:012}", 1)}});
    let call = |operation: &str, mut body: Value| -> Value {
        body["TableName"] = NAME.into();
        let (status, answer) =
            deployment.env.storage.answer(operation, body.to_string().as_bytes());
        assert_eq!(status, 200, "{answer}");
        serde_json::from_str(&answer).unwrap()
    };
    let mut item = call("GetItem", json!({"Key": first}))["Item"].clone();
    for seq in after + 1..=last {
        item["SK"] = json!({"S": format!("MSG#{seq:012}")});
        item["seq"] = json!({"N": seq.to_string()});
        item["id"] = json!({"S": MessageId::new(Time::default(), u128::from(seq)).to_string()});
        item["text"] = json!({"S": format!("message {seq}: {}", "word ".repeat(20))});
        call("PutItem", json!({"Item": item}));
    }
    let update = json!({
        "Key": {"PK": pk, "SK": {"S": "HEAD"}},
        "UpdateExpression": "SET #seq = :last",
        "ExpressionAttributeNames": {"#seq": "seq"},
        "ExpressionAttributeValues": {":last": {"N": last.to_string()}},
    });
    call("UpdateItem", update);
}

async fn measure(deployment: &Arc<Deployment>, space: SpaceId, text: &str) -> PromptCost {
    // A process with empty memory.
    let process = deployment.some_process("test").unwrap();
    deployment.env.kill(&process.life, "for a fresh one");
    sleep(Duration::from_secs(30)).await;
    {
        let mut ledger = deployment.env.ledger.lock().unwrap();
        ledger.calls.clear();
        ledger.read = (0, 0);
    }
    let begun = Instant::now();
    say(deployment, space, text).await;
    loop {
        sleep(Duration::from_millis(1)).await;
        let ledger = deployment.env.ledger.lock().unwrap();
        let asked = ledger.calls.iter().find(|(_, what)| what == "ask").map(|(at, _)| *at);
        if let Some(asked) = asked {
            let calls = ledger
                .calls
                .iter()
                .filter(|(at, what)| *at < asked && what.starts_with(char::is_uppercase))
                .count();
            return PromptCost {
                calls,
                items: ledger.read.0,
                bytes: ledger.read.1,
                in_a_row: (asked - begun).as_millis() / CALL_LATENCY.as_millis(),
            };
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_prompt_reads_as_much_from_ten_thousand_messages_as_from_a_hundred() {
    let (deployment, space) = deployment().await;
    say(&deployment, space, "first").await;
    sleep(Duration::from_mins(1)).await;
    let said = || {
        deployment
            .env
            .storage
            .items()
            .iter()
            .filter(|item| item["SK"].as_str().is_some_and(|sk| sk.starts_with("MSG#")))
            .count() as u64
    };
    fill(&deployment, space, said(), 100);
    let short = measure(&deployment, space, "at a hundred").await;
    sleep(Duration::from_mins(5)).await;
    fill(&deployment, space, said(), 10_000);
    let long = measure(&deployment, space, "at ten thousand").await;
    assert_eq!((long.calls, long.in_a_row), (short.calls, short.in_a_row), "{short:?} {long:?}");
    // The window has 50 to 74 messages. The newest messages are read until there are surely enough,
    // for every history before them.
    assert!(long.items <= 93 && long.items <= short.items + 5, "{short:?} {long:?}");
    assert!(long.bytes < 120_000 && long.bytes < short.bytes * 5 / 4, "{short:?} {long:?}");
    deployment.end();
}

#[tokio::test(start_paused = true)]
async fn parts_that_many_prompts_share_are_stored_once() {
    let (deployment, space) = deployment().await;
    for number in 0..8 {
        say(&deployment, space, &format!("message {number}")).await;
        sleep(Duration::from_mins(2)).await;
    }
    let items = deployment.env.storage.items();
    let prompts: Vec<&Value> = items.iter().filter(|item| item["SK"] == "PROMPT").collect();
    let parts: BTreeSet<_> = prompts.iter().map(|prompt| prompt["part"].to_string()).collect();
    assert_eq!((prompts.len(), parts.len()), (8, 1), "eight runs with one system message");
    assert_eq!(
        items
            .iter()
            .filter(|item| item["PK"].as_str().is_some_and(|pk| pk.starts_with("PART#")))
            .count(),
        1
    );
    deployment.end();
}

#[tokio::test(start_paused = true)]
async fn a_history_is_stored_in_parts_and_shown_whole() {
    let (deployment, space) = deployment().await;
    for number in 0..40 {
        say(&deployment, space, &format!("message {number}")).await;
        sleep(Duration::from_mins(2)).await;
    }
    let items = deployment.env.storage.items();
    let prompts: Vec<&Value> = items.iter().filter(|item| item["SK"] == "PROMPT").collect();
    let parts: BTreeSet<_> = prompts
        .iter()
        .flat_map(|prompt| prompt["parts"].as_array().into_iter().flatten().map(Value::to_string))
        .collect();
    let most = prompts.iter().map(|prompt| prompt["parts"].as_array().map_or(0, Vec::len)).max();
    assert_eq!(most, Some(2), "whole parts of 25 messages, of 50 to 74");
    assert!(parts.len() <= prompts.len() / 5, "{} parts of {} prompts", parts.len(), prompts.len());

    let newest = prompts
        .iter()
        .filter(|prompt| prompt["parts"].is_array())
        .filter_map(|prompt| prompt["PK"].as_str())
        .max()
        .unwrap();
    let path = format!("/v1/runs/{}", newest.trim_start_matches("RUN#"));
    let (_, run) =
        deployment.http("person", Caller::Operator, Method::GET, &path, None, None).await.unwrap();
    let shown = run["steps"][0]["prompt"]["messages"][0]["blocks"].to_string();
    assert_eq!(shown.matches("SPACE HISTORY ").count(), 1, "{shown}");
    assert!((35..39).all(|number| shown.contains(&format!("message {number}"))), "{shown}");
    deployment.end();
}
