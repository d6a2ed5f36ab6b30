//! `/v1/hooks/{agentId}/{service}`: receives webhooks. The signature of a request is its
//! credential.

use std::sync::Arc;

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::Value;
use smartspace_domain::{
    Error, Result,
    agents::Webhook,
    ids::EntityId,
    json,
    names::ServiceName,
    rates::{NOTED, SERVICE},
    webhooks::{Request, Unverified, Verified, check_secret, verify},
};
use smartspace_ports::secrets::Secret;
use smartspace_store::deliveries::{NewDelivery, PAYLOAD_KEPT_BYTES};

use super::triggers::{ReceivedResponse, accepted, check_payload};
use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::ApiResult,
    description::ChainDepth,
    input::{Body, PathService, TwoIds, depth},
};

pub(super) fn routes() -> Routes {
    routes![receive]
}

/// Receive a webhook
///
/// The request must be signed as the agent's `webhooks` configure it: Standard Webhooks, GitHub,
/// Stripe or Slack. The whole body is the payload. A body that is not JSON is stored as text, and
/// so is JSON with a whole number beyond 64 bits. A repeated delivery gets the answer of the first
/// one. If the agent can't be triggered, the payload is stored anyway and `reason` says why.
#[utoipa::path(
    post, path = "/v1/hooks/{agentId}/{service}",
    operation_id = "receiveHook", tag = "services", security(),
    params(
        ("agentId" = EntityId, Path),
        ("service" = inline(ServiceName), Path),
        ChainDepth,
    ),
    request_body(content = serde_json::Value, description = "The payload, at most 128 KiB."),
    responses(
        (status = 202, body = ReceivedResponse),
        (status = 401, description = "The signature is missing, wrong or too old."),
        (status = 429, description = "The service sends too often."),
        (status = 503, description = "No secret of the webhook is usable, or it is unknown \
            whether the payload was stored. Send it again.")
    )
)]
async fn receive(
    State(api): State<Arc<Api>>,
    TwoIds(agent, PathService(service)): TwoIds<EntityId, PathService>,
    headers: HeaderMap,
    body: Body,
) -> ApiResult<Response> {
    let hook = Hook { api: &api, agent, service: service.as_str() };
    let webhook = hook.webhook().await?;
    let (key, also) = match hook.verified(&webhook, &headers, body.bytes()).await? {
        Verified::Delivery { key, also } => (key, also),
        // The service verifies that we own this address, and expects its text back.
        Verified::Challenge(text) => return Ok((StatusCode::OK, text).into_response()),
    };
    let bytes = body.bytes().len();
    let id = api.pipeline.delivery_id();
    let (payload, chain_depth) = match readable(&headers, body.bytes()) {
        Ok(read) => read,
        Err(error) => {
            hook.note(bytes, &error.to_string()).await;
            return Err(error.into());
        }
    };
    let new = NewDelivery {
        id,
        agent,
        service: service.to_string(),
        key,
        also,
        payload,
        bytes,
        chain_depth,
        post_key: None,
        by_hand: false,
    };
    if let Some(first) = api.pipeline.repeated(&new).await? {
        return Ok(accepted(first).into_response());
    }
    api.pipeline.count(&format!("{agent} {service}"), SERVICE).await?;
    Ok(accepted(api.pipeline.receive(&new).await?).into_response())
}

/// The payload of a request and its chain depth.
fn readable(headers: &HeaderMap, body: &[u8]) -> Result<(Value, u32)> {
    check_payload(body.len())?;
    let not_text = |_| Error::Malformed("expected a payload of JSON, or of text in UTF-8".into());
    // JSON that a JSON value can't hold exactly is stored as text.
    let payload = match json::parse_exactly(body) {
        Ok(payload) => payload,
        Err(_) if is_form(headers) => fields(body),
        Err(_) => Value::String(std::str::from_utf8(body).map_err(not_text)?.to_owned()),
    };
    check_stored_size(&payload)?;
    Ok((payload, depth(headers)?))
}

