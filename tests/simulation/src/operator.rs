//! The operator: makes plans for agents, changes, pauses and deletes them, runs them by hand, and
//! pauses agents for a while.

use std::{sync::Arc, time::Duration};

use axum::http::Method;
use serde_json::{Value, json};
use smartspace_domain::{Time, ids::EntityId};
use tokio::time::{Instant, sleep};

use crate::{
    client::Caller,
    ledger::{PlanAction, PlanRequest},
    locked,
    world::World,
};

/// The operator's number among the clients, after all people.
const INDEX: usize = 3;
const NAME: &str = "operator";
/// The schedules of recurring plans.
const CRONS: [&str; 4] = ["* * * * *", "*/2 * * * *", "* * * * *", "1-59/4 * * * *"];
/// The longest time that the operator waits for a plan to be due, to act at that moment.
const LONGEST_WAIT: Duration = Duration::from_mins(3);

/// The operator.
pub struct Operator {
    world: Arc<World>,
    plans: Vec<KnownPlan>,
}

/// A plan that the operator knows.
#[derive(Clone)]
struct KnownPlan {
    agent: EntityId,
    id: String,
    /// When it fires next, according to the last answer.
    next: Option<Time>,
}

impl Operator {
    /// An operator that has done nothing yet.
    pub fn new(world: &Arc<World>) -> Self {
        Self { world: Arc::clone(world), plans: Vec::new() }
    }

    /// Performs its actions, one after the other.
    pub async fn perform_actions(mut self) -> Self {
        let world = Arc::clone(&self.world);
        for action in 0..4 + world.chance.below(NAME, 5) as usize {
            let place = format!("{NAME}/{action}");
            let pause = [0, 5, 20, 60, 100][world.chance.below(&place, 5) as usize];
            sleep(world.chance.time(&place, Duration::ZERO, Duration::from_secs(pause))).await;
            if world.skipped.contains(&(INDEX, action)) {
                continue;
            }
            match world.chance.below(&place, 100) {
                _ if action == 0 => self.make(&place).await,
                0..35 => self.make(&place).await,
                35..50 => self.change(&place, &self.random_schedule(&place)).await,
                50..70 => {
                    let status =
                        if world.chance.happens(&place, 600) { "paused" } else { "active" };
                    self.change(&place, &json!({"status": status})).await;
                }
                70..80 => self.delete(&place).await,
                80..88 => self.run(&place).await,
                _ => self.pause_for_a_while(&place).await,
            }
        }
        self
    }

    /// Resumes every agent that it paused.
    pub async fn resume_agents(&self) {
        let agents = locked(&self.world.ledger).paused.clone();
        for agent in agents {
            self.pause(agent, false).await;
        }
    }

    /// Deletes every existing plan.
    pub async fn delete_plans(&self) {
        let existing: Vec<_> = self
            .world
            .storage
            .plans()
            .into_iter()
            .filter(|(_, noted)| noted.last().is_some_and(|last| last.plan.is_some()))
            .collect();
        for ((agent, plan), _) in existing {
            if let Ok(agent) = agent.parse() {
                self.ask(agent, Some(plan), PlanAction::Drop, json!({}), "the end").await;
            }
        }
    }

    /// Chooses when a plan fires.
    fn random_schedule(&self, place: &str) -> Value {
        let chance = &self.world.chance;
        match chance.below(place, 10) {
            0 => json!({"runAfter": "5 seconds"}),
            1 => json!({"runAfter": "1 minute"}),
            2 => json!({"runAfter": "4 minutes"}),
            3 => json!({"runAfter": "1 hour"}),
            4 => {
                let wait = chance.time(place, Duration::from_secs(1), Duration::from_mins(2));
                json!({"scheduledAt": self.world.wall() + wait})
            }
            5 => {
                json!({"cron": CRONS[chance.below(place, 4) as usize], "timezone": "Europe/Berlin"})
            }
            _ => json!({"cron": CRONS[chance.below(place, 4) as usize]}),
        }
    }

    async fn make(&mut self, place: &str) {
        let agent = {
            let agents = &locked(&self.world.ledger).agents;
            agents[self.world.chance.below(place, agents.len() as u64) as usize].0
        };
        let mut body = self.random_schedule(place);
        body["instruction"] = json!(format!("do {place}"));
        let made = self.ask(agent, None, PlanAction::Make, body, place).await;
        if let Some((201, made)) = made
            && let Some(id) = made["id"].as_str()
        {
            self.plans.push(KnownPlan { agent, id: id.to_owned(), next: next(&made) });
        }
    }

