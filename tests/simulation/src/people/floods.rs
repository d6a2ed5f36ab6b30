//! Floods: more frames at once than a connection may send.

use futures::future::join_all;
use serde_json::json;
use tokio::time::Instant;

use crate::{ledger::Flood, locked, people::Person};

/// The frames of a flood. A bucket has tokens for 40.
const FRAMES: u64 = 100;

impl Person {
    /// Sends a ping, or now and then a hundred at once.
    pub(super) async fn ping_or_flood(&mut self, place: &str) {
        let env = &self.deployment.env;
        if env.chance.happens(&format!("{place}/flood"), env.parameters.floods) {
            self.flood().await;
        } else {
            self.ping().await;
        }
    }

    async fn flood(&mut self) {
        let Some(connection) = self.connection.clone() else { return };
        self.deployment.env.history.note(&self.name, || format!("floods {connection}"));
        let began = Instant::now();
        let ids = self.requests + 1..=self.requests + FRAMES;
        self.requests += FRAMES;
        let frames: Vec<_> = ids
            .clone()
            .map(|id| json!({"action": "ping", "id": id, "spaces": {}}).to_string())
            .collect();
        join_all(frames.iter().map(|frame| self.deployment.receive(&connection, frame))).await;
        let took = began.elapsed();
        let answered = self.view.with(|seen| {
            let answers = ids.filter_map(|id| seen.answers.get(&id));
            answers.filter(|answer| answer["type"] == "pong").count()
        });
        let flood = Flood { connection: connection.0, answered, took };
        locked(&self.deployment.env.ledger).floods.push(flood);
    }
}
