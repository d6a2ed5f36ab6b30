//! The steps of a run, and the system messages that its model receives between them.

mod compaction;
mod prompts;

use serde_json::{Value, json};

use crate::support::{
    model::{Gate, ModelRequest, answer, call, http, say, stop, wait},
    routes::triggered_run,
    stack::Stack,
    waiting::SOON,
};

const LAST: &str = "This is the last step of this run: its calls are still made, \
                    but you will not see what comes of them.";

/// Creates a person, an agent with these `loop` settings that asks the model `ada`, and their
/// space. Returns the three ids.
async fn team(stack: &Stack, run_loop: Value) -> (String, String, String) {
    let person = stack.person("Husam").await;
    let model = json!({"provider": "openai", "name": stack.model.name("ada")});
    let agent = stack.agent_with("Ada", json!({"model": model, "loop": run_loop})).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    (person, agent, space)
}

#[tokio::test]
async fn a_run_without_end_is_warned_and_stopped_at_max_steps() {
    let stack = Stack::start().await;
    stack.model.answers("ada", |_| call("read_messages", json!({"limit": 5})).into());
    let (person, agent, space) = team(&stack, json!({"maxSteps": 7})).await;
    let operator = stack.socket().await;
    let member = stack.socket_of(&person).await;
    operator.subscribe(&space, None).await;
    member.subscribe(&space, None).await;
    let message = stack.post(&space, &person, "Begin.").await;
    let run = stack.ended(&triggered_run(&message, &agent).unwrap(), SOON).await;
    assert_eq!(
        (&run["status"], &run["endReason"], &run["stepCount"]),
        (&json!("completed"), &json!("max_steps"), &json!(7))
    );

    let few = "5 steps are left in this run.";
    let circles =
        "read_messages was called 3 times with the same input. Another time gives nothing new.";
    let requests = stack.model.requests("ada");
    assert_eq!(requests.len(), 7);
    assert_eq!(requests[1].system_notes(), [""; 0]);
    assert_eq!(requests[2].system_notes(), [few]);
    // Each note is added once and stays in its place.
    assert_eq!(requests[5].system_notes(), [few, circles]);
    assert_eq!(requests[6].system_notes(), [few, circles, LAST]);
    let stored: Vec<_> = run["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["systemMessages"].clone())
        .collect();
    assert_eq!(stored[2], json!([{"watcher": "steps", "text": few}]));
    assert_eq!(stored[3], json!([{"watcher": "repetition", "text": circles}]));
    assert_eq!(stored[4], json!([]));
    assert_eq!(stored[6], json!([{"watcher": "steps", "text": LAST}]));
    for socket in [&operator, &member] {
        let frame = socket.frame("system.message", SOON, |frame| frame["text"] == LAST).await.body;
        assert_eq!(
            (&frame["runId"], &frame["step"], &frame["watcher"]),
            (&run["id"], &json!(6), &json!("steps"))
        );
    }
}

#[tokio::test]
async fn messages_posted_during_a_run_reach_its_model_before_the_next_step() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    let held = gate.clone();
    stack.model.answers("ada", move |request| {
        match (request.trigger_text().as_str(), request.step()) {
            ("First.", 0) => answer([wait(&held), say("On it."), call("get_my_runs", json!({}))]),
            ("First.", 1) => call("get_memories", json!({})).into(),
            (text, _) if text.starts_with("Wait") => http(400),
            _ => stop(),
        }
    });
    let (person, agent, space) = team(&stack, json!({})).await;
    stack.side_by_side(&agent).await;
    let operator = stack.socket().await;
    let member = stack.socket_of(&person).await;
    operator.subscribe(&space, None).await;
    member.subscribe(&space, None).await;
    let first = stack.post(&space, &person, "First.").await;
    gate.reached(1).await;
    stack.post(&space, &person, "Wait: \"Q3\".\nTRIGGER:").await;
    // The run that this message triggers fails, so that it does not mark the message as seen.
    stack.model.nth_request("ada", 2).await;
    gate.open();
    stack.quiet(&space).await;

    let run = triggered_run(&first, &agent).unwrap();
    let of_run: Vec<ModelRequest> = stack
        .model
        .requests("ada")
        .into_iter()
        .filter(|request| request.trigger_text() == "First.")
        .collect();
    assert_eq!(of_run.len(), 3);
    let notes = of_run[1].system_notes();
    assert_is_news(&notes, &space);
    // Nothing was posted since, and the run's own messages are not news.
    assert_eq!(of_run[2].system_notes(), notes);
    // Like the prompt, news is for the operator only.
    operator
        .frame("system.message", SOON, |frame| {
            frame["watcher"] == "news" && frame["runId"] == run.as_str()
        })
        .await;
    member.frame("run.completed", SOON, |frame| frame["run"]["id"] == run.as_str()).await;
    assert!(member.frames().iter().all(|frame| frame.kind != "system.message"));

    stack.post(&space, &person, "Third.").await;
    stack.quiet(&space).await;
    let third = stack.model.requests("ada").pop().unwrap();
    let marks: Vec<bool> = third.user().timeline().iter().map(|line| line.seen).collect();
    assert_eq!(marks, [true, true, true, false], "news of a completed run counts as seen");
}

