//! Who is retired, renamed or taken out right after joining, or after being woken, while indexes still show what was before.

use std::{sync::Arc, time::Duration};

use axum::http::Method;
use serde_json::{Value, json};
use smartspace_simulation::{
    chance::Chance,
    door::As,
    oracle::Kept,
    plan::{Plan, Setup},
    setting,
    world::World,
};
use tokio::time::sleep;

async fn set(seed: u64) -> Arc<World> {
    let setup = Setup { seed, ..Setup::default() };
    let world = World::of(&setup, Plan::quiet(), Chance::new(seed, setup.spared.clone()), None).unwrap();
    setting::set(&world).await.unwrap();
    world
}

/// Calls the API as the operator, and is answered with 2xx.
async fn call(world: &Arc<World>, method: Method, path: &str, body: Option<Value>) -> Value {
    let (status, answer) = world.http("operator", As::Operator, method, path, None, body.as_ref()).await.unwrap();
    assert!((200..300).contains(&status), "{path}: {status} {answer}");
    answer
}

fn entity(kind: &str) -> Value {
    let model = json!({"model": {"provider": "openai", "name": "chance"}});
    let mut entity = json!({"type": kind, "name": "Late"});
    if kind == "agent" {
        entity["agent"] = model;
    }
    entity
}

#[tokio::test(start_paused = true)]
async fn who_joins_and_is_retired_or_renamed_at_once_is_no_member_under_its_old_name() {
    for (seed, kind) in (1..=10).zip(["human", "agent"].into_iter().cycle()) {
        for retires in [true, false] {
            let world = set(seed).await;
            let space = world.ledger.lock().unwrap().spaces[0];
            let made = call(&world, Method::POST, "/v1/entities", Some(entity(kind))).await;
            let id = made["id"].as_str().unwrap().to_owned();
            call(&world, Method::PUT, &format!("/v1/spaces/{space}/members/{id}"), Some(json!({}))).await;
            let path = format!("/v1/entities/{id}");
            if retires {
                call(&world, Method::DELETE, &path, None).await;
            } else {
                call(&world, Method::PATCH, &path, Some(json!({"name": "Latest"}))).await;
            }
            sleep(Duration::from_mins(3)).await;
            let kept = Kept::of(&world.storage.items());
            let member = &kept.members[&(space.to_string(), id)];
            let seen = (member["left"] == true, member["name"].as_str());
            assert_eq!(seen, if retires { (true, Some("Late")) } else { (false, Some("Latest")) }, "seed {seed}, {kind}");
            assert_eq!(kept.due, [""; 0], "seed {seed}, {kind}: nobody has to come back");
            world.end();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn runs_of_an_agent_that_is_taken_out_or_whose_space_goes_end_though_no_index_shows_them_yet() {
    for seed in 1..=10 {
        for deletes in [false, true] {
            let world = set(seed).await;
            let (space, person, agent) = {
                let ledger = world.ledger.lock().unwrap();
                (ledger.spaces[0], ledger.people[0], ledger.agents[0].0)
            };
            let path = format!("/v1/spaces/{space}");
            call(&world, Method::POST, &format!("{path}/messages"), Some(json!({"text": "Begin.", "senderId": person}))).await;
            let removed = if deletes { path } else { format!("{path}/members/{agent}") };
            call(&world, Method::DELETE, &removed, None).await;
            sleep(Duration::from_mins(1)).await;
            let kept = Kept::of(&world.storage.items());
            let ends: Vec<_> = kept.runs.values().map(|run| (run["status"].clone(), run["endReason"].clone())).collect();
            assert_eq!(ends, [(json!("canceled"), json!("removed"))], "seed {seed}, deletes the space: {deletes}");
            world.end();
        }
    }
}
