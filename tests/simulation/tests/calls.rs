//! Counts the calls of the table and the queues that a message takes.
//!
//! Every call takes exactly ten milliseconds of virtual time, so the clock shows how many calls
//! follow one another.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use axum::http::Method;
use serde_json::json;
use smartspace_simulation::{
    client::Caller,
    deployment::Deployment,
    fixtures,
    input::Input,
    oracle::Stored,
    parameters::{BudgetOf, Parameters, TokenBudget},
};
use tokio::time::{Instant, sleep};

const CALL_LATENCY: Duration = Duration::from_millis(10);

/// The calls that a message took.
#[derive(Debug, PartialEq, Eq)]
struct CallCounts {
    /// Sequential calls, from POST to the request to the model, or to the remote agent.
    in_a_row: u128,
    /// Calls of the table until the request to the model.
    of_table: usize,
    /// Calls of the queues until the request to the model.
    of_queues: usize,
    /// Calls of the table until the run ended and everyone was notified.
    in_all: usize,
}

/// Posts a message, as the operator or with a token, and counts the calls of all work that follows.
async fn post(deployment: &Arc<Deployment>, text: &str, token: bool) -> CallCounts {
    post_to(deployment, text, token, None).await
}

/// The same for a message that replies to another one.
async fn post_to(
    deployment: &Arc<Deployment>,
    text: &str,
    token: bool,
    reply_to: Option<u64>,
) -> CallCounts {
    let (space, person) = {
        let ledger = deployment.env.ledger.lock().unwrap();
        (ledger.spaces[0], ledger.people[0])
    };
    let caller = if token { Caller::Entity(person) } else { Caller::Operator };
    sleep(Duration::from_secs(30)).await;
    deployment.env.ledger.lock().unwrap().calls.clear();
    let begun = Instant::now();
    let mut body = json!({"text": text, "senderId": person});
    if let Some(parent) = reply_to {
        body["replyTo"] = json!(parent);
    }
    let answer = deployment
        .http(
            "person",
            caller,
            Method::POST,
            &format!("/v1/spaces/{space}/messages"),
            Some(text),
            Some(&body),
        )
        .await;
    assert_eq!(answer.unwrap().0, 201);
    // Before the next sweep.
    sleep(Duration::from_secs(15)).await;
    let calls = deployment.env.ledger.lock().unwrap().calls.clone();
    let is_asked = |what: &str| ["ask", "wake"].contains(&what);
    let asked = calls.iter().find(|(_, what)| is_asked(what)).expect("the agent was asked").0;
    let of_table = |what: &str| what.starts_with(char::is_uppercase);
    let of_queue = |what: &str| ["runs", "broadcasts", "triggers"].contains(&what);
    let until = |count: &dyn Fn(&str) -> bool| {
        calls.iter().filter(|(at, what)| *at < asked && count(what)).count()
    };
    CallCounts {
        in_a_row: (asked - begun).as_millis() / CALL_LATENCY.as_millis(),
        of_table: until(&of_table),
        of_queues: until(&of_queue),
        in_all: calls.iter().filter(|(_, what)| of_table(what)).count(),
    }
}

/// A deployment without faults, in which every call takes the same time.
async fn quiet_deployment(seed: u64, parameters: Parameters) -> Arc<Deployment> {
    let input = Input { seed, ..Input::default() };
    let deployment = Deployment::with_parameters(&input, parameters, Some(CALL_LATENCY)).unwrap();
    fixtures::make(&deployment).await.unwrap();
    deployment
}

/// The calls of the first message of a process, of a later one, and of one with a token.
async fn counts(seed: u64, parameters: Parameters) -> [CallCounts; 3] {
    let deployment = quiet_deployment(seed, parameters).await;
    // A process with empty memory.
    let process = deployment.some_process("test").unwrap();
    deployment.env.kill(&process.life, "for a fresh one");
    sleep(Duration::from_secs(10)).await;

    let cold = post(&deployment, "first", false).await;
    let warm = post(&deployment, "second", false).await;
    let token = post(&deployment, "third", true).await;
    deployment.end();
    [cold, warm, token]
}

