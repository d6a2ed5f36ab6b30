//! `/v1/hooks/{agentId}/{service}`: receives webhooks. The signature of a request is its
//! credential. A request without a valid one learns nothing, not even whether there is such an
//! agent or service: all get the same answer after the same work.

use std::sync::Arc;

use axum::{
    Extension,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::Value;
use smartspace_domain::{
    Error, Result,
    agents::{Webhook, WebhookScheme},
    ids::EntityId,
    json,
    names::ServiceName,
    rates::{NOTED, SERVICE},
    webhooks::{Request, Unverified, Verified, check_secret, verify},
};
use smartspace_ports::secrets::{KnownSecrets, Secret};
use smartspace_store::deliveries::{NewDelivery, PAYLOAD_KEPT_BYTES};

use super::triggers::{ReceivedResponse, accepted, check_payload};
use crate::{
    Api, SourceAddress,
    annotated_routes::{Routes, routes},
    answers::ApiResult,
    description::ChainDepth,
    input::{Body, PathService, TwoIds, depth},
};

/// What a request for nobody is checked with. It is a secret in all schemes.
const NOBODYS_SECRET: &str = "whsec_bm9ib2R5J3Mgc2VjcmV0IGhlcmU=";

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
        (status = 401, description = "The signature is missing, wrong or too old, or there is no \
            such agent or webhook. The list of deliveries says why."),
        (status = 429, description = "The service sends too often, or too many requests from this \
            address or for this agent had no valid signature."),
        (status = 503, description = "No secret of the webhook is usable, or it is unknown \
            whether the payload was stored. Send it again.")
    )
)]
async fn receive(
    State(api): State<Arc<Api>>,
    TwoIds(agent, PathService(service)): TwoIds<EntityId, PathService>,
    address: Option<Extension<SourceAddress>>,
    headers: HeaderMap,
    body: Body,
) -> ApiResult<Response> {
    let address = address.map(|Extension(address)| address);
    let hook = Hook { api: &api, agent, service: service.as_str(), address };
    let (key, also) = match hook.verified(&headers, body.bytes()).await? {
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
    address: Option<SourceAddress>,
}

impl Hook<'_> {
    /// `None` if there is no such agent, or it has no webhook of this name.
    async fn webhook(&self) -> Result<Option<Webhook>> {
        match self.api.pipeline.store.entities().webhook(self.agent, self.service).await {
            Err(Error::NotFound(_)) => Ok(None),
            found => found,
        }
    }

    /// Verifies the signature of a request. A request that fails is noted as rejected; its payload
    /// is not stored.
    async fn verified(&self, headers: &HeaderMap, body: &[u8]) -> Result<Verified> {
        let webhook = self.webhook().await?;
        let known =
            self.api.secrets.known().await.map_err(|error| Error::Retry(error.to_string()))?;
        let (scheme, secrets) = match &webhook {
            Some(webhook) => {
                let secrets = webhook.secrets.iter().filter_map(|name| known.get(name));
                (webhook.scheme, secrets.map(Secret::reveal).collect())
            }
            None => (self.scheme_of_nobody(), vec![NOBODYS_SECRET]),
        };
        let header = |name: &str| {
            let mut values = headers.get_all(name).iter();
            values.next().filter(|_| values.next().is_none())?.to_str().ok()
        };
        let now = self.api.pipeline.now();
        let verified = verify(scheme, Request { header: &header, body }, &secrets, now);
        match (verified, webhook) {
            (Ok(verified), Some(_)) => Ok(verified),
            (Err(Unverified::NoSecret), Some(webhook)) => {
                self.count_refused().await?;
                Err(self.unusable(&webhook, &known, body.len()).await)
            }
            (Err(unverified), Some(_)) => {
                self.count_refused().await?;
                self.note(body.len(), &unverified.to_string()).await;
                Err(unsigned())
            }
            (_, None) => {
                self.count_refused().await?;
                self.note_nobody().await;
                Err(unsigned())
            }
        }
    }

    /// A scheme for an agent or service that does not exist. It is always the same one, and nobody
    /// can foresee it, so the time of a check tells nothing.
    fn scheme_of_nobody(&self) -> WebhookScheme {
        let number = self.api.admin_key.derive(&["webhook", &self.agent.to_string(), self.service]);
        match number % 4 {
            0 => WebhookScheme::Standard,
            1 => WebhookScheme::Github,
            2 => WebhookScheme::Stripe,
            _ => WebhookScheme::Slack,
        }
    }

    /// Counts a request without a valid signature.
    async fn count_refused(&self) -> Result<()> {
        self.api.count_refused(self.address).await?;
        self.api.pipeline.count_refused(&self.agent.to_string()).await
    }

    /// Notes that none of the secrets of a webhook can be used.
    async fn unusable(&self, webhook: &Webhook, known: &KnownSecrets, bytes: usize) -> Error {
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
        self.note(bytes, &reason).await;
        tracing::error!(
            event = "webhook_without_secret",
            agent = %self.agent,
            service = self.service,
            reason,
            "a webhook can't accept requests"
        );
        // The sender must not learn the names of secrets.
        Error::Unavailable("no secret of this webhook is usable; the payload was not stored".into())
    }

    /// Writes as often as [`Self::note`] does, and keeps nothing.
    async fn note_nobody(&self) {
        let rates = self.api.pipeline.store.rates();
        let now = self.api.pipeline.now();
        let counter = self.rejected();
        if rates.count_call(&counter, NOTED, now).await.is_ok() {
            let _ = rates.count_call(&format!("{counter} here"), NOTED, now).await;
        }
    }

    fn rejected(&self) -> String {
        format!("{} {} rejected", self.agent, self.service)
    }

    /// Notes a rejected request in the list of deliveries. The number of notes is limited, because
    /// anybody can send such requests.
    async fn note(&self, bytes: usize, reason: &str) {
        let store = &self.api.pipeline.store;
        let now = self.api.pipeline.now();
        if store.rates().count_call(&self.rejected(), NOTED, now).await.is_ok() {
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

/// The answer to every request without a valid signature, whatever it was for.
fn unsigned() -> Error {
    Error::Unauthenticated(
        "expected a request that is signed as a webhook of this agent configures it; the agent's \
         list of deliveries says what is wrong"
            .into(),
    )
}
