//! How long a person waits for an answer while others flood: a service that calls the same agent, and a member who posts into the same space, both as fast
//! as they are let.

use std::{
    collections::{BTreeMap, HashMap},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use aws_lc_rs::hmac;
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use futures::future::try_join_all;
use serde_json::{Value, json};
use tokio::{
    task::JoinHandle,
    time::{MissedTickBehavior, interval, timeout},
};

use crate::{
    measure::{Latency, latency},
    product::{Door, HOOK_SECRET, JWT_SECRET, Product, Room, Socket, frame},
};

/// Who floods.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Flood {
    Nobody,
    Service,
    Member,
    Both,
}

/// All of them, in the order in which they are measured.
pub(crate) const FLOODS: [Flood; 4] = [Flood::Nobody, Flood::Service, Flood::Member, Flood::Both];

/// How it is measured.
#[derive(Clone, Copy)]
pub(crate) struct Scene {
    /// Runs a minute of the agent; its space has twice as many.
    pub(crate) runs_per_minute: u32,
    /// How long.
    pub(crate) time: Duration,
    /// How often the person says something.
    pub(crate) every: Duration,
}

/// What came of it.
pub(crate) struct Waited {
    /// From the person's POST to the kept answer; none where nothing was answered.
    pub(crate) answer: Option<Latency>,
    /// How much the person said.
    pub(crate) said: u64,
    /// How much of it was answered.
    pub(crate) answered: usize,
    /// What the service was told, and how often: that it woke the agent, why not, or a status.
    pub(crate) service: BTreeMap<String, usize>,
    /// What the member was told.
    pub(crate) member: BTreeMap<String, usize>,
}

/// How long an answer is waited for at the end.
const PATIENCE: Duration = Duration::from_mins(1);

/// Measures one of them on a product of its own.
pub(crate) async fn measure(product: &Product, scene: Scene, flood: Flood) -> Result<Waited, String> {
    let budget = |runs: u32| json!({ "runsPerMinute": runs });
    let webhooks = json!({ "ci": { "scheme": "github", "secrets": ["HOOK"] } });
    let config =
        json!({ "model": { "provider": "openai", "name": "zero" }, "budget": budget(scene.runs_per_minute), "webhooks": webhooks });
    let agent = product.make("/v1/entities", json!({ "type": "agent", "name": "Ada", "agent": config })).await?;
    let (sarah, husam) = (person(product, "Sarah").await?, person(product, "Husam").await?);
    let body = json!({ "name": "Load", "members": [sarah, husam, agent], "budget": budget(scene.runs_per_minute * 2) });
    let space = product.make("/v1/spaces", body).await?;
    let room = Room { space: space.clone(), person: sarah.clone() };
    let mut socket = product.follow(&[room]).await?;
    let posts = |who: &str| Way::Post { path: format!("/v1/spaces/{space}/messages"), token: token(who) };
    let sarah = (product.door(), posts(&sarah));

    let until = Instant::now() + scene.time;
    let flooding = |way: Way| flooding(product.door(), way, until);
    let by_service = matches!(flood, Flood::Service | Flood::Both).then(|| flooding(Way::Hook(format!("/v1/hooks/{agent}/ci"))));
    let by_member = matches!(flood, Flood::Member | Flood::Both).then(|| flooding(posts(&husam)));
    let mut asked: HashMap<String, Instant> = HashMap::new();
    let (mut said, mut waits) = (0_u64, Vec::new());
    let mut tick = interval(scene.every);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while Instant::now() < until {
        tokio::select! {
            _ = tick.tick() => {
                let begun = Instant::now();
                let (_, answer) = sarah.1.call(&sarah.0, said).await?;
                said += 1;
                // Without a run it is never answered, and counts as such.
                if let Some(run) = answer["dispatch"][0]["runId"].as_str() {
                    asked.insert(run.to_owned(), begun);
                }
            }
            heard = frame(&mut socket) => waits.extend(answered(&heard?, &mut asked)),
        }
    }
    rest(&mut socket, &mut asked, &mut waits).await?;
    let (service, member) = (told(by_service).await?, told(by_member).await?);
    let count = waits.len();
    Ok(Waited { answer: (count > 0).then(|| latency(waits)), said, answered: count, service, member })
}

async fn person(product: &Product, name: &str) -> Result<String, String> {
    product.make("/v1/entities", json!({ "type": "human", "name": name })).await
}

/// How long it took, where this is the answer to something that was asked.
fn answered(frame: &Value, asked: &mut HashMap<String, Instant>) -> Option<Duration> {
    let run = (frame["type"] == "message.created").then(|| frame["message"]["runId"].as_str())??;
    asked.remove(run).map(|begun| begun.elapsed())
}

/// What is still to be answered when the floods are over.
async fn rest(socket: &mut Socket, asked: &mut HashMap<String, Instant>, waits: &mut Vec<Duration>) -> Result<(), String> {
    let all = async {
        while !asked.is_empty() {
            waits.extend(answered(&frame(socket).await?, asked));
        }
        Ok(())
    };
    timeout(PATIENCE, all).await.unwrap_or(Ok(()))
}

/// By which way someone calls.
enum Way {
    /// A service, signed anew each time.
    Hook(String),
    /// A member, by a token.
    Post { path: String, token: String },
}

impl Way {
    /// Calls once; each number is another call.
    async fn call(&self, door: &Door, number: u64) -> Result<(u16, Value), String> {
        let body = json!({ "text": format!("This is number {number}.") }).to_string();
        match self {
            Self::Hook(path) => {
                let (id, signature) = (format!("flood-{number}"), format!("sha256={}", hex(&mac(HOOK_SECRET, &body))));
                door.ask(path, &[("x-github-delivery", &id), ("x-hub-signature-256", &signature)], body).await
            }
            Self::Post { path, token } => door.ask(path, &[("authorization", token)], body).await,
        }
    }
}

/// Calls again and again, four at a time, and gives what was told.
fn flooding(door: Door, way: Way, until: Instant) -> JoinHandle<Result<BTreeMap<String, usize>, String>> {
    tokio::spawn(async move {
        let mut told = BTreeMap::new();
        let mut number = 0;
        while Instant::now() < until {
            for answer in try_join_all((0..4).map(|place| way.call(&door, number + place))).await? {
                *told.entry(outcome(&answer)).or_default() += 1;
            }
            number += 4;
        }
        Ok(told)
    })
}

fn outcome((status, answer): &(u16, Value)) -> String {
    let run = if answer["deliveryId"].is_string() { answer } else { &answer["dispatch"][0] };
    match (status, run["runId"].is_string(), run["reason"].as_str()) {
        (200..300, true, _) => format!("{status} woken"),
        (200..300, false, Some(reason)) => format!("{status} {reason}"),
        _ => status.to_string(),
    }
}

async fn told(flood: Option<JoinHandle<Result<BTreeMap<String, usize>, String>>>) -> Result<BTreeMap<String, usize>, String> {
    match flood {
        Some(flood) => flood.await.map_err(|error| error.to_string())?,
        None => Ok(BTreeMap::new()),
    }
}

/// The credential of an entity: a token of its backend (HS256), good for an hour.
fn token(entity: &str) -> String {
    let until = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() + 3_600;
    let encoded = |part: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(part);
    let said =
        [json!({ "alg": "HS256", "typ": "JWT" }), json!({ "sub": entity, "exp": until })].map(|part| encoded(part.to_string().as_bytes()));
    let said = said.join(".");
    format!("Bearer {said}.{}", encoded(&mac(JWT_SECRET, &said)))
}

fn mac(secret: &str, text: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), text.as_bytes()).as_ref().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}
