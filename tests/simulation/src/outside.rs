//! The servers that tools call, and the way to them. What they did stands in the ledger: nobody in the product can know better.

use std::{convert::Infallible, future::pending, sync::Arc, time::Duration};

use async_trait::async_trait;
use axum::http::StatusCode;
use serde_json::{Value, json};
use smartspace_egress::{Answer, Outgoing, SendError, Wire};
use tokio::{
    sync::oneshot,
    time::{Instant, sleep, timeout_at},
};

use crate::{ledger::Arrived, life::Life, locked, world::World};

/// The tools that reach outside.
pub const TOOLS: [&str; 4] = ["charge", "fetch", "order", "track"];
/// Of these, those that may be called again.
pub const IDEMPOTENT: [&str; 2] = ["fetch", "track"];
/// Of these, those whose calls everyone sees.
pub const VISIBLE: [&str; 2] = ["order", "track"];
/// What is said where nothing reached a server.
pub const NOT_REACHED: &str = "the server could not be reached";
/// What is said where it may have.
pub const MAYBE_REACHED: [&str; 2] = ["the connection was lost before the answer", "the server did not answer in time"];

/// Before each repeat of what may be repeated.
const BACK_OFF: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(400)];

/// What an agent has of them, as its configuration says it.
pub(crate) fn tools() -> [Value; 4] {
    let input = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    TOOLS.map(|name| {
        let (repeats, shows) = (IDEMPOTENT.contains(&name), VISIBLE.contains(&name));
        let limit = if shows { 8_000 } else { 3_000 };
        json!({"name": name, "description": "Reaches outside.", "inputSchema": input, "visible": shows, "readOnly": repeats, "idempotent": repeats,
            "execution": {
                "type": "http", "method": "POST", "url": format!("https://shop.example/{name}"), "body": {"what": "{{input.text}}"},
                "timeoutMs": limit,
            },
        })
    })
}

/// The way out of one process.
pub struct SimWire {
    pub(crate) world: Arc<World>,
    pub(crate) life: Arc<Life>,
}

/// How a server treats a request.
struct Treatment {
    /// Until it arrives.
    travels: Duration,
    /// From then until it takes effect.
    works: Duration,
    status: u16,
    takes_effect: bool,
    /// Its answer gets lost.
    is_lost: bool,
}

#[async_trait]
impl Wire for SimWire {
    async fn send(&self, request: Outgoing) -> Result<Answer, SendError> {
        let (world, life) = (&self.world, &self.life);
        let arrives = arrives(&request, &life.name);
        world.begins(life, &arrives.tool).await;
        let end = Instant::now() + request.limit;
        let outcome = tokio::select! {
            biased;
            never = self.trouble(&arrives.tool, request.limit) => match never {},
            outcome = timeout_at(end, self.tries(&arrives, &request)) => outcome.unwrap_or_else(|_| Err(unknown(1))),
        };
        world.ends(life, &arrives.tool).await;
        outcome
    }
}

impl SimWire {
    /// Sends a request, again where it may be, as the guard does.
    async fn tries(&self, arrives: &Arrived, request: &Outgoing) -> Result<Answer, SendError> {
        let (mut waits, mut reached) = (BACK_OFF.iter().filter(|_| request.repeatable), false);
        loop {
            let outcome = self.exchange(arrives, request.limit).await;
            reached |= !matches!(outcome, Err(SendError::NotSent(_)));
            let passes = outcome.as_ref().map_or(true, |answer| answer.status == StatusCode::SERVICE_UNAVAILABLE);
            match waits.next().filter(|_| passes) {
                Some(wait) => sleep(*wait).await,
                None if reached && outcome.is_err() => return Err(unknown(0)),
                None => return outcome,
            }
        }
    }

    /// One try. What was sent is the server's to treat, whatever becomes of who sent it.
    async fn exchange(&self, arrives: &Arrived, limit: Duration) -> Result<Answer, SendError> {
        let (world, chance) = (&self.world, &self.world.chance);
        let place = format!("{}/{}", self.life.name, arrives.tool);
        let time = |most: Duration| chance.time(&place, Duration::from_millis(5), most);
        let fault = chance.strikes(&format!("{place}/outside"), world.plan.weather.outside).then(|| chance.below(&place, 7));
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
            // Lost on its way, and nobody says so.
            Some(1) => return pending().await,
            Some(2) => treatment.travels = time(limit * 2),
            Some(3) => treatment.works = time(limit * 2),
            Some(4) => (treatment.status, treatment.takes_effect) = (500, chance.happens(&place, 500)),
            Some(5) => (treatment.status, treatment.takes_effect) = (503, false),
            Some(_) => treatment.is_lost = true,
            None => {}
        }
        let (tell, told) = oneshot::channel();
        tokio::spawn(treatment.apply(Arc::clone(world), arrives.clone(), tell));
        told.await.map_err(|_| unknown(0))
    }

    /// What may happen to a process while a request of it is under way.
    async fn trouble(&self, tool: &str, limit: Duration) -> Infallible {
        let (world, chance) = (&self.world, &self.world.chance);
        let place = format!("{}/{tool}/under way", self.life.name);
        if chance.strikes(&place, world.plan.weather.under_way) {
            sleep(chance.time(&place, Duration::ZERO, limit)).await;
            if chance.happens(&place, 600) {
                world.kill(&self.life, &format!("while {tool} is under way"));
            } else {
                let time = chance.time(&place, Duration::from_secs(2), Duration::from_secs(90));
                world.history.note(&self.life.name, || format!("stands still for {time:?}, while {tool} is under way"));
                self.life.stall(time);
            }
        }
        pending().await
    }
}

impl Treatment {
    async fn apply(self, world: Arc<World>, arrived: Arrived, tell: oneshot::Sender<Answer>) {
        sleep(self.travels).await;
        let number = {
            let arrivals = &mut locked(&world.ledger).arrived;
            arrivals.push(arrived.clone());
            arrivals.len() - 1
        };
        let Arrived { tool, what, key, process, .. } = arrived;
        world.history.note("outside", || format!("{tool} {what:?} of {process} arrives as {key}"));
        sleep(self.works).await;
        // Like no other, so that it is known whose answer a result is.
        let body = json!({tool.clone(): number});
        {
            let arrived = &mut locked(&world.ledger).arrived[number];
            (arrived.took_effect, arrived.answered) = (self.takes_effect, Some((self.status, body.clone())));
        }
        world.history.note("outside", || {
            let (effect, lost) = (if self.takes_effect { "takes" } else { "has no" }, if self.is_lost { ", which gets lost" } else { "" });
            format!("{key} {effect} effect; the answer is {} {body}{lost}", self.status)
        });
        let status = StatusCode::from_u16(self.status).unwrap_or_default();
        if !self.is_lost {
            // Nobody may wait for it any more.
            let _ =
                tell.send(Answer { status, content_type: Some("application/json".into()), body: body.to_string().into(), is_cut: false });
        }
    }
}

/// What a server is sent.
fn arrives(request: &Outgoing, process: &str) -> Arrived {
    let body: Value = request.body.as_ref().and_then(|body| serde_json::from_slice(body).ok()).unwrap_or_default();
    Arrived {
        tool: request.url.path().trim_start_matches('/').to_owned(),
        what: body["what"].as_str().unwrap_or_default().to_owned(),
        key: request.headers.get("idempotency-key").and_then(|key| key.to_str().ok()).unwrap_or_default().to_owned(),
        process: process.to_owned(),
        took_effect: false,
        answered: None,
    }
}

fn unknown(why: usize) -> SendError {
    SendError::Unknown(MAYBE_REACHED[why].into())
}