/// Checks that the only note is the news of the second message.
fn assert_is_news(notes: &[String], space: &str) {
    assert_eq!(notes.len(), 1, "{notes:?}");
    let lines: Vec<&str> = notes[0].lines().collect();
    let title = format!(
        "Posted in \"Team\" ({space}) since your last step. \
         If one of these is for you, another run of yours answers it:"
    );
    assert_eq!(lines[0], title);
    let line = "Husam: \"Wait: \\\"Q3\\\".\\u000aTRIGGER:\"";
    assert!(
        lines.len() == 3
            && lines[1].ends_with(" UTC")
            && lines[2].starts_with("#2 ")
            && lines[2].ends_with(line),
        "{lines:?}"
    );
}

#[tokio::test]
async fn a_notice_after_tool_results_stands_at_the_end_of_the_last_one() {
    let stack = Stack::start().await;
    stack.model.answers("ada", |_| call("get_memories", json!({})).into());
    let person = stack.person("Husam").await;
    let model = json!({"provider": "anthropic", "name": stack.model.name("ada")});
    let agent = stack.agent_with("Ada", json!({"model": model, "loop": {"maxSteps": 2}})).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    stack.post(&space, &person, "Begin.").await;
    stack.quiet(&space).await;
    let request = stack.model.nth_request("ada", 2).await;
    assert_eq!(request.system_notes(), [LAST]);
    let last = request.messages().last().unwrap()["content"].as_array().unwrap().clone();
    let kinds: Vec<_> = last.iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["tool_result"]);
    let shown = last[0]["content"].as_str().unwrap();
    assert!(shown.ends_with(&format!("\n\nSYSTEM NOTICE:\n{LAST}")), "{shown}");
    // From the second step on, a cache mark covers the whole conversation so far.
    assert_eq!(last[0]["cache_control"], json!({"type": "ephemeral"}));
}

#[tokio::test]
async fn with_continue_on_writes_a_step_that_only_reads_is_the_last() {
    let stack = Stack::start().await;
    stack.model.answers("ada", |request| match request.step() {
        0 => answer([
            call("set_memories", json!({"memories": [{"key": "a", "value": "b"}]})),
            call("get_memories", json!({})),
        ]),
        1 => answer([
            call("read_messages", json!({})),
            call("get_my_runs", json!({})),
            call("enter_space", json!({"spaceId": "spc_x"})),
        ]),
        _ => say("never").into(),
    });
    let (person, agent, space) = team(&stack, json!({"continueOn": "writes"})).await;
    let message = stack.post(&space, &person, "Begin.").await;
    let run = stack.ended(&triggered_run(&message, &agent).unwrap(), SOON).await;
    assert_eq!((&run["endReason"], &run["stepCount"]), (&json!("done"), &json!(2)));
    assert_eq!(stack.model.requests("ada").len(), 2);
}

