//! The HTTP and WebSocket API, as clients reach it: requests and answers may be lost.

use std::{sync::Arc, time::Duration};

use axum::{
    body::Body,
    http::{Method, Request},
};
use http_body_util::BodyExt;
use jsonwebtoken::{EncodingKey, Header, encode};
use serde_json::Value;
use serde_json::json;
use smartspace_domain::{
    Time,
    ids::{ConnectionId, EntityId},
};
use tokio::time::{Instant, sleep, timeout};
use tower::ServiceExt;

use crate::{
    deployment::Deployment,
    ledger::{RefusedMessage, SentFrame},
    locked,
    process::{ADMIN_KEY, JWT_SECRET, Process},
};

/// How long a client waits for an answer, which is also the limit of API Gateway.
const TIMEOUT: Duration = Duration::from_secs(29);

/// The identity of a client.
#[derive(Clone, Copy, Debug)]
pub enum Caller {
    /// With the admin key.
    Operator,
    /// With a token.
    Entity(EntityId),
    /// Without a credential.
    Nobody,
}

impl Caller {
    pub(crate) fn bearer(self) -> Option<String> {
        let entity = match self {
            Self::Operator => return Some(ADMIN_KEY.into()),
            Self::Nobody => return None,
            Self::Entity(entity) => entity,
        };
        // The token never expires during a simulation.
        let claims = json!({"sub": entity, "exp": 4_000_000_000_u64});
        let key = EncodingKey::from_secret(JWT_SECRET.as_bytes());
        Some(encode(&Header::default(), &claims, &key).unwrap_or_default())
    }
}

/// No answer came. The client does not know whether its request took effect.
#[derive(Clone, Copy, Debug)]
pub struct Lost;

/// Whether a refusal with 429 is about the limit of a space, and not of the caller.
pub(crate) fn is_of_space(problem: &Value) -> bool {
    problem["detail"].as_str().is_some_and(|detail| detail.starts_with("a space accepts "))
}

impl Deployment {
    /// Sends a request over HTTP. Returns the status and body of the answer.
    pub async fn http(
        self: &Arc<Self>,
        who: &str,
        caller: Caller,
        method: Method,
        path: &str,
        key: Option<&str>,
        body: Option<&Value>,
    ) -> Result<(u16, Value), Lost> {
        let credential = caller.bearer().map(|key| ("authorization", format!("Bearer {key}")));
        let mut headers: Vec<_> = credential.into_iter().collect();
        headers.extend(key.map(|key| ("idempotency-key", key.to_owned())));
        let from = self.env.wall();
        let text = body.map(Value::to_string).unwrap_or_default();
        let answer = self.request(who, method, path, &headers, text).await;
        if let (Ok((429, problem)), Caller::Entity(sender), Some(body)) = (&answer, caller, body)
            && is_of_space(problem)
            && let Some(space) = path.strip_suffix("/messages")
        {
            let space = space.rsplit('/').next().unwrap_or_default();
            self.note_refusal(sender, space, body["text"].as_str().unwrap_or_default(), from);
        }
        answer
    }

    /// Records that a message was refused because its space accepted no more in that second.
    pub(crate) fn note_refusal(&self, sender: EntityId, space: &str, text: &str, from: Time) {
        let bytes = text.len();
        let to = self.env.wall();
        self.env.history.note("refusal", || format!("{sender} in {space}: {text:.40}"));
        let refused = RefusedMessage { sender, space: space.to_owned(), bytes, from, to };
        locked(&self.env.ledger).refused_messages.push(refused);
    }

    /// Sends a request with these headers only. Returns the status and body of the answer.
    pub async fn request(
        self: &Arc<Self>,
        who: &str,
        method: Method,
        path: &str,
        headers: &[(&'static str, String)],
        body: String,
    ) -> Result<(u16, Value), Lost> {
        let place = format!("{who}/http");
        if self
            .env
            .chance
            .strikes(&format!("{place}/lost"), self.env.parameters.fault_rates.request)
        {
            return Err(Lost);
        }
        let process = self.some_process(&place).ok_or(Lost)?;
        let request = Request::builder().method(method.clone()).uri(path);
        let request =
            headers.iter().fold(request, |request, (name, value)| request.header(*name, value));
        let Ok(request) = request.body(Body::from(body)) else { return Err(Lost) };
        let Ok(answer) = Box::pin(reached(&process, process.api.clone().oneshot(request))).await?;
        let status = answer.status().as_u16();
        let bytes = answer.into_body().collect().await.map_err(|_| Lost)?.to_bytes();
        let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        if status >= 500 && status != 503 {
            self.env.report(0, format!("{method} {path} was answered with {status}: {body}"));
        }
        if self
            .env
            .chance
            .strikes(&format!("{place}/answer lost"), self.env.parameters.fault_rates.request)
        {
            return Err(Lost);
        }
        Ok((status, body))
    }

    /// Sends a request again until its answer is neither a server error nor 429. That answer may be
    /// about the effect of an earlier try.
    pub async fn http_with_retries(
        self: &Arc<Self>,
        who: &str,
        caller: Caller,
        method: Method,
        path: &str,
        key: Option<&str>,
        body: Option<&Value>,
    ) -> Option<(u16, Value)> {
        for wait in [100, 300, 1_000, 3_000, 5_000, 8_000, 8_000, 8_000, 8_000] {
            match self.http(who, caller, method.clone(), path, key, body).await {
                Ok((status, body)) if status < 500 && status != 429 => return Some((status, body)),
                _ => sleep(Duration::from_millis(wait)).await,
            }
        }
        None
    }

    /// Sends a frame over a socket. It is lost if the process that takes it dies.
    pub async fn receive(
        self: &Arc<Self>,
        connection: &ConnectionId,
        frame: &str,
    ) -> Result<(), Lost> {
        let costly = [r#""action":"subscribe""#, r#""action":"snapshot""#];
        let tokens = if costly.iter().any(|action| frame.contains(action)) { 5 } else { 1 };
        let sent = SentFrame { at: Instant::now(), tokens };
        locked(&self.env.ledger).frames.entry(connection.0.clone()).or_default().push(sent);
        // A frame may still be under way when its connection is closed.
        self.env.connections.carry(connection);
        let process = self.some_process(&format!("{connection}/in")).ok_or(Lost)?;
        Box::pin(reached(&process, process.socket.receive(connection, frame))).await?.map_err(
            |error| {
                self.env
                    .history
                    .note(&connection.0, || format!("a frame was not received: {error}"));
                Lost
            },
        )
    }
}

/// Waits for the answer of a process, unless the process dies or the client's timeout passes first.
async fn reached<T>(process: &Process, work: impl Future<Output = T>) -> Result<T, Lost> {
    let answer = async {
        process.life.until_running().await;
        work.await
    };
    tokio::select! {
        biased;
        () = process.life.ended() => Err(Lost),
        answered = timeout(TIMEOUT, answer) => answered.map_err(|_| Lost),
    }
}
