//! Clients that subscribe while an agent writes.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{
    model::{Gate, answer, say_held, stop},
    stack::Stack,
    waiting::{SOON, patient},
};

#[tokio::test]
async fn a_late_subscriber_receives_the_text_so_far_within_a_second() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    stack
        .model
        .plays("ada", [answer([say_held("The first half, ", &gate, "and the second.")]), stop()]);
    let (person, agent, space) = stack.pair().await;
    let early = stack.socket().await;
    early.subscribe(&space, None).await;
    let question = stack.post(&space, &person, "Both?").await;
    early
        .shows(&space, "the first half", SOON, |view| {
            (view.live() == ["The first half, "]).then_some(())
        })
        .await;

    let late = stack.socket_of(&person).await;
    let subscribed = late.subscribe(&space, Some(0)).await;
    let run = &question["dispatch"][0]["runId"];
    let active = json!([{ "runId": run, "agentId": agent, "status": "running" }]);
    assert_eq!(subscribed["active"], active);
    late.shows(&space, "the first half", SOON, |view| {
        (view.live() == ["The first half, "]).then_some(())
    })
    .await;
    // Each of these subscribes right after a snapshot and waits for the next one. The fastest of
    // three counts, since other tests use the machine too.
    let mut fastest = Duration::MAX;
    for _ in 0..3 {
        let later = stack.socket_of(&person).await;
        let joined = Instant::now();
        later.subscribe(&space, None).await;
        later
            .shows(&space, "the first half", SOON, |view| {
                (view.live() == ["The first half, "]).then_some(())
            })
            .await;
        fastest = fastest.min(joined.elapsed());
    }
    // One second, and some slack for a busy machine.
    let limit = patient(Duration::from_millis(1_500));
    assert!(fastest < limit, "it took {fastest:?}");

    gate.open();
    for socket in [&early, &late] {
        let shown = socket
            .shows(&space, "the message", SOON, |view| {
                (view.messages.len() == 2).then(|| view.clone())
            })
            .await;
        assert_eq!(
            (shown.texts(), shown.live()),
            (vec!["Both?", "The first half, and the second."], vec![])
        );
    }
}

#[tokio::test]
async fn subscribing_between_deltas_loses_no_text() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    let half = "word ".repeat(60);
    // The second half waits for the gate, so that the text can't end before the late subscription.
    stack.model.plays(
        "ada",
        [answer([say_held(&half, &gate, &half)]).slow(5, Duration::from_millis(40)), stop()],
    );
    let (person, _, space) = stack.pair().await;
    let early = stack.socket().await;
    early.subscribe(&space, None).await;
    stack.post(&space, &person, "Many words, please.").await;
    early
        .shows(&space, "some words", SOON, |view| {
            view.live().first().is_some_and(|text| text.len() > 50).then_some(())
        })
        .await;

    let late = stack.socket().await;
    late.subscribe(&space, None).await;
    late.shows(&space, "all words so far", SOON, |view| {
        view.live().first().is_some_and(|text| text.len() > 50).then_some(())
    })
    .await;
    gate.open();
    let shown =
        late.shows(&space, "the message", SOON, |view| view.messages.get(&2).cloned()).await;
    assert_eq!(shown["parts"][0]["text"], half.repeat(2));
}
