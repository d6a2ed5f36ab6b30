//! How long the items of runs are stored.
//!
//! - If a deployment switches from limited to unlimited retention, prompt parts that new runs share
//!   with old ones must not expire with those.
//! - What a run has done must not expire while the run waits, however often it waits.
//! - What a worker stored before it died is forgotten with the message that it shows.

use std::future::ready;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::{Value, json};
use smartspace_domain::{
    Time,
    agents::ConcurrencyMode,
    ids::{EntityId, LeaseId, MessageId, PlanId, RunId, SpaceId},
    runs::{Usage, UsageByModel},
};
use smartspace_embedded_table::{NAME, client_on};
use smartspace_simulation::{
    deployment::Deployment, input::Input, parameters::Parameters, ports::table::SimTable,
    process_life::ProcessLife,
};
use smartspace_store::{
    Error, Store,
    runs::{
        ActiveCause, ActiveRecord, RunRecord, TriggeredBy,
        claims::Claim,
        forgetting::{DeletedMessage, Forgetting},
        places::{Passage, Places},
        prompts::PromptRecord,
        steps::{Marks, StepRecord},
    },
    table::schema,
};
use tokio::time::sleep;

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
    let run = queued(store, number).await;
    let lease = LeaseId::new(number);
    let run = claimed(store, &run, &lease, at(1)).await;
    let prompt = prompt_of("What was said.", Places::default());
    store_first_step(store, &run, &lease, &prompt).await.unwrap();
    run
}

async fn queued(store: &Store, number: u128) -> RunRecord {
    let agent = EntityId::new(at(0), 1);
    let triggered_by = TriggeredBy::Plan { plan_id: PlanId::new(at(0), 2), scheduled_at: at(0) };
    let run = RunRecord::queued(RunId::new(at(0), number), agent, triggered_by, 0, at(0));
    let active = ActiveRecord::new(&run, ActiveCause::Plan { plan_name: "Report".into() });
    store.runs().create(&run, &active, ConcurrencyMode::Parallel, None, at(0)).await.unwrap();
    run
}

/// The run, claimed by a worker with this lease.
async fn claimed(store: &Store, run: &RunRecord, lease: &LeaseId, now: Time) -> RunRecord {
    let claim = store.runs().claim(&run.to_ref(), lease, now, ready(None)).await.unwrap();
    let Claim::Ours { run, .. } = claim else { panic!("nobody else claims it") };
    *run
}

/// A prompt with a history of one part.
fn prompt_of(text: &str, places: Places) -> PromptRecord {
    let rest = json!({"messages": [{"blocks": []}]});
    let prompt = PromptRecord::new(&["You are Ada.".into()], &rest, Marks::new()).unwrap();
    prompt.with_history(vec![vec![text.into()]]).with_places(vec![places])
}

async fn store_first_step(
    store: &Store,
    run: &RunRecord,
    lease: &LeaseId,
    prompt: &PromptRecord,
) -> Result<(), Error> {
    let step: StepRecord = serde_json::from_value(json!({
        "index": 0, "attempt": 1, "streamAttempt": 1, "lease": lease, "model": "scripted/m",
        "text": "", "calls": [], "systemMessages": [], "finishReason": "stop",
        "usage": Usage::default(), "startedAt": at(1), "firstTokenAt": null, "finishedAt": at(2),
    }))
    .unwrap();
    store.steps().store_step(run, &step, Some(prompt), &UsageByModel::default(), at(2)).await
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

/// How many stored parts of prompts show this message.
fn parts_with(deployment: &Deployment, seq: u64) -> usize {
    let items = deployment.env.storage.items().into_iter();
    let shows = |item: &Value| {
        let places: Places = serde_json::from_value(item["places"].clone()).unwrap_or_default();
        places.0.iter().any(|place| place.seq == seq)
    };
    items.filter(|item| item["PK"].to_string().contains("PART#") && shows(item)).count()
}

#[tokio::test(start_paused = true)]
async fn a_part_of_a_replaced_prompt_is_forgotten_too() {
    let deployment = deployment().await;
    let space = SpaceId::new(at(0), 3);
    let store = store(&deployment, Some(DAY));
    let run = queued(&store, 5).await;
    let leases = [7, 8, 9].map(LeaseId::new);
    let texts = ["The code is 4711.", "The code is gone.", "The code went."];
    let seqs = [1, 2, 3];
    for (number, ((lease, text), seq)) in (0..).zip(leases.iter().zip(texts).zip(seqs)) {
        let run = claimed(&store, &run, lease, at(1) + number * DAY / 24).await;
        let passage = Passage { at: "/0".into(), space, seq, last: seq, from: 12, to: 16 };
        let prompt = prompt_of(text, Places(vec![passage]));
        let stored = async {
            while parts_with(&deployment, seq) == 0 {
                sleep(Duration::from_micros(100)).await;
            }
        };
        // Two workers die once the part is stored.
        tokio::select! {
            biased;
            () = stored, if number < 2 => {}
            done = store_first_step(&store, &run, lease, &prompt) => done.unwrap(),
        }
    }
    for seq in seqs {
        assert_eq!(parts_with(&deployment, seq), 1);
        let deleted = DeletedMessage {
            space_id: space,
            seq,
            id: MessageId::new(at(0), 4),
            sender: EntityId::new(at(0), 6),
            run_id: None,
            call: None,
            is_edited: false,
            created_at: at(0),
            deleted_at: at(9),
        };
        let mut forgetting = Forgetting::message(deleted);
        store.runs().forget(&run, &mut forgetting, at(9)).await.unwrap();
        assert_eq!(parts_with(&deployment, seq), 0, "message {seq}");
    }
}
