//! The end of the product on SIGTERM, and a second process on the same folder.

use std::time::Duration;

use crate::support::{
    model::{Gate, say, say_held, stop},
    routes::triggered_run,
    stack::Stack,
    waiting::SOON,
};

/// The time limit of an end. Only the fastest of [`TRIES`] must keep it, because other tests use
/// the machine too.
const ENDS_WITHIN: Duration = Duration::from_secs(2);
const TRIES: usize = 3;

#[tokio::test]
async fn sigterm_ends_the_product_within_two_seconds_and_a_run_resumes_at_the_next_start() {
    let Some(mut stack) = Stack::local().await else { return };
    // The gate never opens, so the run would never end by itself.
    let gate = Gate::closed();
    stack.model.replies("ada", move |_| say_held("Half of ", &gate, "it."));
    let (person, agent, space) = stack.pair().await;
    let question = stack.post(&space, &person, "All of it?").await;
    let mut took = Vec::<Duration>::new();
    while took.iter().all(|took| *took >= ENDS_WITHIN) {
        assert!(took.len() < TRIES, "the product took {took:?} to end");
        if !took.is_empty() {
            stack.restart().await;
        }
        let socket = stack.socket().await;
        socket.subscribe(&space, None).await;
        socket
            .shows(&space, "the text so far", SOON, |view| (!view.live().is_empty()).then_some(()))
            .await;
        took.push(stack.terminate().await.1);
    }
    stack.model.plays("ada", [say("All of it.").into(), stop()]);
    stack.restart().await;
    stack.quiet(&space).await;

    assert_eq!(stack.texts(&space).await, ["All of it?", "All of it."]);
    let run = stack.run(&triggered_run(&question, &agent).unwrap()).await;
    assert_eq!(
        (run["status"].as_str(), run["attempt"].as_u64()),
        (Some("completed"), Some(1)),
        "the lease was released, not lost: {run}"
    );
}

#[tokio::test]
async fn sigterm_ends_an_idle_product_with_success() {
    let Some(mut stack) = Stack::local().await else { return };
    let person = stack.person("Husam").await;
    let mut took = Vec::<Duration>::new();
    while took.iter().all(|took| *took >= ENDS_WITHIN) {
        assert!(took.len() < TRIES, "the product took {took:?} to end");
        if !took.is_empty() {
            stack.restart().await;
        }
        let _open = stack.socket_of(&person).await;
        let (status, time) = stack.terminate().await;
        assert!(status.success(), "{status}");
        took.push(time);
    }
}

#[tokio::test]
async fn a_second_process_on_the_same_folder_is_refused_with_a_clear_error() {
    let Some(mut stack) = Stack::local().await else { return };
    let person = stack.person("Husam").await;
    let (status, stderr) = stack.rival().await;
    assert!(!status.success(), "{status}: {stderr}");
    let stderr = stderr.to_lowercase();
    let clear = ["in use", "already", "another", "locked"].iter().any(|word| stderr.contains(word));
    assert!(
        clear && stderr.contains("data"),
        "the error names the folder and the conflict: {stderr}"
    );
    assert!(!stderr.contains("panicked"), "{stderr}");
    stack.get(&format!("/v1/entities/{person}")).await.must_be(200);
}
