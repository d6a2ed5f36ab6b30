//! One agent with the daily plans, and a clock that moves from one time of a plan to the next.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use axum::http::Method;
use serde_json::json;
use smartspace_domain::{
    Time,
    ids::{EntityId, PlanId},
    jobs::TriggerJob,
};
use smartspace_embedded_table::{NAME, client_on};
use smartspace_simulation::{
    chance::Chance, client::Caller, deployment::Deployment, input::Input, oracle::Stored,
    parameters::Parameters, ports::table::SimTable, process::Process, process_life::ProcessLife,
};
use smartspace_store::table::{keys::DUE_PARTS, schema};
use tokio::time::sleep;

use crate::plans::schedules::{DAYS, MINUTE, NEW_YEAR, PLANS};

/// How an alarm rings.
#[derive(Clone, Copy, Debug)]
pub(super) enum Alarm {
    OnTime,
    Early,
    Twice,
    AtTheSameMoment,
    Late(u64),
    /// The alarm is lost, and `sweep` finds the plan.
    Lost,
    Restarted,
}

/// One agent with the four plans, and the process that fires them.
pub(super) struct Year {
    deployment: Arc<Deployment>,
    process: Arc<Process>,
    agent: EntityId,
    plans: Vec<PlanId>,
    /// When each fires next.
    next: BTreeMap<PlanId, Time>,
    rung: Vec<TriggerJob>,
}

impl Year {
    pub(super) async fn begin(seed: u64) -> Self {
        let input = Input { seed, ..Input::default() };
        let deployment = Deployment::with_parameters(&input, Parameters::quiet(), None).unwrap();
        let nobody = Arc::new(ProcessLife::new("fixtures".into()));
        schema::create_table(&client_on(SimTable::new(Arc::clone(&deployment.env), nobody)), NAME)
            .await
            .unwrap();
        deployment.env.set_clock(NEW_YEAR);
        let process = Process::start(&deployment.env, "p0".into());
        deployment.add_process(Arc::clone(&process));
        let triggers = Arc::clone(&deployment.env.triggers);
        tokio::spawn(Arc::clone(&deployment).deliver(triggers, |process, job, _| async move {
            process.triggers.handle(&job).await
        }));
        let model = json!({"provider": "openai", "name": "chance"});
        let agent = json!({"type": "agent", "name": "Ada", "agent": {"model": model}});
        let agent = make(&deployment, "/v1/entities", agent).await.parse().unwrap();
        let mut year = Self {
            deployment,
            process,
            agent,
            plans: Vec::new(),
            next: BTreeMap::new(),
            rung: Vec::new(),
        };
        for (cron, timezone, _) in PLANS {
            let plan = json!({
                "name": cron, "instruction": "Post it.", "cron": cron, "timezone": timezone,
            });
            year.plans.push(
                make(&year.deployment, &format!("/v1/agents/{agent}/plans"), plan)
                    .await
                    .parse()
                    .unwrap(),
            );
        }
        year.read_next_times().await;
        year
    }

    /// Reads when each plan fires next.
    async fn read_next_times(&mut self) {
        for plan in &self.plans {
            let next = self
                .process
                .triggers
                .pipeline
                .store
                .plans()
                .get(self.agent, *plan)
                .await
                .unwrap()
                .next_run_at
                .unwrap();
            self.next.insert(*plan, next);
        }
    }

    /// Makes all earlier runs not due, so that `sweep` does not requeue them.
    async fn forget_runs(&self) {
        for part in 0..DUE_PARTS {
            let end = NEW_YEAR + MINUTE * (DAYS * 48 * 60);
            for due in self
                .process
                .triggers
                .pipeline
                .store
                .due()
                .candidates(part, end, 1_000)
                .await
                .unwrap()
            {
                if due.pk.starts_with("RUN#") {
                    let key = json!({"PK": {"S": due.pk}, "SK": {"S": due.sk}});
                    let request = json!({
                        "TableName": NAME, "Key": key, "UpdateExpression": "REMOVE due, dueAt",
                    });
                    assert_eq!(
                        self.deployment
                            .env
                            .storage
                            .answer("UpdateItem", request.to_string().as_bytes())
                            .0,
                        200
                    );
                }
            }
        }
    }

