//! A run that takes longer than an invocation: a fresh one goes on with it, as often as that takes, says nothing twice, and asks no model more often.

use std::{sync::Arc, time::Duration};

use axum::http::Method;
use serde_json::{Value, json};
use smartspace::embedded_table::NAME;
use smartspace_simulation::{
    chance::Chance,
    door::As,
    ledger::Said,
    oracle::{self, Kept},
    plan::{Plan, Setup, Weather},
    setting,
    world::World,
};
use tokio::time::sleep;

/// Every call takes so long that an invocation has time for one answer, and for no second one.
const EACH: Duration = Duration::from_millis(500);

async fn set(seed: u64, plan: Plan) -> Arc<World> {
    let setup = Setup { seed, ..Setup::default() };
    let world = World::of(&setup, plan, Chance::new(seed, setup.spared.clone()), Some(EACH)).unwrap();
    setting::set(&world).await.unwrap();
    world
}

/// Says something that wakes the agent.
async fn begin(world: &Arc<World>) {
    let (space, person) = {
        let ledger = world.ledger.lock().unwrap();
        (ledger.spaces[0], ledger.people[0])
    };
    let (path, body) = (format!("/v1/spaces/{space}/messages"), json!({"text": "Begin.", "senderId": person}));
    let answer = world.http("person", As::Operator, Method::POST, &path, None, Some(&body)).await;
    let (status, made) = answer.unwrap();
    assert_eq!(status, 201);
    let accepted = made["id"].as_str().map(str::to_owned).zip(made["seq"].as_u64());
    world.ledger.lock().unwrap().said.push(Said { person, space, text: "Begin.".into(), accepted });
}

/// What is kept once every run has ended.
async fn ended(world: &World) -> Kept {
    loop {
        sleep(Duration::from_secs(5)).await;
        let kept = Kept::of(&world.storage.items());
        if kept.runs.values().all(|run| run["status"] == "completed" || run["status"] == "failed") {
            return kept;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn fresh_invocations_go_on_until_the_run_has_ended() {
    let (mut handed_over, mut said) = (0, 0);
    for seed in 1..=20 {
        let plan = Plan { processes: 2, invocation: Duration::from_secs(122), ..Plan::quiet() };
        let world = set(seed, plan).await;
        begin(&world).await;
        let kept = ended(&world).await;
        assert_eq!(oracle::judge(&world, &[]), [].into(), "seed {seed}");
        for run in kept.runs.values() {
            // An answer ends an invocation, and nobody lost a lease.
            assert_eq!(
                (&run["attempt"], &run["claims"]),
                (&json!(1), &json!(run["stepCount"].as_u64().unwrap().max(1))),
                "seed {seed}: {run}"
            );
            handed_over += usize::from(run["claims"].as_u64() > Some(1));
        }
        said += kept.all_messages().filter(|(_, message)| !message["runId"].is_null()).count();
        world.end();
    }
    assert!(handed_over >= 10 && said >= 10, "{handed_over} runs of 20 were handed over, {said} messages said");
}

#[tokio::test(start_paused = true)]
async fn an_invocation_without_time_for_another_try_hands_on_what_was_tried() {
    let mut in_full = 0;
    for seed in 1..=20 {
        // Not even a fresh invocation has time for a whole answer.
        let plan =
            Plan { invocation: Duration::from_secs(119), weather: Weather { model: 100_000, ..Weather::default() }, ..Plan::quiet() };
        let world = set(seed, plan).await;
        let agent = world.ledger.lock().unwrap().agents[0].0;
        let fallback = ["second", "third"].map(|name| json!({"provider": "openai", "name": name}));
        let (path, body) = (format!("/v1/entities/{agent}"), json!({"agent": {"model": {"fallback": fallback}}}));
        assert_eq!(world.http("operator", As::Operator, Method::PATCH, &path, None, Some(&body)).await.unwrap().0, 200);
        // Every model fails, each time in another way.
        world.chance.calm(false);
        begin(&world).await;
        let kept = ended(&world).await;
        let run = kept.runs.values().next().unwrap();
        let asked: Vec<_> = world.ledger.lock().unwrap().asks.iter().map(|ask| (ask.model.clone(), ask.sent)).collect();
        let models: Vec<_> = asked.iter().map(|(model, _)| model.as_str()).collect();
        let first = models.len().saturating_sub(2);
        assert!((1..=4).contains(&first), "seed {seed}: {models:?}");
        assert_eq!(models, [vec!["chance"; first], vec!["second", "third"]].concat(), "seed {seed}");
        assert_eq!(
            (&run["status"], &run["attempt"], &run["claims"]),
            (&json!("failed"), &json!(1), &json!(models.len())),
            "seed {seed}: {run}"
        );
        for (pair, least) in asked[..first].windows(2).zip([250, 500, 1000]) {
            assert!(pair[1].1 - pair[0].1 >= Duration::from_millis(least), "seed {seed}: {asked:?}");
        }
        in_full += usize::from(first == 4);
        world.end();
    }
    assert!(in_full >= 5, "of 20 first models {in_full} were asked again three times");
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_first_steps_are_not_kept_any_more_does_them_no_second_time() {
    let mut forgotten = 0;
    for (seed, dropped) in (1..=20).zip(["PROMPT", "STEP#000", "STEP#001"].into_iter().cycle()) {
        let world = set(seed, Plan { invocation: Duration::from_secs(122), ..Plan::quiet() }).await;
        begin(&world).await;
        let steps = if dropped == "STEP#001" { 2 } else { 1 };
        let is_over = |run: &Value| run["status"] == "completed" || run["stepCount"].as_u64() >= Some(steps);
        let run = loop {
            sleep(Duration::from_millis(100)).await;
            let runs = Kept::of(&world.storage.items()).runs;
            if let Some((id, _)) = runs.iter().find(|(_, run)| is_over(run)) {
                break id.clone();
            }
        };
        let key = json!({"PK": {"S": format!("RUN#{run}")}, "SK": {"S": dropped}});
        let request = json!({"TableName": NAME, "Key": key}).to_string();
        assert_eq!(world.storage.answer("DeleteItem", request.as_bytes()).0, 200);
        let kept = ended(&world).await;
        let asked = world.ledger.lock().unwrap().asks.len() as u64;
        if kept.runs[&run]["status"] == "failed" {
            let steps = kept.runs[&run]["stepCount"].as_u64().unwrap();
            let error = world.storage.items().into_iter().find(|item| item["PK"] == format!("RUN#{run}") && item["SK"] == "ERROR").unwrap();
            assert_eq!(
                (&error["code"], &error["message"], asked),
                (
                    &json!("internal"),
                    &json!("the run waited for longer than what it did is kept: going on, it would do the same again"),
                    steps
                ),
                "seed {seed}"
            );
            forgotten += 1;
        }
        world.end();
    }
    assert!(forgotten >= 8, "{forgotten} runs of 20 had forgotten something");
}
