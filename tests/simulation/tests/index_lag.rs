//! Entities that are retired, renamed or removed right after they joined or were triggered, while
//! indexes still show the state before.

use std::{sync::Arc, time::Duration};

use axum::http::Method;
use serde_json::{Value, json};
use smartspace_simulation::{
    client::Caller, deployment::Deployment, fixtures, input::Input, oracle::Stored,
    parameters::Parameters,
};
use tokio::time::sleep;

async fn set(seed: u64) -> Arc<Deployment> {
    let input = Input { seed, ..Input::default() };
    let deployment = Deployment::with_parameters(&input, Parameters::quiet(), None).unwrap();
    fixtures::make(&deployment).await.unwrap();
    deployment
}

/// Calls the API as the operator, and expects a status of 2xx.
async fn call(
    deployment: &Arc<Deployment>,
    method: Method,
    path: &str,
    body: Option<Value>,
) -> Value {
    let (status, answer) = deployment
        .http("operator", Caller::Operator, method, path, None, body.as_ref())
        .await
        .unwrap();
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
async fn an_entity_retired_or_renamed_right_after_joining_is_updated_in_its_space() {
    for (seed, kind) in (1..=10).zip(["human", "agent"].into_iter().cycle()) {
        for retires in [true, false] {
            let deployment = set(seed).await;
            let space = deployment.env.ledger.lock().unwrap().spaces[0];
            let made = call(&deployment, Method::POST, "/v1/entities", Some(entity(kind))).await;
            let id = made["id"].as_str().unwrap().to_owned();
            call(
                &deployment,
                Method::PUT,
                &format!("/v1/spaces/{space}/members/{id}"),
                Some(json!({})),
            )
            .await;
            let path = format!("/v1/entities/{id}");
            if retires {
                call(&deployment, Method::DELETE, &path, None).await;
            } else {
                call(&deployment, Method::PATCH, &path, Some(json!({"name": "Latest"}))).await;
            }
            sleep(Duration::from_mins(3)).await;
            let stored = Stored::from_items(&deployment.env.storage.items());
            let member = &stored.members[&(space.to_string(), id)];
            let seen = (member["left"] == true, member["name"].as_str());
            assert_eq!(
                seen,
                if retires { (true, Some("Late")) } else { (false, Some("Latest")) },
                "seed {seed}, {kind}"
            );
            assert_eq!(stored.due, [""; 0], "seed {seed}, {kind}: nothing is due");
            deployment.end();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn runs_end_when_their_agent_is_removed_or_their_space_deleted_before_an_index_shows_them() {
    let mut canceled = 0;
    for seed in 1..=10 {
        for deletes in [false, true] {
            let deployment = set(seed).await;
            let (space, person, agent) = {
                let ledger = deployment.env.ledger.lock().unwrap();
                (ledger.spaces[0], ledger.people[0], ledger.agents[0].0)
            };
            let path = format!("/v1/spaces/{space}");
            call(
                &deployment,
                Method::POST,
                &format!("{path}/messages"),
                Some(json!({"text": "Begin.", "senderId": person})),
            )
            .await;
            let removed = if deletes { path } else { format!("{path}/members/{agent}") };
            call(&deployment, Method::DELETE, &removed, None).await;
            sleep(Duration::from_mins(1)).await;
            let stored = Stored::from_items(&deployment.env.storage.items());
            let ends: Vec<_> = stored
                .runs
                .values()
                .map(|run| (run["status"].clone(), run["endReason"].clone()))
                .collect();
            // A model that says nothing may end its run before the removal reaches it.
            let is_canceled = ends == [(json!("canceled"), json!("removed"))];
            assert!(
                is_canceled || ends == [(json!("completed"), json!("done"))],
                "seed {seed}, deletes the space: {deletes}: {ends:?}"
            );
            canceled += usize::from(is_canceled);
            deployment.end();
        }
    }
    assert!(canceled >= 17, "{canceled} of 20 runs were canceled");
}