    async fn ring(&self, job: &TriggerJob) {
        Box::pin(self.process.triggers.handle(job)).await.unwrap();
    }

    /// Moves the clock to the next time of a plan, and rings the alarm.
    async fn pass_one_time(&mut self, plan: PlanId, alarm: Alarm) {
        let at = self.next[&plan];
        let job = TriggerJob::FirePlan { agent_id: self.agent, plan_id: plan, at };
        if matches!(alarm, Alarm::Lost | Alarm::Restarted) {
            self.forget_runs().await;
        }
        let now = at.max(self.deployment.env.wall());
        match alarm {
            Alarm::Early => {
                self.deployment
                    .env
                    .set_clock((at - Duration::from_mins(7)).max(self.deployment.env.wall()));
                self.ring(&job).await;
                self.deployment.env.set_clock(now);
            }
            Alarm::Late(hours) => self.deployment.env.set_clock(now + MINUTE * (hours as u32 * 60)),
            Alarm::Restarted => {
                self.deployment.env.set_clock(now);
                self.deployment.env.kill(&self.process.life, "at the time of a plan");
                self.process = Process::start(&self.deployment.env, format!("p{at}"));
                self.deployment.add_process(Arc::clone(&self.process));
                self.process.sweep.restart().await.unwrap();
            }
            _ => self.deployment.env.set_clock(now),
        }
        match alarm {
            Alarm::Lost => {
                self.process.sweep.handle().await.unwrap();
                sleep(Duration::from_secs(1)).await;
            }
            Alarm::AtTheSameMoment => {
                tokio::join!(self.ring(&job), self.ring(&job), self.ring(&job));
            }
            Alarm::Twice => {
                self.ring(&job).await;
                self.ring(&job).await;
            }
            _ => self.ring(&job).await,
        }
        self.rung.push(job);
        // One of the earlier alarms rings again.
        let again = self.deployment.env.chance.below("again", self.rung.len() as u64) as usize;
        self.ring(&self.rung[again].clone()).await;
        self.read_next_times().await;
    }

    /// Moves the clock through the first days of the year.
    pub(super) async fn pass(&mut self, days: u32, choose: impl Fn(&Chance) -> Alarm) {
        let end = NEW_YEAR + MINUTE * (days * 24 * 60);
        while let Some((plan, _)) = self
            .next
            .clone()
            .into_iter()
            .filter(|(_, at)| *at < end)
            .min_by_key(|(plan, at)| (*at, *plan))
        {
            let alarm = choose(&self.deployment.env.chance);
            self.pass_one_time(plan, alarm).await;
        }
    }

    /// The times for which each plan fired, with the number of missed times before each.
    pub(super) fn fired(&self) -> Vec<BTreeSet<(Time, u64)>> {
        let stored = Stored::from_items(&self.deployment.env.storage.items());
        let of = |plan: &PlanId| {
            let fired =
                stored.fired.values().filter(|fired| fired["planId"] == plan.to_string().as_str());
            fired
                .map(|fired| {
                    (
                        fired["scheduledAt"].as_str().unwrap().parse().unwrap(),
                        fired["missed"].as_u64().unwrap(),
                    )
                })
                .collect()
        };
        self.plans.iter().map(of).collect()
    }
}

async fn make(deployment: &Arc<Deployment>, path: &str, body: serde_json::Value) -> String {
    let (status, made) = deployment
        .http("operator", Caller::Operator, Method::POST, path, None, Some(&body))
        .await
        .unwrap();
    assert_eq!(status, 201, "{made}");
    made["id"].as_str().unwrap().to_owned()
}