#[tokio::test]
async fn with_end_after_send_an_answer_that_only_sends_is_the_last() {
    let stack = Stack::start().await;
    stack.model.answers("ada", |request| match request.step() {
        0 => answer([
            call("send_message", json!({"text": "I look it up."})),
            call("get_memories", json!({})),
        ]),
        // A message that was not posted is none: the model has to know.
        1 => answer([call("send_message", json!({"text": ""}))]),
        2 => answer([
            call("send_message", json!({"text": "One."})),
            call("send_message", json!({"text": "Two."})),
        ]),
        _ => say("never").into(),
    });
    let (person, agent, space) = team(&stack, json!({"endAfterSend": true})).await;
    let message = stack.post(&space, &person, "Begin.").await;
    let run = stack.ended(&triggered_run(&message, &agent).unwrap(), SOON).await;
    assert_eq!((&run["endReason"], &run["stepCount"]), (&json!("done"), &json!(3)));
    assert_eq!(stack.model.requests("ada").len(), 3);
    assert_eq!(stack.texts(&space).await, ["Begin.", "I look it up.", "One.", "Two."]);
}

#[tokio::test]
async fn a_run_that_ends_with_a_message_keeps_its_first_token() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    let looks = answer([call("get_memories", json!({}))]);
    stack.model.plays("ada", [looks, answer([wait(&gate), say("I have looked it up.")])]);
    let (person, agent, space) = team(&stack, json!({"endAfterSend": true})).await;
    let run = triggered_run(&stack.post(&space, &person, "Begin.").await, &agent).unwrap();
    gate.reached(1).await;
    let first = stack.get(&format!("/v1/runs/{run}")).await.must_be(200)["firstTokenAt"].clone();
    assert!(first.is_string(), "{first}");
    gate.open();
    let run = stack.ended(&run, SOON).await;
    assert_eq!((&run["endReason"], &run["stepCount"]), (&json!("done"), &json!(2)));
    assert_ne!(run["steps"][1]["firstTokenAt"], first);
    assert_eq!(run["firstTokenAt"], first);
}

#[tokio::test]
async fn calls_that_a_model_invents_get_short_errors_and_the_run_continues() {
    let stack = Stack::start().await;
    let odd = "\u{202e}".repeat(20_000);
    let calls = [
        (odd.clone(), json!({})),
        ("send_message".to_owned(), json!({"text": ["y".repeat(100_000)]})),
    ];
    stack.model.answers("ada", move |request| match request.step() {
        0 => answer(calls.each_ref().map(|(name, input)| call(name, input.clone()))),
        1 => answer([call("skip_response", json!({"reason": "nothing"})), say("never")]),
        _ => stop(),
    });
    let (person, agent, space) = team(&stack, json!({})).await;
    let message = stack.post(&space, &person, "Begin.").await;
    let run = stack.ended(&triggered_run(&message, &agent).unwrap(), SOON).await;
    assert_eq!((&run["status"], &run["endReason"]), (&json!("completed"), &json!("skipped")));
    for call in run["steps"][0]["calls"].as_array().unwrap() {
        let error = call["output"]["error"].as_str().unwrap();
        assert!(
            error.chars().count() < 5_000
                && (error.contains("there is no tool") || error.contains("does not fit")),
            "{error:.300}"
        );
    }
    let request = stack.model.requests("ada").pop().unwrap();
    let name =
        request.messages()[2]["tool_calls"][0]["function"]["name"].as_str().unwrap().to_owned();
    assert_eq!(name, "_".repeat(64), "a provider would refuse anything else");
    let statuses: Vec<_> = run["steps"][1]["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| call["status"].clone())
        .collect();
    assert_eq!(statuses, ["completed", "canceled"], "a call after skip_response is never made");
}
