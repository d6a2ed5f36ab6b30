//! The transport to the servers that tools call, and those servers. The ledger records every
//! request that arrives and its effect, so the oracle knows more than the product can.
//!
//! `waking` sends webhooks to remote agents.

mod waking;

use std::{convert::Infallible, future::pending, sync::Arc, time::Duration};

use async_trait::async_trait;
use axum::http::StatusCode;
use serde_json::{Value, json};
use smartspace_egress::{HttpResponse, Outgoing, SendError, Transport};
use tokio::{
    sync::oneshot,
    time::{Instant, sleep, timeout_at},
};

use crate::{
    env::Env,
    external_tools::{MAYBE_REACHED, NOT_REACHED},
    ledger::ArrivedRequest,
    locked,
    process_life::ProcessLife,
    webhooks,
};

/// The waits before each retry of an idempotent call.
const BACK_OFF: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(400)];

/// The transport of one process.
pub struct SimTransport {
    pub(crate) env: Arc<Env>,
    pub(crate) life: Arc<ProcessLife>,
}

/// How a server treats a request.
struct Treatment {
    /// The time until the request arrives.
    travels: Duration,
    /// The time from then until it takes effect.
    works: Duration,
    status: u16,
    takes_effect: bool,
    /// Whether its answer is lost.
    is_lost: bool,
}

#[async_trait]
impl Transport for SimTransport {
    async fn send(&self, request: Outgoing) -> Result<HttpResponse, SendError> {
        if request.url.host_str() == Some(webhooks::HOST) {
            return self.wake(request).await;
        }
        let env = &self.env;
        let life = &self.life;
        let arrives = arrives(&request, &life.name);
        env.before_call(life, &arrives.tool).await;
        let end = Instant::now() + request.limit;
        let outcome = tokio::select! {
            biased;
            never = self.process_fault(&arrives.tool, request.limit) => match never {},
            outcome = timeout_at(end, self.send_with_retries(&arrives, &request)) => {
                outcome.unwrap_or_else(|_| Err(unknown(1)))
            }
        };
        env.after_call(life, &arrives.tool).await;
        outcome
    }
}

impl SimTransport {
    /// Sends a request, and retries it if it is idempotent, as the egress guard does.
    async fn send_with_retries(
        &self,
        arrives: &ArrivedRequest,
        request: &Outgoing,
    ) -> Result<HttpResponse, SendError> {
        let mut waits = BACK_OFF.iter().filter(|_| request.repeatable);
        let mut reached = false;
        loop {
            let outcome = self.exchange(arrives, request.limit).await;
            reached |= !matches!(outcome, Err(SendError::NotSent(_)));
            let passes = outcome
                .as_ref()
                .map_or(true, |answer| answer.status == StatusCode::SERVICE_UNAVAILABLE);
            match waits.next().filter(|_| passes) {
                Some(wait) => sleep(*wait).await,
                None if reached && outcome.is_err() => return Err(unknown(0)),
                None => return outcome,
            }
        }
    }

    /// Sends a request once. The server treats it even if the sender dies.
    async fn exchange(
        &self,
        arrives: &ArrivedRequest,
        limit: Duration,
    ) -> Result<HttpResponse, SendError> {
        let env = &self.env;
        let chance = &env.chance;
        let place = format!("{}/{}", self.life.name, arrives.tool);
        let time = |most: Duration| chance.time(&place, Duration::from_millis(5), most);
        let fault = chance
            .strikes(&format!("{place}/outside"), env.parameters.fault_rates.outside)
            .then(|| chance.below(&place, 7));
        let mut treatment = Treatment {
            travels: time(Duration::from_millis(100)),
            works: time(Duration::from_secs(1)),
            status: 200,
            takes_effect: true,
            is_lost: false,
        };
        match fault {
            Some(0) => {
                sleep(treatment.travels).await;
                return Err(SendError::NotSent(NOT_REACHED.into()));
            }
            // The request is lost without an error.
            Some(1) => return pending().await,
            Some(2) => treatment.travels = time(limit * 2),
            Some(3) => treatment.works = time(limit * 2),
            Some(4) => {
                treatment.status = 500;
                treatment.takes_effect = chance.happens(&place, 500);
            }
            Some(5) => {
                treatment.status = 503;
                treatment.takes_effect = false;
            }
            Some(_) => treatment.is_lost = true,
            None => {}
        }
        let (sender, answer) = oneshot::channel();
        tokio::spawn(treatment.apply(Arc::clone(env), arrives.clone(), sender));
        answer.await.map_err(|_| unknown(0))
    }

