//! Requeueing of a run that takes longer than an invocation: the next invocation resumes it, sends
//! no message twice, and asks no model more often.

use std::{sync::Arc, time::Duration};

use axum::http::Method;
use serde_json::{Value, json};
use smartspace_embedded_table::NAME;
use smartspace_simulation::{
    chance::Chance,
    client::Caller,
    fault_rates::FaultRates,
    ledger::SentMessage,
    oracle::{self, Stored},
    plan::Plan,
    setting,
    setup::Setup,
    world::World,
};
use tokio::time::sleep;

/// Every call takes so long that an invocation has time for only one answer.
const CALL_LATENCY: Duration = Duration::from_millis(500);

/// The error of a run that can't resume.
const EXPIRED: &str =
    "the run waited too long: its stored steps expired; resuming would repeat work";

async fn set(seed: u64, plan: Plan) -> Arc<World> {
    let setup = Setup { seed, ..Setup::default() };
    let world = World::with_plan(
        &setup,
        plan,
        Chance::new(seed, setup.suppressed.clone()),
        Some(CALL_LATENCY),
    )
    .unwrap();
    setting::set(&world).await.unwrap();
    world
}

/// Sends a message that triggers the agent.
async fn begin(world: &Arc<World>) {
    let (space, person) = {
        let ledger = world.env.ledger.lock().unwrap();
        (ledger.spaces[0], ledger.people[0])
    };
    let path = format!("/v1/spaces/{space}/messages");
    let body = json!({"text": "Begin.", "senderId": person});
    let answer =
        world.http("person", Caller::Operator, Method::POST, &path, None, Some(&body)).await;
    let (status, made) = answer.unwrap();
    assert_eq!(status, 201);
    let accepted = made["id"].as_str().map(str::to_owned).zip(made["seq"].as_u64());
    world.env.ledger.lock().unwrap().sent_messages.push(SentMessage {
        person,
        space,
        text: "Begin.".into(),
        accepted,
    });
}

/// Waits until every run has ended.
async fn ended(world: &World) -> Stored {
    loop {
        sleep(Duration::from_secs(5)).await;
        let stored = Stored::from_items(&world.env.storage.items());
        if stored.runs.values().all(|run| run["status"] == "completed" || run["status"] == "failed")
        {
            return stored;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn further_invocations_resume_a_run_until_it_ends() {
    let mut handed_over = 0;
    let mut said = 0;
    for seed in 1..=20 {
        let plan = Plan { processes: 2, invocation: Duration::from_secs(122), ..Plan::quiet() };
        let world = set(seed, plan).await;
        begin(&world).await;
        let stored = ended(&world).await;
        assert_eq!(oracle::judge(&world.env, &[]), [].into(), "seed {seed}");
        for run in stored.runs.values() {
            // Each answer ends an invocation, and no lease was lost.
            assert_eq!(
                (&run["attempt"], &run["claims"]),
                (&json!(1), &json!(run["stepCount"].as_u64().unwrap().max(1))),
                "seed {seed}: {run}"
            );
            handed_over += usize::from(run["claims"].as_u64() > Some(1));
        }
        said += stored.all_messages().filter(|(_, message)| !message["runId"].is_null()).count();
        world.end();
    }
    assert!(
        handed_over >= 10 && said >= 10,
        "{handed_over} runs of 20 were requeued, {said} messages sent"
    );
}

#[tokio::test(start_paused = true)]
async fn an_invocation_without_time_for_a_retry_requeues_with_the_failed_tries() {
    let mut in_full = 0;
    for seed in 1..=20 {
        // Not even a new invocation has time for a whole answer.
        let plan = Plan {
            invocation: Duration::from_secs(119),
            fault_rates: FaultRates { model: 100_000, ..FaultRates::default() },
            ..Plan::quiet()
        };
        let world = set(seed, plan).await;
        let agent = world.env.ledger.lock().unwrap().agents[0].0;
        let fallback = ["second", "third"].map(|name| json!({"provider": "openai", "name": name}));
        let path = format!("/v1/entities/{agent}");
        let body = json!({"agent": {"model": {"fallback": fallback}}});
        assert_eq!(
            world
                .http("operator", Caller::Operator, Method::PATCH, &path, None, Some(&body))
                .await
                .unwrap()
                .0,
            200
        );
        // Every model fails, each time in another way.
        world.env.chance.set_calm(false);
        begin(&world).await;
        let stored = ended(&world).await;
        let run = stored.runs.values().next().unwrap();
        let asked: Vec<_> = world
            .env
            .ledger
            .lock()
            .unwrap()
            .model_requests
            .iter()
            .map(|ask| (ask.model.clone(), ask.sent))
            .collect();
        let models: Vec<_> = asked.iter().map(|(model, _)| model.as_str()).collect();
        let first = models.len().saturating_sub(2);
        assert!((1..=4).contains(&first), "seed {seed}: {models:?}");
        assert_eq!(
            models,
            [vec!["chance"; first], vec!["second", "third"]].concat(),
            "seed {seed}"
        );
        assert_eq!(
            (&run["status"], &run["attempt"], &run["claims"]),
            (&json!("failed"), &json!(1), &json!(models.len())),
            "seed {seed}: {run}"
        );
        for (pair, least) in asked[..first].windows(2).zip([250, 500, 1000]) {
            assert!(
                pair[1].1 - pair[0].1 >= Duration::from_millis(least),
                "seed {seed}: {asked:?}"
            );
        }
        in_full += usize::from(first == 4);
        world.end();
    }
    assert!(in_full >= 5, "{in_full} of 20 first models were retried three times");
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_first_steps_expired_does_not_repeat_them() {
    let mut forgotten = 0;
    for (seed, dropped) in (1..=20).zip(["PROMPT", "STEP#000", "STEP#001"].into_iter().cycle()) {
        let world = set(seed, Plan { invocation: Duration::from_secs(122), ..Plan::quiet() }).await;
        begin(&world).await;
        let steps = if dropped == "STEP#001" { 2 } else { 1 };
        let is_over =
            |run: &Value| run["status"] == "completed" || run["stepCount"].as_u64() >= Some(steps);
        let run = loop {
            sleep(Duration::from_millis(100)).await;
            let runs = Stored::from_items(&world.env.storage.items()).runs;
            if let Some((id, _)) = runs.iter().find(|(_, run)| is_over(run)) {
                break id.clone();
            }
        };
        let key = json!({"PK": {"S": format!("RUN#{run}")}, "SK": {"S": dropped}});
        let request = json!({"TableName": NAME, "Key": key}).to_string();
        assert_eq!(world.env.storage.answer("DeleteItem", request.as_bytes()).0, 200);
        let stored = ended(&world).await;
        let asked = world.env.ledger.lock().unwrap().model_requests.len() as u64;
        if stored.runs[&run]["status"] == "failed" {
            let steps = stored.runs[&run]["stepCount"].as_u64().unwrap();
            let error = world
                .env
                .storage
                .items()
                .into_iter()
                .find(|item| item["PK"] == format!("RUN#{run}") && item["SK"] == "ERROR")
                .unwrap();
            assert_eq!(
                (&error["code"], &error["message"], asked),
                (&json!("internal"), &json!(EXPIRED), steps),
                "seed {seed}"
            );
            forgotten += 1;
        }
        world.end();
    }
    assert!(forgotten >= 8, "{forgotten} runs of 20 had lost a step");
}
