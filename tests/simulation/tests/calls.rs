//! How many calls of the table and the queues a message takes, counted where they leave the process. Every call takes exactly ten milliseconds of
//! virtual time, so how many follow one another shows on the clock.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use axum::http::Method;
use serde_json::json;
use smartspace_simulation::{
    chance::Chance,
    door::As,
    oracle::Kept,
    plan::{Plan, Setup},
    setting,
    world::World,
};
use tokio::time::{Instant, sleep};

const EACH: Duration = Duration::from_millis(10);

/// What a message took.
#[derive(Debug, PartialEq, Eq)]
struct Took {
    /// Calls one after the other, from POST to the model's request.
    in_a_row: u128,
    /// Calls of the table until then.
    of_table: usize,
    /// Calls of the queues until then.
    of_queues: usize,
    /// Calls of the table until the run had ended and everyone was told.
    in_all: usize,
}

/// Posts a message, as the operator or with a token, and counts until everything that it caused is done.
async fn post(world: &Arc<World>, text: &str, token: bool) -> Took {
    let (space, person) = {
        let ledger = world.ledger.lock().unwrap();
        (ledger.spaces[0], ledger.people[0])
    };
    let caller = if token { As::Entity(person) } else { As::Operator };
    sleep(Duration::from_secs(30)).await;
    world.ledger.lock().unwrap().calls.clear();
    let begun = Instant::now();
    let body = json!({"text": text, "senderId": person});
    let answer = world.http("person", caller, Method::POST, &format!("/v1/spaces/{space}/messages"), Some(text), Some(&body)).await;
    assert_eq!(answer.unwrap().0, 201);
    // Before the next sweep.
    sleep(Duration::from_secs(15)).await;
    let calls = world.ledger.lock().unwrap().calls.clone();
    let asked = calls.iter().find(|(_, what)| what == "ask").expect("the model was asked").0;
    let of_table = |what: &str| what.starts_with(char::is_uppercase);
    let of_queue = |what: &str| ["runs", "broadcasts", "triggers"].contains(&what);
    let until = |count: &dyn Fn(&str) -> bool| calls.iter().filter(|(at, what)| *at < asked && count(what)).count();
    Took {
        in_a_row: (asked - begun).as_millis() / EACH.as_millis(),
        of_table: until(&of_table),
        of_queues: until(&of_queue),
        in_all: calls.iter().filter(|(_, what)| of_table(what)).count(),
    }
}

#[tokio::test(start_paused = true)]
async fn four_calls_in_a_row_from_post_to_the_model_five_where_nothing_is_known() {
    let setup = Setup::default();
    let world = World::of(&setup, Plan::quiet(), Chance::new(setup.seed, setup.spared.clone()), Some(EACH)).unwrap();
    setting::set(&world).await.unwrap();
    // A process that knows nothing.
    let process = world.some_process("test").unwrap();
    world.kill(&process.life, "for a fresh one");
    sleep(Duration::from_secs(10)).await;

    let cold = post(&world, "first", false).await;
    let warm = post(&world, "second", false).await;
    let token = post(&world, "third", true).await;
    assert_eq!(cold.in_a_row, 5, "{cold:?}");
    assert_eq!(warm.in_a_row, 4, "{warm:?}");
    // Whether a token's entity is still there is asked first.
    assert_eq!(token.in_a_row, 5, "{token:?}");
    // Batch and transaction, then the claim beside the context's five reads; one more for the token. What the answer makes of it, differs.
    assert!(cold.of_table <= 10 && warm.of_table <= 8 && token.of_table <= 9, "{cold:?} {warm:?} {token:?}");
    assert!(warm.of_queues <= 3, "{warm:?}");
    assert!([&cold, &warm, &token].iter().all(|took| took.in_all <= 26), "{cold:?} {warm:?} {token:?}");
    world.end();
}

/// The tool that the newest run called, where it called one and then nothing more.
fn called(world: &World) -> Option<String> {
    let kept = Kept::of(&world.storage.items());
    // Ids begin with the time.
    let (run, newest) = kept.runs.last_key_value()?;
    let calls: Vec<_> = kept.calls.iter().filter(|((of, ..), _)| of == run).collect();
    let [(_, call)] = calls[..] else { return None };
    (newest["stepCount"] == 2 && call["status"] == "completed").then(|| call["name"].as_str().map(str::to_owned))?
}

#[tokio::test(start_paused = true)]
async fn a_call_that_reaches_outside_is_two_writes_and_its_card_three() {
    let mut took = BTreeMap::new();
    for seed in 1..=50 {
        let setup = Setup { seed, ..Setup::default() };
        let plan = Plan { outside: true, ..Plan::quiet() };
        let world = World::of(&setup, plan, Chance::new(seed, setup.spared.clone()), Some(EACH)).unwrap();
        setting::set(&world).await.unwrap();
        post(&world, "first", false).await;
        let in_all = post(&world, "second", false).await.in_all;
        let calls = world.ledger.lock().unwrap().calls.clone();
        let writes = calls.iter().filter(|(_, what)| ["TransactWriteItems", "UpdateItem"].contains(&what.as_str())).count();
        if let Some(tool) = called(&world) {
            let least = took.entry(tool).or_insert((writes, in_all));
            *least = (*least).min((writes, in_all));
        }
        world.end();
        if ["charge", "order"].iter().all(|tool| took.contains_key(*tool)) {
            break;
        }
    }
    // The message, the count of the run that it wakes, the claim, the answer, the end; and the call: that it began, and its result.
    let (writes, in_all) = took["charge"];
    assert!(writes == 7 && in_all <= 18, "{took:?}");
    // That its card is closed with it is known when the run ends. While its input is written, its agent's place is looked at.
    let (writes, in_all) = took["order"];
    assert!(writes == 8 && in_all <= 28, "{took:?}");
}
