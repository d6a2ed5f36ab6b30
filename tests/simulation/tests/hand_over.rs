//! A run that takes longer than an invocation: a fresh one goes on with it, as often as that takes, and says nothing twice.

use std::time::Duration;

use axum::http::Method;
use serde_json::json;
use smartspace_simulation::{
    chance::Chance,
    door::As,
    ledger::Said,
    oracle::{self, Kept},
    plan::{Plan, Setup},
    setting,
    world::World,
};
use tokio::time::sleep;

/// Every call takes so long that an invocation has time for one answer, and for no second one.
const EACH: Duration = Duration::from_millis(500);

#[tokio::test(start_paused = true)]
async fn fresh_invocations_go_on_until_the_run_has_ended() {
    let (mut handed_over, mut said) = (0, 0);
    for seed in 1..=20 {
        let setup = Setup { seed, ..Setup::default() };
        let plan = Plan { processes: 2, invocation: Duration::from_secs(122), ..Plan::quiet() };
        let world = World::of(&setup, plan, Chance::new(seed, setup.spared.clone()), Some(EACH)).unwrap();
        setting::set(&world).await.unwrap();
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
        let kept = loop {
            sleep(Duration::from_secs(5)).await;
            let kept = Kept::of(&world.storage.items());
            if kept.runs.values().all(|run| run["status"] == "completed") {
                break kept;
            }
        };
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
