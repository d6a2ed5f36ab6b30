//! People who make spaces and leave them. Some come back in time, some too late.

use std::{sync::Arc, time::Duration};

use axum::http::Method;
use serde_json::json;
use smartspace_domain::ids::{EntityId, SpaceId};
use tokio::time::{Instant, sleep};

use crate::{client::Caller, deployment::Deployment, ledger::Emptied, locked};

/// How many spaces are left at most.
const SPACES: u64 = 4;

/// Makes some spaces and leaves them, all at the same time.
pub(crate) async fn leave_spaces(deployment: Arc<Deployment>) {
    let count = 1 + deployment.env.chance.below("empties/spaces", SPACES);
    let leaving = (0..count).map(|number| leave_one(&deployment, number));
    futures::future::join_all(leaving).await;
}

async fn leave_one(deployment: &Arc<Deployment>, number: u64) {
    let chance = &deployment.env.chance;
    let place = format!("empties/{number}");
    let people = locked(&deployment.env.ledger).people.clone();
    let person = people[chance.below(&place, people.len() as u64) as usize];
    sleep(chance.time(&place, Duration::ZERO, Duration::from_secs(20))).await;
    let Some(space) = make(deployment, &place, person).await else { return };
    let from = Instant::now();
    let path = format!("/v1/spaces/{space}/members/{person}");
    let own = Caller::Entity(person);
    let left = deployment.http_with_retries(&place, own, Method::DELETE, &path, None, None).await;
    if left.is_none_or(|(status, _)| status != 204) {
        return;
    }
    deployment.env.history.note(&place, || format!("{person} has left {space}, which is empty"));
    let mut emptied = Emptied { space, from, readmitted: None };
    if chance.happens(&place, 600) {
        let kept = deployment.env.parameters.empty_spaces_kept;
        sleep(chance.time(&place, Duration::ZERO, kept * 3 / 2)).await;
        let operator = Caller::Operator;
        let answer =
            deployment.http_with_retries(&place, operator, Method::PUT, &path, None, None).await;
        emptied.readmitted = Some((Instant::now(), answer.map(|(status, _)| status)));
    }
    locked(&deployment.env.ledger).emptied.push(emptied);
}

/// Makes a space whose only member is its owner.
async fn make(deployment: &Arc<Deployment>, place: &str, person: EntityId) -> Option<SpaceId> {
    let own = Caller::Entity(person);
    let name = json!({"name": format!("Left {}", place.replace('/', "-"))});
    let (status, made) = deployment
        .http_with_retries(place, own, Method::POST, "/v1/spaces", Some(place), Some(&name))
        .await?;
    (status == 201).then(|| made["id"].as_str()?.parse().ok())?
}
