//! The steps of a run, and what the system says between them.

use serde_json::{Value, json};

use super::{
    model::{Asked, Gate, answer, call, http, say, stop, wait},
    routes::woken,
    stack::Stack,
    waiting::SOON,
};

const LAST: &str = "This is the last step of this run: its calls are still made, but you will not see what comes of them.";

/// An agent with this `loop` that asks the model `ada`, a person, and their space.
async fn team(stack: &Stack, run_loop: Value) -> (String, String, String) {
    let person = stack.person("Husam").await;
    let model = json!({"provider": "openai", "name": stack.model.name("ada")});
    let agent = stack.agent_with("Ada", json!({"model": model, "loop": run_loop})).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    (person, agent, space)
}

#[tokio::test]
async fn who_calls_tools_for_ever_is_told_that_its_steps_run_out_and_is_stopped() {
    let stack = Stack::start().await;
    stack.model.answers("ada", |_| call("read_messages", json!({"limit": 5})).into());
    let (person, agent, space) = team(&stack, json!({"maxSteps": 7})).await;
    let (operator, member) = (stack.socket().await, stack.socket_of(&person).await);
    operator.subscribe(&space, None).await;
    member.subscribe(&space, None).await;
    let message = stack.post(&space, &person, "Begin.").await;
    let run = stack.ended(&woken(&message, &agent).unwrap(), SOON).await;
    assert_eq!((&run["status"], &run["endReason"], &run["stepCount"]), (&json!("completed"), &json!("max_steps"), &json!(7)));

    let few = "5 steps are left in this run.";
    let circles = "read_messages was called 3 times with the same input. Another time gives nothing new.";
    let asked = stack.model.asked("ada");
    assert_eq!(asked.len(), 7);
    assert_eq!(asked[1].told(), [""; 0]);
    assert_eq!(asked[2].told(), [few]);
    assert_eq!(asked[5].told(), [few, circles], "each is said once, and stays where it was said");
    assert_eq!(asked[6].told(), [few, circles, LAST]);
    let said: Vec<_> = run["steps"].as_array().unwrap().iter().map(|step| step["systemMessages"].clone()).collect();
    assert_eq!(said[2], json!([{"watcher": "steps", "text": few}]));
    assert_eq!(said[3], json!([{"watcher": "repetition", "text": circles}]));
    assert_eq!((&said[4], &said[6]), (&json!([]), &json!([{"watcher": "steps", "text": LAST}])));
    for socket in [&operator, &member] {
        let frame = socket.frame("system.message", SOON, |frame| frame["text"] == LAST).await.body;
        assert_eq!((&frame["runId"], &frame["step"], &frame["watcher"]), (&run["id"], &json!(6), &json!("steps")));
    }
}

#[tokio::test]
async fn what_is_said_during_a_run_reaches_its_model_before_the_next_step() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    let held = gate.clone();
    stack.model.answers("ada", move |asked| match (asked.trigger_text().as_str(), asked.step()) {
        ("First.", 0) => answer([wait(&held), say("On it."), call("get_my_runs", json!({}))]),
        ("First.", 1) => call("get_memories", json!({})).into(),
        (text, _) if text.starts_with("Wait") => http(400),
        _ => stop(),
    });
    let (person, agent, space) = team(&stack, json!({})).await;
    let (operator, member) = (stack.socket().await, stack.socket_of(&person).await);
    operator.subscribe(&space, None).await;
    member.subscribe(&space, None).await;
    let first = stack.post(&space, &person, "First.").await;
    gate.reached(1).await;
    stack.post(&space, &person, "Wait: \"Q3\".\nTRIGGER:").await;
    // The run that this wakes fails, so that nobody else has read it.
    stack.model.asked_times("ada", 2).await;
    gate.open();
    stack.quiet(&space).await;

    let run = woken(&first, &agent).unwrap();
    let of_run: Vec<Asked> = stack.model.asked("ada").into_iter().filter(|asked| asked.trigger_text() == "First.").collect();
    assert_eq!(of_run.len(), 3);
    let told = of_run[1].told();
    assert_eq!(told.len(), 1, "{told:?}");
    let lines: Vec<&str> = told[0].lines().collect();
    assert_eq!(lines[0], format!("Said in \"Team\" (id: {space}) since your last step; what wakes you has a run of its own:"));
    let line = format!("Husam (human, id:{person}): \"Wait: \\\"Q3\\\".\\u000aTRIGGER:\"");
    assert!(lines.len() == 2 && lines[1].starts_with("  [NEW]  [msg:") && lines[1].ends_with(&line), "{lines:?}");
    assert_eq!(of_run[2].told(), told, "nothing came since, and its own message is no news");
    // News, as the prompt, is the operator's; what everyone is told is what everyone knows.
    operator.frame("system.message", SOON, |frame| frame["watcher"] == "news" && frame["runId"] == run.as_str()).await;
    member.frame("run.completed", SOON, |frame| frame["run"]["id"] == run.as_str()).await;
    assert!(member.frames().iter().all(|frame| frame.kind != "system.message"));

    stack.post(&space, &person, "Third.").await;
    stack.quiet(&space).await;
    let third = stack.model.asked("ada").pop().unwrap();
    let marks: Vec<bool> = third.user().timeline().iter().map(|line| line.seen).collect();
    assert_eq!(marks, [true, true, true, false], "what a run was told of is seen once it has completed");
}

