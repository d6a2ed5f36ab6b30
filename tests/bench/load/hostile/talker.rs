//! A member whose waiting times are measured.

use std::{
    collections::{BTreeMap, HashMap},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::time::{MissedTickBehavior, interval, timeout_at};

use crate::{
    flood::token,
    product::{Caller, Product, Socket, frame},
};

/// How long outstanding answers may take after a phase.
const ANSWERED_WITHIN: Duration = Duration::from_secs(10);

/// A member with a connection that follows the space.
pub(super) struct Talker {
    caller: Caller,
    path: String,
    token: String,
    socket: Socket,
}

/// What a member posted, and how long it waited.
#[derive(Default)]
pub(super) struct Talked {
    pub(super) waited_for_201: Vec<Duration>,
    pub(super) waited_for_text: Vec<Duration>,
    pub(super) statuses: BTreeMap<u16, usize>,
    /// The ids of the messages that were accepted.
    pub(super) accepted: Vec<String>,
}

impl Talked {
    pub(super) fn add(&mut self, other: Self) {
        self.waited_for_201.extend(other.waited_for_201);
        self.waited_for_text.extend(other.waited_for_text);
        self.accepted.extend(other.accepted);
        for (status, count) in other.statuses {
            *self.statuses.entry(status).or_default() += count;
        }
    }
}

/// The messages whose answers have no text yet.
#[derive(Default)]
struct Pending {
    /// When the message of a run was posted.
    runs: HashMap<String, Instant>,
    streams: HashMap<String, Instant>,
    /// Runs whose stream began before the answer to the POST came.
    early: HashMap<String, String>,
    /// When the first text of an unknown stream came.
    texts: HashMap<String, Instant>,
}

impl Pending {
    fn posted(&mut self, run: &str, begun: Instant) -> Option<Duration> {
        if let Some(stream) = self.early.remove(run) {
            return self.began(stream, begun);
        }
        self.runs.insert(run.to_owned(), begun);
        None
    }

    fn began(&mut self, stream: String, begun: Instant) -> Option<Duration> {
        let text = self.texts.remove(&stream);
        if text.is_none() {
            self.streams.insert(stream, begun);
        }
        text.map(|at| at - begun)
    }

    /// How long the member waited, if the frame is the first text of an answer.
    fn sees(&mut self, frame: &Value) -> Option<Duration> {
        let stream = frame["streamId"].as_str()?.to_owned();
        match frame["type"].as_str()? {
            "stream.started" => {
                let run = frame["runId"].as_str()?;
                if let Some(begun) = self.runs.remove(run) {
                    return self.began(stream, begun);
                }
                self.early.insert(run.to_owned(), stream);
                None
            }
            "stream.delta" => {
                if let Some(begun) = self.streams.remove(&stream) {
                    return Some(begun.elapsed());
                }
                self.texts.entry(stream).or_insert_with(Instant::now);
                None
            }
            _ => None,
        }
    }

    fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.streams.is_empty()
    }
}

impl Talker {
    /// A member of a space that follows it.
    pub(super) async fn new(product: &Product, space: &str, person: &str) -> Result<Self, String> {
        let mut socket = product.connect(&token(person)).await?;
        product.subscribe(&mut socket, space).await?;
        Ok(Self {
            caller: product.caller(),
            path: format!("/v1/spaces/{space}/messages"),
            token: token(person),
            socket,
        })
    }

    /// Posts messages until then, and measures how long their answers take.
    pub(super) async fn talk(&mut self, every: Duration, until: Instant) -> Result<Talked, String> {
        let mut talked = Talked::default();
        let mut pending = Pending::default();
        let mut tick = interval(every);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while Instant::now() < until {
            tokio::select! {
                _ = tick.tick() => self.post(&mut talked, &mut pending).await?,
                frame = frame(&mut self.socket) => {
                    talked.waited_for_text.extend(pending.sees(&frame?));
                }
            }
        }
        let end = tokio::time::Instant::now() + ANSWERED_WITHIN;
        while !pending.is_empty() {
            let Ok(frame) = timeout_at(end, frame(&mut self.socket)).await else { break };
            talked.waited_for_text.extend(pending.sees(&frame?));
        }
        Ok(talked)
    }

    /// Posts one message. Frames that arrive meanwhile are read at the same time, so that a wait
    /// for the 201 does not count as a wait for the text.
    async fn post(&mut self, talked: &mut Talked, pending: &mut Pending) -> Result<(), String> {
        let begun = Instant::now();
        let headers = [("authorization", self.token.as_str())];
        let body = json!({"text": "How long does it take?"}).to_string();
        let posting = self.caller.post(&self.path, &headers, body);
        tokio::pin!(posting);
        let (status, answer) = loop {
            tokio::select! {
                biased;
                answered = &mut posting => break answered?,
                frame = frame(&mut self.socket) => {
                    talked.waited_for_text.extend(pending.sees(&frame?));
                }
            }
        };
        *talked.statuses.entry(status).or_default() += 1;
        if status == 201 {
            talked.waited_for_201.push(begun.elapsed());
            talked.accepted.extend(answer["id"].as_str().map(str::to_owned));
        }
        // A message without a run is never answered.
        if let Some(run) = answer["dispatch"][0]["runId"].as_str() {
            talked.waited_for_text.extend(pending.posted(run, begun));
        }
        Ok(())
    }
}