fn check_stored_size(payload: &Value) -> Result<()> {
    match payload.to_string().len() {
        ..=PAYLOAD_KEPT_BYTES => Ok(()),
        bytes => Err(Error::TooLarge(format!(
            "expected a payload of at most {PAYLOAD_KEPT_BYTES} bytes as JSON, got {bytes}; in \
             JSON each control character takes 6 bytes"
        ))),
    }
}

fn is_form(headers: &HeaderMap) -> bool {
    let kind =
        headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.trim_start().to_ascii_lowercase().starts_with("application/x-www-form-urlencoded")
}

/// The fields of a form. A field is text, or an array of texts if it is repeated. Slack and GitHub
/// put JSON into the field `payload`.
fn fields(body: &[u8]) -> Value {
    let mut fields = serde_json::Map::new();
    for (name, text) in url::form_urlencoded::parse(body) {
        let text = Value::from(text.into_owned());
        match fields.get_mut(&*name) {
            None => {
                fields.insert(name.into_owned(), text);
            }
            Some(Value::Array(texts)) => texts.push(text),
            Some(first) => *first = Value::Array(vec![first.take(), text]),
        }
    }
    if let Some(payload) = fields.get_mut("payload")
        && let Some(inner) = payload.as_str().and_then(|text| json::parse_exactly(text).ok())
    {
        *payload = inner;
    }
    Value::Object(fields)
}

/// The webhook of one service at one agent.
struct Hook<'a> {
    api: &'a Api,
    agent: EntityId,
    service: &'a str,
}

impl Hook<'_> {
    async fn webhook(&self) -> Result<Webhook> {
        let none =
            || Error::NotFound("there is no such agent, or it has no webhook of this name".into());
        match self.api.pipeline.store.entities().webhook(self.agent, self.service).await {
            Err(Error::NotFound(_)) => Err(none()),
            found => found?.ok_or_else(none),
        }
    }

    /// Verifies the signature of a request. A request that fails is noted as rejected; its payload
    /// is not stored.
    async fn verified(
        &self,
        webhook: &Webhook,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<Verified> {
        let known =
            self.api.secrets.known().await.map_err(|error| Error::Retry(error.to_string()))?;
        let secrets: Vec<_> =
            webhook.secrets.iter().filter_map(|name| known.get(name)).map(Secret::reveal).collect();
        let header = |name: &str| {
            let mut values = headers.get_all(name).iter();
            values.next().filter(|_| values.next().is_none())?.to_str().ok()
        };
        let unverified = match verify(
            webhook.scheme,
            Request { header: &header, body },
            &secrets,
            self.api.pipeline.now(),
        ) {
            Ok(verified) => return Ok(verified),
            Err(unverified) => unverified,
        };
        if unverified != Unverified::NoSecret {
            self.note(body.len(), &unverified.to_string()).await;
            return Err(Error::Unauthenticated(unverified.to_string()));
        }
        let wrong = |name: &String| match known.get(name) {
            None => format!("{name} is not set"),
            Some(secret) => format!(
                "{name}: {}",
                check_secret(webhook.scheme, secret.reveal()).err().unwrap_or_default()
            ),
        };
        let reason = format!(
            "no secret of this webhook is usable: {}",
            webhook.secrets.iter().map(wrong).collect::<Vec<_>>().join("; ")
        );
        self.note(body.len(), &reason).await;
        tracing::error!(
            event = "webhook_without_secret",
            agent = %self.agent,
            service = self.service,
            reason,
            "a webhook can't accept requests"
        );
        // The sender must not learn the names of secrets.
        Err(Error::Unavailable(
            "no secret of this webhook is usable; the payload was not stored".into(),
        ))
    }

    /// Notes a rejected request in the list of deliveries. The number of notes is limited, because
    /// anybody can send such requests.
    async fn note(&self, bytes: usize, reason: &str) {
        let store = &self.api.pipeline.store;
        let now = self.api.pipeline.now();
        let counter = format!("{} {} rejected", self.agent, self.service);
        if store.rates().count_call(&counter, NOTED, now).await.is_ok() {
            store
                .deliveries()
                .note_rejection(
                    self.api.pipeline.delivery_id(),
                    self.agent,
                    self.service,
                    bytes,
                    reason.to_owned(),
                    now,
                )
                .await;
        }
    }
}
