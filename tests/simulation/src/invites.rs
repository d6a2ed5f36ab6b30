//! The operator invites guests to a space of their own: several want the last use at once, some ask
//! twice, and now and then the invite is revoked meanwhile.

use std::sync::Arc;

use axum::http::Method;
use futures::future::join_all;
use serde_json::{Value, json};

use crate::{client::Caller, deployment::Deployment, ledger::Invited, locked};

/// Makes a space with an invite, and lets guests accept it until the outcomes are known.
pub(crate) async fn invite_guests(deployment: &Arc<Deployment>, who: &str, place: &str) {
    let chance = &deployment.env.chance;
    let ask = async |caller, method, path: String, key: Option<String>, body: Value| {
        let answer = deployment
            .http_with_retries(who, caller, method, &path, key.as_deref(), Some(&body))
            .await;
        answer.filter(|(status, _)| *status < 300)
    };
    let operator = Caller::Operator;
    let name = json!({"name": format!("Guests of {place}")});
    let key = Some(format!("{place}/space"));
    let Some((_, space)) = ask(operator, Method::POST, "/v1/spaces".into(), key, name).await else {
        return;
    };
    let path = format!("/v1/spaces/{}/invites", space["id"].as_str().unwrap_or_default());
    let uses = 1 + chance.below(&format!("{place}/uses"), 3);
    let key = Some(format!("{place}/invite"));
    let Some((_, invite)) =
        ask(operator, Method::POST, path.clone(), key, json!({"uses": uses})).await
    else {
        return;
    };
    deployment.env.history.note(who, || format!("invites {uses} guests: {}", invite["id"]));
    let id = invite["id"].as_str().unwrap_or_default().to_owned();
    let accept = async |guest: u64| {
        let key = format!("{place}/the guest with the number {guest}");
        let body = json!({"token": invite["token"], "name": format!("Guest {guest}")});
        let path = "/v1/invites/accept";
        deployment
            .http_with_retries(who, Caller::Nobody, Method::POST, path, Some(&key), Some(&body))
            .await
    };
    // Neighbours are the same guest, who asks twice.
    let guests = (0..5).map(|guest| accept(guest / 2));
    let is_revoked = chance.happens(&format!("{place}/revoked"), 300);
    let revoke = async {
        if !is_revoked {
            return false;
        }
        let path = format!("{path}/{id}");
        ask(operator, Method::DELETE, path, None, Value::Null).await.is_some()
    };
    let (answers, revoked) = tokio::join!(join_all(guests), revoke);
    deployment.env.history.note(who, || format!("gets {answers:?} for {id}; revoked: {revoked}"));
    locked(&deployment.env.ledger).invited.push(Invited { invite: id, uses, revoked, answers });
}
