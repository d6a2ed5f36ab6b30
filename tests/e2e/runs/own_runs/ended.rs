//! Runs that another run ends: their forms close, and they post nothing.

use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::{
    runs::own_runs::{absorb_all, absorbed, assert_canceled, call_for_each_other_run, run_ids},
    support::{
        model::{Answer, Gate, answer, call, say, say_held, stop},
        routes::triggered_run,
        stack::Stack,
        waiting::{SOON, wait_for},
    },
    tools::forms::scene::{answer_form, approval_call, form_tool},
};

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
    let first = triggered_run(&stack.post(&space, &person, "Deploy").await, &agent).unwrap();
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
async fn a_stopped_run_posts_nothing_more_than_was_shown() {
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
    stack.side_by_side(&agent).await;
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, None).await;
    let story =
        triggered_run(&stack.post(&space, &person, "Tell me a story").await, &agent).unwrap();
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
    let mut texts = wait_for("the partial message", SOON, async || {
        Some(stack.texts(&space).await).filter(|texts| texts.len() == 4)
    })
    .await;
    gate.open();
    stack.quiet(&space).await;
    texts[2..].sort();
    assert_eq!(texts, ["Tell me a story", "Stop it", "Once upon", "Stopped: true"]);
}

#[tokio::test]
async fn an_agent_can_end_only_its_own_active_runs() {
    let stack = Stack::start().await;
    let missing = "run_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let known = Arc::new(Mutex::new(Vec::<String>::new()));
    let runs = Arc::clone(&known);
    stack.model.answers("bea", |_| stop());
    stack.model.answers("ada", move |request| {
        match (request.trigger_text().as_str(), request.step()) {
            ("try", 0) => return call("get_my_runs", json!({"limit": 1})).into(),
            ("try", 1) => {}
            _ => return stop(),
        }
        let own = run_ids(request.results()[0].as_str().unwrap().lines()).remove(0);
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
    stack.side_by_side(&agent).await;
    let bea = stack.agent("Bea", &stack.model.name("bea")).await;
    let other = stack.space("Other", &[&person, &bea]).await;
    let theirs = triggered_run(&stack.post(&other, &person, "hello").await, &bea).unwrap();
    let ended = triggered_run(&stack.post(&space, &person, "hello").await, &agent).unwrap();
    for space in [&space, &other] {
        stack.quiet(space).await;
    }
    let before = stack.run(&theirs).await;
    known.lock().unwrap().extend([theirs.clone(), ended]);
    stack.post(&space, &person, "try").await;
    stack.quiet(&space).await;
    let results = stack.model.requests("ada").last().unwrap().results();
    let errors: Vec<_> =
        results[1..].iter().map(|result| result["error"].as_str().unwrap_or_default()).collect();
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