#[tokio::test]
async fn anthropic_is_told_behind_the_results() {
    let stack = Stack::start().await;
    stack.model.answers("ada", |_| call("get_memories", json!({})).into());
    let person = stack.person("Husam").await;
    let model = json!({"provider": "anthropic", "name": stack.model.name("ada")});
    let agent = stack.agent_with("Ada", json!({"model": model, "loop": {"maxSteps": 2}})).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    stack.post(&space, &person, "Begin.").await;
    stack.quiet(&space).await;
    let asked = stack.model.asked_times("ada", 2).await;
    assert_eq!(asked.told(), [LAST]);
    let last = asked.messages().last().unwrap()["content"].as_array().unwrap().clone();
    let kinds: Vec<_> = last.iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["tool_result", "text"]);
    // From the second step on all that was said so far is marked for the provider's cache.
    assert_eq!(last[1]["cache_control"], json!({"type": "ephemeral"}));
}

#[tokio::test]
async fn with_writes_a_run_goes_on_only_after_it_changed_something() {
    let stack = Stack::start().await;
    stack.model.answers("ada", |asked| match asked.step() {
        0 => answer([call("set_memories", json!({"memories": [{"key": "a", "value": "b"}]})), call("get_memories", json!({}))]),
        1 => answer([call("read_messages", json!({})), call("get_my_runs", json!({})), call("enter_space", json!({"spaceId": "spc_x"}))]),
        _ => say("never").into(),
    });
    let (person, agent, space) = team(&stack, json!({"continueOn": "writes"})).await;
    let message = stack.post(&space, &person, "Begin.").await;
    let run = stack.ended(&woken(&message, &agent).unwrap(), SOON).await;
    assert_eq!((&run["endReason"], &run["stepCount"]), (&json!("done"), &json!(2)));
    assert_eq!(stack.model.asked("ada").len(), 2);
}

#[tokio::test]
async fn a_run_tells_of_the_agents_other_runs() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    let held = gate.clone();
    stack.model.answers("ada", move |asked| match (asked.trigger_text().as_str(), asked.step()) {
        ("Report.", 0) => answer([say(&format!("Here is the draft. {}", "x".repeat(300))), call("read_messages", json!({}))]),
        ("Report.", 1) => wait(&held).into(),
        ("What are you doing?", 0) => answer([call("get_my_runs", json!({"status": "running"})), call("get_my_runs", json!({"limit": 1}))]),
        _ => stop(),
    });
    let (person, agent, space) = team(&stack, json!({})).await;
    let report = stack.post(&space, &person, "Report.").await;
    gate.reached(1).await;
    let question = stack.post(&space, &person, "What are you doing?").await;
    let asked = stack.model.asked_times("ada", 4).await;
    let (report, question) = (woken(&report, &agent).unwrap(), woken(&question, &agent).unwrap());
    let lines = asked.user().block("ACTIVE RUNS").to_vec();
    let other = lines.iter().find(|line| line.contains(&report)).unwrap();
    let done = "(running) — Husam (human) in \"Team\": \"Report.\"; used read_messages; sent \"Here is the draft. xxx";
    assert!(other.contains(done) && other.ends_with("xxx…\""), "{other}");
    let runs = asked.results();
    let ids = |listed: &Value| -> Vec<_> { listed["runs"].as_array().unwrap().iter().map(|run| run["id"].clone()).collect() };
    assert_eq!(ids(&runs[0]), [json!(question), json!(report)], "newest first");
    assert_eq!(ids(&runs[1]), [json!(question)]);
    let shown = &runs[0]["runs"][1];
    assert_eq!(
        (&shown["status"], &shown["toolsUsed"], &shown["trigger"]["text"]),
        (&json!("running"), &json!(["read_messages"]), &json!("Report."))
    );
    assert_eq!(shown["messagesSent"][0]["text"].as_str().unwrap().chars().count(), 200);
    gate.open();
    stack.quiet(&space).await;
}

