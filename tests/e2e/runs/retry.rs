//! `POST /v1/runs/{id}/retry`: a person lets an agent answer once more.

use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    model::{Gate, answer, call, http, say, silent, stop, wait},
    routes::{id, triggered_run},
    stack::Stack,
    waiting::SOON,
};

/// Posts a question whose run fails. Returns the message and the run.
async fn failed_run(stack: &Stack, space: &str, person: &str, agent: &str) -> (Value, String) {
    let question = stack.post(space, person, "What is 6 times 7?").await;
    let run = triggered_run(&question, agent).unwrap();
    assert_eq!(stack.ended(&run, SOON).await["status"], "failed");
    (question, run)
}

#[tokio::test]
async fn a_failed_run_is_repeated_once_however_often_it_is_asked_for() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    stack.model.plays("ada", [http(400), say("42").into(), stop()]);
    let (person, agent, space) = stack.pair().await;
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, None).await;
    let (question, first) = failed_run(&stack, &space, &person, &agent).await;

    let me = stack.as_entity(&person);
    let asked = join_all((0..10).map(|_| me.retry(&first))).await;
    let runs: Vec<Value> = asked.into_iter().map(|reply| reply.must_be(202)).collect();
    let retry = id(&runs[0]);
    assert!(runs.iter().all(|run| id(run) == retry), "{runs:?}");
    assert_eq!(runs[0]["retryOf"], first.as_str());
    let ended = stack.ended(&retry, SOON).await;
    assert_eq!(
        (&ended["status"], &ended["trigger"]["messageId"]),
        (&json!("completed"), &question["id"])
    );
    stack.quiet(&space).await;
    assert_eq!(stack.texts(&space).await, ["What is 6 times 7?", "42"]);
    assert_eq!(stack.model.requests("ada").len(), 3);

    assert_eq!(id(&me.retry(&first).await.must_be(202)), retry, "also after its end");
    let completed = me.retry(&retry).await.must_be(409);
    assert!(completed["detail"].as_str().unwrap().ends_with("it completed"), "{completed}");
    let trigger = question["id"].as_str().unwrap();
    let listed: Vec<_> =
        stack.all(&format!("/v1/runs?trigger={trigger}")).await.iter().map(id).collect();
    assert_eq!(listed, [&*retry, &*first]);
    let started =
        socket.frame("run.started", SOON, |frame| frame["run"]["id"] == retry.as_str()).await;
    assert_eq!(started.body["run"]["retryOf"], first.as_str());
}

#[tokio::test]
async fn a_retry_that_fails_is_repeated_by_its_own_id() {
    let stack = Stack::start().await;
    stack.model.plays("ada", [http(400), http(400), say("At last.").into(), stop()]);
    let (person, agent, space) = stack.pair().await;
    let (_, first) = failed_run(&stack, &space, &person, &agent).await;
    let second = id(&stack.retry(&first).await.must_be(202));
    assert_eq!(stack.ended(&second, SOON).await["status"], "failed");
    assert_eq!(id(&stack.retry(&first).await.must_be(202)), second);
    let third = id(&stack.retry(&second).await.must_be(202));
    let third = stack.ended(&third, SOON).await;
    assert_eq!((&third["status"], &third["retryOf"]), (&json!("completed"), &json!(second)));
    assert_eq!(stack.texts(&space).await.len(), 2);
}

#[tokio::test]
async fn a_canceled_run_is_repeated_and_an_active_one_is_not() {
    let stack = Stack::start().await;
    stack.model.plays("ada", [silent(), say("Here I am.").into(), stop()]);
    let (person, agent, space) = stack.pair().await;
    let question = stack.post(&space, &person, "Anyone?").await;
    let run = triggered_run(&question, &agent).unwrap();
    stack.model.nth_request("ada", 1).await;
    let refused = stack.retry(&run).await.must_be(409);
    assert!(refused["detail"].as_str().unwrap().ends_with("it has not ended"), "{refused}");
    stack.cancel(&run).await.must_be(202);
    let retry = id(&stack.retry(&run).await.must_be(202));
    assert_eq!(stack.ended(&retry, SOON).await["status"], "completed");
    assert_eq!(stack.texts(&space).await, ["Anyone?", "Here I am."]);
}

