//! People: they send messages with idempotency keys, reconnect, join and leave spaces, and cancel
//! runs.
//!
//! `connection` has a person's socket, `administration` what people change through the admin key,
//! and `answers` their answers to forms.

mod administration;
mod answers;
mod connection;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use axum::http::Method;
use serde_json::json;
use smartspace_domain::ids::{ConnectionId, EntityId, SpaceId};
use tokio::time::sleep;

use crate::{
    client::Caller,
    ledger::{Canceled, SentMessage},
    locked,
    view::View,
    world::World,
};

/// A person with a browser.
pub struct Person {
    /// The number of the person.
    pub index: usize,
    /// The entity.
    pub id: EntityId,
    /// Everything that the person sees.
    pub view: Arc<View>,
    world: Arc<World>,
    name: String,
    answers: u64,
    connection: Option<ConnectionId>,
    connections: u64,
    requests: u64,
}

impl Person {
    /// A person that has done nothing yet.
    pub fn new(world: &Arc<World>, index: usize, id: EntityId) -> Self {
        Self {
            index,
            id,
            view: Arc::default(),
            world: Arc::clone(world),
            name: format!("person {index}"),
            answers: 0,
            connection: None,
            connections: 0,
            requests: 0,
        }
    }

    /// Performs its actions, one after the other.
    pub async fn perform_actions(mut self) -> Self {
        let world = Arc::clone(&self.world);
        self.connect().await;
        for action in 0..world.env.plan.actions {
            let place = format!("{}/{action}", self.name);
            let pause = match world.env.chance.below(&place, 12) {
                0 => Duration::from_secs(40),
                1..5 => Duration::ZERO,
                _ => Duration::from_secs(3),
            };
            sleep(world.env.chance.time(&place, Duration::ZERO, pause)).await;
            if world.env.skipped.contains(&(self.index, action)) {
                continue;
            }
            let space = {
                let ledger = locked(&world.env.ledger);
                ledger.spaces[world.env.chance.below(&place, ledger.spaces.len() as u64) as usize]
            };
            match world.env.chance.below(&place, 100) {
                0..50 => self.say(&place, space).await,
                50..65 => self.send(&place, space).await,
                65..76 => self.cancel(&place).await,
                76..86 => self.remove_for_a_while(&place, space).await,
                86..93 => self.reconnect().await,
                93..96 => self.ping().await,
                96..99 => self.rename(&place).await,
                _ => self.retire(&place).await,
            }
            self.answer_forms(&format!("{place}/form")).await;
            if self
                .connection
                .as_ref()
                .is_none_or(|connection| !world.env.connections.is_open(connection))
            {
                self.connect().await;
            }
        }
        self.answer_the_last(world.env.plan.actions).await;
        self
    }

    /// Writes a message.
    fn text(&self, place: &str) -> String {
        let ledger = locked(&self.world.env.ledger);
        let named = &ledger.agents
            [self.world.env.chance.below(place, ledger.agents.len() as u64) as usize]
            .1;
        let mention = if self.world.env.chance.happens(place, 500) {
            format!("@{named} ")
        } else {
            String::new()
        };
        // Now and then a text that is too long for the message's own item.
        let long = if self.world.env.chance.happens(place, 50) {
            "x".repeat(5_000)
        } else {
            String::new()
        };
        format!("{mention}{place}{long}")
    }

    /// Records a message, with its id and number if it was accepted.
    fn note(&self, text: &str, space: SpaceId, accepted: Option<(String, u64)>) {
        self.world.env.history.note(&self.name, || match &accepted {
            Some((id, seq)) => format!("learns that {text:.40} is {id}, number {seq} of {space}"),
            None => format!("does not learn what became of {text:.40} in {space}"),
        });
        locked(&self.world.env.ledger).sent_messages.push(SentMessage {
            person: self.id,
            space,
            text: text.to_owned(),
            accepted,
        });
    }

