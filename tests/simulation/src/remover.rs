//! Deletes a space in the middle of everything else, by the operator or by an owner of the space.

use std::{sync::Arc, time::Duration};

use axum::http::Method;
use serde_json::json;
use smartspace_domain::ids::SpaceId;
use tokio::time::sleep;

use crate::{client::Caller, deployment::Deployment, locked};

/// The remover's number among the clients, after the services.
const INDEX: usize = 5;
const NAME: &str = "remover";

/// Deletes the last space at some time.
pub async fn delete_a_space(deployment: Arc<Deployment>) {
    let chance = &deployment.env.chance;
    let pause = [5, 15, 30, 60][chance.below(NAME, 4) as usize];
    sleep(chance.time(NAME, Duration::from_secs(2), Duration::from_secs(pause))).await;
    if deployment.env.skipped.contains(&(INDEX, 0)) {
        return;
    }
    let Some(space) = locked(&deployment.env.ledger).spaces.last().copied() else { return };
    let owner = chance.happens(NAME, 500);
    let caller = if owner { make_owner(&deployment, space).await } else { Caller::Operator };
    deployment.env.history.note(NAME, || format!("deletes {space} as {caller:?}"));
    locked(&deployment.env.ledger).deleted.insert(space);
    let path = format!("/v1/spaces/{space}");
    let answer =
        deployment.http_with_retries(NAME, caller, Method::DELETE, &path, None, None).await;
    // A try whose answer was lost may have deleted it. An owner may have been removed meanwhile.
    let is_gone = answer.is_some_and(|(status, _)| status == 204);
    for _ in 0..20 {
        let shown = deployment
            .http_with_retries(NAME, Caller::Operator, Method::GET, &path, None, None)
            .await;
        if is_gone || shown.is_some_and(|(status, _)| status == 404) {
            return;
        }
        let operator = Caller::Operator;
        deployment.http_with_retries(NAME, operator, Method::DELETE, &path, None, None).await;
    }
}

/// Makes the first person an owner of a space.
async fn make_owner(deployment: &Arc<Deployment>, space: SpaceId) -> Caller {
    let person = locked(&deployment.env.ledger).people[0];
    let path = format!("/v1/spaces/{space}/members/{person}");
    let body = json!({"role": "owner"});
    deployment
        .http_with_retries(NAME, Caller::Operator, Method::PUT, &path, None, Some(&body))
        .await;
    Caller::Entity(person)
}
