//! The operator: makes plans for agents, changes, pauses and deletes them, runs them by hand,
//! pauses agents for a while, repeats and forks runs, and invites guests.
//!
//! `requests` has the requests that these actions send.

mod requests;

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use smartspace_domain::{Time, ids::EntityId, runs::RunStatus};
use tokio::time::sleep;

use crate::{
    client::Caller, deployment::Deployment, forks::fork, invites::invite_guests,
    ledger::PlanAction, locked, retries::retry,
};

/// The operator's number among the clients, after all people.
const INDEX: usize = 3;
const NAME: &str = "operator";
/// The schedules of recurring plans.
const CRONS: [&str; 4] = ["* * * * *", "*/2 * * * *", "* * * * *", "1-59/4 * * * *"];
/// The longest time that the operator waits for a plan to be due, to act at that moment.
const LONGEST_WAIT: Duration = Duration::from_mins(3);

pub struct Operator {
    deployment: Arc<Deployment>,
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
    pub fn new(deployment: &Arc<Deployment>) -> Self {
        Self { deployment: Arc::clone(deployment), plans: Vec::new() }
    }

    /// Performs its actions, one after the other.
    pub async fn perform_actions(mut self) -> Self {
        let deployment = Arc::clone(&self.deployment);
        for action in 0..4 + deployment.env.chance.below(NAME, 5) as usize {
            let place = format!("{NAME}/{action}");
            let pause = [0, 5, 20, 60, 100][deployment.env.chance.below(&place, 5) as usize];
            sleep(deployment.env.chance.time(&place, Duration::ZERO, Duration::from_secs(pause)))
                .await;
            if deployment.env.skipped.contains(&(INDEX, action)) {
                continue;
            }
            match deployment.env.chance.below(&place, 100) {
                _ if action == 0 => self.make(&place).await,
                0..35 => self.make(&place).await,
                35..50 => self.change(&place, &self.random_schedule(&place)).await,
                50..70 => {
                    let status = if deployment.env.chance.happens(&place, 600) {
                        "paused"
                    } else {
                        "active"
                    };
                    self.change(&place, &json!({"status": status})).await;
                }
                70..80 => self.delete(&place).await,
                80..88 => self.run(&place).await,
                _ => self.pause_for_a_while(&place).await,
            }
            let place = format!("{place}/retry");
            if deployment.env.chance.happens(&place, 300) {
                self.retry_an_ended_run(&place).await;
            }
            let place = format!("{NAME}/{action}/invite");
            if deployment.env.chance.happens(&place, 150) {
                invite_guests(&deployment, NAME, &place).await;
            }
            let place = format!("{NAME}/{action}/fork");
            if deployment.env.chance.happens(&place, 300) {
                self.fork_a_run(&place).await;
            }
        }
        self
    }

    /// Resumes every agent that it paused.
    pub async fn resume_agents(&self) {
        let agents = locked(&self.deployment.env.ledger).paused.clone();
        for agent in agents {
            self.pause(agent, false).await;
        }
    }

    /// Deletes every existing plan.
    pub async fn delete_plans(&self) {
        let existing: Vec<_> = self
            .deployment
            .env
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
        let chance = &self.deployment.env.chance;
        match chance.below(place, 10) {
            0 => json!({"runAfter": "5 seconds"}),
            1 => json!({"runAfter": "1 minute"}),
            2 => json!({"runAfter": "4 minutes"}),
            3 => json!({"runAfter": "1 hour"}),
            4 => {
                let wait = chance.time(place, Duration::from_secs(1), Duration::from_mins(2));
                json!({"scheduledAt": self.deployment.env.wall() + wait})
            }
            5 => {
                json!({"cron": CRONS[chance.below(place, 4) as usize], "timezone": "Europe/Berlin"})
            }
            _ => json!({"cron": CRONS[chance.below(place, 4) as usize]}),
        }
    }

    async fn make(&mut self, place: &str) {
        let agent = {
            let agents = &locked(&self.deployment.env.ledger).agents;
            agents[self.deployment.env.chance.below(place, agents.len() as u64) as usize].0
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
        let chance = &self.deployment.env.chance;
        let index = chance.below(place, self.plans.len() as u64) as usize;
        let plan = self.plans.get(index)?.clone();
        let agent = plan.agent;
        if chance.happens(place, 600)
            && let Some(page) = self.list_plans(agent).await
        {
            let plans = page["items"].as_array();
            let next = plans
                .into_iter()
                .flatten()
                .find(|listed| listed["id"] == plan.id.as_str())
                .map_or(plan.next, next);
            let wait = next.map_or(Duration::ZERO, |next| next.since(self.deployment.env.wall()));
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

    /// Repeats a run that failed or was canceled, whatever triggered it.
    async fn retry_an_ended_run(&self, place: &str) {
        let chance = &self.deployment.env.chance;
        let status = if chance.happens(&format!("{place}/failed"), 500) {
            RunStatus::Failed
        } else {
            RunStatus::Canceled
        };
        let runs = self.list_runs(Some(status)).await;
        let run = runs.get(chance.below(place, runs.len() as u64) as usize);
        if let Some(run) = run.and_then(|run| run["id"].as_str()) {
            retry(&self.deployment, NAME, Caller::Operator, run, place).await;
        }
    }

    /// Forks a run, whatever became of it.
    async fn fork_a_run(&self, place: &str) {
        let runs = self.list_runs(None).await;
        let run = runs.get(self.deployment.env.chance.below(place, runs.len() as u64) as usize);
        if let Some(run) = run.and_then(|run| run["id"].as_str()) {
            fork(&self.deployment, NAME, run, place).await;
        }
    }

    /// Pauses an agent with a plan, which meanwhile misses its times.
    async fn pause_for_a_while(&mut self, place: &str) {
        let Some(agent) = self.plans.last().map(|plan| plan.agent) else { return };
        locked(&self.deployment.env.ledger).paused.insert(agent);
        self.pause(agent, true).await;
        sleep(self.deployment.env.chance.time(
            place,
            Duration::from_secs(1),
            Duration::from_mins(4),
        ))
        .await;
        self.pause(agent, false).await;
    }
}

/// When a plan fires next, according to an answer.
fn next(plan: &Value) -> Option<Time> {
    plan["nextRunAt"].as_str()?.parse().ok()
}
