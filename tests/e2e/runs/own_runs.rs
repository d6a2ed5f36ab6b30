//! Concurrent runs of one agent: `stop_run` and `absorb_run`.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::{
    support::{
        model::{Answer, Gate, ModelRequest, answer, call, say, say_held, stop, wait},
        routes::woken,
        stack::Stack,
        waiting::{SOON, wait_for},
    },
    tools::forms::{answer_form, approval_call, form_tool},
};

/// The ids of the agent's other active runs, read from its prompt.
fn other_runs(request: &ModelRequest) -> Vec<String> {
    let prompt = request.user();
    let lines = prompt.block("ACTIVE RUNS");
    let other = |line: &&String| line.contains("run_") && !line.contains("(this run)");
    lines
        .iter()
        .filter(other)
        .map(|line| line.split_whitespace().nth(1).unwrap().to_owned())
        .collect()
}

/// Calls `absorb_run` for each of the agent's other runs.
fn absorb_all(request: &ModelRequest) -> Answer {
    call_for_each_other_run("absorb_run", request)
}

fn call_for_each_other_run(tool: &str, request: &ModelRequest) -> Answer {
    Answer::of(other_runs(request).iter().map(|run| call(tool, json!({"runId": run}))).collect())
}

/// The result of the successful `absorb_run` call.
fn absorbed(request: &ModelRequest) -> Value {
    request
        .results()
        .iter()
        .find(|result| result["success"] == true)
        .map(|result| result["absorbed"].clone())
        .unwrap_or_default()
}

async fn assert_canceled(stack: &Stack, run: &str, reason: &str) {
    let run = stack.ended(run, SOON).await;
    assert_eq!(
        (run["status"].as_str(), run["endReason"].as_str()),
        (Some("canceled"), Some(reason)),
        "{run}"
    );
}

#[tokio::test]
async fn absorbing_a_run_in_time_discards_its_unfinished_message() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    let held = gate.clone();
    stack.model.answers("ada", move |request| {
        match (request.trigger_text().as_str(), request.step()) {
            ("Book a flight to Oslo", 0) => {
                answer([say_held("Booking a fl", &held, "ight to Oslo.")])
            }
            ("Sorry, to Bergen", 0) => absorb_all(request),
            ("Sorry, to Bergen", 1) => {
                let before = absorbed(request);
                say(&format!(
                    "Instead of \"{}\": Bergen.",
                    before["trigger"]["text"].as_str().unwrap()
                ))
                .into()
            }
            _ => stop(),
        }
    });
    let (person, agent, space) = stack.pair().await;
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, None).await;
    let first = woken(&stack.post(&space, &person, "Book a flight to Oslo").await, &agent).unwrap();
    socket
        .shows(&space, "the first words", SOON, |view| {
            (view.live() == ["Booking a fl"]).then_some(())
        })
        .await;
    let second = woken(&stack.post(&space, &person, "Sorry, to Bergen").await, &agent).unwrap();

    assert_canceled(&stack, &first, "absorbed").await;
    let frame =
        socket.frame("run.canceled", SOON, |frame| frame["run"]["id"] == first.as_str()).await.body;
    assert_eq!(frame["by"], second.as_str());
    let started =
        socket.frame("stream.started", SOON, |frame| frame["runId"] == first.as_str()).await.body;
    let ended = socket
        .frame("stream.ended", SOON, |frame| frame["streamId"] == started["streamId"])
        .await
        .body;
    assert_eq!((&ended["reason"], &ended["messageId"]), (&json!("absorbed"), &Value::Null));
    gate.open();
    stack.quiet(&space).await;
    let expected = [
        "Book a flight to Oslo",
        "Sorry, to Bergen",
        "Instead of \"Book a flight to Oslo\": Bergen.",
    ];
    assert_eq!(stack.texts(&space).await, expected, "the absorbed run posted a message");
    assert!(socket.view(&space).live().is_empty());
}

