//! Requeueing of a run that takes longer than an invocation: the next invocation resumes it, sends
//! no message twice, and asks no model more often.

use std::{sync::Arc, time::Duration};

use axum::http::Method;
use serde_json::{Value, json};
use smartspace_embedded_table::NAME;
use smartspace_simulation::{
    client::Caller,
    deployment::Deployment,
    fault_rates::FaultRates,
    fixtures,
    input::Input,
    ledger::SentMessage,
    oracle::{self, Stored},
    parameters::Parameters,
};
use tokio::time::sleep;

/// Every call takes so long that an invocation has time for only one answer.
const CALL_LATENCY: Duration = Duration::from_millis(500);

/// The error of a run that can't resume.
const EXPIRED: &str =
    "the run waited too long: its stored steps expired; resuming would repeat work";

/// Agents whose runs go on after their messages.
fn several_steps() -> Parameters {
    Parameters { ends_after_send: false, ..Parameters::quiet() }
}

async fn set(seed: u64, parameters: Parameters) -> Arc<Deployment> {
    let input = Input { seed, ..Input::default() };
    let deployment = Deployment::with_parameters(&input, parameters, Some(CALL_LATENCY)).unwrap();
    fixtures::make(&deployment).await.unwrap();
    deployment
}

/// Sends a message that triggers the agent.
async fn begin(deployment: &Arc<Deployment>) {
    let (space, person) = {
        let ledger = deployment.env.ledger.lock().unwrap();
        (ledger.spaces[0], ledger.people[0])
    };
    let path = format!("/v1/spaces/{space}/messages");
    let body = json!({"text": "Begin.", "senderId": person});
    let answer =
        deployment.http("person", Caller::Operator, Method::POST, &path, None, Some(&body)).await;
    let (status, made) = answer.unwrap();
    assert_eq!(status, 201);
    let accepted = made["id"].as_str().map(str::to_owned).zip(made["seq"].as_u64());
    deployment.env.ledger.lock().unwrap().sent_messages.push(SentMessage {
        person,
        space,
        text: "Begin.".into(),
        accepted,
    });
}

/// Waits until every run has ended.
async fn ended(deployment: &Deployment) -> Stored {
    loop {
        sleep(Duration::from_secs(5)).await;
        let stored = Stored::from_items(&deployment.env.storage.items());
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
        let parameters =
            Parameters { processes: 2, invocation: Duration::from_secs(122), ..several_steps() };
        let deployment = set(seed, parameters).await;
        begin(&deployment).await;
        let stored = ended(&deployment).await;
        assert_eq!(oracle::judge(&deployment.env, &[]), [].into(), "seed {seed}");
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
        deployment.end();
    }
    assert!(
        handed_over >= 10 && said >= 10,
        "{handed_over} runs of 20 were requeued, {said} messages sent"
    );
}

/// The requests in rounds, each through all models.
///
/// If the last model says that the prompt is too long, all are asked again with a shorter one,
/// twice at most.
fn checked_rounds<'a>(models: &'a [&'a str], seed: u64) -> Vec<&'a [&'a str]> {
    let rounds: Vec<_> = models.split_inclusive(|model| *model == "third").collect();
    assert!((1..=3).contains(&rounds.len()), "seed {seed}: {models:?}");
    for round in &rounds {
        let first = round.len().saturating_sub(2);
        assert!((1..=4).contains(&first), "seed {seed}: {models:?}");
        let expected = [vec!["chance"; first], vec!["second", "third"]].concat();
        assert_eq!(*round, expected, "seed {seed}");
    }
    rounds
}

#[tokio::test(start_paused = true)]
async fn an_invocation_without_time_for_a_retry_requeues_with_the_failed_tries() {
    let mut in_full = 0;
    let mut shortened = 0;
    for seed in 1..=20 {
        // Not even a new invocation has time for a whole answer.
        let parameters = Parameters {
            invocation: Duration::from_secs(119),
            fault_rates: FaultRates { model: 100_000, ..FaultRates::default() },
            ..several_steps()
        };
        let deployment = set(seed, parameters).await;
        let agent = deployment.env.ledger.lock().unwrap().agents[0].0;
        let fallback = ["second", "third"].map(|name| json!({"provider": "openai", "name": name}));
        let path = format!("/v1/entities/{agent}");
        let body = json!({"agent": {"model": {"fallback": fallback}}});
        assert_eq!(
            deployment
                .http("operator", Caller::Operator, Method::PATCH, &path, None, Some(&body))
                .await
                .unwrap()
                .0,
            200
        );
        // Every model fails, each time in another way.
        deployment.env.chance.set_calm(false);
        begin(&deployment).await;
        let stored = ended(&deployment).await;
        let run = stored.runs.values().next().unwrap();
        let asked: Vec<_> = deployment
            .env
            .ledger
            .lock()
            .unwrap()
            .model_requests
            .iter()
            .map(|ask| (ask.model.clone(), ask.sent))
            .collect();
        let models: Vec<_> = asked.iter().map(|(model, _)| model.as_str()).collect();
        let rounds = checked_rounds(&models, seed);
        let first = rounds[0].len() - 2;
        shortened += usize::from(rounds.len() > 1);
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
        deployment.end();
    }
    assert!(in_full >= 5, "{in_full} of 20 first models were retried three times");
    assert!((1..10).contains(&shortened), "{shortened} of 20 prompts were shortened");
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_first_steps_expired_does_not_repeat_them() {
    let mut forgotten = 0;
    for (seed, dropped) in (1..=20).zip(["PROMPT", "STEP#000", "STEP#001"].into_iter().cycle()) {
        let deployment =
            set(seed, Parameters { invocation: Duration::from_secs(122), ..several_steps() }).await;
        begin(&deployment).await;
        let steps = if dropped == "STEP#001" { 2 } else { 1 };
        let is_over =
            |run: &Value| run["status"] == "completed" || run["stepCount"].as_u64() >= Some(steps);
        let run = loop {
            sleep(Duration::from_millis(100)).await;
            let runs = Stored::from_items(&deployment.env.storage.items()).runs;
            if let Some((id, _)) = runs.iter().find(|(_, run)| is_over(run)) {
                break id.clone();
            }
        };
        let key = json!({"PK": {"S": format!("RUN#{run}")}, "SK": {"S": dropped}});
        let request = json!({"TableName": NAME, "Key": key}).to_string();
        assert_eq!(deployment.env.storage.answer("DeleteItem", request.as_bytes()).0, 200);
        let stored = ended(&deployment).await;
        let asked = deployment.env.ledger.lock().unwrap().model_requests.len() as u64;
        if stored.runs[&run]["status"] == "failed" {
            let steps = stored.runs[&run]["stepCount"].as_u64().unwrap();
            let error = deployment
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
        deployment.end();
    }
    assert!(forgotten >= 8, "{forgotten} runs of 20 had lost a step");
}
