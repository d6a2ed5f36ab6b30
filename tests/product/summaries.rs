//! What stands before the window, in short: written by a model, on a job of its own.

use serde_json::json;

use super::{
    model::{Asked, answer, call, http, say, stop, think},
    stack::Stack,
    waiting::{SOON, wait_for},
};

fn is_summary(asked: &Asked) -> bool {
    asked.tools().is_empty()
}

#[tokio::test]
async fn older_history_is_summarised_once_for_all_and_read_from_then_on() {
    let stack = Stack::start().await;
    stack.model.answers("ada", |asked| if is_summary(asked) { think(" They talked about Q4. ").into() } else { stop() });
    let person = stack.person("Husam").await;
    let model = json!({"provider": "openai", "name": stack.model.name("ada")});
    let config = json!({"model": model, "context": {"window": 4}});
    let (ada, bob) = (stack.agent_with("Ada", config.clone()).await, stack.agent_with("Bob", config).await);
    let space = stack.space_with("Team", &[&person, &ada, &bob], json!({"paused": true})).await;
    for number in 1..=33 {
        stack.post(&space, &person, &format!("message {number}")).await;
    }
    stack.patch(&format!("/v1/spaces/{space}"), json!({"paused": false})).await.must_be(200);
    stack.post(&space, &person, "message 34").await;
    stack.quiet(&space).await;
    let first = stack.model.asked("ada").into_iter().find(|asked| !is_summary(asked)).unwrap();
    assert_eq!(first.user().names()[0], "SPACE HISTORY", "without a summary the timeline begins later");

    let summary = wait_for("a summary", SOON, async || stack.model.asked("ada").into_iter().find(is_summary)).await;
    let lines = summary.user().timeline();
    assert_eq!(
        (lines.first().unwrap().text.as_str(), lines.last().unwrap().text.as_str()),
        ("message 1", "message 29"),
        "what stands before 30"
    );
    wait_for("the summary in a prompt", SOON, async || {
        stack.post(&space, &person, "again").await;
        stack.quiet(&space).await;
        let last = stack.model.asked("ada").into_iter().rev().find(|asked| !is_summary(asked)).unwrap();
        (last.user().names()[0] == "EARLIER").then_some(())
    })
    .await;
    let asked = stack.model.asked("ada").into_iter().rev().find(|asked| !is_summary(asked)).unwrap();
    assert_eq!(asked.user().block("EARLIER"), ["EARLIER (messages 1 to 29): \"They talked about Q4.\""]);
    // Not where a run completed at the very moment in which the summary came.
    assert!(asked.told().iter().all(|told| told == "EARLIER has been written anew since."), "{:?}", asked.told());
    let first = stack.model.asked("ada").into_iter().filter(is_summary).filter(|asked| asked.user().names()[0] != "EARLIER").count();
    assert_eq!(first, 1, "one model is paid for it");

    // The next one goes on from it.
    for number in 1..=27 {
        stack.post(&space, &person, &format!("later {number}")).await;
        stack.quiet(&space).await;
    }
    let next = wait_for("the next summary", SOON, async || {
        stack.model.asked("ada").into_iter().filter(is_summary).find(|asked| asked.user().names()[0] == "EARLIER")
    })
    .await;
    assert_eq!(next.user().block("EARLIER"), ["EARLIER (messages 1 to 29): \"They talked about Q4.\""]);
    assert_eq!(next.user().timeline()[0].text, "message 30");
}

#[tokio::test]
async fn a_summary_tells_nobody_why_something_was_said() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let model = json!({"provider": "openai", "name": stack.model.name("ada")});
    let agent = stack.agent_with("Ada", json!({"model": model, "context": {"window": 2}})).await;
    let (board, lobby) = (stack.space("Board", &[&person, &agent]).await, stack.space("Lobby", &[&person, &agent]).await);
    let entered = lobby.clone();
    stack.model.answers("ada", move |asked| match (asked.trigger_text().as_str(), asked.step()) {
        ("the secret", 0) => answer([call("enter_space", json!({"spaceId": entered})), say("Hello, lobby.")]),
        _ => stop(),
    });
    stack.post(&board, &person, "the secret").await;
    stack.quiet(&board).await;
    for number in 1..=28 {
        stack.post(&lobby, &person, &format!("message {number}")).await;
        stack.quiet(&lobby).await;
    }
    let asked = wait_for("a summary", SOON, async || stack.model.asked("ada").into_iter().find(is_summary)).await;
    let text = asked.body["messages"].to_string();
    assert!(text.contains("Hello, lobby.") && !text.contains("the secret") && !text.contains("sent because"), "{text}");
}

#[tokio::test]
async fn a_summary_that_fails_holds_nobody_up() {
    let stack = Stack::start().await;
    stack.model.answers("ada", |asked| match asked {
        asked if is_summary(asked) => http(400),
        asked if asked.step() == 0 => say("Yes.").into(),
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
    wait_for("a summary that fails", SOON, async || stack.model.asked("ada").into_iter().find(is_summary)).await;
    // Whoever is refused is not asked again at once.
    assert_eq!(stack.model.asked("ada").iter().filter(|asked| is_summary(asked)).count(), 1);
    assert!(stack.runs_of(&space).await.iter().all(|run| run["status"] == "completed"));
    let last = stack.model.asked("ada").into_iter().rev().find(|asked| !is_summary(asked)).unwrap();
    assert_eq!(last.user().names()[0], "SPACE HISTORY");
}
