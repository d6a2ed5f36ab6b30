//! What is left of deleted messages and spaces in the records of runs.

use serde_json::{Value, json};

use crate::{
    support::{
        model::{answer, call, say, stop},
        routes::{seq, triggered_run},
        stack::Stack,
        waiting::{FORGOTTEN, SOON, wait_for},
    },
    tools::approvals::act::{ActScene, asks},
};

/// A pair whose agent answers without repeating what it reads.
async fn quiet_pair(stack: &Stack) -> (String, String, String) {
    stack.model.answers("ada", |_| answer([call("send_message", json!({"text": "Noted."}))]));
    stack.pair().await
}

/// Posts the texts one after the other, and returns the runs of the agent for them.
async fn read_all(stack: &Stack, pair: &(String, String, String), texts: &[&str]) -> Vec<String> {
    let (person, agent, space) = pair;
    let mut runs = Vec::new();
    for text in texts {
        let posted = stack.post(space, person, text).await;
        stack.quiet(space).await;
        runs.push(triggered_run(&posted, agent).unwrap());
    }
    runs
}

#[tokio::test]
async fn the_words_of_a_deleted_message_are_cut_out_of_what_runs_have_read() {
    let stack = Stack::start().await;
    let pair = quiet_pair(&stack).await;
    let runs = read_all(&stack, &pair, &["The secret is 4711.", "And now?"]).await;
    let mut before = Vec::new();
    for run in &runs {
        before.push(stack.run(run).await);
    }
    let space = &pair.2;
    stack.delete_message(space, 1).await.must_be(204);
    for (run, before) in runs.iter().zip(before) {
        assert!(before.to_string().contains("4711"), "{before}");
        let after = wait_for("a run forgets the message", FORGOTTEN, async || {
            let run = stack.run(run).await;
            (!run.to_string().contains("4711")).then_some(run)
        })
        .await;
        assert!(after.to_string().contains("#1 [deleted]"), "{after}");
        assert!(after["redactedAt"].is_string(), "{after}");
        for field in ["status", "endReason", "usage", "stepCount", "finishedAt"] {
            assert_eq!(after[field], before[field], "{field}");
        }
        let calls = |run: &Value| run["steps"][0]["calls"].clone();
        assert_eq!(calls(&after), calls(&before), "what the agent wrote stays");
    }
}

#[tokio::test]
async fn the_call_that_posted_a_deleted_message_loses_its_words() {
    let stack = Stack::start().await;
    stack.model.answers("ada", |request| match request.step() {
        0 => answer([call("send_message", json!({"text": "The secret is 4711."}))]),
        _ => stop(),
    });
    let pair = stack.pair().await;
    let runs = read_all(&stack, &pair, &["What is the secret?"]).await;
    let space = &pair.2;
    stack.delete_message(space, 2).await.must_be(204);
    let after = wait_for("the run forgets its message", FORGOTTEN, async || {
        let run = stack.run(&runs[0]).await;
        (!run.to_string().contains("4711")).then_some(run)
    })
    .await;
    let input = &after["steps"][0]["calls"][0]["input"];
    assert_eq!(input, &json!({"text": "#2 [deleted]"}));
}

#[tokio::test]
async fn the_cards_of_calls_that_posted_and_edited_a_deleted_message_lose_its_words() {
    let edit = call("edit_message", json!({"seq": 3, "text": "The secret is 4712."}));
    let answers = [answer([say("The secret is 4711.")]), answer([edit]), stop()];
    let rules = json!([asks(&["send_message", "edit_message"])]);
    let scene = ActScene::with(rules, json!({}), answers).await;
    let run = scene.trigger().await;
    for number in 1..=2 {
        let cards = wait_for("a card", SOON, async || {
            let cards = scene.cards().await;
            (cards.len() == number).then_some(cards)
        })
        .await;
        scene.status(&run, "waiting_tool").await;
        scene.approves(1, &run, &cards[number - 1]).await;
    }
    scene.stack.ended(&run, SOON).await;
    let messages = scene.stack.messages(&scene.space).await;
    let posted = messages.iter().find(|it| it["parts"][0]["text"] == "The secret is 4712.");
    let posted = seq(posted.expect("the message was posted and edited"));
    assert_eq!(posted, 3);
    scene.stack.delete_message(&scene.space, 3).await.must_be(204);
    let cards = wait_for("the cards and the run forget the message", FORGOTTEN, async || {
        let run = scene.stack.run(&run).await;
        let cards = scene.cards().await;
        let shown = format!("{run} {cards:?}");
        (!shown.contains("4711") && !shown.contains("4712")).then_some(cards)
    })
    .await;
    let inputs: Vec<_> = cards.iter().map(|card| card["input"].clone()).collect();
    assert_eq!(inputs, [json!({"text": "#3 [deleted]"}), json!({"text": "#3 [deleted]"})]);
    let changed = |frame: &Value| frame["message"]["parts"][0]["input"]["text"] == "#3 [deleted]";
    scene.socket.frame("message.updated", SOON, changed).await;
}

#[tokio::test]
async fn runs_that_have_read_only_a_deleted_space_lose_their_steps() {
    let stack = Stack::start().await;
    let pair = quiet_pair(&stack).await;
    let runs = read_all(&stack, &pair, &["The secret is 4711."]).await;
    let before = stack.run(&runs[0]).await;
    stack.delete(&format!("/v1/spaces/{}", pair.2)).await.must_be(204);
    let after = wait_for("the run forgets the space", FORGOTTEN, async || {
        let run = stack.run(&runs[0]).await;
        (run["steps"] == json!([])).then_some(run)
    })
    .await;
    for field in ["status", "usage", "stepCount", "finishedAt"] {
        assert_eq!(after[field], before[field], "{field}");
    }
}
