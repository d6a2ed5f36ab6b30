//! A space with a person, some agents, and connections that follow it.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use smartspace_domain::ids::ConnectionId;
use tokio::time::sleep;

use crate::{
    deployment::{Caller, Deployment},
    text::Words,
};

/// What a room is like.
#[derive(Clone, Copy)]
pub(crate) struct Plan<'a> {
    /// The names of its agents.
    pub(crate) agents: &'a [&'a str],
    pub(crate) policy: &'a str,
    pub(crate) connections: usize,
    /// The operator posts the person's messages. Otherwise the person does, with a token.
    pub(crate) by_operator: bool,
    /// The agents' `loop.endAfterSend` is false.
    pub(crate) asks_twice: bool,
    /// Every invocation has an environment of its own, without caches.
    pub(crate) fresh: bool,
    /// The time between two messages.
    pub(crate) every: Duration,
}

/// A room on a deployment of its own.
pub(crate) struct Room {
    pub(crate) deployment: Arc<Deployment>,
    words: Arc<Words>,
    person: String,
    space: String,
    by_operator: bool,
    every: Duration,
}

impl Room {
    pub(crate) async fn make(plan: Plan<'_>) -> Result<Self, String> {
        let words = Arc::new(Words::default());
        let deployment = Deployment::start(plan.fresh, Arc::clone(&words)).await?;
        let create = async |path: &str, body: Value| {
            let created = deployment.post(Caller::Operator, path, &body).await?;
            Ok::<_, String>(created["id"].as_str().unwrap_or_default().to_owned())
        };
        let person = create("/v1/entities", json!({"type": "human", "name": "Sarah"})).await?;
        let mut members = vec![person.clone()];
        for name in plan.agents {
            let agent = json!({
                "model": {"provider": "openai", "name": "slow"},
                "instructions": words.some(600),
                "loop": {"endAfterSend": !plan.asks_twice},
            });
            let body = json!({"type": "agent", "name": name, "agent": agent});
            members.push(create("/v1/entities", body).await?);
        }
        let body =
            json!({"name": "What it costs", "members": members, "triggerPolicy": plan.policy});
        let space = create("/v1/spaces", body).await?;
        let Plan { by_operator, every, .. } = plan;
        let room = Self { deployment, words, person, space, by_operator, every };
        for number in 0..plan.connections {
            room.follow(ConnectionId(format!("connection-{number}"))).await?;
        }
        Ok(room)
    }

    async fn follow(&self, id: ConnectionId) -> Result<(), String> {
        let by = Caller::Person(&self.person);
        let ticket = self.deployment.post(by, "/v1/socketTickets", &json!({})).await?;
        let ticket = ticket["ticket"].as_str().unwrap_or_default().to_owned();
        let follow = json!({"action": "subscribe", "spaceId": self.space}).to_string();
        let opened = self.deployment.invoke("socket", "socket", async move |environment| {
            environment.socket.connect(&ticket, &id).await?;
            environment.socket.receive(&id, &follow).await
        });
        opened.await.map_err(|error| error.to_string())
    }

    /// The person, and the id of the space.
    pub(crate) fn parties(&self) -> (Caller<'_>, &str) {
        (Caller::Person(&self.person), &self.space)
    }

    /// Posts a message that begins with `prefix`, and waits until everything is done.
    pub(crate) async fn say(&self, prefix: &str) -> Result<(), String> {
        let text = format!("{prefix}{}", self.words.some(120));
        let path = format!("/v1/spaces/{}/messages", self.space);
        let (by, body) = if self.by_operator {
            (Caller::Operator, json!({"text": text, "senderId": self.person}))
        } else {
            (Caller::Person(&self.person), json!({"text": text}))
        };
        self.deployment.post(by, &path, &body).await?;
        sleep(self.every).await;
        self.deployment.quiet().await;
        Ok(())
    }
}
