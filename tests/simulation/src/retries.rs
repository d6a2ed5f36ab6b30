//! Requests to repeat runs: several at once, and in the name of people or of the operator.

use std::sync::Arc;

use axum::http::Method;

use crate::{client::Caller, deployment::Deployment, ledger::Retried, locked};

/// Asks to repeat a run, often twice at once, until the outcomes are known.
pub(crate) async fn retry(
    deployment: &Arc<Deployment>,
    who: &str,
    caller: Caller,
    run: &str,
    place: &str,
) {
    deployment.env.history.note(who, || format!("repeats {run}"));
    let path = format!("/v1/runs/{run}/retry");
    let ask = || deployment.http_with_retries(who, caller, Method::POST, &path, None, None);
    let answers = if deployment.env.chance.happens(&format!("{place}/twice"), 500) {
        let (first, second) = tokio::join!(ask(), ask());
        vec![first, second]
    } else {
        vec![ask().await]
    };
    deployment.env.history.note(who, || format!("gets {answers:?} for the retry of {run}"));
    locked(&deployment.env.ledger).retried.push(Retried { of: run.to_owned(), answers });
}