    /// Sends a message over HTTP, and retries with the same key until the outcome is known.
    async fn say(&mut self, place: &str, space: SpaceId) {
        let text = self.text(place);
        let path = format!("/v1/spaces/{space}/messages");
        let body = json!({"text": text});
        self.world.env.history.note(&self.name, || format!("says {text:.40} in {space}"));
        let answer = if self.world.env.chance.happens(place, 850) {
            self.world
                .http_with_retries(
                    &self.name,
                    Caller::Entity(self.id),
                    Method::POST,
                    &path,
                    Some(place),
                    Some(&body),
                )
                .await
        } else {
            // Without a key the message is sent once, and perhaps lost.
            self.world
                .http(&self.name, Caller::Entity(self.id), Method::POST, &path, None, Some(&body))
                .await
                .ok()
        };
        let accepted = answer.and_then(|(status, made)| match status {
            201 => Some((made["id"].as_str()?.to_owned(), made["seq"].as_u64()?)),
            _ => None,
        });
        self.note(&text, space, accepted);
    }

    /// Sends a message over the socket, and retries with the same key.
    async fn send(&mut self, place: &str, space: SpaceId) {
        let mut text = self.text(place);
        text.truncate(200);
        for _ in 0..4 {
            let frame = json!({
                "action": "send", "spaceId": space, "text": text, "idempotencyKey": place,
            });
            match self.request(frame).await {
                Some(answer) if answer["type"] == "sent" => {
                    let accepted =
                        answer["messageId"].as_str().map(str::to_owned).zip(answer["seq"].as_u64());
                    return self.note(&text, space, accepted);
                }
                Some(answer) if answer["status"].as_u64().is_some_and(|status| status < 500) => {
                    break;
                }
                Some(answer) if answer["status"] == 500 => {
                    self.world.env.report(0, format!("`send` over a socket got {answer}"));
                    break;
                }
                _ => self.reconnect().await,
            }
        }
        self.note(&text, space, None);
    }

    /// Cancels a run that it sees as active.
    async fn cancel(&mut self, place: &str) {
        let active = self.view.with(|seen| seen.active.iter().cloned().collect::<Vec<_>>());
        if active.is_empty() {
            return;
        }
        let run = active[self.world.env.chance.below(place, active.len() as u64) as usize].clone();
        self.world.env.history.note(&self.name, || format!("cancels {run}"));
        let answer = self
            .world
            .http_with_retries(
                &self.name,
                Caller::Entity(self.id),
                Method::POST,
                &format!("/v1/runs/{run}/cancel"),
                None,
                None,
            )
            .await;
        if answer.is_some_and(|(status, _)| status == 202) {
            let mut after = BTreeMap::new();
            let spaces = locked(&self.world.env.ledger).spaces.clone();
            for space in spaces {
                let Some(seq) = self.last_number(space).await else { return };
                after.insert(space, seq);
            }
            self.world
                .env
                .history
                .note(&self.name, || format!("learns that {run} is canceled; {after:?}"));
            locked(&self.world.env.ledger).canceled.push(Canceled { run, after });
        }
    }

    /// The number of the last message of a space.
    async fn last_number(&self, space: SpaceId) -> Option<u64> {
        let answer = self
            .world
            .http_with_retries(
                &self.name,
                Caller::Operator,
                Method::GET,
                &format!("/v1/spaces/{space}"),
                None,
                None,
            )
            .await;
        answer.filter(|(status, _)| *status == 200)?.1["seq"].as_u64()
    }

    /// A random person or agent.
    fn someone(&self, place: &str) -> EntityId {
        let ledger = locked(&self.world.env.ledger);
        let all: Vec<_> =
            ledger.people.iter().copied().chain(ledger.agents.iter().map(|(id, _)| *id)).collect();
        all[self.world.env.chance.below(place, all.len() as u64) as usize]
    }
}
