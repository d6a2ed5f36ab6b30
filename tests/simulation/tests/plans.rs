//! A year of daily plans, on the simulation's table and clock. They fire exactly as a handwritten
//! table says, which covers the nights when clocks change, even if alarms are late, lost or
//! doubled.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use axum::http::Method;
use serde_json::json;
use smartspace::embedded_table::{NAME, client_on};
use smartspace_domain::{
    Time,
    ids::{EntityId, PlanId},
    jobs::TriggerJob,
};
use smartspace_simulation::{
    chance::Chance,
    client::Caller,
    life::Life,
    oracle::Stored,
    plan::{Plan, Setup},
    process::Process,
    table::SimTable,
    world::World,
};
use smartspace_store::table::{keys::DUE_PARTS, schema};
use tokio::time::sleep;

/// 2026-01-01T00:00:00Z.
const NEW_YEAR: Time = Time::from_millis(1_767_225_600_000);
const DAYS: u32 = 365;
const MINUTE: Duration = Duration::from_mins(1);

/// A plan by its schedule and its time zone. The function says when it fires on a day of 2026
/// (month × 100 + day), in UTC (hours × 100 + minutes).
type Daily = (&'static str, &'static str, fn(u32) -> u32);

const PLANS: [Daily; 4] = [
    ("0 9 * * *", "Europe/Berlin", |date| match date {
        329..1025 => 700,
        _ => 800,
    }),
    ("30 2 * * *", "Europe/Berlin", |date| match date {
        // This night has no 02:30. The plan fires at the end of the gap, at 03:00.
        329 => 100,
        // The night of 25 October has two, and the plan fires at the first.
        330..=1025 => 30,
        _ => 130,
    }),
    ("0 9 * * *", "America/New_York", |date| match date {
        308..1101 => 1300,
        _ => 1400,
    }),
    ("30 2 * * *", "America/New_York", |date| match date {
        308 => 700,
        // The night of 1 November has 01:30 twice, but 02:30 once.
        309..1101 => 630,
        _ => 730,
    }),
];

/// All times of a plan in 2026.
fn table(plan: Daily) -> Vec<Time> {
    let (.., at) = plan;
    let months = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let dates =
        (1..).zip(months).flat_map(|(month, days)| (1..=days).map(move |day| month * 100 + day));
    let moment = |(day, date): (u32, u32)| {
        NEW_YEAR + MINUTE * (day * 24 * 60 + at(date) / 100 * 60 + at(date) % 100)
    };
    (0..DAYS).zip(dates).map(moment).collect()
}

/// What happens to an alarm.
#[derive(Clone, Copy, Debug)]
enum Fate {
    OnTime,
    Early,
    Twice,
    AtTheSameMoment,
    /// The delay in hours.
    Late(u64),
    /// The alarm is lost, and `sweep` finds the plan.
    Lost,
    Restarted,
}

/// One agent with the four plans, and the process that fires them.
struct Year {
    world: Arc<World>,
    process: Arc<Process>,
    agent: EntityId,
    plans: Vec<PlanId>,
    /// When each fires next.
    next: BTreeMap<PlanId, Time>,
    rung: Vec<TriggerJob>,
}

