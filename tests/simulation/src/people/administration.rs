//! Changes of members and entities, which people make with the admin key.

use std::time::Duration;

use axum::http::Method;
use serde_json::json;
use smartspace_domain::ids::SpaceId;
use tokio::time::{Instant, sleep};

use crate::{client::Caller, ledger::Removed, locked, people::Person};

impl Person {
    /// Removes an entity from a space, and adds it again after a while.
    pub(super) async fn remove_for_a_while(&mut self, place: &str, space: SpaceId) {
        let entity = self.someone(place);
        let path = format!("/v1/spaces/{space}/members/{entity}");
        // One removal at a time, so that the oracle knows when the entity is not a member.
        let busy = !locked(&self.deployment.env.ledger).moving.insert((space, entity));
        if busy {
            return;
        }
        self.deployment.env.history.note(&self.name, || format!("takes {entity} out of {space}"));
        let answer = self
            .deployment
            .http_with_retries(&self.name, Caller::Operator, Method::DELETE, &path, None, None)
            .await;
        let at = Instant::now();
        let mut noted = None;
        if answer.is_some_and(|(status, _)| status == 204)
            && let Some(after) = self.last_number(space).await
        {
            {
                let removed = &mut locked(&self.deployment.env.ledger).removed;
                noted = Some(removed.len());
                removed.push(Removed { entity, space, at, after, back: None, back_after: None });
            }
            self.deployment.env.history.note(&self.name, || {
                format!("learns that {entity} is out of {space}, after number {after}")
            });
            sleep(self.deployment.env.chance.time(place, Duration::ZERO, Duration::from_secs(20)))
                .await;
        }
        let before = self.last_number(space).await;
        if let Some(noted) = noted {
            let removed = &mut locked(&self.deployment.env.ledger).removed[noted];
            removed.back = Some(Instant::now());
            removed.back_after = before;
        }
        self.deployment
            .env
            .history
            .note(&self.name, || format!("lets {entity} into {space} again"));
        locked(&self.deployment.env.ledger).readmitted.insert((space, entity));
        self.deployment
            .http_with_retries(&self.name, Caller::Operator, Method::PUT, &path, None, None)
            .await;
        locked(&self.deployment.env.ledger).moving.remove(&(space, entity));
    }

    /// Renames an entity. Its spaces learn of the name one by one.
    pub(super) async fn rename(&mut self, place: &str) {
        let entity = self.someone(place);
        let body = json!({"name": format!("Renamed {}", place.replace('/', "-"))});
        self.deployment.env.history.note(&self.name, || format!("renames {entity}"));
        self.deployment
            .http_with_retries(
                &self.name,
                Caller::Operator,
                Method::PATCH,
                &format!("/v1/entities/{entity}"),
                None,
                Some(&body),
            )
            .await;
    }

    /// Retires an agent forever.
    pub(super) async fn retire(&mut self, place: &str) {
        let agents = locked(&self.deployment.env.ledger).agents.clone();
        let agent = agents[self.deployment.env.chance.below(place, agents.len() as u64) as usize].0;
        self.deployment.env.history.note(&self.name, || format!("retires {agent}"));
        let path = format!("/v1/entities/{agent}");
        let answer = self
            .deployment
            .http_with_retries(&self.name, Caller::Operator, Method::DELETE, &path, None, None)
            .await;
        // The agent leaves its spaces after the answer.
        sleep(self.deployment.env.chance.time(place, Duration::ZERO, Duration::from_mins(1))).await;
        let spaces = locked(&self.deployment.env.ledger).spaces.clone();
        for space in
            spaces.into_iter().filter(|_| answer.as_ref().is_some_and(|(status, _)| *status == 204))
        {
            let at = Instant::now();
            let shown = self
                .deployment
                .http_with_retries(
                    &self.name,
                    Caller::Operator,
                    Method::GET,
                    &format!("/v1/spaces/{space}"),
                    None,
                    None,
                )
                .await;
            let Some((200, shown)) = shown else { continue };
            let is_gone = shown["members"].as_array().is_some_and(|members| {
                members.iter().all(|member| member["id"] != agent.to_string().as_str())
            });
            if is_gone && let Some(after) = shown["seq"].as_u64() {
                locked(&self.deployment.env.ledger).removed.push(Removed {
                    entity: agent,
                    space,
                    at,
                    after,
                    back: None,
                    back_after: None,
                });
            }
        }
    }
}
