//! Measures a large room: one space with many followers, in which three agents answer each message
//! at the same time.
//!
//! - [`writer`]: a model that writes slowly, and notes when it wrote what.
//! - [`follower`]: a connection that notes what it gets.

mod follower;
mod writer;

use std::{
    collections::BTreeMap,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::{StreamExt, TryStreamExt, stream};
use serde_json::{Value, json};
use tokio::time::sleep;

use self::{follower::Follower, writer::Writer};
use crate::{
    measure::{Latency, latency},
    product::{Product, Room},
};

/// The agents of the space.
const AGENTS: usize = 3;
/// How many connections are opened at a time.
const OPENED_AT_ONCE: usize = 32;
/// How long a round may take, beyond the time of the answers.
const LIMIT: Duration = Duration::from_mins(2);
/// What the product logs: its calls of the table and its requests to queues.
const LOG: &str = "warn,smartspace::sqlite_table=trace,smartspace::in_process_queue=trace";

/// The figures of one room.
pub(crate) struct RoomFigures {
    pub(crate) followers: usize,
    /// From the writing of the first letter of a delta to its arrival.
    pub(crate) deltas: Latency,
    pub(crate) latest: Duration,
    /// From the POST of a message to its arrival.
    pub(crate) messages: Latency,
    /// Frames, table calls and queue requests for one message and its three answers.
    pub(crate) frames: usize,
    pub(crate) table_calls: usize,
    pub(crate) queue_requests: usize,
    /// Lines of the log of level WARN or ERROR. Those of late posts stand for many posts.
    pub(crate) warnings: usize,
    /// Resident memory in MB, now and at most.
    pub(crate) memory: (f64, f64),
}

/// Measures a room with so many followers. Fails if a connection does not get every message.
pub(crate) async fn measure(
    binary: &Path,
    memory: bool,
    followers: usize,
    rounds: usize,
) -> Result<RoomFigures, String> {
    let writer = Writer::start().await?;
    let product = Product::start(binary, memory, &[], &writer.url, Some(LOG)).await?;
    let room = room(&product).await?;
    let began = Instant::now();
    let connections: Vec<Follower> = stream::iter(0..followers)
        .map(|_| Follower::connect(&product, &room))
        .buffer_unordered(OPENED_AT_ONCE)
        .try_collect()
        .await?;
    let before = counts(&product)?;
    let mut posted = Vec::new();
    for round in 1..=rounds {
        posted.push(Instant::now());
        product.post(&room, "What do the three of you think?").await?;
        let expected = round * (1 + AGENTS);
        everyone_has(&connections, expected).await?;
    }
    // The events of the last run's end.
    sleep(Duration::from_secs(2)).await;
    let after = counts(&product)?;
    let (mut deltas, mut messages, mut frames) = (Vec::new(), Vec::new(), 0);
    let followed = connections.into_iter().map(Follower::stop);
    let followed = futures::future::join_all(followed).await;
    let streams = followed.iter().flat_map(|got| got.streams.clone()).collect();
    for got in &followed {
        frames += got.frames;
        deltas.extend(got.deltas.iter().filter_map(|delta| writer.age(&streams, delta)));
        messages.extend(posted.iter().zip(&got.questions).map(|(at, got)| got.duration_since(*at)));
    }
    if deltas.is_empty() {
        return Err(format!("no delta came within {:?}", began.elapsed()));
    }
    Ok(RoomFigures {
        followers,
        latest: deltas.iter().copied().max().unwrap_or_default(),
        deltas: latency(deltas),
        messages: latency(messages),
        frames: frames / rounds,
        table_calls: (after.table_calls - before.table_calls) / rounds,
        queue_requests: (after.queue_requests - before.queue_requests) / rounds,
        warnings: after.warnings,
        memory: product.memory()?,
    })
}

/// A person, three agents that answer people and not each other, and their space.
async fn room(product: &Product) -> Result<Room, String> {
    let budget = json!({"runsPerMinute": 100_000});
    let person = product.make("/v1/entities", json!({"type": "human", "name": "Husam"})).await?;
    let mut members = vec![json!(person)];
    for number in 0..AGENTS {
        let model = json!({"provider": "openai", "name": "slow"});
        let concurrency = json!({"mode": "parallel"});
        let agent = json!({"model": model, "budget": budget, "concurrency": concurrency});
        let agent = json!({"type": "agent", "name": format!("Agent {number}"), "agent": agent});
        members.push(json!(product.make("/v1/entities", agent).await?));
    }
    let space = json!({"name": "Hall", "members": members, "budget": budget, "maxChainDepth": 1});
    Ok(Room { space: product.make("/v1/spaces", space).await?, person })
}

/// Waits until every connection has so many messages.
async fn everyone_has(connections: &[Follower], expected: usize) -> Result<(), String> {
    let began = Instant::now();
    loop {
        let lacking = connections.iter().filter(|one| one.messages() < expected).count();
        if lacking == 0 {
            return Ok(());
        }
        if began.elapsed() > LIMIT {
            return Err(format!("{lacking} connections lack messages after {LIMIT:?}"));
        }
        sleep(Duration::from_millis(50)).await;
    }
}

#[derive(Default)]
struct Counts {
    table_calls: usize,
    queue_requests: usize,
    warnings: usize,
}

/// Counts in the product's log. SQS takes ten jobs with a request.
fn counts(product: &Product) -> Result<Counts, String> {
    let mut counts = Counts::default();
    for line in product.log()?.lines() {
        let line: Value = serde_json::from_str(line).map_err(|error| format!("{line}: {error}"))?;
        if line["operation"].is_string() {
            counts.table_calls += 1;
        } else if let Some(jobs) = line["jobs"].as_u64() {
            counts.queue_requests += jobs.div_ceil(10) as usize;
        } else if ["WARN", "ERROR"].iter().any(|level| line["level"] == *level) {
            counts.warnings += 1;
        }
    }
    Ok(counts)
}

/// A piece of an answer as it arrived: its stream, its position and when it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Delta {
    stream: String,
    offset: usize,
    at: Instant,
}

/// The answers of streams, by their numbers.
type Streams = BTreeMap<Arc<str>, usize>;
