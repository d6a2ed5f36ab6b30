//! An agent's tools change while an external call is under way and its process dies. The call still
//! happens at most once, and has one result.

use std::{sync::Arc, time::Duration};

use axum::http::Method;
use serde_json::{Value, json};
use smartspace_simulation::{
    client::Caller,
    deployment::Deployment,
    external_tools::IDEMPOTENT,
    fixtures,
    input::Input,
    ledger::SentMessage,
    oracle::{self, Stored},
    parameters::Parameters,
};
use tokio::time::sleep;

/// The changes of an idempotent tool, each of which makes a repeated call impossible.
fn changes(name: &str) -> [Value; 5] {
    let tool = |execution: Value| {
        json!({
            "name": name, "description": "", "inputSchema": {}, "idempotent": true,
            "execution": execution,
        })
    };
    let http = json!({"type": "http", "method": "POST", "url": "https://shop.example/elsewhere"});
    let mut strict = tool(http.clone());
    strict["inputSchema"] = json!({"type": "object", "required": ["more"]});
    let mut secret = http;
    secret["headers"] = json!({"x": "${secret.NOWHERE}"});
    let form = json!({"type": "space"});
    [
        json!([strict]),
        json!([tool(secret)]),
        json!([tool(form)]),
        json!([tool(json!({"type": "static", "output": 1}))]),
        json!([]),
    ]
}

/// Sends a message, and waits until a call of an idempotent tool is under way. Returns the tool, or
/// `None` if the run ends without such a call.
async fn until_under_way(deployment: &Arc<Deployment>, message: usize) -> Option<String> {
    let (space, person) = {
        let ledger = deployment.env.ledger.lock().unwrap();
        (ledger.spaces[0], ledger.people[0])
    };
    let path = format!("/v1/spaces/{space}/messages");
    let body = json!({"text": format!("Number {message}."), "senderId": person});
    let (status, made) = deployment
        .http("person", Caller::Operator, Method::POST, &path, None, Some(&body))
        .await
        .unwrap();
    assert_eq!(status, 201);
    let accepted = made["id"].as_str().map(str::to_owned).zip(made["seq"].as_u64());
    deployment.env.ledger.lock().unwrap().sent_messages.push(SentMessage {
        person,
        space,
        text: format!("Number {message}."),
        accepted,
    });
    loop {
        for _ in 0..100 {
            sleep(Duration::from_millis(5)).await;
            let last = deployment.env.ledger.lock().unwrap().arrived.last().cloned();
            if let Some(last) = last
                .filter(|last| last.answered.is_none() && IDEMPOTENT.contains(&last.tool.as_str()))
            {
                return Some(last.tool);
            }
        }
        if has_ended(deployment) {
            return None;
        }
    }
}

fn has_ended(deployment: &Deployment) -> bool {
    Stored::from_items(&deployment.env.storage.items())
        .runs
        .values()
        .all(|run| ["completed", "failed", "canceled"].iter().any(|end| run["status"] == *end))
}

/// Sends messages until a call of an idempotent tool is under way. Returns the tool.
async fn call_under_way(deployment: &Arc<Deployment>) -> Option<String> {
    for message in 0..6 {
        let tool = until_under_way(deployment, message).await;
        if tool.is_some() {
            return tool;
        }
    }
    None
}

/// Replaces the agent's tools, among them the tool `name`, and waits until every run has ended.
async fn replace_tools(deployment: &Arc<Deployment>, name: &str, tools: &Value) {
    let agent = deployment.env.ledger.lock().unwrap().agents[0].0;
    let path = format!("/v1/entities/{agent}");
    let body = json!({"agent": {"tools": tools}});
    let patched = deployment
        .http_with_retries("operator", Caller::Operator, Method::PATCH, &path, None, Some(&body))
        .await;
    assert_eq!(patched.unwrap().0, 200);
    deployment.env.ledger.lock().unwrap().changed.insert(name.to_owned());
    while !has_ended(deployment) {
        sleep(Duration::from_secs(5)).await;
    }
    sleep(Duration::from_mins(2)).await;
}

#[tokio::test(start_paused = true)]
async fn a_call_under_way_has_one_result_after_its_tool_changed() {
    let mut changed = 0;
    for seed in 1..=200 {
        let input = Input { seed, ..Input::default() };
        let parameters = Parameters { outside: true, ..Parameters::quiet() };
        let deployment = Deployment::with_parameters(&input, parameters, None).unwrap();
        fixtures::make(&deployment).await.unwrap();
        if let Some(name) = call_under_way(&deployment).await {
            deployment
                .env
                .kill(&deployment.some_process("test").unwrap().life, "while a call is under way");
            let tools = &changes(&name)[changed];
            replace_tools(&deployment, &name, tools).await;
            let stored = Stored::from_items(&deployment.env.storage.items());
            assert_eq!(
                oracle::judge(&deployment.env, &[]),
                [].into(),
                "seed {seed}, {name} became {tools}"
            );
            let mut results = stored
                .calls
                .values()
                .filter(|call| call["name"] == name.as_str())
                .map(|call| call["status"].clone());
            let ended = stored.runs.values().all(|run| run["status"] == "completed");
            assert!(
                results.next_back() == Some("unknown".into()) && ended,
                "seed {seed}, {name} became {tools}"
            );
            changed += 1;
        }
        deployment.end();
        if changed == 5 {
            return;
        }
    }
    panic!("{changed} tools were changed while a call was under way");
}