#[tokio::test]
async fn absorbing_a_run_shows_its_finished_actions() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    let held = gate.clone();
    stack.model.answers("ada", move |request| {
        match (request.trigger_text().as_str(), request.step()) {
            ("Book a flight to Oslo", 0) => say("Booked: Oslo.").into(),
            ("Book a flight to Oslo", 1) => answer([wait(&held), say("Have a good trip!")]),
            ("Sorry, to Bergen", 0) => absorb_all(request),
            ("Sorry, to Bergen", 1) => {
                let actions = absorbed(request)["actionsTaken"].clone();
                let done = actions[0]["input"]["text"].as_str().unwrap().to_owned();
                assert_eq!(
                    (&actions[0]["tool"], &actions[0]["output"]["status"]),
                    (&json!("send_message"), &json!("delivered"))
                );
                say(&format!("I had said \"{done}\"; it is Bergen now.")).into()
            }
            _ => stop(),
        }
    });
    let (person, agent, space) = stack.pair().await;
    let first = woken(&stack.post(&space, &person, "Book a flight to Oslo").await, &agent).unwrap();
    gate.reached(1).await;
    stack.post(&space, &person, "Sorry, to Bergen").await;
    assert_canceled(&stack, &first, "absorbed").await;
    gate.open();
    stack.quiet(&space).await;
    let expected = [
        "Book a flight to Oslo",
        "Booked: Oslo.",
        "Sorry, to Bergen",
        "I had said \"Booked: Oslo.\"; it is Bergen now.",
    ];
    assert_eq!(stack.texts(&space).await, expected);
}

#[tokio::test]
async fn one_run_absorbs_the_triggers_of_several_others() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    let held = gate.clone();
    let voting =
        move |request: &ModelRequest| match (request.trigger_text().as_str(), request.step()) {
            ("vote A" | "vote B", 0) => answer([
                wait(&held),
                call("skip_response", json!({"reason": "not all have voted"})),
            ]),
            ("last vote A", 0) => absorb_all(request),
            ("last vote A", 1) => {
                let results = request.results();
                let mut votes: Vec<_> = results
                    .iter()
                    .map(|result| {
                        result["absorbed"]["trigger"]["text"].as_str().unwrap().to_owned()
                    })
                    .collect();
                votes.push(request.trigger_text());
                let of = |option: &str| votes.iter().filter(|vote| vote.ends_with(option)).count();
                say(&format!("A {}, B {}", of("A"), of("B"))).into()
            }
            _ => stop(),
        };
    stack.model.answers("ada", voting);
    let (person, agent, space) = stack.pair().await;
    let mut runs = Vec::new();
    for vote in ["vote A", "vote B"] {
        runs.push(woken(&stack.post(&space, &person, vote).await, &agent).unwrap());
    }
    gate.reached(2).await;
    stack.post(&space, &person, "last vote A").await;
    for run in &runs {
        assert_canceled(&stack, run, "absorbed").await;
    }
    gate.open();
    stack.quiet(&space).await;
    assert_eq!(stack.texts(&space).await, ["vote A", "vote B", "last vote A", "A 2, B 1"]);
}

#[tokio::test]
async fn if_two_runs_absorb_each_other_one_wins() {
    for _ in 0..6 {
        let stack = Stack::start().await;
        let gate = Gate::closed();
        let held = gate.clone();
        stack.model.answers("ada", move |request| match request.step() {
            // Each run sees the other before either acts.
            0 => answer([wait(&held), call("get_my_runs", json!({}))]),
            1 => {
                let runs = request.results()[0]["runs"].clone();
                let runs = runs
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter(|run| run["thisRun"] == false && run["status"] == "running");
                Answer::of(
                    runs.map(|run| call("absorb_run", json!({"runId": run["id"]}))).collect(),
                )
            }
            2 => say("I have it all.").into(),
            _ => stop(),
        });
        let (person, agent, space) = stack.pair().await;
        let one = woken(&stack.post(&space, &person, "one").await, &agent).unwrap();
        let other = woken(&stack.post(&space, &person, "other").await, &agent).unwrap();
        gate.reached(2).await;
        gate.open();
        stack.quiet(&space).await;
        let mut ends = Vec::new();
        for run in [&one, &other] {
            let run = stack.run(run).await;
            ends.push((
                run["status"].as_str().unwrap().to_owned(),
                run["endReason"].as_str().unwrap().to_owned(),
            ));
        }
        ends.sort();
        let expected = [
            ("canceled".to_owned(), "absorbed".to_owned()),
            ("completed".to_owned(), "done".to_owned()),
        ];
        assert_eq!(ends, expected);
        let texts = stack.texts(&space).await;
        let posts = texts.iter().filter(|text| *text == "I have it all.").count();
        assert_eq!(posts, 1, "only the winner posts");
    }
}

