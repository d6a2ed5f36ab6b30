//! Replies of remote agents.

use serde_json::{Value, json};

use super::scene::RemoteScene;
use crate::support::routes::{seq, triggered_run};

#[tokio::test]
async fn a_remote_agent_answers_a_persons_reply_in_its_thread_unless_it_says_otherwise() {
    let Some(scene) = RemoteScene::start("/echo").await else { return };
    let (_, run) = scene.ask("Hello.").await;
    let woken = scene.woken(&run).await;
    let first = woken.post("1", json!({"text": "Shall I?"})).await.must_be(201);
    assert_eq!(first["replyTo"], Value::Null, "the trigger is no reply");

    let body = json!({"senderId": scene.person, "text": "Yes.", "replyTo": seq(&first)});
    let yes = scene.stack.post_body(&scene.space, &body).await;
    assert_eq!(yes["dispatch"][0]["source"], "reply", "{yes}");
    let woken = scene.woken(&triggered_run(&yes, &scene.agent).unwrap()).await;
    let shown = &woken.request.json()["context"]["messages"];
    assert_eq!(shown.as_array().unwrap().last().unwrap()["replyTo"], yes["replyTo"]);
    let done = woken.post("2", json!({"text": "Done."})).await.must_be(201);
    assert_eq!((&done["replyTo"]["seq"], &done["thread"]), (&yes["seq"], &first["seq"]));
    let apart = woken.post("3", json!({"text": "Apart.", "replyTo": 0})).await.must_be(201);
    assert_eq!(apart["replyTo"], Value::Null);
    let own = json!({"text": "There.", "replyTo": seq(&first)});
    let own = woken.post("4", own).await.must_be(201);
    assert_eq!(own["replyTo"]["seq"], first["seq"]);
    let wrong = woken.post("5", json!({"text": "No.", "replyTo": 99})).await.must_be(422);
    assert_eq!(wrong["errors"][0]["pointer"], "/replyTo", "{wrong}");
}
