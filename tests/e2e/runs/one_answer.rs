//! An agent with all defaults answers once, and its run ends with the message. A run goes on after
//! a message to another space, after a message that says so, and if no message triggered it.

use serde_json::{Value, json};

use crate::{
    plans::operator::daily,
    support::{
        model::{Answer, Gate, ModelRequest, answer, call, say, stop, wait},
        routes::triggered_run,
        stack::{Stack, Team},
        waiting::SOON,
    },
};

/// A person and an agent with all defaults, which asks the model `ada`.
async fn team(stack: &Stack) -> Team {
    let person = stack.person("Husam").await;
    let agent = stack.agent_of_defaults("Ada", &stack.model.name("ada")).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    Team { person, agent, space }
}

/// Posts a message, and returns the run that it triggers once that has ended.
async fn asked(stack: &Stack, team: &Team, text: &str) -> Value {
    let message = stack.post(&team.space, &team.person, text).await;
    stack.ended(&triggered_run(&message, &team.agent).unwrap(), SOON).await
}

fn enter(space: &str) -> Answer {
    call("enter_space", json!({"spaceId": space})).into()
}

fn assert_done(run: &Value, steps: u32) {
    assert_eq!((&run["endReason"], &run["stepCount"]), (&json!("done"), &json!(steps)), "{run}");
}

#[tokio::test]
async fn an_answer_ends_its_run() {
    let stack = Stack::start().await;
    let team = team(&stack).await;
    stack.model.answers("ada", |request| match (request.trigger_text().as_str(), request.step()) {
        ("One?", 0) => say("One.").into(),
        ("Two?", 0) => answer([say("First."), say("Second.")]),
        _ => say("never").into(),
    });
    assert_done(&asked(&stack, &team, "One?").await, 1);
    assert_done(&asked(&stack, &team, "Two?").await, 1);
    assert_eq!(stack.texts(&team.space).await, ["One?", "One.", "Two?", "First.", "Second."]);
}

#[tokio::test]
async fn a_message_that_says_more_is_followed_by_work_and_the_answer() {
    let stack = Stack::start().await;
    let team = team(&stack).await;
    stack.model.answers("ada", |request| match request.step() {
        0 => call("send_message", json!({"text": "On it.", "more": true})).into(),
        1 => call("get_memories", json!({})).into(),
        2 => say("Done.").into(),
        _ => say("never").into(),
    });
    assert_done(&asked(&stack, &team, "Look it up.").await, 3);
    assert_eq!(stack.texts(&team.space).await, ["Look it up.", "On it.", "Done."]);
    assert_eq!(stack.runs_of(&team.space).await.len(), 1);
}

#[tokio::test]
async fn a_run_that_has_spoken_is_done_whatever_it_calls_then() {
    let stack = Stack::start().await;
    let team = team(&stack).await;
    stack.model.answers("ada", |request| match request.step() {
        0 => call("send_message", json!({"text": "On it.", "more": true})).into(),
        _ => call("skip_response", json!({"reason": "There is nothing to add."})).into(),
    });
    let run = asked(&stack, &team, "Well?").await;
    assert_done(&run, 2);
    assert_eq!(run["reason"], Value::Null);
}

#[tokio::test]
async fn only_an_agent_whose_runs_end_with_a_message_can_say_more() {
    let stack = Stack::start().await;
    let team = team(&stack).await;
    stack.model.plays("ada", [stop()]);
    asked(&stack, &team, "Well.").await;
    let has_more = |request: &ModelRequest| {
        let tools = request.body["tools"].as_array().unwrap();
        let send = tools.iter().find(|it| it["function"]["name"] == "send_message").unwrap();
        send["function"]["parameters"]["properties"]["more"].is_object()
    };
    assert!(has_more(&stack.model.requests("ada")[0]));
    let change = json!({"agent": {"loop": {"endAfterSend": false}}});
    stack.patch(&format!("/v1/entities/{}", team.agent), change).await.must_be(200);
    let refused = call("send_message", json!({"text": "On it.", "more": true}));
    stack.model.plays("ada", [refused.into(), stop()]);
    let run = asked(&stack, &team, "And now.").await;
    assert!(!has_more(&stack.model.requests("ada")[1]));
    assert_eq!(run["steps"][0]["calls"][0]["status"], "failed", "{run}");
    assert_eq!(stack.texts(&team.space).await, ["Well.", "And now."]);
}

#[tokio::test]
async fn a_run_that_posts_elsewhere_goes_on_until_it_answers() {
    let stack = Stack::start().await;
    let team = team(&stack).await;
    let other = stack.space_with("Log", &[&team.person, &team.agent], json!({})).await;
    let [there, back] = [&other, &team.space].map(|space| enter(space));
    let noted = [say("Noted."), say("I have noted it."), say("never")].map(Answer::from);
    let [elsewhere, here, never] = noted;
    stack.model.plays("ada", [there, elsewhere, back, here, never]);
    assert_done(&asked(&stack, &team, "Note this.").await, 4);
    assert_eq!(stack.texts(&other).await, ["Noted."]);
    assert_eq!(stack.texts(&team.space).await, ["Note this.", "I have noted it."]);
}

#[tokio::test]
async fn a_run_of_a_plan_goes_on_after_its_messages() {
    let stack = Stack::start().await;
    let team = team(&stack).await;
    let other = stack.space_with("Log", &[&team.person, &team.agent], json!({})).await;
    let plan = stack.plan(&team.agent, daily("Report")).await;
    let [one, two] = [&other, &team.space].map(|space| enter(space));
    let [written, out] = [say("Written."), say("It is out.")].map(Answer::from);
    stack.model.plays("ada", [one, written, two, out, stop()]);
    let run = stack.run_plan(&team.agent, &plan).await;
    assert_done(&stack.ended(&run, SOON).await, 5);
    assert_eq!(stack.texts(&other).await, ["Written."]);
    assert_eq!(stack.texts(&team.space).await, ["It is out."]);
}

#[tokio::test]
async fn messages_that_arrive_while_the_agent_answers_are_answered_together() {
    let stack = Stack::start().await;
    let team = team(&stack).await;
    let gate = Gate::closed();
    let held = gate.clone();
    stack.model.answers("ada", move |request| {
        let text = request.trigger_text();
        match (text.as_str(), request.step()) {
            ("One?", 0) => answer([wait(&held), say("One.")]),
            ("Three?", 0) => say("Two and three.").into(),
            _ => say("never").into(),
        }
    });
    let one = stack.post(&team.space, &team.person, "One?").await;
    gate.reached(1).await;
    let mut runs = vec![triggered_run(&one, &team.agent).unwrap()];
    for text in ["Two?", "Three?"] {
        let message = stack.post(&team.space, &team.person, text).await;
        runs.push(triggered_run(&message, &team.agent).unwrap());
    }
    gate.open();
    stack.quiet(&team.space).await;
    let mut ends = Vec::new();
    for run in &runs {
        ends.push(stack.ended(run, SOON).await["endReason"].as_str().unwrap().to_owned());
    }
    assert_eq!(ends, ["done", "done", "coalesced"]);
    assert_eq!(
        stack.texts(&team.space).await,
        ["One?", "Two?", "Three?", "One.", "Two and three."]
    );
    let prompt = stack.model.requests("ada").pop().unwrap().user();
    let new: Vec<_> = prompt.timeline().into_iter().filter(|line| !line.seen).collect();
    assert_eq!(new.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), ["Two?", "Three?"]);
}