#[tokio::test(start_paused = true)]
async fn four_sequential_calls_from_post_to_the_model_and_five_in_a_cold_process() {
    let mut least_in_all = [usize::MAX; 3];
    for seed in 0..5 {
        let took = counts(seed, Parameters::quiet()).await;
        // With a token, the API first checks that its entity exists.
        assert_eq!(took.each_ref().map(|took| took.in_a_row), [5, 4, 5], "seed {seed}: {took:?}");
        // A batch and a transaction, then the claim and in parallel the five reads of the context;
        // one more call for the token.
        let [cold, warm, token] = &took;
        assert!(
            cold.of_table <= 10 && warm.of_table <= 8 && token.of_table <= 9,
            "seed {seed}: {took:?}"
        );
        assert!(warm.of_queues <= 3, "seed {seed}: {took:?}");
        for (least, took) in least_in_all.iter_mut().zip(&took) {
            *least = took.in_all.min(*least);
        }
    }
    // The calls after the model's answer depend on the answer, which may post several messages.
    assert!(least_in_all.iter().all(|least| *least <= 26), "{least_in_all:?}");
}

/// The calls and the transactions of a message and its answer, in the usual case.
async fn answered(parameters: impl Fn() -> Parameters) -> (usize, usize) {
    let mut counted = Vec::new();
    for seed in 0..40 {
        let deployment = quiet_deployment(seed, parameters()).await;
        post(&deployment, "first", false).await;
        let took = post(&deployment, "second", false).await;
        if called(&deployment, 1).as_deref() == Some("send_message") {
            let calls = deployment.env.ledger.lock().unwrap().calls.clone();
            let transactions = calls.iter().filter(|(_, what)| what == "TransactWriteItems");
            counted.push((took.in_all, transactions.count()));
        }
        deployment.end();
    }
    counted.sort_unstable();
    // A slow model takes longer than a look at the members and the run holds.
    assert!(counted.len() >= 10, "{counted:?}");
    counted[counted.len() / 2]
}

#[tokio::test(start_paused = true)]
async fn a_message_and_its_answer_with_all_defaults_are_twelve_calls() {
    // The transactions are those of the message, of the claim, and of the answer with which the run
    // ends.
    assert_eq!(answered(Parameters::quiet).await, (12, 3));
}

#[tokio::test(start_paused = true)]
async fn a_gate_costs_nothing_where_only_one_agent_could_answer() {
    assert_eq!(answered(|| Parameters { gate: "shadow", ..Parameters::quiet() }).await, (12, 3));
}

#[tokio::test(start_paused = true)]
#[ignore = "by hand and in the nightly job: tests/run --all"]
async fn a_gate_takes_one_call_more_for_a_message_and_its_answer() {
    let of = |gate| answered(move || Parameters { agents: 2, gate, ..Parameters::quiet() });
    let (without, transactions) = of("off").await;
    assert_eq!(of("shadow").await, (without + 1, transactions));
}

#[tokio::test(start_paused = true)]
async fn a_reply_takes_as_many_calls_as_another_message() {
    for seed in 0..5 {
        let deployment = quiet_deployment(seed, Parameters::quiet()).await;
        post(&deployment, "first", false).await;
        let plain = post(&deployment, "second", false).await;
        let reply = post_to(&deployment, "third", false, Some(1)).await;
        assert_eq!(
            (reply.in_a_row, reply.of_table, reply.of_queues),
            (plain.in_a_row, plain.of_table, plain.of_queues),
            "seed {seed}"
        );
        deployment.end();
    }
}