    /// Kills or stalls the process while its request is under way, or does nothing.
    async fn process_fault(&self, tool: &str, limit: Duration) -> Infallible {
        let env = &self.env;
        let chance = &env.chance;
        let place = format!("{}/{tool}/under way", self.life.name);
        if chance.strikes(&place, env.parameters.fault_rates.under_way) {
            sleep(chance.time(&place, Duration::ZERO, limit)).await;
            if chance.happens(&place, 600) {
                env.kill(&self.life, &format!("while {tool} is under way"));
            } else {
                let time = chance.time(&place, Duration::from_secs(2), Duration::from_secs(90));
                env.history.note(&self.life.name, || {
                    format!("stands still for {time:?}, while {tool} is under way")
                });
                self.life.stall(time);
            }
        }
        pending().await
    }
}

impl Treatment {
    async fn apply(
        self,
        env: Arc<Env>,
        arrived: ArrivedRequest,
        sender: oneshot::Sender<HttpResponse>,
    ) {
        sleep(self.travels).await;
        let number = {
            let arrivals = &mut locked(&env.ledger).arrived;
            arrivals.push(arrived.clone());
            arrivals.len() - 1
        };
        let ArrivedRequest { tool, what, key, process, .. } = arrived;
        env.history.note("outside", || format!("{tool} {what:?} of {process} arrives as {key}"));
        sleep(self.works).await;
        // Unique, so that the oracle can tell which answer a result comes from.
        let mut body = json!({tool.clone(): number});
        if env.parameters.long_runs {
            body["page"] = json!("x".repeat(1_000));
        }
        {
            let arrived = &mut locked(&env.ledger).arrived[number];
            arrived.took_effect = self.takes_effect;
            arrived.answered = Some((self.status, body.clone()));
        }
        env.history.note("outside", || {
            let effect = if self.takes_effect { "takes" } else { "has no" };
            let lost = if self.is_lost { ", which gets lost" } else { "" };
            format!("{key} {effect} effect; the answer is {} {body}{lost}", self.status)
        });
        let status = StatusCode::from_u16(self.status).unwrap_or_default();
        if !self.is_lost {
            // The sender may have stopped waiting.
            let _ = sender.send(HttpResponse {
                status,
                content_type: Some("application/json".into()),
                body: body.to_string().into(),
                is_cut: false,
            });
        }
    }
}

/// A request as the server receives it.
fn arrives(request: &Outgoing, process: &str) -> ArrivedRequest {
    let body: Value = request
        .body
        .as_ref()
        .and_then(|body| serde_json::from_slice(body).ok())
        .unwrap_or_default();
    ArrivedRequest {
        tool: request.url.path().trim_start_matches('/').to_owned(),
        what: body["what"].as_str().unwrap_or_default().to_owned(),
        key: request
            .headers
            .get("idempotency-key")
            .and_then(|key| key.to_str().ok())
            .unwrap_or_default()
            .to_owned(),
        process: process.to_owned(),
        took_effect: false,
        answered: None,
    }
}

fn header<'a>(request: &'a Outgoing, name: &str) -> Option<&'a str> {
    request.headers.get(name)?.to_str().ok()
}

fn unknown(why: usize) -> SendError {
    SendError::Unknown(MAYBE_REACHED[why].into())
}
