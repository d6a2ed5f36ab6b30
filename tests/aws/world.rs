//! What has to be in the table for the samples to mean something. It is made by the product's own routes, at one moment and with ids that are counted, so that
//! `events/` can name them.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use async_trait::async_trait;
use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, header},
};
use serde_json::{Value, json};
use smartspace::embedded_table::{EmbeddedTable, NAME, client_on};
use smartspace_api::{AdminKey, Api, SocketUrl, router};
use smartspace_domain::{
    Time,
    access::Caller,
    ids::{EntityId, LeaseId},
    jobs::Job,
    runs::EndReason,
};
use smartspace_edges::{
    alarms::NoAlarms,
    bell::NoBell,
    clock::{Clock, SystemClock},
    ids::{Ids, RandomIds},
    queues::{Queue, QueueError},
    secrets::FixedSecrets,
};
use smartspace_pipeline::Pipeline;
use smartspace_store::{Store, schema::create_table};
use tower::ServiceExt;

use crate::{Result, services::ADMIN_KEY, text};

/// When it was made: 2026-02-18, 15:07 in UTC.
pub const AT: i64 = 1_771_427_220_000;
/// How ids of that afternoon begin, behind the underscore: those that were made then, and those of what is planned for then.
pub const AFTERNOON: &str = "01KHR";
/// The ticket that opens a socket for Sara, once.
pub const TICKET: &str = "tkt_01KHRMMJH000000000000000TK";
/// For how long: whoever tries it by hand takes their time.
const TICKET_VALID: std::time::Duration = std::time::Duration::from_hours(24);
/// More agents than a message can wake in the transaction that keeps it.
const CROWD: u64 = 31;

/// Makes it in a table of its own.
pub async fn make() -> Result<EmbeddedTable> {
    let table = EmbeddedTable::in_memory()?;
    let client = client_on(table.clone());
    create_table(&client, NAME).await.map_err(text)?;
    let store = Store::new(client, NAME, None, Arc::new(|| RandomIds.random()));
    let ids = Arc::new(Counted::default());
    let pipeline = Pipeline {
        store: store.clone(),
        runs: Arc::new(Nowhere),
        broadcasts: Arc::new(Nowhere),
        triggers: Arc::new(Nowhere),
        alarms: Arc::new(NoAlarms),
        bell: Arc::new(NoBell),
        clock: Arc::new(Stopped),
        ids: ids.clone(),
        is_rate_limited: false,
    };
    let (admin_key, secrets) = (AdminKey::new(ADMIN_KEY), Arc::new(FixedSecrets::default()));
    let api = Api { pipeline, admin_key, tokens: None, secrets, socket_url: SocketUrl::Fixed(String::new()), cors_origins: Vec::new() };
    let door = Door { routes: router(api, Router::new()), ids };

    let sara = door.person(1, "Sara").await?;
    let omar = door.person(2, "Omar").await?;
    let ada = door.agent(3, "Ada", ada()).await?;
    let deploy_bot = door.agent(4, "DeployBot", deploy_bot()).await?;

    let team = door.space(0x11, "Team", &[&sara, &omar, &ada]).await?;
    for (number, text) in [(0x21, "Hello"), (0x22, "@Ada, are you there?"), (0x23, "What is new?")] {
        door.say(number, &team, &sara, text).await?;
    }
    let plan = json!({"name": "Afternoon", "instruction": "ask how it goes", "scheduledAt": "2026-02-18T16:00:00Z"});
    door.made(0x31, &format!("/v1/agents/{ada}/plans"), plan).await?;
    // What its change leaves to be done: his name in his spaces.
    door.ask("PATCH", &format!("/v1/entities/{omar}"), json!({"name": "Omar the second"})).await?;

    let deployments = door.space(0x12, "Deployments", &[&sara, &deploy_bot]).await?;
    door.say(0x24, &deployments, &sara, "Deploy v2.1").await?;

    let mut crowd = vec![sara.clone()];
    for number in 0..CROWD {
        crowd.push(door.agent(0x100 + number, &format!("Helper {}", number + 1), silent()).await?);
    }
    let hall = door.space(0x13, "Hall", &crowd.iter().collect::<Vec<_>>()).await?;
    // Whom it wakes is not decided yet.
    door.say(0x25, &hall, &sara, "Good afternoon, everyone").await?;

    let old = door.space(0x14, "Old", &[&sara]).await?;
    // It is gone, and what it leaves to be done is not done.
    door.ask("DELETE", &format!("/v1/spaces/{old}"), Value::Null).await?;

    let sara: EntityId = sara.parse().map_err(text)?;
    store.keep_ticket(TICKET, Caller::Entity(sara), SystemClock.now() + TICKET_VALID, None).await.map_err(text)?;
    Ok(table)
}

