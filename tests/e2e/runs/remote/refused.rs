//! Remote agents that can't be reached, refuse, stay silent, or send what does not fit.

use futures::future::join_all;
use serde_json::{Value, json};

use crate::{
    runs::remote::{detail, scene::RemoteScene},
    support::waiting::SOON,
};

/// The end of the run of a remote agent at this path.
async fn end_of(path: &str) -> Option<(RemoteScene, String, Value)> {
    let scene = RemoteScene::start(path).await?;
    let socket = scene.stack.socket_of(&scene.person).await;
    socket.subscribe(&scene.space, None).await;
    let (_, run) = scene.ask("Hello.").await;
    let failed =
        socket.frame("run.failed", SOON * 2, |frame| frame["run"]["id"] == run.as_str()).await;
    let error = scene.stack.run(&run).await["error"].clone();
    assert_eq!(failed.body["run"]["error"]["code"], error["code"]);
    Some((scene, run, error))
}

#[tokio::test]
async fn a_refusal_fails_the_run_at_once_and_tells_the_space() {
    for path in ["/status/410", "/status/400", "/redirect?to=/text"] {
        let Some((scene, run, error)) = end_of(path).await else { return };
        assert_eq!(error["code"], "refused", "{path}: {error}");
        assert_eq!(scene.webhooks(&run).len(), 1, "{path}");
        assert_eq!(scene.server.requests().len(), 1, "a redirect is not followed");
    }
}

#[tokio::test]
async fn an_overloaded_or_broken_agent_is_tried_again_within_seconds() {
    let paths = ["/status/503", "/status/429", "/status/500", "/close"];
    for (path, end) in paths.into_iter().zip(join_all(paths.map(end_of)).await) {
        let Some((scene, run, error)) = end else { return };
        assert_eq!(error["code"], "overloaded", "{path}: {error}");
        assert_eq!(scene.webhooks(&run).len(), 4, "{path}");
    }
}

#[tokio::test]
async fn an_agent_that_answers_the_webhook_late_works_all_the_same() {
    let Some(scene) = RemoteScene::start("/slow").await else { return };
    let (_, run) = scene.ask("Hello.").await;
    let woken = scene.woken(&run).await;
    woken.post("1", json!({"text": "Hello, too."})).await.must_be(201);
    woken.complete(json!({"status": "completed"})).await.must_be(200);
    scene.server.gate.open();
    assert_eq!(scene.stack.ended(&run, SOON).await["status"], "completed");
    assert_eq!(scene.webhooks(&run).len(), 1);
}

#[tokio::test]
async fn an_agent_that_is_silent_fails_when_its_time_is_up() {
    let Some(scene) = RemoteScene::start("/echo").await else { return };
    let patch = json!({"agent": {"runtime": {"timeoutSeconds": 10}}});
    scene.stack.patch(&format!("/v1/entities/{}", scene.agent), patch).await.must_be(200);
    let (_, run) = scene.ask("Hello.").await;
    let woken = scene.woken(&run).await;
    woken.post("1", json!({"text": "Wait."})).await.must_be(201);
    let ended = scene.stack.ended(&run, SOON * 5).await;
    let expected = json!({
        "code": "timeout",
        "message": "the remote agent did not complete the run within 10 seconds",
    });
    assert_eq!(ended["error"], expected);
    let late = woken.post("2", json!({"text": "Here I am."})).await.must_be(409);
    assert!(detail(&late).contains("failed"), "{late}");
    for status in ["completed", "failed"] {
        woken.complete(json!({"status": status})).await.must_be(409);
    }
    // Its turn is free again.
    let (_, next) = scene.ask("Still there?").await;
    scene.woken(&next).await.complete(json!({"status": "completed"})).await.must_be(200);
}

#[tokio::test]
async fn a_secret_that_is_not_set_and_a_private_address_are_explained() {
    let Some(scene) = RemoteScene::start("/echo").await else { return };
    let runtime = |secret: &str, url: &str| json!({"runtime": {"secret": secret, "url": url}});
    let url = scene.runtime()["url"].as_str().unwrap().to_owned();
    for (runtime, code, words) in [
        (runtime("${secret.NOWHERE}", &url), "not_configured", "NOWHERE is not set"),
        (runtime("${secret.HOOK}", "http://10.0.0.1/"), "not_configured", "SMARTSPACE_TOOL_HOSTS"),
        (runtime("${secret.HOOK}", "http://[::1]:1/"), "not_configured", "SMARTSPACE_TOOL_HOSTS"),
    ] {
        let path = format!("/v1/entities/{}", scene.agent);
        scene.stack.patch(&path, json!({"agent": runtime})).await.must_be(200);
        let (_, run) = scene.ask("Hello.").await;
        let error = scene.stack.ended(&run, SOON).await["error"].clone();
        assert_eq!(error["code"], code, "{error}");
        assert!(error["message"].as_str().unwrap().contains(words), "{error}");
    }
}