#[tokio::test]
async fn an_absorbed_run_stays_absorbed_after_a_kill() {
    let Some(mut stack) = Stack::local().await else { return };
    let first_gate = Gate::closed();
    let second_gate = Gate::closed();
    let during_first = first_gate.clone();
    let before_answer = second_gate.clone();
    stack.model.answers("ada", move |request| {
        match (request.trigger_text().as_str(), request.step()) {
            ("first", 0) => answer([wait(&during_first)]),
            ("second", 0) => absorb_all(request),
            ("second", 1) => {
                let before =
                    absorbed(request)["trigger"]["text"].as_str().unwrap_or("nothing").to_owned();
                answer([wait(&before_answer), say(&format!("I took along: {before}"))])
            }
            _ => stop(),
        }
    });
    let (person, agent, space) = stack.pair().await;
    let first = woken(&stack.post(&space, &person, "first").await, &agent).unwrap();
    first_gate.reached(1).await;
    stack.post(&space, &person, "second").await;
    second_gate.reached(1).await;
    stack.kill9();
    first_gate.open();
    second_gate.open();
    stack.restart().await;
    stack.quiet(&space).await;
    assert_eq!(stack.texts(&space).await, ["first", "second", "I took along: first"]);
    assert_canceled(&stack, &first, "absorbed").await;
}

#[tokio::test]
async fn absorbing_a_run_includes_the_runs_that_it_absorbed() {
    let stack = Stack::start().await;
    let one = Gate::closed();
    let two = Gate::closed();
    let first = one.clone();
    let second = two.clone();
    stack.model.answers("ada", move |request| {
        match (request.trigger_text().as_str(), request.step()) {
            ("first", 0) => answer([wait(&first)]),
            ("second" | "third", 0) => absorb_all(request),
            ("second", 1) => answer([wait(&second)]),
            ("third", 1) => {
                let inherited = absorbed(request);
                let of_second = &inherited["actionsTaken"][0];
                assert_eq!(
                    (&inherited["trigger"]["text"], &of_second["tool"]),
                    (&json!("second"), &json!("absorb_run"))
                );
                say(&format!("I have {}", of_second["output"]["absorbed"]["trigger"]["text"]))
                    .into()
            }
            _ => stop(),
        }
    });
    let (person, agent, space) = stack.pair().await;
    let mut runs = Vec::new();
    for (text, gate) in [("first", Some(&one)), ("second", Some(&two)), ("third", None)] {
        runs.push(woken(&stack.post(&space, &person, text).await, &agent).unwrap());
        if let Some(gate) = gate {
            gate.reached(1).await;
        }
    }
    assert_canceled(&stack, &runs[0], "absorbed").await;
    assert_canceled(&stack, &runs[1], "absorbed").await;
    stack.ended(&runs[2], SOON).await;
    one.open();
    two.open();
    stack.quiet(&space).await;
    assert_eq!(stack.texts(&space).await.last().unwrap(), "I have \"first\"");
}

#[tokio::test]
async fn an_absorbed_run_closes_its_forms() {
    let stack = Stack::start().await;
    stack.model.answers("ada", |request| match (request.trigger_text().as_str(), request.step()) {
        ("Deploy", 0) => approval_call(),
        ("Never mind", 0) => absorb_all(request),
        _ => stop(),
    });
    let person = stack.person("Husam").await;
    let model = json!({"provider": "openai", "name": stack.model.name("ada")});
    let form = form_tool("getApproval", json!({"ui": "buttons"}));
    let agent = stack.agent_with("Ada", json!({"model": model, "tools": [form]})).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, None).await;
    let first = woken(&stack.post(&space, &person, "Deploy").await, &agent).unwrap();
    let form = socket.frame("tool.requested", SOON, |_| true).await.body;
    wait_for("the run waits for the form", SOON, async || {
        (stack.run(&first).await["status"] == "waiting_tool").then_some(())
    })
    .await;
    stack.post(&space, &person, "Never mind").await;
    assert_canceled(&stack, &first, "absorbed").await;
    socket.frame("tool.resolved", SOON, |frame| frame["callId"] == form["callId"]).await;
    let late_answer = json!({"output": {"choice": "Approve"}});
    assert_eq!(answer_form(&stack, &form, late_answer).await.status, 409);
    stack.quiet(&space).await;
    let card = stack
        .messages(&space)
        .await
        .into_iter()
        .find(|message| message["id"] == form["messageId"])
        .unwrap();
    assert_eq!(card["parts"][0]["status"], "canceled");
    let requests = stack.model.requests("ada");
    let absorbed = requests.iter().map(absorbed).find(|absorbed| !absorbed.is_null()).unwrap();
    assert_eq!(
        (&absorbed["actionsTaken"][0]["tool"], &absorbed["trigger"]["text"]),
        (&json!("getApproval"), &json!("Deploy"))
    );
}

