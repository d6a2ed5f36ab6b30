//! The measurements of latency, throughput and table calls.

use std::{
    collections::{BTreeMap, HashSet},
    time::{Duration, Instant},
};

use futures::{TryStreamExt, future::try_join_all, stream::FuturesUnordered};
use serde_json::Value;

use crate::product::{Product, Room, Socket, frame};

/// The spaces, and the messages in each before the measurement.
pub(crate) struct History {
    pub(crate) messages: u64,
    pub(crate) spaces: usize,
}

/// A distribution of times in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Latency {
    pub(crate) median: f64,
    pub(crate) p95: f64,
}

/// The figures of one product.
pub(crate) struct Figures {
    /// From the POST to the first text.
    pub(crate) first_delta: Latency,
    /// From the POST to the stored reply.
    pub(crate) stored: Latency,
    pub(crate) runs_a_second: f64,
    /// The product's processor time for each of these runs, in milliseconds.
    pub(crate) processor: f64,
}

/// Measures latencies one at a time, then throughput.
pub(crate) async fn all(
    product: &Product,
    history: &History,
    rounds: usize,
    in_flight: usize,
    seconds: u64,
) -> Result<Figures, String> {
    let rooms = try_join_all((0..history.spaces).map(|_| product.room(true))).await?;
    // One message at a time in each space, since concurrent ones would compete for the next seq.
    try_join_all(rooms.iter().map(|room| fill(product, room, history.messages))).await?;
    try_join_all(rooms.iter().map(|room| product.unpause(room))).await?;
    let (first_delta, stored) = latencies(product, &rooms[0], rounds).await?;
    let before = product.processor_time()?;
    let begun = Instant::now();
    let runs = load(product, &rooms, in_flight, begun + Duration::from_secs(seconds)).await?;
    let runs_a_second = runs / begun.elapsed().as_secs_f64();
    let used = product.processor_time()?.saturating_sub(before);
    let processor = used.as_secs_f64() * 1e3 / runs;
    Ok(Figures { first_delta, stored, runs_a_second, processor })
}

async fn fill(product: &Product, room: &Room, messages: u64) -> Result<(), String> {
    for number in 0..messages {
        let text = format!(
            "Message {number}: what people say to each other in the course of a day, \
             neither short nor long."
        );
        product.post(room, &text).await?;
    }
    Ok(())
}

/// Measures the times from the POST to the first text and to the stored reply, one message at a
/// time.
async fn latencies(
    product: &Product,
    room: &Room,
    rounds: usize,
) -> Result<(Latency, Latency), String> {
    let mut socket = product.follow(std::slice::from_ref(room)).await?;
    let mut first = Vec::new();
    let mut stored = Vec::new();
    for round in 0..rounds + 20 {
        let begun = Instant::now();
        let round_trip = product.post(room, "How long does it take?");
        let frames = one_reply(&mut socket, begun);
        let (_, (first_delta, reply)) = futures::future::try_join(round_trip, frames).await?;
        // The first rounds warm up.
        if round >= 20 {
            first.push(first_delta);
            stored.push(reply);
        }
    }
    Ok((latency(first), latency(stored)))
}

/// Waits for all frames of one reply, which may arrive in any order. Returns the times until the
/// first text and until the stored reply.
pub(crate) async fn one_reply(
    socket: &mut Socket,
    begun: Instant,
) -> Result<(Duration, Duration), String> {
    let mut first = None;
    let mut stored = None;
    let mut completed = false;
    loop {
        if let (Some(first), Some(stored), true) = (first, stored, completed) {
            return Ok((first, stored));
        }
        let frame = frame(socket).await?;
        match frame["type"].as_str() {
            Some("stream.delta") => {
                first.get_or_insert(begun.elapsed());
            }
            Some("message.created") if frame["message"]["runId"].is_string() => {
                stored.get_or_insert(begun.elapsed());
            }
            Some("run.completed") => completed = true,
            Some("run.failed") => return Err(format!("a run failed: {frame}")),
            _ => {}
        }
    }
}

/// Counts completed runs, with `in_flight` runs in each space all the time.
async fn load(
    product: &Product,
    rooms: &[Room],
    in_flight: usize,
    until: Instant,
) -> Result<f64, String> {
    let loops: FuturesUnordered<_> =
        rooms.iter().map(|room| load_one(product, room, in_flight, until)).collect();
    let counts: Vec<usize> = loops.try_collect().await?;
    Ok(counts.iter().sum::<usize>() as f64)
}

async fn load_one(
    product: &Product,
    room: &Room,
    in_flight: usize,
    until: Instant,
) -> Result<usize, String> {
    let mut socket = product.follow(std::slice::from_ref(room)).await?;
    let mut open: HashSet<String> = HashSet::new();
    let mut done = 0;
    loop {
        while open.len() < in_flight && Instant::now() < until {
            if let Some(run) = product.post(room, "And under load?").await? {
                open.insert(run);
            }
        }
        if open.is_empty() {
            return Ok(done);
        }
        let frame = frame(&mut socket).await?;
        if frame["type"] == "run.completed" {
            done += usize::from(frame["run"]["id"].as_str().is_some_and(|run| open.remove(run)));
        } else if frame["type"] == "run.failed" {
            return Err(format!("a run failed: {frame}"));
        }
    }
}

/// The distribution of these times.
pub(crate) fn latency(mut times: Vec<Duration>) -> Latency {
    times.sort();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e3;
    Latency { median: at(0.5), p95: at(0.95) }
}

/// Counts the table calls of one message by operation, in the product's log. A socket follows the
/// space.
pub(crate) async fn table_calls(product: &Product) -> Result<BTreeMap<String, usize>, String> {
    let room = product.room(false).await?;
    let mut socket = product.follow(std::slice::from_ref(&room)).await?;
    // The first message fills the caches.
    product.post(&room, "Warm up.").await?;
    one_reply(&mut socket, Instant::now()).await?;
    let before = calls(product)?;
    product.post(&room, "Count.").await?;
    one_reply(&mut socket, Instant::now()).await?;
    let mut after = calls(product)?;
    for (operation, count) in before {
        if let Some(total) = after.get_mut(&operation) {
            *total -= count;
        }
    }
    Ok(after)
}

/// The table calls in the log, by operation, without those of the sweep.
fn calls(product: &Product) -> Result<BTreeMap<String, usize>, String> {
    let mut calls = BTreeMap::new();
    for line in product.log()?.lines() {
        let line: Value = serde_json::from_str(line).map_err(|error| format!("{line}: {error}"))?;
        if let Some(operation) = line["operation"].as_str() {
            *calls.entry(operation.to_owned()).or_default() += 1;
        }
    }
    Ok(calls)
}