#[tokio::test]
async fn a_body_that_does_not_fit_is_refused_and_changes_nothing() {
    let Some(scene) = RemoteScene::start("/echo").await else { return };
    let (_, run) = scene.ask("Hello.").await;
    let woken = scene.woken(&run).await;
    let long = "x".repeat(32_769);
    let mut wrong = Vec::new();
    for body in [
        json!({"text": ""}),
        json!({"text": long}),
        json!({"text": "a\u{0}b"}),
        json!({"text": 7}),
        json!({}),
        json!({"text": "x", "streamKey": ""}),
        json!({"text": "x", "streamKey": "k".repeat(129)}),
        json!({"text": "x", "spaceId": "nowhere"}),
        json!({"text": "x", "senderId": scene.person}),
        json!(["x"]),
    ] {
        wrong.push((woken.post("key", body.clone()).await, 422, body));
    }
    let body = json!({"text": "x"});
    wrong.push((woken.post_without_key(body.clone()).await, 400, body));
    for body in [
        json!({"streamKey": "s", "offset": 1, "text": "x", "snapshot": true}),
        json!({"streamKey": "s", "offset": 0, "text": long}),
        json!({"streamKey": "s", "offset": 32_768, "text": "x"}),
        json!({"streamKey": "s", "offset": -1, "text": "x"}),
        json!({"streamKey": "", "offset": 0, "text": "x"}),
        json!({"offset": 0, "text": "x"}),
    ] {
        wrong.push((woken.stream_body(body.clone()).await, 422, body));
    }
    for body in [
        json!({"status": "canceled"}),
        json!({"status": "completed", "reason": "x".repeat(1_001)}),
        json!({"status": "completed", "usage": {"inputTokens": -1}}),
        json!({"status": "completed", "usage": {"cost": -0.1}}),
        json!({"status": "completed", "usage": {"tokens": 1}}),
        json!({}),
    ] {
        wrong.push((woken.complete(body.clone()).await, 422, body));
    }
    for (reply, status, body) in wrong {
        assert_eq!(reply.status, status, "{body:.200}: {}", reply.text);
    }
    woken.complete(json!({"status": "completed"})).await.must_be(200);
    assert_eq!(scene.stack.texts(&scene.space).await, ["Hello."]);
}

#[tokio::test]
async fn a_run_posts_a_hundred_messages_at_most_and_streams_five_times_a_second() {
    let Some(scene) = RemoteScene::start("/echo").await else { return };
    let (_, run) = scene.ask("Hello.").await;
    let woken = scene.woken(&run).await;
    let mut refused = 0;
    for number in 0..12 {
        let reply = woken.stream("s", number, "x", false).await;
        assert!([202, 429].contains(&reply.status), "{}", reply.text);
        refused += u32::from(reply.status == 429);
    }
    if scene.stack.is_local() {
        assert!(refused >= 4, "{refused} of 12 at once are refused");
    }
    for number in 0..100 {
        // A space accepts a few messages a second only.
        let body = json!({"text": format!("message {number}")});
        woken.post_patiently(&number.to_string(), body).await.must_be(201);
    }
    let refused = woken.post_patiently("one more", json!({"text": "x"})).await.must_be(422);
    assert!(detail(&refused).contains("100 messages"), "{refused}");
    woken.post_patiently("7", json!({"text": "message 7"})).await.must_be(201);
}

#[tokio::test]
async fn an_agent_has_a_model_or_a_runtime_that_fits() {
    let Some(scene) = RemoteScene::start("/echo").await else { return };
    let path = format!("/v1/entities/{}", scene.agent);
    let model = json!({"provider": "scripted", "name": "demo"});
    let tool = json!({
        "name": "add", "description": "Adds.", "inputSchema": {"type": "object"},
        "execution": {"type": "compute", "expression": "1 + 1"},
    });
    let server = json!({"name": "s", "url": "https://mcp.example/"});
    let url = |url: &str| json!({"runtime": {"url": url}});
    for (patch, pointer) in [
        (json!({"model": model}), "/agent/runtime"),
        (json!({"runtime": null}), "/agent/model"),
        (json!({"tools": [tool]}), "/agent/tools"),
        (json!({"mcp": {"servers": [server]}}), "/agent/mcp/servers"),
        (json!({"budget": {"tokensPerDay": 9}}), "/agent/budget/tokensPerDay"),
        (json!({"budget": {"costPerDay": 9}}), "/agent/budget/costPerDay"),
        (json!({"runtime": {"timeoutSeconds": 9}}), "/agent/runtime/timeoutSeconds"),
        (json!({"runtime": {"timeoutSeconds": 86_401}}), "/agent/runtime/timeoutSeconds"),
        (json!({"runtime": {"secret": SECRET_VALUE}}), "/agent/runtime/secret"),
        (json!({"runtime": {"secret": "${secret.}"}}), "/agent/runtime/secret"),
        (json!({"runtime": {"type": "grpc"}}), "/agent/runtime/type"),
        (url("ftp://agent.example/"), "/agent/runtime/url"),
        (url("https://me:you@agent.example/"), "/agent/runtime/url"),
        (url("https://agent.example/#x"), "/agent/runtime/url"),
        (url("https://{{input.host}}/"), "/agent/runtime/url"),
        (url("/agent"), "/agent/runtime/url"),
    ] {
        let refused = scene.stack.patch(&path, json!({"agent": patch})).await.must_be(422);
        let named: Vec<_> = refused["errors"].as_array().unwrap().iter().collect();
        assert!(named.iter().any(|error| error["pointer"] == pointer), "{patch}: {refused}");
    }
    // From remote to a model and back.
    let local = json!({"agent": {"runtime": null, "model": model}});
    scene.stack.patch(&path, local).await.must_be(200);
    let remote = json!({"agent": {"model": null, "runtime": scene.runtime()}});
    let changed = scene.stack.patch(&path, remote).await.must_be(200);
    assert_eq!(changed["agent"].get("model"), None, "{changed}");
    assert_eq!(changed["agent"]["runtime"]["timeoutSeconds"], 900);
}

const SECRET_VALUE: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