#[tokio::test]
async fn a_retry_passes_the_limits_that_its_trigger_passed() {
    let stack = Stack::start().await;
    stack.model.replies("ada", |_| http(400));
    let (person, agent, space) = stack.pair().await;
    let (_, run) = failed_run(&stack, &space, &person, &agent).await;
    let entity = format!("/v1/entities/{agent}");
    let place = format!("/v1/spaces/{space}");
    let of_agent = |change: Value| (entity.clone(), json!({"agent": change}));
    let of_space = |change: Value| (place.clone(), change);
    for (change, back, status, text) in [
        (
            of_agent(json!({"paused": true})),
            of_agent(json!({"paused": false})),
            409,
            "the agent is paused",
        ),
        (
            of_space(json!({"paused": true})),
            of_space(json!({"paused": false})),
            409,
            "the space is paused",
        ),
        (
            of_space(json!({"budget": {"runsPerMinute": 1}})),
            of_space(json!({"budget": {"runsPerMinute": 120}})),
            429,
            "the space has used up its runs of this minute",
        ),
        (
            of_agent(json!({"budget": {"tokensPerDay": 0}})),
            of_agent(json!({"budget": {"tokensPerDay": null}})),
            429,
            "the budget of the agent",
        ),
    ] {
        stack.patch(&change.0, change.1).await.must_be(200);
        if text.contains("minute") {
            // Another run of the minute, which may be a new one by now.
            stack.post(&space, &person, "And again?").await;
        }
        let refused = stack.retry(&run).await.must_be(status);
        assert!(refused["detail"].as_str().unwrap().starts_with(text), "{refused}");
        stack.patch(&back.0, back.1).await.must_be(200);
    }
    let deep =
        stack.request(Method::POST, &format!("/v1/runs/{run}/retry")).bearer_auth(&stack.key);
    let deep = stack.send(deep.header("smartspace-chain-depth", "99")).await.must_be(409);
    assert!(deep["detail"].as_str().unwrap().starts_with("chain depth 99 is too deep"), "{deep}");
    stack.delete(&format!("{place}/members/{agent}")).await.must_be(204);
    let refused = stack.retry(&run).await.must_be(409);
    assert_eq!(refused["detail"], "the agent is not a member of the space any more");
    stack.delete(&place).await.must_be(204);
    let refused = stack.retry(&run).await.must_be(409);
    assert_eq!(refused["detail"], "what triggered the run is not stored any more");
    stack.delete(&entity).await.must_be(204);
    assert_eq!(stack.retry(&run).await.must_be(409)["detail"], "the agent is retired");
    assert_eq!(stack.retry("run_01ARZ3NDEKTSV4RRFFQ69G5FAV").await.status, 404);
}

#[tokio::test]
async fn a_retry_gets_what_a_plan_or_a_service_said_to_the_first_run() {
    let stack = Stack::start().await;
    stack.model.plays("ada", [http(400), stop(), http(400), stop()]);
    let agent = stack.agent("Ada", &stack.model.name("ada")).await;
    let plan = json!({"name": "Digest", "instruction": "Write the digest.", "cron": "0 9 1 * *"});
    let plans = format!("/v1/agents/{agent}/plans");
    let plan = id(&stack.create(&plans, plan).await.must_be(201));
    let run = id(&stack.create(&format!("{plans}/{plan}/run"), json!({})).await.must_be(202));
    assert_eq!(stack.ended(&run, SOON).await["status"], "failed");
    // The plan is gone, the run keeps what it said.
    stack.delete(&format!("{plans}/{plan}")).await.must_be(204);
    let retry = id(&stack.retry(&run).await.must_be(202));
    let ended = stack.ended(&retry, SOON).await;
    assert_eq!(
        (&ended["status"], &ended["trigger"]["instruction"]),
        (&json!("completed"), &json!("Write the digest."))
    );

    let sent = json!({"service": "ci", "payload": {"build": 7}});
    let received = stack.create(&format!("/v1/agents/{agent}/trigger"), sent).await.must_be(202);
    let run = received["runId"].as_str().unwrap();
    assert_eq!(stack.ended(run, SOON).await["status"], "failed");
    let retry = id(&stack.retry(run).await.must_be(202));
    assert_eq!(stack.ended(&retry, SOON).await["trigger"]["payload"], json!({"build": 7}));
    let listed = stack.all(&format!("/v1/agents/{agent}/runs")).await;
    let triggers: Vec<_> = listed[..2].iter().map(|run| &run["trigger"]).collect();
    let reference = json!({"type": "service", "service": "ci"});
    assert_eq!(triggers, [&reference, &reference]);
    let prompts = stack.model.requests("ada");
    for (first, second) in [(0, 1), (2, 3)] {
        assert_eq!(prompts[first].user().block("TRIGGER"), prompts[second].user().block("TRIGGER"));
    }
}

