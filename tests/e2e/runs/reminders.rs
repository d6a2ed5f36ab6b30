//! A model that answers in text alone has posted nothing. It is reminded once.

use serde_json::{Value, json};

use crate::support::{
    model::{Gate, answer, say, say_held, stop, think},
    routes::triggered_run,
    stack::Stack,
    view::View,
    waiting::{SOON, wait_for},
};

const REMINDER: &str = "Nothing was posted. Text outside send_message is private. \
                        Post your answer with send_message, or call skip_response with a reason.";

/// Posts a message for an agent with these `loop` settings, and returns its ended run.
async fn run_of(stack: &Stack, run_loop: Value) -> Value {
    let person = stack.person("Husam").await;
    let model = json!({"provider": "openai", "name": stack.model.name("ada")});
    let agent = stack.agent_with("Ada", json!({"model": model, "loop": run_loop})).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    let message = stack.post(&space, &person, "Count them.").await;
    let run = stack.ended(&triggered_run(&message, &agent).unwrap(), SOON).await;
    let posted = stack.messages(&space).await;
    let own = posted.into_iter().filter(|message| message["sender"]["id"] == json!(agent));
    json!({"run": run, "own": own.collect::<Vec<_>>()})
}

fn reminders(stack: &Stack) -> Vec<usize> {
    let notes = stack.model.requests("ada").into_iter().map(|request| request.system_notes());
    notes.map(|notes| notes.iter().filter(|note| *note == REMINDER).count()).collect()
}

#[tokio::test]
async fn a_model_that_answers_in_text_alone_is_reminded_and_then_posts() {
    let stack = Stack::start().await;
    stack.model.answers("ada", |request| match request.step() {
        0 => answer([think("There are seven.")]),
        1 => say("There are seven.").into(),
        _ => stop(),
    });
    let ended = run_of(&stack, json!({})).await;
    assert_eq!(reminders(&stack), [0, 1, 1]);
    assert_eq!(ended["own"][0]["parts"][0]["text"], "There are seven.");
    let run = &ended["run"];
    assert_eq!((&run["status"], &run["endReason"]), (&json!("completed"), &json!("done")));
    let notes = &run["steps"][1]["systemMessages"];
    assert_eq!(notes, &json!([{"watcher": "unsaid", "text": REMINDER}]));
}

#[tokio::test]
async fn a_step_that_is_canceled_shows_the_reminder_before_it() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    stack.model.answers("ada", move |request| match request.step() {
        0 => answer([think("There are seven.")]),
        _ => answer([say_held("There are ", &gate, "seven.")]),
    });
    let (person, agent, space) = stack.pair().await;
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, None).await;
    let message = stack.post(&space, &person, "How many?").await;
    let run = triggered_run(&message, &agent).unwrap();
    let live = |view: &View| (view.live() == ["There are "]).then_some(());
    socket.shows(&space, "the text so far", SOON, live).await;
    stack.cancel(&run).await.must_be(202);
    let step = wait_for("the partial step", SOON, async || {
        stack.run(&run).await["steps"].as_array().unwrap().get(1).cloned()
    })
    .await;
    assert_eq!(step["partial"], true);
    assert_eq!(step["systemMessages"], json!([{"watcher": "unsaid", "text": REMINDER}]));
}

#[tokio::test]
async fn a_model_that_insists_on_its_text_stays_silent() {
    let stack = Stack::start().await;
    stack.model.answers("ada", |_| answer([think("I have nothing to add.")]));
    let ended = run_of(&stack, json!({"continueOn": "writes"})).await;
    assert_eq!(reminders(&stack), [0, 1]);
    assert_eq!(ended["own"], json!([]));
    let run = &ended["run"];
    assert_eq!((&run["endReason"], &run["stepCount"]), (&json!("done"), &json!(2)));
}

#[tokio::test]
async fn only_an_agent_that_posted_nothing_and_may_go_on_is_reminded() {
    let stack = Stack::start().await;
    stack.model.answers("ada", |request| match request.step() {
        0 => answer([think("I will say it."), say("Seven.")]),
        _ => answer([think("That was all.")]),
    });
    let ended = run_of(&stack, json!({})).await;
    assert_eq!((&ended["run"]["stepCount"], reminders(&stack)), (&json!(2), vec![0, 0]));
}

#[tokio::test]
async fn the_reminder_can_be_turned_off_and_needs_a_step() {
    for run_loop in [json!({"remindUnsaid": false}), json!({"maxSteps": 1})] {
        let stack = Stack::start().await;
        stack.model.answers("ada", |_| answer([think("Seven.")]));
        let ended = run_of(&stack, run_loop).await;
        assert_eq!(ended["run"]["stepCount"], 1);
        assert_eq!(ended["run"]["endReason"], "done");
    }
}

#[tokio::test]
async fn an_agent_that_nobody_named_is_not_reminded() {
    let stack = Stack::start().await;
    stack.model.answers("ada", |_| answer([think("Not for me.")]));
    let people = [stack.person("Husam").await, stack.person("Sara").await];
    let model = json!({"provider": "openai", "name": stack.model.name("ada")});
    let agent = stack.agent_with("Ada", json!({"model": model})).await;
    let space = stack.space("Team", &[&people[0], &people[1], &agent]).await;
    let message = stack.post(&space, &people[0], "Lunch?").await;
    let run = stack.ended(&triggered_run(&message, &agent).unwrap(), SOON).await;
    assert_eq!((&run["stepCount"], &run["trigger"]["source"]), (&json!(1), &json!("broadcast")));
}
