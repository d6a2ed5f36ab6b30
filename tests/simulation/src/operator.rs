//! The operator: makes plans for agents, changes, pauses and drops them, runs them by hand, and lets agents rest for a while.

use std::{sync::Arc, time::Duration};

use axum::http::Method;
use serde_json::{Value, json};
use smartspace_domain::{Time, ids::EntityId};
use tokio::time::{Instant, sleep};

use crate::{
    door::As,
    ledger::{OfPlan, PlanDeed},
    locked,
    world::World,
};

/// Among those who do something: behind all people.
const INDEX: usize = 3;
const NAME: &str = "operator";
/// When plans fire that do so again and again.
const CRONS: [&str; 4] = ["* * * * *", "*/2 * * * *", "* * * * *", "1-59/4 * * * *"];
/// For no longer the operator waits for a plan's time, to do something just then.
const WAITS: Duration = Duration::from_mins(3);

/// The operator, with the plans that it knows: of whom, which, and when each fires next as far as it was told.
pub struct Operator {
    world: Arc<World>,
    plans: Vec<(EntityId, String, Option<Time>)>,
}

impl Operator {
    /// One who has done nothing yet.
    pub fn new(world: &Arc<World>) -> Self {
        Self { world: Arc::clone(world), plans: Vec::new() }
    }

    /// Does what it does, one thing after the other.
    pub async fn live(mut self) -> Self {
        let world = Arc::clone(&self.world);
        for deed in 0..4 + world.chance.below(NAME, 5) as usize {
            let place = format!("{NAME}/{deed}");
            let pause = [0, 5, 20, 60, 100][world.chance.below(&place, 5) as usize];
            sleep(world.chance.time(&place, Duration::ZERO, Duration::from_secs(pause))).await;
            if world.undone.contains(&(INDEX, deed)) {
                continue;
            }
            match world.chance.below(&place, 100) {
                _ if deed == 0 => self.make(&place).await,
                0..35 => self.make(&place).await,
                35..50 => self.change(&place, &self.time(&place)).await,
                50..70 => {
                    let status = if world.chance.happens(&place, 600) { "paused" } else { "active" };
                    self.change(&place, &json!({"status": status})).await;
                }
                70..80 => self.drop_one(&place).await,
                80..88 => self.run(&place).await,
                _ => self.rest(&place).await,
            }
        }
        self
    }

    /// Lets everyone go on.
    pub async fn wakes_all(&self) {
        let agents = locked(&self.world.ledger).paused.clone();
        for agent in agents {
            self.pause(agent, false).await;
        }
    }

    /// Drops every plan that is there.
    pub async fn drops_all(&self) {
        let there: Vec<_> =
            self.world.storage.plans().into_iter().filter(|(_, noted)| noted.last().is_some_and(|last| last.plan.is_some())).collect();
        for ((agent, plan), _) in there {
            if let Ok(agent) = agent.parse() {
                self.ask(agent, Some(plan), PlanDeed::Drop, json!({}), "the end").await;
            }
        }
    }

    /// When a plan is to fire.
    fn time(&self, place: &str) -> Value {
        let chance = &self.world.chance;
        match chance.below(place, 10) {
            0 => json!({"runAfter": "5 seconds"}),
            1 => json!({"runAfter": "1 minute"}),
            2 => json!({"runAfter": "4 minutes"}),
            3 => json!({"runAfter": "1 hour"}),
            4 => json!({"scheduledAt": self.world.wall() + chance.time(place, Duration::from_secs(1), Duration::from_mins(2))}),
            5 => json!({"cron": CRONS[chance.below(place, 4) as usize], "timezone": "Europe/Berlin"}),
            _ => json!({"cron": CRONS[chance.below(place, 4) as usize]}),
        }
    }

    async fn make(&mut self, place: &str) {
        let agent = {
            let agents = &locked(&self.world.ledger).agents;
            agents[self.world.chance.below(place, agents.len() as u64) as usize].0
        };
        let mut body = self.time(place);
        body["instruction"] = json!(format!("do {place}"));
        let made = self.ask(agent, None, PlanDeed::Make, body, place).await;
        if let Some((201, made)) = made
            && let Some(id) = made["id"].as_str()
        {
            self.plans.push((agent, id.to_owned(), next(&made)));
        }
    }

