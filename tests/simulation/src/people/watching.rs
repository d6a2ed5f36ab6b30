//! Frames of one connection that are delivered side by side, and posts that people watch.

use std::time::Duration;

use axum::http::Method;
use futures::future::join_all;
use serde_json::{Value, json};
use smartspace_domain::ids::SpaceId;
use tokio::time::{Instant, sleep, timeout};

use crate::{client::Caller, locked, people::Person};

/// How much later one of two frames may arrive. API Gateway delivers each by itself.
const APART: Duration = Duration::from_millis(60);

impl Person {
    /// Whether the person knows that it follows a space over its open connection.
    pub(crate) fn follows(&self, space: SpaceId) -> bool {
        self.follows_since(space).is_some()
    }

    /// When the person learned that it follows a space over its open connection.
    pub(crate) fn follows_since(&self, space: SpaceId) -> Option<Instant> {
        self.open_connection()?;
        self.follows.get(&space).copied()
    }

    /// Stops following a space and follows it again at once, in two frames that may arrive in any
    /// order. Returns when it learned that it follows the space, or `None` if it did not.
    pub(crate) async fn follow_again(&mut self, place: &str, space: SpaceId) -> Option<Instant> {
        let after = self.view.with(|seen| seen.contiguous(&space.to_string()));
        let frames = [
            json!({"action": "unsubscribe", "spaceId": space, "n": self.next_n()}),
            json!({
                "action": "subscribe", "spaceId": space, "afterSeq": after, "n": self.next_n(),
            }),
        ];
        self.follows.remove(&space);
        let answer = self.request_side_by_side(place, frames).await?;
        if answer["type"] != "subscribed" {
            return None;
        }
        let now = Instant::now();
        self.follows.insert(space, now);
        Some(now)
    }

    /// Sends requests at once, and returns the answer to the last one. Returns `None` if a frame or
    /// this answer is lost.
    async fn request_side_by_side<const N: usize>(
        &mut self,
        place: &str,
        frames: [Value; N],
    ) -> Option<Value> {
        let connection = self.connection.clone()?;
        let frames = frames.map(|mut frame| {
            self.requests += 1;
            frame["id"] = self.requests.into();
            let late = self.deployment.env.chance.time(place, Duration::ZERO, APART);
            (frame.to_string(), late)
        });
        let sent = frames.iter().map(async |(frame, late)| {
            sleep(*late).await;
            self.deployment.receive(&connection, frame).await
        });
        join_all(sent).await.into_iter().collect::<Result<Vec<_>, _>>().ok()?;
        timeout(Duration::from_secs(10), self.view.answer(self.requests)).await.ok()
    }

    /// The same person at another device, which only posts.
    pub(crate) fn sender(&self) -> Self {
        Self::new(&self.deployment, self.index, self.id)
    }

    /// Posts a message once. Returns its number and when the person learned that it is stored.
    pub(crate) async fn post_once(&self, place: &str, space: SpaceId) -> Option<(u64, Instant)> {
        let text = self.text(place);
        let path = format!("/v1/spaces/{space}/messages");
        let body = json!({"text": text});
        let answer = self
            .deployment
            .http(&self.name, Caller::Entity(self.id), Method::POST, &path, None, Some(&body))
            .await;
        let at = Instant::now();
        let accepted = answer.ok().and_then(|(status, made)| match status {
            201 => Some((made["id"].as_str()?.to_owned(), made["seq"].as_u64()?)),
            _ => None,
        });
        self.note(&text, space, accepted.clone());
        accepted.map(|(_, seq)| (seq, at))
    }

    /// Follows every space over a new connection, if the space still exists.
    pub(crate) async fn come_back(&mut self) {
        self.reconnect().await;
        let deleted = locked(&self.deployment.env.ledger).deleted.clone();
        self.follows.retain(|space, _| !deleted.contains(space));
    }
}
