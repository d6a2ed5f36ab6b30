//! An agent's tools change while a call of one is under way and its process dies: the call still happens at most once, and its result is one.

use std::{sync::Arc, time::Duration};

use axum::http::Method;
use serde_json::{Value, json};
use smartspace_simulation::{
    chance::Chance,
    door::As,
    ledger::Said,
    oracle::{self, Kept},
    outside::IDEMPOTENT,
    plan::{Plan, Setup},
    setting,
    world::World,
};
use tokio::time::sleep;

/// What becomes of a tool that could have been called again.
fn changes(name: &str) -> [Value; 5] {
    let tool = |execution: Value| json!({"name": name, "description": "", "inputSchema": {}, "idempotent": true, "execution": execution});
    let http = json!({"type": "http", "method": "POST", "url": "https://shop.example/elsewhere"});
    let mut strict = tool(http.clone());
    strict["inputSchema"] = json!({"type": "object", "required": ["more"]});
    let mut secret = http;
    secret["headers"] = json!({"x": "${secret.NOWHERE}"});
    let form = json!({"type": "space"});
    [json!([strict]), json!([tool(secret)]), json!([tool(form)]), json!([tool(json!({"type": "static", "output": 1}))]), json!([])]
}

/// Says something, and waits until a call that may be repeated is under way; which tool's, if there is one.
async fn until_under_way(world: &Arc<World>, message: usize) -> Option<String> {
    let (space, person) = {
        let ledger = world.ledger.lock().unwrap();
        (ledger.spaces[0], ledger.people[0])
    };
    let (path, body) = (format!("/v1/spaces/{space}/messages"), json!({"text": format!("Number {message}."), "senderId": person}));
    let (status, made) = world.http("person", As::Operator, Method::POST, &path, None, Some(&body)).await.unwrap();
    assert_eq!(status, 201);
    let accepted = made["id"].as_str().map(str::to_owned).zip(made["seq"].as_u64());
    world.ledger.lock().unwrap().said.push(Said { person, space, text: format!("Number {message}."), accepted });
    loop {
        for _ in 0..100 {
            sleep(Duration::from_millis(5)).await;
            let last = world.ledger.lock().unwrap().arrived.last().cloned();
            if let Some(last) = last.filter(|last| last.answered.is_none() && IDEMPOTENT.contains(&last.tool.as_str())) {
                return Some(last.tool);
            }
        }
        if has_ended(world) {
            return None;
        }
    }
}

fn has_ended(world: &World) -> bool {
    Kept::of(&world.storage.items()).runs.values().all(|run| ["completed", "failed", "canceled"].iter().any(|end| run["status"] == *end))
}

#[tokio::test(start_paused = true)]
async fn a_call_under_way_has_one_result_whatever_became_of_its_tool() {
    let mut changed = 0;
    for seed in 1..=200 {
        let setup = Setup { seed, ..Setup::default() };
        let plan = Plan { outside: true, ..Plan::quiet() };
        let world = World::of(&setup, plan, Chance::new(seed, setup.spared.clone()), None).unwrap();
        setting::set(&world).await.unwrap();
        let mut under_way = None;
        for message in 0..6 {
            under_way = until_under_way(&world, message).await;
            if under_way.is_some() {
                break;
            }
        }
        if let Some(name) = under_way {
            world.kill(&world.some_process("test").unwrap().life, "while a call is under way");
            let agent = world.ledger.lock().unwrap().agents[0].0;
            let (path, body) = (format!("/v1/entities/{agent}"), json!({"agent": {"tools": changes(&name)[changed]}}));
            let patched = world.http_until("operator", As::Operator, Method::PATCH, &path, None, Some(&body)).await;
            assert_eq!(patched.unwrap().0, 200);
            world.ledger.lock().unwrap().changed.insert(name.clone());
            while !has_ended(&world) {
                sleep(Duration::from_secs(5)).await;
            }
            sleep(Duration::from_mins(2)).await;
            let kept = Kept::of(&world.storage.items());
            assert_eq!(oracle::judge(&world, &[]), [].into(), "seed {seed}, {name} became {body}");
            let mut results = kept.calls.values().filter(|call| call["name"] == name.as_str()).map(|call| call["status"].clone());
            let ended = kept.runs.values().all(|run| run["status"] == "completed");
            assert!(results.next_back() == Some("unknown".into()) && ended, "seed {seed}, {name} became {body}");
            changed += 1;
        }
        world.end();
        if changed == 5 {
            return;
        }
    }
    panic!("{changed} tools were changed while a call was under way");
}
