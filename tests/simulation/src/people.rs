//! People: they send messages with idempotency keys, reconnect, join and leave spaces, and cancel
//! runs.
//!
//! `connection` has a person's socket, `posting` its messages, `changes` its replies, edits,
//! deletions, reactions and pins, `floods` how it sends too much, `reads` what it marks as read,
//! `watching` frames that overtake each other and posts that people watch, `administration` what
//! people change through the admin key, and `answers` their answers to forms.

mod administration;
mod answers;
mod changes;
mod connection;
mod decisions;
mod floods;
mod posting;
mod reads;
mod watching;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use axum::http::Method;
use smartspace_domain::ids::{ConnectionId, EntityId, SpaceId};
use tokio::time::{Instant, sleep};

use crate::{
    client::Caller,
    deployment::Deployment,
    ledger::{Canceled, StoppedChain},
    locked,
    retries::retry,
    view::View,
};

/// A person with a browser.
pub struct Person {
    /// The number of the person.
    pub index: usize,
    pub id: EntityId,
    /// Everything that the person sees.
    pub view: Arc<View>,
    deployment: Arc<Deployment>,
    name: String,
    answers: u64,
    connection: Option<ConnectionId>,
    connections: u64,
    requests: u64,
    /// The counter of the last frame about a subscription.
    last_n: u64,
    /// The spaces that the open connection follows, and since when, as far as the person knows.
    follows: BTreeMap<SpaceId, Instant>,
}

impl Person {
    /// A person that has done nothing yet.
    pub fn new(deployment: &Arc<Deployment>, index: usize, id: EntityId) -> Self {
        Self {
            index,
            id,
            view: Arc::default(),
            deployment: Arc::clone(deployment),
            name: format!("person {index}"),
            answers: 0,
            connection: None,
            connections: 0,
            requests: 0,
            last_n: 0,
            follows: BTreeMap::new(),
        }
    }

    /// Performs its actions, one after the other.
    pub async fn perform_actions(mut self) -> Self {
        let deployment = Arc::clone(&self.deployment);
        self.connect().await;
        for action in 0..deployment.env.parameters.actions {
            let place = format!("{}/{action}", self.name);
            let pause = match deployment.env.chance.below(&place, 12) {
                0 => Duration::from_secs(40),
                1..5 => Duration::ZERO,
                _ => Duration::from_secs(3),
            };
            sleep(deployment.env.chance.time(&place, Duration::ZERO, pause)).await;
            if deployment.env.skipped.contains(&(self.index, action)) {
                continue;
            }
            let space = {
                let ledger = locked(&deployment.env.ledger);
                ledger.spaces
                    [deployment.env.chance.below(&place, ledger.spaces.len() as u64) as usize]
            };
            match deployment.env.chance.below(&place, 100) {
                0..50 => self.say_some(&place, space).await,
                50..65 => self.send(&place, space).await,
                65..76 => self.cancel(&place).await,
                76..86 => self.remove_for_a_while(&place, space).await,
                86..93 => self.reconnect().await,
                93..96 => self.ping_or_flood(&place).await,
                96..99 => self.rename(&place).await,
                _ => self.retire(&place).await,
            }
            let stops = deployment.env.parameters.stops;
            if deployment.env.chance.happens(&format!("{place}/stop"), stops) {
                self.stop_chain(&format!("{place}/stop"), space).await;
            }
            self.react_to_space(&place, space).await;
            if deployment.env.chance.happens(&format!("{place}/again"), 100)
                && self.follows(space)
                && self.follow_again(&format!("{place}/again"), space).await.is_none()
            {
                self.reconnect().await;
            }
            if deployment.env.chance.happens(&format!("{place}/read"), 150) {
                self.mark_read(space).await;
            }
            if self
                .connection
                .as_ref()
                .is_none_or(|connection| !deployment.env.connections.is_open(connection))
            {
                self.connect().await;
            }
        }
        self.answer_the_last(deployment.env.parameters.actions).await;
        self
    }

    /// Answers forms, decides calls and changes messages.
    async fn react_to_space(&mut self, place: &str, space: SpaceId) {
        self.answer_forms(&format!("{place}/form")).await;
        self.decide_calls(&format!("{place}/call")).await;
        if self.deployment.env.parameters.changes {
            self.change_messages(&format!("{place}/change"), space).await;
        }
    }

    /// Cancels a run that it sees as active.
    async fn cancel(&mut self, place: &str) {
        let active = self.view.with(|seen| seen.active.iter().cloned().collect::<Vec<_>>());
        if active.is_empty() {
            return;
        }
        let run =
            active[self.deployment.env.chance.below(place, active.len() as u64) as usize].clone();
        self.deployment.env.history.note(&self.name, || format!("cancels {run}"));
        let answer = self
            .deployment
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
            let spaces = locked(&self.deployment.env.ledger).spaces.clone();
            for space in spaces {
                let Some(seq) = self.last_number(space).await else { return };
                after.insert(space, seq);
            }
            self.deployment
                .env
                .history
                .note(&self.name, || format!("learns that {run} is canceled; {after:?}"));
            locked(&self.deployment.env.ledger).canceled.push(Canceled { run: run.clone(), after });
            let place = format!("{place}/retry");
            if self.deployment.env.chance.happens(&place, 500) {
                retry(&self.deployment, &self.name, Caller::Entity(self.id), &run, &place).await;
            }
        }
    }

    /// Stops the chain of one of the last messages of a space, and repeats a run that was active
    /// before: its answer belongs to the chain, and wakes nobody.
    async fn stop_chain(&self, place: &str, space: SpaceId) {
        let before = self.view.with(|seen| seen.active.first().cloned());
        let Some(last) = self.last_number(space).await.filter(|last| *last > 0) else { return };
        let seq = last - self.deployment.env.chance.below(place, last.min(3));
        self.deployment.env.history.note(&self.name, || format!("stops the chain of {seq}"));
        let path = format!("/v1/spaces/{space}/messages/{seq}/chain/cancel");
        let caller = Caller::Entity(self.id);
        let answer = self
            .deployment
            .http_with_retries(&self.name, caller, Method::POST, &path, None, None)
            .await;
        if answer.is_some_and(|(status, _)| status == 200)
            && let Some(after) = self.last_number(space).await
        {
            let stopped = StoppedChain { space, seq, after };
            self.deployment.env.history.note(&self.name, || format!("learns of {stopped:?}"));
            locked(&self.deployment.env.ledger).stopped_chains.push(stopped);
            let place = format!("{place}/retry");
            if let Some(run) = before.filter(|_| self.deployment.env.chance.happens(&place, 700)) {
                retry(&self.deployment, &self.name, Caller::Entity(self.id), &run, &place).await;
            }
        }
    }

    /// The number of the last message of a space.
    async fn last_number(&self, space: SpaceId) -> Option<u64> {
        let answer = self
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
        answer.filter(|(status, _)| *status == 200)?.1["seq"].as_u64()
    }

    /// A random person or agent.
    fn someone(&self, place: &str) -> EntityId {
        let ledger = locked(&self.deployment.env.ledger);
        let all: Vec<_> =
            ledger.people.iter().copied().chain(ledger.agents.iter().map(|(id, _)| *id)).collect();
        all[self.deployment.env.chance.below(place, all.len() as u64) as usize]
    }
}
