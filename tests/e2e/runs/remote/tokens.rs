//! The token of a run: what it opens, and that a webhook that is sent again carries the same one.

use reqwest::Method;
use serde_json::json;

use crate::{
    auth::access_table::routes_of_the_table,
    runs::remote::scene::RemoteScene,
    support::waiting::{SOON, wait_for},
};

#[tokio::test]
async fn the_token_of_a_run_opens_the_callbacks_of_that_run_only() {
    let Some(scene) = RemoteScene::start("/echo").await else { return };
    let stack = &scene.stack;
    let (_, run) = scene.ask("Hello.").await;
    let (_, other) = scene.ask("Hello again.").await;
    let woken = scene.woken(&run).await;
    let mine = stack.with(woken.token());
    for route in routes_of_the_table() {
        let (method, path) = route.split_once(' ').unwrap();
        let method: Method = method.parse().unwrap();
        let is_open = ["/health", "/openapi.json", "/schemas/", "/hooks/", "/v1/invites/"];
        if is_open.iter().any(|open| path.contains(open)) {
            continue;
        }
        let path = path.replace("{id}", &other).replace("{spaceId}", &scene.space);
        let reply = mine.call(method, &path, None).await;
        assert_eq!(reply.status, 401, "{route}: {}", reply.text);
    }
    let end = || json!({"status": "completed"});
    let reply = mine.create(&format!("/v1/runs/{run}/cancel"), json!({})).await;
    assert_eq!(reply.status, 401, "{}", reply.text);
    let path = format!("/v1/runs/{run}/complete");
    let changed = format!("{}x", woken.token());
    for wrong in [&*changed, "ssrun_", "", &*stack.key] {
        let reply = stack.with(wrong).create(&path, end()).await;
        assert_eq!(reply.status, 401, "{wrong}: {}", reply.text);
    }
    let nobody = format!("/v1/runs/run_{}/complete", "0".repeat(26));
    let unknown = mine.create(&nobody, end()).await.must_be(401);
    let theirs = mine.create(&format!("/v1/runs/{other}/complete"), end()).await.must_be(401);
    assert_eq!(unknown["detail"], theirs["detail"], "a stranger learns of no run");
    woken.complete(end()).await.must_be(200);
    let token = woken.token();
    assert!(!stack.log().contains(token), "the token is in the log");
}

#[tokio::test]
async fn a_webhook_whose_sender_died_is_sent_again_with_the_same_token_and_answered_once() {
    let Some(mut scene) = RemoteScene::on_disk("/slow").await else { return };
    let (_, run) = scene.ask("Hello.").await;
    let first = scene.woken(&run).await.request;
    scene.stack.kill9();
    scene.server.gate.open();
    scene.stack.restart().await;
    // The next one may be sent when the first one counts as lost.
    let again = wait_for("another webhook", SOON * 4, async || {
        let sent = scene.webhooks(&run);
        (sent.len() == 2).then(|| sent[1].clone())
    })
    .await;
    let token = |body: serde_json::Value| body["callbacks"]["token"].clone();
    assert_eq!(token(first.json()), token(again.json()));
    assert_eq!(again.json()["run"]["attempt"], 2);
    let woken = scene.woken(&run).await;
    for _ in 0..2 {
        woken.post("answer", json!({"text": "Hello, too."})).await.must_be(201);
        woken.complete(json!({"status": "completed"})).await.must_be(200);
    }
    assert_eq!(scene.stack.texts(&scene.space).await, ["Hello.", "Hello, too."]);
}

#[tokio::test]
async fn a_remote_agent_goes_on_while_the_host_is_away() {
    let Some(mut scene) = RemoteScene::on_disk("/echo").await else { return };
    let (_, run) = scene.ask("Hello.").await;
    let token = scene.woken(&run).await.token().to_owned();
    // The webhook's answer is noted before the host stops.
    wait_for("the run that is due at the end of its time", SOON, async || {
        let run = scene.stack.run(&run).await;
        (run["remote"] == true).then_some(())
    })
    .await;
    scene.stack.kill9();
    scene.stack.restart().await;
    let woken = scene.woken(&run).await;
    assert_eq!(woken.token(), token);
    woken.post("1", json!({"text": "Hello, too."})).await.must_be(201);
    woken.complete(json!({"status": "completed"})).await.must_be(200);
    let run = scene.stack.run(&run).await;
    assert_eq!(run["status"], "completed");
    assert_eq!(scene.stack.texts(&scene.space).await, ["Hello.", "Hello, too."]);
}

#[tokio::test]
async fn a_space_that_the_agent_is_not_in_looks_like_one_that_does_not_exist() {
    let Some(scene) = RemoteScene::start("/echo").await else { return };
    let strange = scene.stack.space("Strange", &[&scene.person]).await;
    let (_, run) = scene.ask("Hello.").await;
    let woken = scene.woken(&run).await;
    for (index, space) in [strange.as_str(), "spc_01ARZ3NDEKTSV4RRFFQ69G5FAV"].iter().enumerate() {
        let text = json!({"spaceId": space, "text": "Hello?"});
        let stream = json!({"spaceId": space, "streamKey": "s", "offset": 0, "text": "x"});
        let key = format!("key {index}");
        for refused in [woken.post(&key, text).await, woken.stream_body(stream).await] {
            let refused = refused.must_be(404);
            assert_eq!(refused["detail"], "there is no such space", "{space}");
        }
    }
}
