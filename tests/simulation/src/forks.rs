//! The operator forks runs.

use std::sync::Arc;

use axum::http::Method;
use serde_json::json;

use crate::{client::Caller, deployment::Deployment, ledger::Forked, locked};

/// Forks a run at one of its first steps, and waits for the answer.
pub(crate) async fn fork(deployment: &Arc<Deployment>, who: &str, run: &str, place: &str) {
    let step = deployment.env.chance.below(&format!("{place}/step"), 3);
    deployment.env.history.note(who, || format!("forks {run} at step {step}"));
    let path = format!("/v1/runs/{run}/fork");
    let body = if deployment.env.chance.happens(&format!("{place}/changed"), 500) {
        json!({"fromStep": step, "instructions": format!("As in {place}.")})
    } else {
        json!({"fromStep": step})
    };
    let operator = Caller::Operator;
    let answer = deployment
        .http_with_retries(who, operator, Method::POST, &path, Some(place), Some(&body))
        .await;
    deployment.env.history.note(who, || format!("gets {answer:?} for the fork of {run}"));
    locked(&deployment.env.ledger).forked.push(Forked { of: run.to_owned(), step, answer });
}
