//! Summaries of the messages before the window. A model writes them in a separate job.

use serde_json::json;

use crate::support::{
    model::{ModelRequest, answer, call, http, say, stop, think},
    stack::Stack,
    waiting::{SOON, wait_for},
};

fn is_summary(request: &ModelRequest) -> bool {
    request.tools().is_empty()
}

/// The requests for summaries so far.
fn summaries(stack: &Stack) -> Vec<ModelRequest> {
    stack.model.requests("ada").into_iter().filter(is_summary).collect()
}

/// The latest request of a run.
fn last_prompt(stack: &Stack) -> ModelRequest {
    stack.model.requests("ada").into_iter().rfind(|request| !is_summary(request)).unwrap()
}

/// The name of the first block of the user prompt.
fn first_block(request: &ModelRequest) -> String {
    request.user().names()[0].to_owned()
}

/// Posts messages while the space is paused, then one that triggers runs.
async fn post_history(stack: &Stack, space: &str, person: &str) {
    for number in 1..=33 {
        stack.post(space, person, &format!("message {number}")).await;
    }
    stack.patch(&format!("/v1/spaces/{space}"), json!({"paused": false})).await.must_be(200);
    stack.post(space, person, "message 34").await;
    stack.quiet(space).await;
}

#[tokio::test]
async fn older_history_is_summarized_once_for_all_agents_and_continued_later() {
    let stack = Stack::start().await;
    stack.model.answers("ada", |request| {
        if is_summary(request) { think(" They talked about Q4. ").into() } else { stop() }
    });
    let person = stack.person("Husam").await;
    let model = json!({"provider": "openai", "name": stack.model.name("ada")});
    let config = json!({"model": model, "context": {"window": 4}});
    let ada = stack.agent_with("Ada", config.clone()).await;
    let bob = stack.agent_with("Bob", config).await;
    let space = stack.space_with("Team", &[&person, &ada, &bob], json!({"paused": true})).await;
    post_history(&stack, &space, &person).await;
    let first =
        stack.model.requests("ada").into_iter().find(|request| !is_summary(request)).unwrap();
    assert_eq!(first_block(&first), "SPACE HISTORY", "there is no summary yet");

    let summary = wait_for("a summary", SOON, async || summaries(&stack).into_iter().next()).await;
    let lines = summary.user().timeline();
    assert_eq!(
        (lines.first().unwrap().text.as_str(), lines.last().unwrap().text.as_str()),
        ("message 1", "message 29"),
        "the summary covers the messages before 30"
    );
    assert_summary_in_prompt(&stack, &space, &person).await;

    // The next summary continues from the first one.
    for number in 1..=27 {
        stack.post(&space, &person, &format!("later {number}")).await;
        stack.quiet(&space).await;
    }
    let next = wait_for("the next summary", SOON, async || {
        summaries(&stack).into_iter().find(|request| first_block(request) == "EARLIER")
    })
    .await;
    assert_eq!(
        next.user().block("EARLIER"),
        ["EARLIER (messages 1 to 29): \"They talked about Q4.\""]
    );
    assert_eq!(next.user().timeline()[0].text, "message 30");
}

/// Waits until a prompt shows the summary, which only one model may have written.
async fn assert_summary_in_prompt(stack: &Stack, space: &str, person: &str) {
    wait_for("the summary in a prompt", SOON, async || {
        stack.post(space, person, "again").await;
        stack.quiet(space).await;
        (first_block(&last_prompt(stack)) == "EARLIER").then_some(())
    })
    .await;
    let request = last_prompt(stack);
    assert_eq!(
        request.user().block("EARLIER"),
        ["EARLIER (messages 1 to 29; search_messages finds words in them): \
          \"They talked about Q4.\""]
    );
    // A run that was active when the summary came gets a note about it.
    assert!(
        request.system_notes().iter().all(|note| note == "EARLIER has been written anew since."),
        "{:?}",
        request.system_notes()
    );
    let first = summaries(stack).iter().filter(|request| first_block(request) != "EARLIER").count();
    assert_eq!(first, 1, "only one agent's model writes the summary");
}

#[tokio::test]
async fn a_summary_does_not_reveal_why_a_message_was_sent() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let model = json!({"provider": "openai", "name": stack.model.name("ada")});
    let agent = stack.agent_with("Ada", json!({"model": model, "context": {"window": 2}})).await;
    let board = stack.space("Board", &[&person, &agent]).await;
    let lobby = stack.space("Lobby", &[&person, &agent]).await;
    let entered = lobby.clone();
    stack.model.answers("ada", move |request| {
        match (request.trigger_text().as_str(), request.step()) {
            ("the secret", 0) => {
                answer([call("enter_space", json!({"spaceId": entered})), say("Hello, lobby.")])
            }
            _ => stop(),
        }
    });
    stack.post(&board, &person, "the secret").await;
    stack.quiet(&board).await;
    for number in 1..=28 {
        stack.post(&lobby, &person, &format!("message {number}")).await;
        stack.quiet(&lobby).await;
    }
    let request = wait_for("a summary", SOON, async || summaries(&stack).into_iter().next()).await;
    let text = request.body["messages"].to_string();
    assert!(
        text.contains("Hello, lobby.")
            && !text.contains("the secret")
            && !text.contains("sent because"),
        "{text}"
    );
}

#[tokio::test]
async fn a_failed_summary_delays_no_run() {
    let stack = Stack::start().await;
    stack.model.answers("ada", |request| match request {
        request if is_summary(request) => http(400),
        request if request.step() == 0 => say("Yes.").into(),
        _ => stop(),
    });
    let person = stack.person("Husam").await;
    let model = json!({"provider": "openai", "name": stack.model.name("ada")});
    let agent = stack.agent_with("Ada", json!({"model": model, "context": {"window": 2}})).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    for number in 1..=28 {
        stack.post(&space, &person, &format!("message {number}")).await;
        stack.quiet(&space).await;
    }
    wait_for("a failed summary", SOON, async || summaries(&stack).into_iter().next()).await;
    // The product does not repeat a refused request at once.
    assert_eq!(summaries(&stack).len(), 1);
    assert!(stack.runs_of(&space).await.iter().all(|run| run["status"] == "completed"));
    assert_eq!(first_block(&last_prompt(&stack)), "SPACE HISTORY");
}