    /// One of its plans; often at the very moment at which that fires.
    async fn one(&self, place: &str) -> Option<(usize, EntityId, String)> {
        let chance = &self.world.chance;
        let index = chance.below(place, self.plans.len() as u64) as usize;
        let (agent, id, next) = self.plans.get(index)?.clone();
        if chance.happens(place, 600)
            && let Some((200, page)) =
                self.world.http(NAME, As::Operator, Method::GET, &format!("/v1/agents/{agent}/plans"), None, None).await.ok()
        {
            let plans = page["items"].as_array();
            let next = plans.into_iter().flatten().find(|plan| plan["id"] == id.as_str()).map_or(next, self::next);
            let wait = next.map_or(Duration::ZERO, |next| next.since(self.world.wall()));
            if wait <= WAITS {
                sleep(wait.saturating_sub(Duration::from_millis(40)) + chance.time(place, Duration::ZERO, Duration::from_millis(300)))
                    .await;
            }
        }
        Some((index, agent, id))
    }

    async fn change(&mut self, place: &str, body: &Value) {
        let Some((index, agent, id)) = self.one(place).await else { return };
        if let Some((200, plan)) = self.ask(agent, Some(id), PlanDeed::Change, body.clone(), place).await {
            self.plans[index].2 = next(&plan);
        }
    }

    async fn drop_one(&mut self, place: &str) {
        let Some((index, agent, id)) = self.one(place).await else { return };
        self.plans.remove(index);
        self.ask(agent, Some(id), PlanDeed::Drop, json!({}), place).await;
    }

    async fn run(&mut self, place: &str) {
        let Some((_, agent, id)) = self.one(place).await else { return };
        self.ask(agent, Some(id), PlanDeed::Run, json!({}), place).await;
    }

    /// Lets an agent rest.
    async fn rest(&mut self, place: &str) {
        // Whose plans go by meanwhile.
        let Some(agent) = self.plans.last().map(|(agent, ..)| *agent) else { return };
        locked(&self.world.ledger).paused.insert(agent);
        self.pause(agent, true).await;
        sleep(self.world.chance.time(place, Duration::from_secs(1), Duration::from_mins(4))).await;
        self.pause(agent, false).await;
    }

    async fn pause(&self, agent: EntityId, paused: bool) {
        self.world.history.note(NAME, || format!("lets {agent} {}", if paused { "rest" } else { "go on" }));
        let body = json!({"agent": {"paused": paused}});
        self.world.http_until(NAME, As::Operator, Method::PATCH, &format!("/v1/entities/{agent}"), None, Some(&body)).await;
    }

    /// Asks for something until it knows what became of it, and remembers what it was told.
    async fn ask(&self, agent: EntityId, plan: Option<String>, deed: PlanDeed, mut body: Value, place: &str) -> Option<(u16, Value)> {
        let (path, named) = (format!("/v1/agents/{agent}/plans"), plan.as_deref().unwrap_or_default());
        let (method, path, key) = match deed {
            PlanDeed::Make => (Method::POST, path, Some(place)),
            PlanDeed::Change => (Method::PUT, format!("{path}/{named}"), None),
            PlanDeed::Drop => (Method::DELETE, format!("{path}/{named}"), None),
            PlanDeed::Run => (Method::POST, format!("{path}/{named}/run"), Some(place)),
        };
        let is_written = matches!(deed, PlanDeed::Make | PlanDeed::Change);
        if is_written {
            body["name"] = json!(place);
        }
        self.world.history.note(NAME, || format!("asks {deed:?} {named} of {agent}: {body}"));
        let number = {
            let plans = &mut locked(&self.world.ledger).plans;
            let (sent, body) = (Instant::now(), body.clone());
            plans.push(OfPlan { agent, plan, deed, body, sent, told: None, told_at: sent });
            plans.len() - 1
        };
        let told = self.world.http_until(NAME, As::Operator, method, &path, key, is_written.then_some(&body)).await;
        self.world.history.note(NAME, || format!("is told of {place}: {told:?}"));
        let asked = &mut locked(&self.world.ledger).plans[number];
        (asked.told, asked.told_at) = (told.clone(), Instant::now());
        told
    }
}

/// When a plan fires next, as an answer says it.
fn next(plan: &Value) -> Option<Time> {
    plan["nextRunAt"].as_str()?.parse().ok()
}