impl Year {
    async fn begin(seed: u64) -> Self {
        let setup = Setup { seed, ..Setup::default() };
        let world = World::with_plan(
            &setup,
            Plan::quiet(),
            Chance::new(seed, setup.suppressed.clone()),
            None,
        )
        .unwrap();
        let nobody = Arc::new(Life::new("setting".into()));
        schema::create_table(&client_on(SimTable::new(Arc::clone(&world), nobody)), NAME)
            .await
            .unwrap();
        world.set_clock(NEW_YEAR);
        let process = Process::start(&world, "p0".into());
        world.add_process(Arc::clone(&process));
        let triggers = Arc::clone(&world.triggers);
        tokio::spawn(triggers.deliver(Arc::clone(&world), |process, job, _| async move {
            process.triggers.handle(&job).await
        }));
        let model = json!({"provider": "openai", "name": "chance"});
        let agent = json!({"type": "agent", "name": "Ada", "agent": {"model": model}});
        let agent = make(&world, "/v1/entities", agent).await.parse().unwrap();
        let mut year = Self {
            world,
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
                make(&year.world, &format!("/v1/agents/{agent}/plans"), plan)
                    .await
                    .parse()
                    .unwrap(),
            );
        }
        year.look().await;
        year
    }

    /// Reads when each plan fires next.
    async fn look(&mut self) {
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
                        self.world.storage.answer("UpdateItem", request.to_string().as_bytes()).0,
                        200
                    );
                }
            }
        }
    }

    async fn ring(&self, job: &TriggerJob) {
        Box::pin(self.process.triggers.handle(job)).await.unwrap();
    }

    /// Moves the clock to the next time of a plan, and treats the plan's alarm.
    async fn go_on(&mut self, plan: PlanId, fate: Fate) {
        let at = self.next[&plan];
        let job = TriggerJob::FirePlan { agent_id: self.agent, plan_id: plan, at };
        if matches!(fate, Fate::Lost | Fate::Restarted) {
            self.forget_runs().await;
        }
        let now = at.max(self.world.wall());
        match fate {
            Fate::Early => {
                self.world.set_clock((at - Duration::from_mins(7)).max(self.world.wall()));
                self.ring(&job).await;
                self.world.set_clock(now);
            }
            Fate::Late(hours) => self.world.set_clock(now + MINUTE * (hours as u32 * 60)),
            Fate::Restarted => {
                self.world.set_clock(now);
                self.world.kill(&self.process.life, "at the time of a plan");
                self.process = Process::start(&self.world, format!("p{at}"));
                self.world.add_process(Arc::clone(&self.process));
                self.process.sweep.restart().await.unwrap();
            }
            _ => self.world.set_clock(now),
        }
        match fate {
            Fate::Lost => {
                self.process.sweep.handle().await.unwrap();
                sleep(Duration::from_secs(1)).await;
            }
            Fate::AtTheSameMoment => {
                tokio::join!(self.ring(&job), self.ring(&job), self.ring(&job));
            }
            Fate::Twice => {
                self.ring(&job).await;
                self.ring(&job).await;
            }
            _ => self.ring(&job).await,
        }
        self.rung.push(job);
        // One of the earlier alarms rings again.
        let again = self.world.chance.below("again", self.rung.len() as u64) as usize;
        self.ring(&self.rung[again].clone()).await;
        self.look().await;
    }

    /// Moves the clock through the year.
    async fn pass(&mut self, fate: impl Fn(&Chance) -> Fate) {
        let end = NEW_YEAR + MINUTE * (DAYS * 24 * 60);
        while let Some((plan, _)) = self
            .next
            .clone()
            .into_iter()
            .filter(|(_, at)| *at < end)
            .min_by_key(|(plan, at)| (*at, *plan))
        {
            let fate = fate(&self.world.chance);
            self.go_on(plan, fate).await;
        }
    }

    /// The times for which each plan fired, with the number of missed times before each.
    fn fired(&self) -> Vec<BTreeSet<(Time, u64)>> {
        let stored = Stored::from_items(&self.world.storage.items());
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

async fn make(world: &Arc<World>, path: &str, body: serde_json::Value) -> String {
    let (status, made) = world
        .http("operator", Caller::Operator, Method::POST, path, None, Some(&body))
        .await
        .unwrap();
    assert_eq!(status, 201, "{made}");
    made["id"].as_str().unwrap().to_owned()
}

#[test]
fn the_table_has_the_nights_when_clocks_change() {
    let at = |plan: usize, text: &str| table(PLANS[plan]).contains(&text.parse().unwrap());
    assert!(
        at(1, "2026-03-28T01:30:00Z")
            && at(1, "2026-03-29T01:00:00Z")
            && at(1, "2026-03-30T00:30:00Z")
    );
    assert!(
        at(1, "2026-10-25T00:30:00Z")
            && !at(1, "2026-10-25T01:30:00Z")
            && at(1, "2026-10-26T01:30:00Z")
    );
    assert!(
        at(3, "2026-03-08T07:00:00Z")
            && at(3, "2026-03-09T06:30:00Z")
            && at(3, "2026-11-01T07:30:00Z")
    );
    assert!(
        at(0, "2026-03-29T07:00:00Z")
            && at(0, "2026-10-25T08:00:00Z")
            && at(2, "2026-03-08T13:00:00Z")
            && at(2, "2026-11-01T14:00:00Z")
    );
}

#[tokio::test(start_paused = true)]
async fn a_year_of_daily_plans_fires_as_the_table_says() {
    let mut year = Year::begin(1).await;
    year.pass(|_| Fate::OnTime).await;
    let expected: Vec<BTreeSet<_>> =
        PLANS.map(|plan| table(plan).into_iter().map(|at| (at, 0)).collect()).into();
    assert_eq!(year.fired(), expected);
}

#[tokio::test(start_paused = true)]
async fn doubled_late_and_lost_alarms_and_restarts_change_no_firing() {
    let mut year = Year::begin(2).await;
    year.pass(|chance| match chance.below("fate", 8) {
        0 => Fate::Early,
        1 => Fate::Twice,
        2 => Fate::AtTheSameMoment,
        // Not so late that the plan misses a time.
        3 => Fate::Late(1 + chance.below("late", 4)),
        4 => Fate::Lost,
        5 => Fate::Restarted,
        _ => Fate::OnTime,
    })
    .await;
    let expected: Vec<BTreeSet<_>> =
        PLANS.map(|plan| table(plan).into_iter().map(|at| (at, 0)).collect()).into();
    assert_eq!(year.fired(), expected);
}

#[tokio::test(start_paused = true)]
async fn a_firing_counts_the_missed_times_before_it() {
    let mut year = Year::begin(3).await;
    year.pass(|chance| match chance.below("fate", 20) {
        0 => Fate::Late(24 * (1 + chance.below("late", 5))),
        1 => Fate::Lost,
        2 => Fate::Restarted,
        _ => Fate::OnTime,
    })
    .await;
    let mut all = 0;
    for (fired, plan) in year.fired().into_iter().zip(PLANS) {
        // A firing stands for the missed times right before it. The last firing may be in the next
        // year.
        let mut times = table(plan).into_iter();
        for (at, missed) in fired {
            let gone_by: Vec<_> = times.by_ref().take(missed as usize).collect();
            all += gone_by.len();
            assert_eq!(
                times.next().unwrap_or(at),
                at,
                "{plan:?}: {missed} missed times, {gone_by:?}"
            );
        }
        assert_eq!(times.next(), None, "{plan:?}");
    }
    assert!(all > 20, "{all} times were missed");
}
