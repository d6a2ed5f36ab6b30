//! The socket of a person, and what it fetches after gaps.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use axum::http::Method;
use serde_json::{Value, json};
use smartspace_domain::ids::{ConnectionId, SpaceId};
use tokio::time::{Instant, sleep, timeout};

use crate::{client::Caller, locked, people::Person};

impl Person {
    /// Closes the socket and opens another one.
    pub(crate) async fn reconnect(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.deployment.env.history.note(&self.name, || "goes away and comes back".into());
            self.deployment.env.connections.close(&connection);
            if let Some(process) = self
                .deployment
                .some_process(&self.name)
                .filter(|_| self.deployment.env.chance.happens(&self.name, 700))
            {
                let deployment = Arc::clone(&self.deployment);
                tokio::spawn(async move {
                    let disconnected = tokio::select! {
                        biased;
                        () = process.life.ended() => return,
                        disconnected = process.socket.disconnect(&connection) => disconnected,
                    };
                    if let Err(error) = disconnected {
                        deployment
                            .env
                            .history
                            .note(&connection.0, || format!("could not be forgotten: {error}"));
                    }
                });
            }
        }
        self.connect().await;
    }

    /// Opens a socket with a ticket, and subscribes to every space after the last known number.
    pub(super) async fn connect(&mut self) {
        for wait in [100, 1_000, 3_000, 5_000, 10_000, 20_000] {
            if self.try_connect().await {
                return;
            }
            sleep(Duration::from_millis(wait)).await;
        }
    }

    async fn try_connect(&mut self) -> bool {
        let Ok((201, ticket)) = self
            .deployment
            .http(
                &self.name,
                Caller::Entity(self.id),
                Method::POST,
                "/v1/socketTickets",
                None,
                None,
            )
            .await
        else {
            return false;
        };
        let Some(process) = self.deployment.some_process(&self.name) else { return false };
        self.connections += 1;
        let id = ConnectionId(format!("c{}.{}", self.index, self.connections));
        let ticket = ticket["ticket"].as_str().unwrap_or_default();
        let connected = tokio::select! {
            biased;
            () = process.life.ended() => return false,
            connected = process.socket.connect(ticket, &id) => connected,
        };
        if connected.is_err() {
            return false;
        }
        self.deployment.env.connections.open(id.clone(), Arc::clone(&self.view));
        self.connection = Some(id);
        self.follows.clear();
        let spaces = locked(&self.deployment.env.ledger).spaces.clone();
        for space in spaces {
            let after = self.view.with(|seen| seen.contiguous(&space.to_string()));
            let n = self.next_n();
            let subscribe =
                json!({"action": "subscribe", "spaceId": space, "afterSeq": after, "n": n});
            let answer = self.request(subscribe).await;
            let Some(answer) = answer else { return false };
            if answer["type"] == "subscribed" {
                self.follows.insert(space, Instant::now());
            }
            if answer["from"].as_u64().is_some_and(|from| from > after + 1) {
                self.fetch(space).await;
            }
        }
        true
    }

    /// The counter of the next frame about a subscription.
    pub(super) fn next_n(&mut self) -> u64 {
        self.last_n += 1;
        self.last_n
    }

    /// Says that it is present in the spaces that it follows, asks the socket which spaces have
    /// further messages, and fetches them.
    pub(super) async fn ping(&mut self) {
        let spaces = locked(&self.deployment.env.ledger).spaces.clone();
        let known: BTreeMap<_, _> = spaces
            .iter()
            .map(|space| (*space, self.view.with(|seen| seen.contiguous(&space.to_string()))))
            .collect();
        let present: Vec<_> = self.follows.keys().copied().collect();
        let ping = json!({"action": "ping", "spaces": known, "present": present});
        let Some(mut answer) = self.request(ping).await else { return };
        if answer["status"] == 404 {
            // It was removed from a space meanwhile.
            let ping = json!({"action": "ping", "spaces": known});
            let Some(again) = self.request(ping).await else { return };
            answer = again;
        }
        self.say_whether_it_types().await;
        for space in spaces {
            if !answer["spaces"][space.to_string()].is_null() {
                self.fetch(space).await;
            }
        }
    }

    /// Says in each space that it follows whether it types. Some requests ask for no answer.
    async fn say_whether_it_types(&mut self) {
        let spaces: Vec<_> = self.follows.keys().copied().collect();
        for space in spaces {
            let place = format!("{}/present/{}", self.name, self.requests);
            let chance = &self.deployment.env.chance;
            let (typing, unanswered) = (chance.happens(&place, 300), chance.happens(&place, 200));
            let frame = json!({"action": "presence", "spaceId": space, "typing": typing});
            match &self.connection {
                Some(connection) if unanswered => {
                    let _ = self.deployment.receive(connection, &frame.to_string()).await;
                }
                _ => drop(self.request(frame).await),
            }
        }
    }

    /// Fetches the missing messages of a space over HTTP. Returns whether it fetched all of them.
    pub async fn fetch(&self, space: SpaceId) -> bool {
        loop {
            let after = self.view.with(|seen| seen.contiguous(&space.to_string()));
            let path = format!("/v1/spaces/{space}/messages?after={after}&limit=20");
            let Some((200, page)) = self
                .deployment
                .http_with_retries(
                    &self.name,
                    Caller::Entity(self.id),
                    Method::GET,
                    &path,
                    None,
                    None,
                )
                .await
            else {
                return false;
            };
            self.view.fetched(&page);
            if page["items"].as_array().is_none_or(Vec::is_empty) {
                return true;
            }
            // A number is missing in the space, which the oracle reports.
            if self.view.with(|seen| seen.contiguous(&space.to_string())) == after {
                return false;
            }
        }
    }

    /// Sends a request over the socket. Returns `None` if no answer comes.
    pub(crate) async fn request(&mut self, mut frame: Value) -> Option<Value> {
        let connection = self.connection.clone()?;
        self.requests += 1;
        let id = self.requests;
        frame["id"] = id.into();
        self.deployment.receive(&connection, &frame.to_string()).await.ok()?;
        timeout(Duration::from_secs(10), self.view.answer(id)).await.ok()
    }
}