#[tokio::test(start_paused = true)]
async fn a_gate_takes_one_query_beside_the_batch() {
    let parameters = |gate| Parameters { agents: 2, gate, ..Parameters::quiet() };
    let [cold, without, _] = counts(0, parameters("off")).await;
    let [first, with, _] = counts(0, parameters("shadow")).await;
    assert_eq!((with.in_a_row, with.of_table), (without.in_a_row, without.of_table + 1));
    // No talk is before the first message of a space.
    assert_eq!((first.in_a_row, first.of_table), (cold.in_a_row, cold.of_table));
}

#[tokio::test(start_paused = true)]
async fn a_budget_takes_at_most_one_read_before_the_message_and_one_write_before_the_model() {
    for scope in [BudgetOf::Agents, BudgetOf::Spaces, BudgetOf::Deployment] {
        let budget = Some(TokenBudget { scope, tokens: 1_000_000 });
        let [_, without, _] = counts(0, Parameters::quiet()).await;
        let [_, with, _] = counts(0, Parameters { budget, ..Parameters::quiet() }).await;
        // What the deployment has used is read with the members.
        let reads = u128::from(!matches!(scope, BudgetOf::Deployment));
        assert_eq!(with.in_a_row, without.in_a_row + reads + 1, "{scope:?}: {with:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_remote_agent_is_woken_two_calls_later_than_a_model() {
    let [_, with_model, _] = counts(0, Parameters::quiet()).await;
    let parameters =
        Parameters { agents: 0, remote: true, mode: "parallel", ..Parameters::quiet() };
    let [_, warm, _] = counts(0, parameters).await;
    // Two parts of the prompt side by side, and the transaction that hands the run on.
    assert_eq!(warm.in_a_row, with_model.in_a_row + 2, "{warm:?}");
    assert_eq!(warm.of_table, with_model.of_table + 3, "{warm:?}");
    assert_eq!(warm.of_queues, with_model.of_queues, "{warm:?}");
}

/// The tool of the newest run, if the run made so many steps and one call only.
fn called(deployment: &Deployment, steps: u32) -> Option<String> {
    let stored = Stored::from_items(&deployment.env.storage.items());
    // Ids start with the time, so the last one is the newest.
    let (run, newest) = stored.runs.last_key_value()?;
    let calls: Vec<_> = stored.calls.iter().filter(|((of, ..), _)| of == run).collect();
    let [(_, call)] = calls[..] else { return None };
    (newest["stepCount"] == steps && call["status"] == "completed")
        .then(|| call["name"].as_str().map(str::to_owned))?
}

#[tokio::test(start_paused = true)]
#[ignore = "by hand and in the nightly job: tests/run --all"]
async fn an_external_call_is_two_writes_and_with_a_card_three() {
    let mut took = BTreeMap::new();
    for seed in 1..=200 {
        let deployment =
            quiet_deployment(seed, Parameters { outside: true, ..Parameters::quiet() }).await;
        post(&deployment, "first", false).await;
        let in_all = post(&deployment, "second", false).await.in_all;
        let calls = deployment.env.ledger.lock().unwrap().calls.clone();
        let writes = calls
            .iter()
            .filter(|(_, what)| ["TransactWriteItems", "UpdateItem"].contains(&what.as_str()))
            .count();
        if let Some(tool) = called(&deployment, 2) {
            let least = took.entry(tool).or_insert((writes, in_all));
            *least = (*least).min((writes, in_all));
        }
        deployment.end();
        if ["charge", "order"].iter().all(|tool| took.contains_key(*tool)) {
            break;
        }
    }
    // The message, the count of the triggered run, the claim, the answer and the end; and for the
    // call its beginning and its result.
    let (writes, in_all) = took["charge"];
    assert!(writes == 7 && in_all <= 18, "{took:?}");
    // The end of the run knows that the card was closed with its call. While the input streams, the
    // agent's membership is checked.
    let (writes, in_all) = took["order"];
    assert!(writes == 8 && in_all <= 28, "{took:?}");
}