/// An agent that answers a message after its run for an earlier one has failed.
struct Busy {
    /// Lets the agent end its answer.
    gate: Gate,
    space: String,
    failed: String,
    working: String,
}

impl Busy {
    async fn new(stack: &Stack, mode: &str) -> Self {
        let gate = Gate::closed();
        let held = gate.clone();
        stack.model.answers("ada", move |request| match request.trigger_text().as_str() {
            "fail" if !held.is_open() => http(400),
            "hold" if request.step() == 0 => answer([wait(&held), say("held")]),
            _ if request.step() == 0 => say("answered").into(),
            _ => stop(),
        });
        let person = stack.person("Husam").await;
        let model = json!({"provider": "openai", "name": stack.model.name("ada")});
        let agent = json!({"model": model, "concurrency": {"mode": mode}});
        let agent = stack.agent_with("Ada", agent).await;
        let space = stack.space("Team", &[&person, &agent]).await;
        let failed = triggered_run(&stack.post(&space, &person, "fail").await, &agent).unwrap();
        assert_eq!(stack.ended(&failed, SOON).await["status"], "failed");
        let working = triggered_run(&stack.post(&space, &person, "hold").await, &agent).unwrap();
        gate.reached(1).await;
        Self { gate, space, failed, working }
    }
}

#[tokio::test]
async fn a_retry_waits_for_its_turn_in_the_lane() {
    let stack = Stack::start().await;
    let Busy { gate, space, failed, .. } = Busy::new(&stack, "queue").await;
    let retry = stack.retry(&failed).await.must_be(202);
    assert_eq!(retry["status"], "queued");
    gate.open();
    assert_eq!(stack.ended(&id(&retry), SOON).await["status"], "completed");
    assert_eq!(stack.texts(&space).await, ["fail", "hold", "held", "answered"]);
}

#[tokio::test]
async fn a_retry_does_not_end_before_a_newer_message_that_is_answered() {
    let stack = Stack::start().await;
    let Busy { gate, failed, working, .. } = Busy::new(&stack, "latest").await;
    let refused = stack.retry(&failed).await.must_be(409);
    assert_eq!(refused["detail"], "a newer message of the space is being answered (mode latest)");
    gate.open();
    stack.ended(&working, SOON).await;
    let retry = id(&stack.retry(&failed).await.must_be(202));
    assert_eq!(stack.ended(&retry, SOON).await["status"], "completed");
}

#[tokio::test]
async fn an_agent_sees_that_its_run_repeats_another_one() {
    let stack = Stack::start().await;
    stack
        .model
        .plays("ada", [http(400), call("get_my_runs", json!({"status": "all"})).into(), stop()]);
    let (person, agent, space) = stack.pair().await;
    let (_, first) = failed_run(&stack, &space, &person, &agent).await;
    let retry = id(&stack.retry(&first).await.must_be(202));
    stack.ended(&retry, SOON).await;
    let results = stack.model.requests("ada").pop().unwrap().results();
    let lines: Vec<_> = results[0].as_str().unwrap().lines().collect();
    let [_, this, failed] = lines[..] else { panic!("{lines:?}") };
    assert!(this.contains(&retry) && this.contains(&format!(", repeats {first}, this run")));
    assert!(failed.contains(&first) && !failed.contains("repeats"), "{failed}");
}
