//! The webhooks of remote agents on their way from a process.

use std::{collections::BTreeSet, time::Duration};

use axum::http::StatusCode;
use serde_json::Value;
use smartspace_egress::{HttpResponse, Outgoing, SendError};
use tokio::time::{Instant, sleep, timeout_at};

use crate::{
    env::Env,
    external_tools::NOT_REACHED,
    ledger::{RemotePost, RemoteRun},
    locked, markers,
    ports::{
        model::read_webhook,
        transport::{SimTransport, header, unknown},
    },
    webhooks::Webhook,
};

impl SimTransport {
    /// Sends a webhook to a remote agent.
    pub(super) async fn wake(&self, request: Outgoing) -> Result<HttpResponse, SendError> {
        let env = &self.env;
        let name = "wake";
        env.before_call(&self.life, name).await;
        let place = format!("{}/{name}", self.life.name);
        let time = |most| env.chance.time(&place, Duration::from_millis(5), most);
        let fault = env
            .chance
            .strikes(&format!("{place}/outside"), env.parameters.fault_rates.outside)
            .then(|| env.chance.below(&place, 5));
        let exchange = async {
            sleep(time(Duration::from_millis(100))).await;
            let status = match fault {
                Some(0) => return Err(SendError::NotSent(NOT_REACHED.into())),
                Some(1) => 410,
                Some(2) => 503,
                _ => 200,
            };
            if status == 200 {
                self.arrive(&request);
            }
            // It may answer only when it has done the work.
            let works = if fault == Some(3) { request.limit * 2 } else { Duration::from_secs(1) };
            sleep(time(works)).await;
            if fault == Some(4) {
                return Err(unknown(0));
            }
            Ok(HttpResponse {
                status: StatusCode::from_u16(status).unwrap_or_default(),
                content_type: None,
                body: Vec::new().into(),
                is_cut: false,
            })
        };
        let outcome = tokio::select! {
            biased;
            never = self.process_fault(name, request.limit) => match never {},
            outcome = timeout_at(Instant::now() + request.limit, exchange) => {
                outcome.unwrap_or_else(|_| Err(unknown(1)))
            }
        };
        if fault.is_some()
            && let Some(run) = header(&request, "webhook-id")
        {
            locked(&env.ledger).refused_webhooks.insert(run.to_owned());
        }
        env.after_call(&self.life, name).await;
        outcome
    }

    /// The agent gets a webhook.
    fn arrive(&self, request: &Outgoing) {
        let env = &self.env;
        let body = request.body.as_deref().unwrap_or_default();
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let text = |pointer: &str| {
            body.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let run = header(request, "webhook-id").unwrap_or_default().to_owned();
        let token = text("/callbacks/token");
        let ask = read_webhook(&text("/context/text"), &run, &self.life.name, &env.storage);
        let known = locked(&env.ledger).remote.get(&run).map(|known| known.tokens.len());
        if known.is_none() {
            let decided = decide(env, &run, body["run"]["trigger"]["spaceId"].is_string());
            locked(&env.ledger).remote.insert(run.clone(), decided);
        }
        let number = {
            let mut ledger = locked(&env.ledger);
            ledger.woken.push(ask);
            let arrived = ledger.woken.len();
            if let Some(planned) = ledger.remote.get_mut(&run) {
                planned.tokens.insert(token.clone());
            }
            arrived
        };
        env.history.note("outside", || format!("the webhook of {run} arrives"));
        // Nobody listens once the simulation has ended.
        let _ = env.webhooks.send(Webhook { run, token, number });
    }
}

/// What an agent does about a run is decided at its first webhook, so that it does the same after a
/// repeated one.
fn decide(env: &Env, run: &str, has_space: bool) -> RemoteRun {
    let chance = &env.chance;
    let place = format!("remote/{run}");
    let (agents, spaces) = {
        let ledger = locked(&env.ledger);
        let names: Vec<_> = ledger.agents.iter().map(|(_, name)| name.clone()).collect();
        (names, ledger.spaces.clone())
    };
    let posts = (0..chance.below(&place, 4)).map(|number| {
        let name = &agents[chance.below(&place, agents.len() as u64) as usize];
        let space = spaces[chance.below(&place, spaces.len() as u64) as usize];
        let key = format!("answer {number}");
        let mut text = format!("@{name} remote words {number} of {run}");
        if env.parameters.changes {
            text = format!("{text} {}", markers::of(&text));
        }
        RemotePost {
            key,
            text,
            space: (!has_space).then(|| space.to_string()),
            files: None,
            answers: Vec::new(),
            sends: 0,
        }
    });
    RemoteRun {
        posts: posts.collect(),
        is_failed: chance.happens(&place, 200),
        tokens: BTreeSet::new(),
        ends: Vec::new(),
        ends_sent: 0,
        wrong: Vec::new(),
    }
}
