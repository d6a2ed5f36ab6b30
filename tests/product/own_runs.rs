//! Runs of one agent that know of each other: one stops another, or takes its work along.

use serde_json::{Value, json};

use super::{
    forms::{asking, asks_approval, result},
    model::{Answer, Asked, Gate, answer, call, say, say_held, stop, wait},
    routes::woken,
    stack::Stack,
    waiting::{SOON, wait_for},
};

/// The agent's other active runs, as its prompt shows them.
fn others(asked: &Asked) -> Vec<String> {
    let prompt = asked.user();
    let lines = prompt.block("ACTIVE RUNS");
    let other = |line: &&String| line.contains("run_") && !line.contains("(this run)");
    lines.iter().filter(other).map(|line| line.split_whitespace().nth(1).unwrap().to_owned()).collect()
}

/// A call for each of the agent's other runs, then what else is to be done.
fn absorbing_all(asked: &Asked) -> Answer {
    Answer::of(others(asked).iter().map(|run| call("absorb_run", json!({"runId": run}))).collect())
}

/// What absorbing another run showed.
fn absorbed(asked: &Asked) -> Value {
    asked.results().iter().find(|result| result["success"] == true).map(|result| result["absorbed"].clone()).unwrap_or_default()
}

async fn canceled(stack: &Stack, run: &str, reason: &str) {
    let run = stack.ended(run, SOON).await;
    assert_eq!((run["status"].as_str(), run["endReason"].as_str()), (Some("canceled"), Some(reason)), "{run}");
}

#[tokio::test]
async fn a_correction_in_time_is_the_only_thing_that_is_said() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    let held = gate.clone();
    stack.model.answers("ada", move |asked| match (asked.trigger_text().as_str(), asked.step()) {
        ("Book a flight to Oslo", 0) => answer([say_held("Booking a fl", &held, "ight to Oslo.")]),
        ("Sorry, to Bergen", 0) => absorbing_all(asked),
        ("Sorry, to Bergen", 1) => {
            let before = absorbed(asked);
            say(&format!("Instead of \"{}\": Bergen.", before["trigger"]["text"].as_str().unwrap())).into()
        }
        _ => stop(),
    });
    let (person, agent, space) = stack.pair().await;
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, None).await;
    let first = woken(&stack.post(&space, &person, "Book a flight to Oslo").await, &agent).unwrap();
    socket.shows(&space, "the first words", SOON, |view| (view.live() == ["Booking a fl"]).then_some(())).await;
    let second = woken(&stack.post(&space, &person, "Sorry, to Bergen").await, &agent).unwrap();

    canceled(&stack, &first, "absorbed").await;
    let frame = socket.frame("run.canceled", SOON, |frame| frame["run"]["id"] == first.as_str()).await.body;
    assert_eq!(frame["by"], second.as_str());
    let started = socket.frame("stream.started", SOON, |frame| frame["runId"] == first.as_str()).await.body;
    let ended = socket.frame("stream.ended", SOON, |frame| frame["streamId"] == started["streamId"]).await.body;
    assert_eq!((&ended["reason"], &ended["messageId"]), (&json!("absorbed"), &Value::Null));
    gate.open();
    stack.quiet(&space).await;
    let expected = ["Book a flight to Oslo", "Sorry, to Bergen", "Instead of \"Book a flight to Oslo\": Bergen."];
    assert_eq!(stack.texts(&space).await, expected, "nothing of the absorbed run is kept");
    assert!(socket.view(&space).live().is_empty());
}

#[tokio::test]
async fn a_correction_too_late_knows_what_was_done() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    let held = gate.clone();
    stack.model.answers("ada", move |asked| match (asked.trigger_text().as_str(), asked.step()) {
        ("Book a flight to Oslo", 0) => say("Booked: Oslo.").into(),
        ("Book a flight to Oslo", 1) => answer([wait(&held), say("Have a good trip!")]),
        ("Sorry, to Bergen", 0) => absorbing_all(asked),
        ("Sorry, to Bergen", 1) => {
            let actions = absorbed(asked)["actionsTaken"].clone();
            let done = actions[0]["input"]["text"].as_str().unwrap().to_owned();
            assert_eq!((&actions[0]["tool"], &actions[0]["output"]["status"]), (&json!("send_message"), &json!("delivered")));
            say(&format!("I had said \"{done}\"; it is Bergen now.")).into()
        }
        _ => stop(),
    });
    let (person, agent, space) = stack.pair().await;
    let first = woken(&stack.post(&space, &person, "Book a flight to Oslo").await, &agent).unwrap();
    gate.reached(1).await;
    stack.post(&space, &person, "Sorry, to Bergen").await;
    canceled(&stack, &first, "absorbed").await;
    gate.open();
    stack.quiet(&space).await;
    let expected = ["Book a flight to Oslo", "Booked: Oslo.", "Sorry, to Bergen", "I had said \"Booked: Oslo.\"; it is Bergen now."];
    assert_eq!(stack.texts(&space).await, expected);
}

