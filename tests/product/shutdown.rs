//! The product is asked to end, or a second one is started beside it.

use std::time::Duration;

use super::{
    model::{Gate, say, say_held, stop},
    routes::woken,
    stack::Stack,
    waiting::SOON,
};

/// How long an end may take: the fastest of [`TRIES`], since other tests use the machine too.
const ENDS_WITHIN: Duration = Duration::from_secs(2);
const TRIES: usize = 3;

#[tokio::test]
async fn sigterm_ends_it_within_two_seconds_and_a_run_goes_on_at_the_next_start() {
    let Some(mut stack) = Stack::local().await else { return };
    // It is never opened: whoever waits for the run waits for ever.
    let gate = Gate::closed();
    stack.model.replies("ada", move |_| say_held("Half of ", &gate, "it."));
    let (person, agent) = (stack.person("Husam").await, stack.agent("Ada", &stack.model.name("ada")).await);
    let space = stack.space("Team", &[&person, &agent]).await;
    let question = stack.post(&space, &person, "All of it?").await;
    let mut took = Vec::<Duration>::new();
    while took.iter().all(|took| *took >= ENDS_WITHIN) {
        assert!(took.len() < TRIES, "it took {took:?}");
        if !took.is_empty() {
            stack.restart().await;
        }
        let socket = stack.socket().await;
        socket.subscribe(&space, None).await;
        socket.shows(&space, "the text so far", SOON, |view| (!view.live().is_empty()).then_some(())).await;
        took.push(stack.terminate().await.1);
    }
    stack.model.plays("ada", [say("All of it.").into(), stop()]);
    stack.restart().await;
    stack.quiet(&space).await;

    assert_eq!(stack.texts(&space).await, ["All of it?", "All of it."]);
    let run = stack.run(&woken(&question, &agent).unwrap()).await;
    assert_eq!(
        (run["status"].as_str(), run["attempt"].as_u64()),
        (Some("completed"), Some(1)),
        "its lease was given back, not lost: {run}"
    );
}

#[tokio::test]
async fn sigterm_ends_an_idle_product_at_once_and_with_success() {
    let Some(mut stack) = Stack::local().await else { return };
    let person = stack.person("Husam").await;
    let mut took = Vec::<Duration>::new();
    while took.iter().all(|took| *took >= ENDS_WITHIN) {
        assert!(took.len() < TRIES, "it took {took:?}");
        if !took.is_empty() {
            stack.restart().await;
        }
        let _open = stack.socket_of(&person).await;
        let (status, this) = stack.terminate().await;
        assert!(status.success(), "{status}");
        took.push(this);
    }
}

#[tokio::test]
async fn a_second_process_on_the_same_folder_is_refused_with_a_clear_text() {
    let Some(mut stack) = Stack::local().await else { return };
    let person = stack.person("Husam").await;
    let (status, said) = stack.rival().await;
    assert!(!status.success(), "{status}: {said}");
    let said = said.to_lowercase();
    let clear = ["in use", "already", "another", "locked"].iter().any(|word| said.contains(word));
    assert!(clear && said.contains("data"), "it names the folder and what is wrong with it: {said}");
    assert!(!said.contains("panicked"), "{said}");
    stack.get(&format!("/v1/entities/{person}")).await.must_be(200);
}
