//! The doors as clients reach them: requests and answers that may get lost.

use std::{sync::Arc, time::Duration};

use axum::{
    body::Body,
    http::{Method, Request},
};
use http_body_util::BodyExt;
use jsonwebtoken::{EncodingKey, Header, encode};
use serde_json::Value;
use serde_json::json;
use smartspace_domain::ids::{ConnectionId, EntityId};
use tokio::time::{sleep, timeout};
use tower::ServiceExt;

use crate::{
    process::{ADMIN_KEY, JWT_SECRET, Process},
    world::World,
};

/// How long a client waits for an answer; API Gateway waits no longer either.
const PATIENCE: Duration = Duration::from_secs(29);

/// As whom a request is made.
#[derive(Clone, Copy, Debug)]
pub enum As {
    /// With the admin key.
    Operator,
    /// With a token.
    Entity(EntityId),
}

impl As {
    fn bearer(self) -> String {
        let Self::Entity(entity) = self else { return ADMIN_KEY.into() };
        // It outlives the simulation.
        let claims = json!({"sub": entity, "exp": 4_000_000_000_u64});
        encode(&Header::default(), &claims, &EncodingKey::from_secret(JWT_SECRET.as_bytes())).unwrap_or_default()
    }
}

/// No answer came: nobody knows what happened.
#[derive(Clone, Copy, Debug)]
pub struct Lost;

impl World {
    /// A request over HTTP: status and body of its answer.
    pub async fn http(
        self: &Arc<Self>,
        who: &str,
        caller: As,
        method: Method,
        path: &str,
        key: Option<&str>,
        body: Option<&Value>,
    ) -> Result<(u16, Value), Lost> {
        let mut headers = vec![("authorization", format!("Bearer {}", caller.bearer()))];
        headers.extend(key.map(|key| ("idempotency-key", key.to_owned())));
        self.request(who, method, path, &headers, body.map(Value::to_string).unwrap_or_default()).await
    }

    /// A request with these headers and no others.
    pub async fn request(
        self: &Arc<Self>,
        who: &str,
        method: Method,
        path: &str,
        headers: &[(&'static str, String)],
        body: String,
    ) -> Result<(u16, Value), Lost> {
        let place = format!("{who}/http");
        if self.chance.strikes(&format!("{place}/lost"), self.plan.weather.request) {
            return Err(Lost);
        }
        let process = self.some_process(&place).ok_or(Lost)?;
        let request = Request::builder().method(method.clone()).uri(path);
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, value));
        let Ok(request) = request.body(Body::from(body)) else { return Err(Lost) };
        let Ok(answer) = Box::pin(reached(&process, process.api.clone().oneshot(request))).await?;
        let status = answer.status().as_u16();
        let bytes = answer.into_body().collect().await.map_err(|_| Lost)?.to_bytes();
        let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        if status >= 500 && status != 503 {
            self.complain(0, format!("{method} {path} was answered with {status}: {body}"));
        }
        if self.chance.strikes(&format!("{place}/answer lost"), self.plan.weather.request) {
            return Err(Lost);
        }
        Ok((status, body))
    }

    /// The same again and again until an answer comes that says something: whoever uses this may be answered for what it did before.
    pub async fn http_until(
        self: &Arc<Self>,
        who: &str,
        caller: As,
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

    /// A frame of a client. It may get lost with the process that takes it.
    pub async fn receive(self: &Arc<Self>, connection: &ConnectionId, frame: &str) -> Result<(), Lost> {
        let process = self.some_process(&format!("{connection}/in")).ok_or(Lost)?;
        Box::pin(reached(&process, process.socket.receive(connection, frame))).await?.map_err(|error| {
            self.history.note(&connection.0, || format!("a frame was not received: {error}"));
            Lost
        })
    }
}

/// What a process answers, once it acts: unless it dies first, or takes longer than a client waits.
async fn reached<T>(process: &Process, work: impl Future<Output = T>) -> Result<T, Lost> {
    let answer = async {
        process.life.acts().await;
        work.await
    };
    tokio::select! {
        biased;
        () = process.life.over() => Err(Lost),
        answered = timeout(PATIENCE, answer) => answered.map_err(|_| Lost),
    }
}