/// Ends a run as one does that dies right behind it: what the run asked people stays open.
pub async fn cancel(table: &EmbeddedTable, run: &str) -> Result<()> {
    let store = store_of(table);
    let run = store.run_record(run.parse().map_err(text)?).await.map_err(text)?;
    let (token, now) = (LeaseId::new(RandomIds.random()), SystemClock.now());
    store.cancel(&run, EndReason::Cancel, &token, now).await.map(drop).map_err(text)
}

/// Takes an entity out of a space as one does that dies right behind it: nobody is told.
pub async fn leave(table: &EmbeddedTable, space: &str, entity: &str) -> Result<()> {
    store_of(table).leave(space.parse().map_err(text)?, entity.parse().map_err(text)?).await.map(drop).map_err(text)
}

fn store_of(table: &EmbeddedTable) -> Store {
    Store::new(client_on(table.clone()), NAME, None, Arc::new(|| RandomIds.random()))
}

/// Answers by a model, is called by a service, and has plans.
fn ada() -> Value {
    json!({
        "model": {"provider": "openai", "name": "a-model"},
        "webhooks": {"ci": {"scheme": "github", "secrets": ["CI_HOOK"]}},
    })
}

/// Asks before it does anything.
fn deploy_bot() -> Value {
    json!({
        "tools": [{
            "name": "getApproval",
            "description": "Asks people to approve.",
            "inputSchema": {"type": "object"},
            "execution": {"type": "space", "ui": "buttons", "expiresAfter": "1 day"},
        }],
        "model": {"provider": "scripted", "name": "demo", "script": {"rules": [{"steps": [
            {"calls": [{"tool": "getApproval", "input": {"message": "Deploy v2.1?", "options": ["Approve", "Reject"]}}]},
            {"calls": [{"tool": "send_message", "input": {"text": "You chose: {{result.choice}}"}}]},
        ]}]}},
    })
}

/// Has nothing to say.
fn silent() -> Value {
    json!({"model": {"provider": "scripted", "name": "demo", "script": {"rules": []}}})
}

/// The product's routes. What they make has the id that is counted here.
struct Door {
    routes: Router,
    ids: Arc<Counted>,
}

impl Door {
    async fn person(&self, number: u64, name: &str) -> Result<String> {
        self.made(number, "/v1/entities", json!({"type": "human", "name": name})).await
    }

    async fn agent(&self, number: u64, name: &str, agent: Value) -> Result<String> {
        self.made(number, "/v1/entities", json!({"type": "agent", "name": name, "agent": agent})).await
    }

    async fn space(&self, number: u64, name: &str, members: &[&String]) -> Result<String> {
        self.made(number, "/v1/spaces", json!({"name": name, "members": members})).await
    }

    async fn say(&self, number: u64, space: &str, sender: &str, text: &str) -> Result<String> {
        self.made(number, &format!("/v1/spaces/{space}/messages"), json!({"text": text, "senderId": sender})).await
    }

    async fn made(&self, number: u64, path: &str, body: Value) -> Result<String> {
        self.ids.0.store(number, Ordering::Relaxed);
        Ok(self.ask("POST", path, body).await?["id"].as_str().unwrap_or_default().to_owned())
    }

    async fn ask(&self, method: &str, path: &str, body: Value) -> Result<Value> {
        let request = Request::builder().method(method).uri(path).header(header::AUTHORIZATION, format!("Bearer {ADMIN_KEY}"));
        let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
        let answer = self.routes.clone().oneshot(request.body(body).map_err(text)?).await.map_err(text)?;
        let status = answer.status();
        let body = to_bytes(answer.into_body(), usize::MAX).await.map_err(text)?;
        if !status.is_success() {
            return Err(format!("{method} {path}: {status}: {}", String::from_utf8_lossy(&body)));
        }
        Ok(serde_json::from_slice(&body).unwrap_or_default())
    }
}

#[derive(Debug, Default)]
struct Counted(AtomicU64);

impl Ids for Counted {
    fn random(&self) -> u128 {
        self.0.load(Ordering::Relaxed).into()
    }
}

struct Stopped;

impl Clock for Stopped {
    fn now(&self) -> Time {
        Time::from_millis(AT)
    }
}

/// What is queued while it is made is for the samples to bring.
struct Nowhere;

#[async_trait]
impl<J: Job> Queue<J> for Nowhere {
    async fn send(&self, _jobs: Vec<J>) -> Result<(), QueueError> {
        Ok(())
    }
}