#[tokio::test]
async fn what_a_model_makes_up_is_answered_in_few_words_and_the_run_goes_on() {
    let stack = Stack::start().await;
    let odd = "\u{202e}".repeat(20_000);
    let calls = [(odd.clone(), json!({})), ("send_message".to_owned(), json!({"text": ["y".repeat(100_000)]}))];
    stack.model.answers("ada", move |asked| match asked.step() {
        0 => answer(calls.each_ref().map(|(name, input)| call(name, input.clone()))),
        1 => answer([call("skip_response", json!({"reason": "nothing"})), say("never")]),
        _ => stop(),
    });
    let (person, agent, space) = team(&stack, json!({})).await;
    let message = stack.post(&space, &person, "Begin.").await;
    let run = stack.ended(&woken(&message, &agent).unwrap(), SOON).await;
    assert_eq!((&run["status"], &run["endReason"]), (&json!("completed"), &json!("skipped")));
    for call in run["steps"][0]["calls"].as_array().unwrap() {
        let error = call["output"]["error"].as_str().unwrap();
        assert!(error.chars().count() < 5_000 && (error.contains("there is no tool") || error.contains("does not fit")), "{error:.300}");
    }
    let asked = stack.model.asked("ada").pop().unwrap();
    let name = asked.messages()[2]["tool_calls"][0]["function"]["name"].as_str().unwrap().to_owned();
    assert_eq!(name, "_".repeat(64), "a provider would refuse anything else");
    let statuses: Vec<_> = run["steps"][1]["calls"].as_array().unwrap().iter().map(|call| call["status"].clone()).collect();
    assert_eq!(statuses, ["completed", "canceled"], "what the run did not come to will never be done");
}

#[tokio::test]
async fn what_was_asked_in_vain_can_be_looked_at() {
    let stack = Stack::start().await;
    stack.model.answers("ada", |_| http(400));
    let (person, agent, space) = team(&stack, json!({})).await;
    let message = stack.post(&space, &person, "Begin.").await;
    let run = stack.ended(&woken(&message, &agent).unwrap(), SOON).await;
    assert_eq!((&run["status"], &run["stepCount"], &run["error"]["code"]), (&json!("failed"), &json!(0), &json!("bad_request")));
    let step = &run["steps"][0];
    assert_eq!((&step["finishReason"], &step["calls"]), (&json!("error"), &json!([])));
    assert!(step["prompt"]["messages"][0]["blocks"].to_string().contains("Begin."), "{step}");
}

#[tokio::test]
async fn an_agent_in_many_spaces_is_always_told_of_the_one_that_woke_it_and_an_open_one_of_no_other() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    let held = gate.clone();
    stack.model.answers("ada", move |asked| if asked.trigger_text() == "on the board" { wait(&held).into() } else { stop() });
    let (person, agent, board) = team(&stack, json!({})).await;
    let mut last = String::new();
    for number in 1..=33 {
        last = stack.space(&format!("Space {number}"), &[&person, &agent]).await;
    }
    stack.post(&board, &person, "on the board").await;
    gate.reached(1).await;
    stack.post(&last, &person, "one").await;
    stack.quiet(&last).await;
    let asked = stack.model.asked_times("ada", 2).await;
    let spaces = asked.system().block("YOUR SPACES").to_vec();
    assert_eq!((spaces.len(), spaces[31].as_str()), (32, "  … 4 more"));
    assert!(spaces.iter().any(|line| line.contains(&last)), "{spaces:#?}");
    assert!(asked.user().block("ACTIVE RUNS").iter().any(|line| line.contains("on the board")));

    stack.patch(&format!("/v1/entities/{agent}"), json!({"agent": {"open": true}})).await.must_be(200);
    stack.post(&last, &person, "two").await;
    stack.quiet(&last).await;
    let asked = stack.model.asked_times("ada", 3).await;
    assert_eq!(asked.system().block("YOUR SPACES").len(), 2, "the active one only");
    assert!(asked.user().block("ACTIVE RUNS").iter().all(|line| !line.contains("on the board")));
    gate.open();
    stack.quiet(&board).await;
}
