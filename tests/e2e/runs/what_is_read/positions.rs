//! Followers read how far an agent has read with the end of its run, and nowhere else.

use serde_json::json;

use crate::support::{
    model::{call, http, say, stop},
    stack::Stack,
    waiting::SOON,
};

#[tokio::test]
async fn only_the_end_of_a_completed_run_carries_a_position() {
    let stack = Stack::start().await;
    let (person, agent, space) = stack.pair().await;
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, None).await;
    let looks = call("read_messages", json!({})).into();
    stack.model.plays("ada", [looks, say("Yes.").into(), stop()]);
    let question = stack.post(&space, &person, "Is it done?").await;
    let ended = socket.frame("run.completed", SOON, |_| true).await.body;
    assert!(ended["readSeq"].as_u64() >= question["seq"].as_u64(), "{ended}");
    stack.model.plays("ada", [http(400)]);
    stack.post(&space, &person, "And now?").await;
    socket.frame("run.failed", SOON, |_| true).await;
    let mut carrying = Vec::new();
    for frame in socket.frames() {
        if frame.body.get("readSeq").is_some() || frame.body["run"].get("readSeq").is_some() {
            carrying.push(frame.kind.clone());
        }
        let is_agents = frame.kind == "space.read" && frame.body["entityId"] == agent.as_str();
        assert!(!is_agents, "{:?}", frame.body);
    }
    assert_eq!(carrying, ["run.completed"]);
}
