//! What is left of deleted messages in the runs of remote agents that posted them.

use std::time::Duration;

use serde_json::{Value, json};

use super::scene::RemoteScene;
use crate::support::{routes::seq, waiting::wait_for};

#[tokio::test]
async fn the_run_that_posted_a_deleted_message_loses_its_words() {
    let Some(scene) = RemoteScene::start("/echo").await else { return };
    let (_, run) = scene.ask("What is it?").await;
    let woken = scene.woken(&run).await;
    let posted = woken.post("1", json!({"text": "The secret is 4711."})).await.must_be(201);
    woken.post("2", json!({"text": "Anything else?"})).await.must_be(201);
    woken.complete(json!({"status": "completed"})).await.must_be(200);
    assert!(scene.stack.run(&run).await.to_string().contains("4711"));
    scene.stack.delete_message(&scene.space, seq(&posted)).await.must_be(204);
    let after = wait_for("the run forgets its message", Duration::from_mins(1), async || {
        let run = scene.stack.run(&run).await;
        (!run.to_string().contains("4711")).then_some(run)
    })
    .await;
    let texts: Vec<&Value> = after["steps"][0]["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| &call["input"]["text"])
        .collect();
    assert_eq!(texts, ["#2 [deleted]", "Anything else?"]);
    assert!(after["redactedAt"].is_string(), "{after}");
}
