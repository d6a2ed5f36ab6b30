//! The marks of new messages in the timeline, over several runs.

use serde_json::json;

use crate::{
    messages::prompt::{bare, lines, pair},
    support::{
        model::{Gate, ModelRequest, answer, http, say, stop, wait},
        routes::triggered_run,
        stack::Stack,
    },
};

#[tokio::test]
async fn over_three_runs_the_marks_show_new_messages_and_the_trigger() {
    let stack = Stack::start().await;
    stack
        .model
        .replies("ada", |request| say(&format!("Yes, {}", request.trigger_text().to_lowercase())));
    let (person, _, space) = pair(&stack).await;
    for question in ["One?", "Two?", "Three?"] {
        stack.post(&space, &person, question).await;
        stack.quiet(&space).await;
    }
    let first_steps: Vec<ModelRequest> =
        stack.model.requests("ada").into_iter().filter(|request| request.step() == 0).collect();
    assert_eq!(lines(&first_steps[0]), ["NEW Husam: One? ← TRIGGER"]);
    assert_eq!(
        lines(&first_steps[1]),
        ["SEEN Husam: One?", "SEEN You: Yes, one?", "NEW Husam: Two? ← TRIGGER"]
    );
    let third = [
        "SEEN Husam: One?",
        "SEEN You: Yes, one?",
        "SEEN Husam: Two?",
        "SEEN You: Yes, two?",
        "NEW Husam: Three? ← TRIGGER",
    ];
    assert_eq!(lines(&first_steps[2]), third);
    let own = &first_steps[2].user().timeline()[1];
    assert_eq!(own.note.as_deref().map(|note| bare(note, "Husam")), Some("answering #1".into()));
}

#[tokio::test]
async fn a_message_that_arrives_during_a_run_stays_new_for_the_next_run() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    stack.model.plays("ada", [answer([wait(&gate)])]);
    let (person, agent, space) = pair(&stack).await;
    stack.side_by_side(&agent).await;
    let first = stack.post(&space, &person, "First.").await;
    gate.reached(1).await;
    stack.post(&space, &person, "Second.").await;
    let second = stack.model.nth_request("ada", 2).await;
    assert_eq!(
        lines(&second),
        ["NEW Husam: First.", "NEW Husam: Second. ← TRIGGER"],
        "the first run has not completed"
    );
    let runs = second.user().block("ACTIVE RUNS").join("\n");
    assert!(
        runs.contains(&triggered_run(&first, &agent).unwrap()) && runs.lines().count() == 3,
        "the prompt shows the other run: {runs}"
    );
    gate.open();
    stack.quiet(&space).await;
    stack.post(&space, &person, "Third.").await;
    let third = stack.model.nth_request("ada", 3).await;
    assert_eq!(
        lines(&third),
        ["SEEN Husam: First.", "SEEN Husam: Second.", "NEW Husam: Third. ← TRIGGER"]
    );
    stack.quiet(&space).await;
}

#[tokio::test]
async fn an_agent_that_joins_later_has_seen_the_earlier_messages() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let agent = stack.agent("Ada", &stack.model.name("ada")).await;
    let space = stack.space("Team", &[&person]).await;
    stack.post(&space, &person, "Before.").await;
    stack.put(&format!("/v1/spaces/{space}/members/{agent}"), json!({})).await.must_be(200);
    stack.post(&space, &person, "After.").await;
    stack.quiet(&space).await;
    assert_eq!(
        lines(&stack.model.requests("ada")[0]),
        ["SEEN Husam: Before.", "NEW Husam: After. ← TRIGGER"]
    );
}

#[tokio::test]
async fn messages_that_only_a_canceled_run_has_read_stay_new() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    stack.model.plays("ada", [answer([wait(&gate)]), http(400), stop()]);
    let (person, agent, space) = pair(&stack).await;
    let first = stack.post(&space, &person, "First.").await;
    gate.reached(1).await;
    stack.cancel(&triggered_run(&first, &agent).unwrap()).await.must_be(202);
    stack.post(&space, &person, "Second.").await;
    stack.quiet(&space).await;
    stack.post(&space, &person, "Third.").await;
    stack.quiet(&space).await;
    let last = stack.model.nth_request("ada", 3).await;
    assert_eq!(
        lines(&last),
        ["NEW Husam: First.", "NEW Husam: Second.", "NEW Husam: Third. ← TRIGGER"]
    );
}