#[tokio::test]
async fn a_stopped_run_posts_nothing() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    let held = gate.clone();
    stack.model.answers("ada", move |request| {
        match (request.trigger_text().as_str(), request.step()) {
            ("Tell me a story", 0) => answer([say_held("Once upon", &held, " a time.")]),
            ("Stop it", 0) => call_for_each_other_run("stop_run", request),
            ("Stop it", 1) => say(&format!("Stopped: {}", request.results()[0]["success"])).into(),
            _ => stop(),
        }
    });
    let (person, agent, space) = stack.pair().await;
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, None).await;
    let story = woken(&stack.post(&space, &person, "Tell me a story").await, &agent).unwrap();
    socket
        .shows(&space, "the beginning of the story", SOON, |view| {
            (view.live() == ["Once upon"]).then_some(())
        })
        .await;
    stack.post(&space, &person, "Stop it").await;
    assert_canceled(&stack, &story, "stop_run").await;
    let frame =
        socket.frame("run.canceled", SOON, |frame| frame["run"]["id"] == story.as_str()).await.body;
    assert!(frame.get("by").is_none(), "only a run.canceled frame of an absorbed run has `by`");
    gate.open();
    stack.quiet(&space).await;
    assert_eq!(stack.texts(&space).await, ["Tell me a story", "Stop it", "Stopped: true"]);
}

#[tokio::test]
async fn an_agent_can_end_only_its_own_active_runs() {
    let stack = Stack::start().await;
    let missing = "run_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let known = Arc::new(Mutex::new(Vec::<String>::new()));
    let runs = Arc::clone(&known);
    stack.model.answers("bea", |_| stop());
    stack.model.answers("ada", move |request| {
        if request.trigger_text() != "try" || request.step() > 0 {
            return stop();
        }
        let own =
            request.user().block("ACTIVE RUNS")[1].split_whitespace().nth(1).unwrap().to_owned();
        let ids =
            [vec!["nonsense".to_owned(), missing.to_owned(), own], runs.lock().unwrap().clone()]
                .concat();
        Answer::of(
            ids.iter()
                .flat_map(|id| {
                    ["stop_run", "absorb_run"].map(|tool| call(tool, json!({"runId": id})))
                })
                .collect(),
        )
    });
    let (person, agent, space) = stack.pair().await;
    let bea = stack.agent("Bea", &stack.model.name("bea")).await;
    let other = stack.space("Other", &[&person, &bea]).await;
    let theirs = woken(&stack.post(&other, &person, "hello").await, &bea).unwrap();
    let ended = woken(&stack.post(&space, &person, "hello").await, &agent).unwrap();
    for space in [&space, &other] {
        stack.quiet(space).await;
    }
    let before = stack.run(&theirs).await;
    known.lock().unwrap().extend([theirs.clone(), ended]);
    stack.post(&space, &person, "try").await;
    stack.quiet(&space).await;
    let results = stack.model.requests("ada").last().unwrap().results();
    let errors: Vec<_> =
        results.iter().map(|result| result["error"].as_str().unwrap_or_default()).collect();
    let expected = [
        "expected an id like run_",
        "you have no such run",
        "that is this run",
        "you have no such run",
        "had ended already",
    ];
    for (pair, expected) in errors.chunks(2).zip(expected) {
        assert!(
            pair.iter().all(|error| error.contains(expected)),
            "the errors lack {expected:?}: {pair:?}"
        );
    }
    assert_eq!(errors.len(), 10);
    stack.quiet(&other).await;
    assert_eq!(stack.run(&theirs).await, before, "the other agent's run changed");
}
