//! What one person sees over sockets and HTTP, put together as a browser does it.

mod seen;

use std::sync::Mutex;

use serde_json::Value;
use tokio::{sync::Notify, time::Instant};

use crate::locked;

pub use seen::{Form, Frame, Seen};

/// The view of one person, over all of its connections.
#[derive(Default)]
pub struct View {
    seen: Mutex<Seen>,
    came: Notify,
}

impl View {
    /// Everything that was seen so far.
    pub fn seen(&self) -> Seen {
        locked(&self.seen).clone()
    }

    /// Reads from what was seen so far.
    pub fn with<T>(&self, look: impl FnOnce(&Seen) -> T) -> T {
        look(&locked(&self.seen))
    }

    /// Waits for the answer to a request.
    pub async fn answer(&self, id: u64) -> Value {
        loop {
            let came = self.came.notified();
            if let Some(answer) = locked(&self.seen).answers.get(&id) {
                return answer.clone();
            }
            came.await;
        }
    }

    /// Adds messages that were fetched over HTTP.
    pub fn fetched(&self, messages: &Value) {
        let mut seen = locked(&self.seen);
        for message in messages["items"].as_array().into_iter().flatten() {
            seen.frames.push(Frame {
                at: Instant::now(),
                space: message["spaceId"].as_str().unwrap_or_default().to_owned(),
                kind: "fetched".into(),
                seq: message["seq"].as_u64(),
                stream: String::new(),
                text: String::new(),
            });
            seen.add_message(message);
        }
    }

    /// Adds a frame.
    pub fn see(&self, frame: &str) {
        let frame: Value = serde_json::from_str(frame).unwrap_or_default();
        let mut seen = locked(&self.seen);
        if let Some(id) = frame["id"].as_u64() {
            seen.answers.insert(id, frame.clone());
        }
        seen.add_frame(&frame);
        drop(seen);
        self.came.notify_waiters();
    }
}
