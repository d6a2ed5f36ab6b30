//! How long the items of runs are stored.
//!
//! - If a deployment switches from limited to unlimited retention, prompt parts that new runs share
//!   with old ones must not expire with those.
//! - What a run has done must not expire while the run waits, however often it waits.

use std::future::ready;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::{Value, json};
use smartspace_domain::{
    Time,
    agents::ConcurrencyMode,
    ids::{EntityId, LeaseId, PlanId, RunId},
    runs::{Usage, UsageByModel},
};
use smartspace_embedded_table::{NAME, client_on};
use smartspace_simulation::{
    deployment::Deployment, input::Input, parameters::Parameters, ports::table::SimTable,
    process_life::ProcessLife,
};
use smartspace_store::{
    Store,
    runs::{
        ActiveCause, ActiveRecord, RunRecord, TriggeredBy,
        claims::Claim,
        prompts::PromptRecord,
        steps::{Marks, StepRecord},
    },
    table::schema,
};

const DAY: Duration = Duration::from_hours(24);

fn at(seconds: i64) -> Time {
    Time::from_millis(1_771_427_220_000 + seconds * 1_000)
}

fn store(deployment: &Arc<Deployment>, keep_runs: Option<Duration>) -> Store {
    let client = client_on(SimTable::new(
        Arc::clone(&deployment.env),
        Arc::new(ProcessLife::new("store".into())),
    ));
    Store::new(client, NAME, keep_runs, Arc::new(|| 4))
}

/// Stores a run with one step, whose prompt is the same for all runs.
async fn run(store: &Store, number: u128) -> RunRecord {
    let agent = EntityId::new(at(0), 1);
    let lease = LeaseId::new(number);
    let triggered_by = TriggeredBy::Plan { plan_id: PlanId::new(at(0), 2), scheduled_at: at(0) };
    let run = RunRecord::queued(RunId::new(at(0), number), agent, triggered_by, 0, at(0));
    let active = ActiveRecord::new(&run, ActiveCause::Plan { plan_name: "Report".into() });
    store.runs().create(&run, &active, ConcurrencyMode::Parallel, None, at(0)).await.unwrap();
    let Claim::Ours { run, .. } =
        store.runs().claim(&run.to_ref(), &lease, at(1), ready(None)).await.unwrap()
    else {
        panic!("nobody else claims it")
    };
    let step: StepRecord = serde_json::from_value(json!({
        "index": 0, "attempt": 1, "streamAttempt": 1, "lease": lease, "model": "scripted/m",
        "text": "", "calls": [], "systemMessages": [], "finishReason": "stop",
        "usage": Usage::default(), "startedAt": at(1), "firstTokenAt": null, "finishedAt": at(2),
    }))
    .unwrap();
    let prompt = PromptRecord::new(
        &["You are Ada.".into()],
        &json!({"messages": [{"blocks": []}]}),
        Marks::new(),
    )
    .unwrap();
    let prompt = prompt.with_history(vec![vec!["What was said.".into()]]);
    store
        .steps()
        .store_step(&run, &step, Some(&prompt), &UsageByModel::default(), at(2))
        .await
        .unwrap();
    *run
}

/// A deployment without people, and its table.
async fn deployment() -> Arc<Deployment> {
    let input = Input { seed: 1, ..Input::default() };
    let deployment = Deployment::with_parameters(&input, Parameters::quiet(), None).unwrap();
    schema::create_table(
        &client_on(SimTable::new(
            Arc::clone(&deployment.env),
            Arc::new(ProcessLife::new("fixtures".into())),
        )),
        NAME,
    )
    .await
    .unwrap();
    deployment
}

/// When each prompt part expires.
fn parts(deployment: &Deployment) -> Vec<Value> {
    let items: BTreeMap<_, _> = deployment
        .env
        .storage
        .items()
        .into_iter()
        .map(|item| (item["PK"].to_string(), item))
        .collect();
    items
        .into_iter()
        .filter(|(key, _)| key.contains("PART#"))
        .map(|(_, item)| item["expiresAt"].clone())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn prompt_parts_of_runs_without_expiry_do_not_expire() {
    let deployment = deployment().await;
    run(&store(&deployment, Some(30 * DAY)), 5).await;
    assert!(
        parts(&deployment).len() == 2 && parts(&deployment).iter().all(Value::is_number),
        "{:?}",
        parts(&deployment)
    );
    let unlimited = store(&deployment, None);
    run(&unlimited, 6).await;
    assert_eq!(parts(&deployment), [Value::Null, Value::Null]);
    // A return to limited retention does not change these parts.
    run(&store(&deployment, Some(DAY)), 7).await;
    run(&unlimited, 8).await;
    assert_eq!(parts(&deployment), [Value::Null, Value::Null]);
}

#[tokio::test(start_paused = true)]
async fn the_items_of_a_run_that_waits_several_times_outlive_it() {
    let deployment = deployment().await;
    let store = store(&deployment, Some(DAY));
    let run = run(&store, 5).await;
    let later = at(0) + 20 * DAY;
    store.steps().extend_expiry(&run, later).await.unwrap();
    let until = (later + 8 * DAY).as_seconds();
    let kinds = ["PROMPT", "STEP#000", "PART#"];
    let kept = |kind: &&str| {
        let items = deployment.env.storage.items().into_iter();
        let mut found = items
            .filter(|item| item["SK"] == **kind || item["PK"].to_string().contains(*kind))
            .peekable();
        found.peek().is_some() && found.all(|item| item["expiresAt"].as_i64() >= Some(until))
    };
    assert_eq!(kinds.iter().filter(|kind| kept(kind)).count(), kinds.len());
    // It never shortens a time.
    store.steps().extend_expiry(&run, at(0) + DAY).await.unwrap();
    assert_eq!(kinds.iter().filter(|kind| kept(kind)).count(), kinds.len());
}