#[tokio::test]
async fn votes_that_come_at_once_are_counted_by_one_run() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    let held = gate.clone();
    let voting = move |asked: &Asked| match (asked.trigger_text().as_str(), asked.step()) {
        ("vote A" | "vote B", 0) => answer([wait(&held), call("skip_response", json!({"reason": "not all have voted"}))]),
        ("last vote A", 0) => absorbing_all(asked),
        ("last vote A", 1) => {
            let results = asked.results();
            let mut votes: Vec<_> =
                results.iter().map(|result| result["absorbed"]["trigger"]["text"].as_str().unwrap().to_owned()).collect();
            votes.push(asked.trigger_text());
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
        canceled(&stack, run, "absorbed").await;
    }
    gate.open();
    stack.quiet(&space).await;
    assert_eq!(stack.texts(&space).await, ["vote A", "vote B", "last vote A", "A 2, B 1"]);
}

#[tokio::test]
async fn of_two_runs_that_absorb_each_other_one_wins() {
    for _ in 0..6 {
        let stack = Stack::start().await;
        let gate = Gate::closed();
        let held = gate.clone();
        stack.model.answers("ada", move |asked| match asked.step() {
            // Both know of each other before either acts.
            0 => answer([wait(&held), call("get_my_runs", json!({}))]),
            1 => {
                let runs = asked.results()[0]["runs"].clone();
                let runs = runs.as_array().unwrap().iter().filter(|run| run["thisRun"] == false && run["status"] == "running");
                Answer::of(runs.map(|run| call("absorb_run", json!({"runId": run["id"]}))).collect())
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
            ends.push((run["status"].as_str().unwrap().to_owned(), run["endReason"].as_str().unwrap().to_owned()));
        }
        ends.sort();
        // Where one was done with its look before the other had begun to run, it has nobody to absorb.
        let won = [("canceled".to_owned(), "absorbed".to_owned()), ("completed".to_owned(), "done".to_owned())];
        assert_eq!(ends, won);
        let said = stack.texts(&space).await.iter().filter(|text| *text == "I have it all.").count();
        assert_eq!(said, 1, "the one that was absorbed says nothing");
    }
}

#[tokio::test]
async fn what_was_absorbed_outlasts_a_kill() {
    let Some(mut stack) = Stack::local().await else { return };
    let (gate, second) = (Gate::closed(), Gate::closed());
    let (held, before_speaking) = (gate.clone(), second.clone());
    stack.model.answers("ada", move |asked| match (asked.trigger_text().as_str(), asked.step()) {
        ("first", 0) => answer([wait(&held)]),
        ("second", 0) => absorbing_all(asked),
        ("second", 1) => {
            let before = absorbed(asked)["trigger"]["text"].as_str().unwrap_or("nothing").to_owned();
            answer([wait(&before_speaking), say(&format!("I took along: {before}"))])
        }
        _ => stop(),
    });
    let (person, agent, space) = stack.pair().await;
    let first = woken(&stack.post(&space, &person, "first").await, &agent).unwrap();
    gate.reached(1).await;
    stack.post(&space, &person, "second").await;
    second.reached(1).await;
    stack.kill9();
    gate.open();
    second.open();
    stack.restart().await;
    stack.quiet(&space).await;
    assert_eq!(stack.texts(&space).await, ["first", "second", "I took along: first"]);
    canceled(&stack, &first, "absorbed").await;
}

#[tokio::test]
async fn who_absorbs_an_absorber_inherits_what_it_inherited() {
    let stack = Stack::start().await;
    let (one, two) = (Gate::closed(), Gate::closed());
    let (first, second) = (one.clone(), two.clone());
    stack.model.answers("ada", move |asked| match (asked.trigger_text().as_str(), asked.step()) {
        ("first", 0) => answer([wait(&first)]),
        ("second" | "third", 0) => absorbing_all(asked),
        ("second", 1) => answer([wait(&second)]),
        ("third", 1) => {
            let inherited = absorbed(asked);
            let of_second = &inherited["actionsTaken"][0];
            assert_eq!((&inherited["trigger"]["text"], &of_second["tool"]), (&json!("second"), &json!("absorb_run")));
            say(&format!("I have {}", of_second["output"]["absorbed"]["trigger"]["text"])).into()
        }
        _ => stop(),
    });
    let (person, agent, space) = stack.pair().await;
    let mut runs = Vec::new();
    for (text, gate) in [("first", Some(&one)), ("second", Some(&two)), ("third", None)] {
        runs.push(woken(&stack.post(&space, &person, text).await, &agent).unwrap());
        if let Some(gate) = gate {
            gate.reached(1).await;
        }
    }
    canceled(&stack, &runs[0], "absorbed").await;
    canceled(&stack, &runs[1], "absorbed").await;
    stack.ended(&runs[2], SOON).await;
    one.open();
    two.open();
    stack.quiet(&space).await;
    assert_eq!(stack.texts(&space).await.last().unwrap(), "I have \"first\"");
}

#[tokio::test]
async fn an_absorbed_run_closes_its_forms_and_nobody_answers_them() {
    let stack = Stack::start().await;
    stack.model.answers("ada", |asked| match (asked.trigger_text().as_str(), asked.step()) {
        ("Deploy", 0) => asks_approval(),
        ("Never mind", 0) => absorbing_all(asked),
        _ => stop(),
    });
    let person = stack.person("Husam").await;
    let model = json!({"provider": "openai", "name": stack.model.name("ada")});
    let agent = stack.agent_with("Ada", json!({"model": model, "tools": [asking("getApproval", json!({"ui": "buttons"}))]})).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, None).await;
    let first = woken(&stack.post(&space, &person, "Deploy").await, &agent).unwrap();
    let form = socket.frame("tool.requested", SOON, |_| true).await.body;
    wait_for("it waits", SOON, async || (stack.run(&first).await["status"] == "waiting_tool").then_some(())).await;
    stack.post(&space, &person, "Never mind").await;
    canceled(&stack, &first, "absorbed").await;
    socket.frame("tool.resolved", SOON, |frame| frame["callId"] == form["callId"]).await;
    assert_eq!(result(&stack, &form, json!({"output": {"choice": "Approve"}})).await.status, 409);
    stack.quiet(&space).await;
    let card = stack.messages(&space).await.into_iter().find(|message| message["id"] == form["messageId"]).unwrap();
    assert_eq!(card["parts"][0]["status"], "canceled");
    let told = stack.model.asked("ada").iter().map(absorbed).find(|absorbed| !absorbed.is_null()).unwrap();
    assert_eq!((&told["actionsTaken"][0]["tool"], &told["trigger"]["text"]), (&json!("getApproval"), &json!("Deploy")));
}

#[tokio::test]
async fn a_stopped_run_says_nothing_more() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    let held = gate.clone();
    stack.model.answers("ada", move |asked| match (asked.trigger_text().as_str(), asked.step()) {
        ("Tell me a story", 0) => answer([say_held("Once upon", &held, " a time.")]),
        ("Stop it", 0) => Answer::of(others(asked).iter().map(|run| call("stop_run", json!({"runId": run}))).collect()),
        ("Stop it", 1) => say(&format!("Stopped: {}", asked.results()[0]["success"])).into(),
        _ => stop(),
    });
    let (person, agent, space) = stack.pair().await;
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, None).await;
    let story = woken(&stack.post(&space, &person, "Tell me a story").await, &agent).unwrap();
    socket.shows(&space, "its beginning", SOON, |view| (view.live() == ["Once upon"]).then_some(())).await;
    stack.post(&space, &person, "Stop it").await;
    canceled(&stack, &story, "stop_run").await;
    let frame = socket.frame("run.canceled", SOON, |frame| frame["run"]["id"] == story.as_str()).await.body;
    assert!(frame.get("by").is_none(), "only an absorbed run has one");
    gate.open();
    stack.quiet(&space).await;
    assert_eq!(stack.texts(&space).await, ["Tell me a story", "Stop it", "Stopped: true"]);
}

