//! Measures how long a person waits for an answer during a flood. A service calls the same agent, a
//! member posts into the same space, or both, as fast as the product accepts it.

mod route;

use std::{
    collections::{BTreeMap, HashMap},
    time::{Duration, Instant},
};

use futures::future::try_join_all;
use serde_json::{Value, json};
use tokio::{
    task::JoinHandle,
    time::{MissedTickBehavior, interval, timeout},
};

pub(crate) use self::route::token;
use crate::{
    flood::route::Route,
    measure::{Latency, latency},
    product::{Caller, Product, Room, Socket, frame},
};

/// The senders of the flood.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Flood {
    Nobody,
    Service,
    Member,
    Both,
}

/// All floods, in the order in which they are measured.
pub(crate) const FLOODS: [Flood; 4] = [Flood::Nobody, Flood::Service, Flood::Member, Flood::Both];

/// The settings of one measurement.
#[derive(Clone, Copy)]
pub(crate) struct FloodSettings {
    /// The agent's `runsPerMinute`; its space has twice as many.
    pub(crate) runs_per_minute: u32,
    /// How long the flood lasts.
    pub(crate) time: Duration,
    /// The interval between two messages of the person.
    pub(crate) every: Duration,
}

/// The result of one measurement.
pub(crate) struct FloodFigures {
    /// The time from the person's POST to the stored answer, or `None` without any answer.
    pub(crate) answer: Option<Latency>,
    /// The number of messages that the person posted.
    pub(crate) posted: u64,
    /// The number of those messages that were answered.
    pub(crate) answered: usize,
    /// The outcomes of the service's calls, with counts: the status, and `woken` or the reason why
    /// the agent was not triggered.
    pub(crate) service: BTreeMap<String, usize>,
    /// The outcomes of the member's posts, with counts.
    pub(crate) member: BTreeMap<String, usize>,
}

/// The time limit for outstanding answers after the flood.
const ANSWERED_WITHIN: Duration = Duration::from_mins(1);

/// Measures one flood with a new agent and a new space.
pub(crate) async fn measure(
    product: &Product,
    settings: FloodSettings,
    flood: Flood,
) -> Result<FloodFigures, String> {
    let team = create_team(product, settings.runs_per_minute).await?;
    let room = Room { space: team.space.clone(), person: team.person.clone() };
    let mut socket = product.follow(&[room]).await?;

    let until = Instant::now() + settings.time;
    let start = |route: Route| start_flood(product.caller(), route, until);
    let by_service = matches!(flood, Flood::Service | Flood::Both)
        .then(|| start(Route::Webhook(format!("/v1/hooks/{}/ci", team.agent))));
    let by_member =
        matches!(flood, Flood::Member | Flood::Both).then(|| start(team.posts_of(&team.member)));
    let person = product.caller();
    let route = team.posts_of(&team.person);
    let mut pending: HashMap<String, Instant> = HashMap::new();
    let mut posted = 0_u64;
    let mut waits = Vec::new();
    let mut tick = interval(settings.every);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while Instant::now() < until {
        tokio::select! {
            _ = tick.tick() => {
                let begun = Instant::now();
                let (_, answer) = route.call(&person, posted).await?;
                posted += 1;
                // A message without a run is never answered, but counts as posted.
                if let Some(run) = answer["dispatch"][0]["runId"].as_str() {
                    pending.insert(run.to_owned(), begun);
                }
            }
            frame = frame(&mut socket) => waits.extend(waited(&frame?, &mut pending)),
        }
    }
    wait_for_rest(&mut socket, &mut pending, &mut waits).await?;
    let answered = waits.len();
    Ok(FloodFigures {
        answer: (answered > 0).then(|| latency(waits)),
        posted,
        answered,
        service: outcomes(by_service).await?,
        member: outcomes(by_member).await?,
    })
}

/// The flooded agent, its space, the person whose waiting time is measured, and the member that
/// floods.
struct Team {
    agent: String,
    space: String,
    person: String,
    member: String,
}

impl Team {
    fn posts_of(&self, sender: &str) -> Route {
        Route::Post { path: format!("/v1/spaces/{}/messages", self.space), token: token(sender) }
    }
}

async fn create_team(product: &Product, runs_per_minute: u32) -> Result<Team, String> {
    let config = json!({
        "model": { "provider": "openai", "name": "zero" },
        "budget": { "runsPerMinute": runs_per_minute },
        "concurrency": { "mode": "parallel" },
        "webhooks": { "ci": { "scheme": "github", "secrets": ["HOOK"] } },
    });
    let body = json!({ "type": "agent", "name": "Ada", "agent": config });
    let agent = product.make("/v1/entities", body).await?;
    let person = create_person(product, "Sarah").await?;
    let member = create_person(product, "Husam").await?;
    let body = json!({
        "name": "Load",
        "members": [person, member, agent],
        "budget": { "runsPerMinute": runs_per_minute * 2 },
    });
    let space = product.make("/v1/spaces", body).await?;
    Ok(Team { agent, space, person, member })
}

async fn create_person(product: &Product, name: &str) -> Result<String, String> {
    product.make("/v1/entities", json!({ "type": "human", "name": name })).await
}

/// The person's waiting time, if the frame is the answer to one of the person's messages.
fn waited(frame: &Value, pending: &mut HashMap<String, Instant>) -> Option<Duration> {
    let run =
        (frame["type"] == "message.created").then(|| frame["message"]["runId"].as_str())??;
    pending.remove(run).map(|begun| begun.elapsed())
}

/// Waits for the outstanding answers after the flood.
async fn wait_for_rest(
    socket: &mut Socket,
    pending: &mut HashMap<String, Instant>,
    waits: &mut Vec<Duration>,
) -> Result<(), String> {
    let all = async {
        while !pending.is_empty() {
            waits.extend(waited(&frame(socket).await?, pending));
        }
        Ok(())
    };
    timeout(ANSWERED_WITHIN, all).await.unwrap_or(Ok(()))
}

/// Calls repeatedly, four requests at a time, and returns the outcomes with counts.
fn start_flood(
    caller: Caller,
    route: Route,
    until: Instant,
) -> JoinHandle<Result<BTreeMap<String, usize>, String>> {
    tokio::spawn(async move {
        let mut outcomes = BTreeMap::new();
        let mut number = 0;
        while Instant::now() < until {
            let calls = (0..4).map(|index| route.call(&caller, number + index));
            for (status, answer) in try_join_all(calls).await? {
                *outcomes.entry(outcome(status, &answer)).or_default() += 1;
            }
            number += 4;
        }
        Ok(outcomes)
    })
}

/// The status of an answer, and `woken` or the reason why the agent was not triggered.
fn outcome(status: u16, answer: &Value) -> String {
    let run = if answer["deliveryId"].is_string() { answer } else { &answer["dispatch"][0] };
    match (status, run["runId"].is_string(), run["reason"].as_str()) {
        (200..300, true, _) => format!("{status} woken"),
        (200..300, false, Some(reason)) => format!("{status} {reason}"),
        _ => status.to_string(),
    }
}

/// The outcomes of a flood, or none if it was not started.
async fn outcomes(
    flood: Option<JoinHandle<Result<BTreeMap<String, usize>, String>>>,
) -> Result<BTreeMap<String, usize>, String> {
    match flood {
        Some(flood) => flood.await.map_err(|error| error.to_string())?,
        None => Ok(BTreeMap::new()),
    }
}
