//! How the product fares under hours of load: its latencies, its memory and its files.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use futures::{TryStreamExt, future::try_join_all, stream::FuturesUnordered};

use crate::{
    measure::{Latency, latency, one_reply},
    product::{Product, Room, Socket},
};

/// The rows of a measurement, as evenly long parts of its time.
const PARTS: u32 = 12;

/// How the load is made.
#[derive(Clone, Copy)]
pub(crate) struct EnduranceSettings {
    pub(crate) rooms: usize,
    /// Between two messages of a room.
    pub(crate) every: Duration,
    pub(crate) time: Duration,
}

/// The figures of a part of the time.
pub(crate) struct Part {
    pub(crate) messages: usize,
    pub(crate) first_delta: Latency,
    /// From the POST to the stored reply.
    pub(crate) stored: Latency,
    /// Resident memory in MB.
    pub(crate) memory: f64,
    /// Bytes of the data folder.
    pub(crate) folder: u64,
    /// Bytes of them that are SQLite's log.
    pub(crate) log: u64,
}

/// Loads the product for a while and shows each part of it. Then kills the product and starts it
/// again on the same folder, for the time until its first answer.
pub(crate) async fn measure(
    binary: &Path,
    flags: &[&str],
    model: &str,
    settings: EnduranceSettings,
    mut show: impl FnMut(Part),
) -> Result<Duration, String> {
    let product = Product::start(binary, false, flags, model, None).await?;
    let rooms = try_join_all((0..settings.rooms).map(|_| product.room(false))).await?;
    let mut followed = Vec::new();
    for room in rooms {
        let socket = product.follow(std::slice::from_ref(&room)).await?;
        followed.push((room, socket));
    }
    for _ in 0..PARTS {
        let until = Instant::now() + settings.time / PARTS;
        let loops: FuturesUnordered<_> = followed
            .iter_mut()
            .map(|(room, socket)| talk(&product, room, socket, settings.every, until))
            .collect();
        let times: Vec<_> = loops.try_collect().await?;
        let (first, stored): (Vec<_>, Vec<_>) = times.into_iter().flatten().unzip();
        show(Part {
            messages: stored.len(),
            first_delta: latency(first),
            stored: latency(stored),
            memory: product.memory()?.0,
            folder: product.stored("")?,
            log: product.stored("-wal")?,
        });
    }
    Ok(product.restarted(binary, flags, model).await?.ready)
}

/// Posts to a room at even times, or as soon as the last message is answered. Returns the times
/// until the first text and until the stored reply of each.
async fn talk(
    product: &Product,
    room: &Room,
    socket: &mut Socket,
    every: Duration,
    until: Instant,
) -> Result<Vec<(Duration, Duration)>, String> {
    let mut times = Vec::new();
    let mut next = tokio::time::interval(every);
    next.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    while Instant::now() < until {
        next.tick().await;
        let begun = Instant::now();
        let posted = product.post(room, "What people say to each other in the course of a day.");
        let (_, reply) = futures::future::try_join(posted, one_reply(socket, begun)).await?;
        times.push(reply);
    }
    Ok(times)
}