#[tokio::test]
async fn only_own_active_runs_can_be_ended() {
    let stack = Stack::start().await;
    let strange = "run_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let known = std::sync::Arc::new(std::sync::Mutex::new(Vec::<String>::new()));
    let runs = std::sync::Arc::clone(&known);
    stack.model.answers("bea", |_| stop());
    stack.model.answers("ada", move |asked| {
        if asked.trigger_text() != "try" || asked.step() > 0 {
            return stop();
        }
        let own = asked.user().block("ACTIVE RUNS")[1].split_whitespace().nth(1).unwrap().to_owned();
        let ids = [vec!["nonsense".to_owned(), strange.to_owned(), own], runs.lock().unwrap().clone()].concat();
        Answer::of(ids.iter().flat_map(|id| ["stop_run", "absorb_run"].map(|tool| call(tool, json!({"runId": id})))).collect())
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
    let results = stack.model.asked("ada").last().unwrap().results();
    let errors: Vec<_> = results.iter().map(|result| result["error"].as_str().unwrap_or_default()).collect();
    let expected = ["expected an id like run_", "you have no such run", "that is this run", "you have no such run", "had ended already"];
    for (pair, expected) in errors.chunks(2).zip(expected) {
        assert!(pair.iter().all(|error| error.contains(expected)), "{pair:?} do not say {expected}");
    }
    assert_eq!(errors.len(), 10);
    stack.quiet(&other).await;
    assert_eq!(stack.run(&theirs).await, before, "nothing happened to it");
}
