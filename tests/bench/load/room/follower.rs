//! A connection that follows the room and notes what it gets.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use tokio::task::JoinHandle;

use crate::{
    product::{Product, Room, frame},
    room::{Delta, Streams, writer::number_of},
};

#[derive(Default)]
pub(super) struct Received {
    pub(super) frames: usize,
    pub(super) deltas: Vec<Delta>,
    /// The streams whose beginning it got.
    pub(super) streams: Streams,
    /// When the messages of the person arrived.
    pub(super) questions: Vec<Instant>,
    messages: Vec<u64>,
    /// Why the connection ended, if it did.
    failure: Option<String>,
}

pub(super) struct Follower {
    received: Arc<Mutex<Received>>,
    task: JoinHandle<()>,
}

impl Follower {
    pub(super) async fn connect(product: &Product, room: &Room) -> Result<Self, String> {
        let mut socket = product.follow(std::slice::from_ref(room)).await?;
        let received = Arc::new(Mutex::new(Received::default()));
        let notes = Arc::clone(&received);
        let task = tokio::spawn(async move {
            loop {
                let frame = frame(&mut socket).await;
                let mut notes = locked(&notes);
                match frame {
                    Ok(frame) => notes.add(&frame),
                    Err(error) => {
                        notes.failure = Some(error);
                        return;
                    }
                }
            }
        });
        Ok(Self { received, task })
    }

    /// How many messages it has. A message that came twice counts once.
    pub(super) fn messages(&self) -> usize {
        let received = locked(&self.received);
        if received.failure.is_some() { 0 } else { received.messages.len() }
    }

    /// Closes the connection and returns what it got.
    pub(super) async fn stop(self) -> Received {
        self.task.abort();
        let _ = self.task.await;
        std::mem::take(&mut *locked(&self.received))
    }
}

impl Received {
    fn add(&mut self, frame: &serde_json::Value) {
        let now = Instant::now();
        self.frames += 1;
        match frame["type"].as_str() {
            Some("stream.delta") => {
                let Some(stream) = frame["streamId"].as_str() else { return };
                let offset = frame["offset"].as_u64().unwrap_or_default() as usize;
                if let Some(number) =
                    frame["text"].as_str().filter(|_| offset == 0).and_then(number_of)
                {
                    self.streams.insert(stream.into(), number);
                }
                self.deltas.push(Delta { stream: stream.to_owned(), offset, at: now });
            }
            Some("message.created") => {
                let Some(seq) = frame["message"]["seq"].as_u64() else { return };
                if self.messages.contains(&seq) {
                    return;
                }
                self.messages.push(seq);
                if frame["message"]["runId"].is_null() {
                    self.questions.push(now);
                }
            }
            _ => {}
        }
    }
}

fn locked(received: &Mutex<Received>) -> MutexGuard<'_, Received> {
    received.lock().unwrap_or_else(PoisonError::into_inner)
}