    /// Chooses one of its plans, and often waits for the moment at which it fires. Returns the
    /// plan's index.
    async fn choose_plan(&self, place: &str) -> Option<(usize, KnownPlan)> {
        let chance = &self.world.chance;
        let index = chance.below(place, self.plans.len() as u64) as usize;
        let plan = self.plans.get(index)?.clone();
        let agent = plan.agent;
        if chance.happens(place, 600)
            && let Some((200, page)) = self
                .world
                .http(
                    NAME,
                    Caller::Operator,
                    Method::GET,
                    &format!("/v1/agents/{agent}/plans"),
                    None,
                    None,
                )
                .await
                .ok()
        {
            let plans = page["items"].as_array();
            let next = plans
                .into_iter()
                .flatten()
                .find(|listed| listed["id"] == plan.id.as_str())
                .map_or(plan.next, next);
            let wait = next.map_or(Duration::ZERO, |next| next.since(self.world.wall()));
            if wait <= LONGEST_WAIT {
                sleep(
                    wait.saturating_sub(Duration::from_millis(40))
                        + chance.time(place, Duration::ZERO, Duration::from_millis(300)),
                )
                .await;
            }
        }
        Some((index, plan))
    }

    async fn change(&mut self, place: &str, body: &Value) {
        let Some((index, KnownPlan { agent, id, .. })) = self.choose_plan(place).await else {
            return;
        };
        if let Some((200, plan)) =
            self.ask(agent, Some(id), PlanAction::Change, body.clone(), place).await
        {
            self.plans[index].next = next(&plan);
        }
    }

    async fn delete(&mut self, place: &str) {
        let Some((index, KnownPlan { agent, id, .. })) = self.choose_plan(place).await else {
            return;
        };
        self.plans.remove(index);
        self.ask(agent, Some(id), PlanAction::Drop, json!({}), place).await;
    }

    async fn run(&mut self, place: &str) {
        let Some((_, KnownPlan { agent, id, .. })) = self.choose_plan(place).await else {
            return;
        };
        self.ask(agent, Some(id), PlanAction::Run, json!({}), place).await;
    }

    /// Pauses an agent with a plan, which meanwhile misses its times.
    async fn pause_for_a_while(&mut self, place: &str) {
        let Some(agent) = self.plans.last().map(|plan| plan.agent) else { return };
        locked(&self.world.ledger).paused.insert(agent);
        self.pause(agent, true).await;
        sleep(self.world.chance.time(place, Duration::from_secs(1), Duration::from_mins(4))).await;
        self.pause(agent, false).await;
    }

    async fn pause(&self, agent: EntityId, paused: bool) {
        self.world
            .history
            .note(NAME, || format!("lets {agent} {}", if paused { "rest" } else { "go on" }));
        let body = json!({"agent": {"paused": paused}});
        self.world
            .http_with_retries(
                NAME,
                Caller::Operator,
                Method::PATCH,
                &format!("/v1/entities/{agent}"),
                None,
                Some(&body),
            )
            .await;
    }

    /// Sends a request until its outcome is known, and records the answer.
    async fn ask(
        &self,
        agent: EntityId,
        plan: Option<String>,
        action: PlanAction,
        mut body: Value,
        place: &str,
    ) -> Option<(u16, Value)> {
        let path = format!("/v1/agents/{agent}/plans");
        let named = plan.as_deref().unwrap_or_default();
        let (method, path, key) = match action {
            PlanAction::Make => (Method::POST, path, Some(place)),
            PlanAction::Change => (Method::PUT, format!("{path}/{named}"), None),
            PlanAction::Drop => (Method::DELETE, format!("{path}/{named}"), None),
            PlanAction::Run => (Method::POST, format!("{path}/{named}/run"), Some(place)),
        };
        let is_written = matches!(action, PlanAction::Make | PlanAction::Change);
        if is_written {
            body["name"] = json!(place);
        }
        self.world.history.note(NAME, || format!("asks {action:?} {named} of {agent}: {body}"));
        let number = {
            let plans = &mut locked(&self.world.ledger).plans;
            let sent = Instant::now();
            plans.push(PlanRequest {
                agent,
                plan,
                action,
                body: body.clone(),
                sent,
                answer: None,
                answered_at: sent,
            });
            plans.len() - 1
        };
        let answer = self
            .world
            .http_with_retries(
                NAME,
                Caller::Operator,
                method,
                &path,
                key,
                is_written.then_some(&body),
            )
            .await;
        self.world.history.note(NAME, || format!("is told of {place}: {answer:?}"));
        let asked = &mut locked(&self.world.ledger).plans[number];
        asked.answer.clone_from(&answer);
        asked.answered_at = Instant::now();
        answer
    }
}

/// When a plan fires next, according to an answer.
fn next(plan: &Value) -> Option<Time> {
    plan["nextRunAt"].as_str()?.parse().ok()
}
