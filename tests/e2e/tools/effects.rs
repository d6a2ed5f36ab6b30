//! Side effects of tools under kills: a call is made at most once, unless its tool is idempotent.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{
    model::{call, say},
    tool_scene::{ToolScene, but, http_tool},
    waiting::{SOON, wait_for},
};

/// The error of a call that may or may not have taken effect.
const UNKNOWN: &str = "this call had begun when the process that made it died. \
                       Whether it took effect is not known, and it was not repeated. \
                       Look whether it did before you call it again";
/// The error of a call whose run ended before the call did.
const ENDED: &str = "the run ended while this was under way; whether it took effect is not known";

fn tools(url: &str) -> Value {
    let post = |name: &str, path: &str, settings: Value| {
        but(http_tool(name, "POST", &format!("{url}{path}"), json!({})), settings)
    };
    json!([
        post("echo", "/echo", json!({})),
        post("order", "/count/held", json!({})),
        post("shownOrder", "/count/held", json!({"visible": true})),
        post("set", "/count/held", json!({"idempotent": true})),
        post("shownSet", "/count/held", json!({"visible": true, "idempotent": true})),
        post("next", "/next", json!({})),
        post("nextSet", "/next", json!({"idempotent": true})),
        post("closes", "/close", json!({})),
        post("closesSet", "/close", json!({"idempotent": true})),
    ])
}

/// The idempotency keys of all requests to a path.
fn keys_of(scene: &ToolScene, path: &str) -> Vec<String> {
    let requests = scene.server.requests();
    requests
        .iter()
        .filter(|request| request.target.starts_with(path))
        .map(|request| request.header("idempotency-key").to_owned())
        .collect()
}

impl ToolScene {
    /// Waits until a call of the run's first step is completed.
    async fn call_completed(&self, run: &str, index: usize) {
        wait_for("the call to complete", SOON, async || {
            let run = self.stack.run(run).await;
            (run["steps"][0]["calls"][index]["status"] == "completed").then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn after_a_kill_an_idempotent_call_is_made_again_with_its_idempotency_key() {
    let Some(mut scene) = ToolScene::on_disk(tools).await else { return };
    let run = scene
        .begin(vec![
            call("echo", json!({})),
            call("set", json!({})),
            call("shownSet", json!({})),
            say("Done."),
        ])
        .await;
    scene.server.gate.reached(2).await;
    scene.call_completed(&run, 0).await;

    scene.stack.kill9();
    scene.stack.restart().await;
    scene.server.gate.reached(4).await;
    assert_eq!(scene.cards().await[0]["status"], "pending");
    scene.server.gate.open();
    let run = scene.stack.ended(&run, SOON).await;

    assert_eq!((&run["status"], &run["attempt"]), (&json!("completed"), &json!(2)));
    let calls = run["steps"][0]["calls"].as_array().unwrap();
    let outcomes: Vec<_> =
        calls[1..3].iter().map(|call| (call["status"].clone(), call["output"].clone())).collect();
    assert_eq!(outcomes, vec![(json!("completed"), json!({"count": 2})); 2]);
    let ids: BTreeSet<_> =
        calls[1..3].iter().map(|call| call["callId"].as_str().unwrap().to_owned()).collect();
    let keys = keys_of(&scene, "/count");
    assert_eq!((keys.len(), keys.into_iter().collect::<BTreeSet<_>>()), (4, ids));
    assert_eq!(keys_of(&scene, "/echo").len(), 1, "a completed call was made again");
    assert_eq!(
        scene.results(),
        calls.iter().map(|call| call["output"].clone()).collect::<Vec<_>>()
    );
    let cards = scene.cards().await;
    assert_eq!(
        (cards.len(), &cards[0]["status"], &cards[0]["output"]),
        (1, &json!("completed"), &json!({"count": 2}))
    );
    assert_eq!(scene.stack.messages(&scene.space).await.len(), 3, "a message was posted twice");
}

#[tokio::test]
async fn after_a_kill_any_other_call_is_not_made_again_and_its_outcome_is_unknown() {
    let Some(mut scene) = ToolScene::on_disk(tools).await else { return };
    let run = scene
        .begin(vec![
            call("echo", json!({})),
            call("order", json!({})),
            call("shownOrder", json!({})),
            say("Done."),
        ])
        .await;
    scene.server.gate.reached(2).await;
    scene.call_completed(&run, 0).await;

    scene.stack.kill9();
    scene.stack.restart().await;
    let socket = scene.stack.socket_of(&scene.person).await;
    socket.subscribe(&scene.space, Some(0)).await;
    let run = scene.stack.ended(&run, SOON).await;

    assert_eq!((&run["status"], &run["endReason"]), (&json!("completed"), &json!("done")));
    let calls = run["steps"][0]["calls"].as_array().unwrap();
    let outcomes: Vec<_> =
        calls[1..3].iter().map(|call| (call["status"].clone(), call["output"].clone())).collect();
    assert_eq!(outcomes, vec![(json!("unknown"), json!({"error": UNKNOWN})); 2]);
    assert_eq!(scene.results()[1..3], [json!({"error": UNKNOWN}), json!({"error": UNKNOWN})]);
    let effects: Vec<_> = scene.server.effects().into_values().collect();
    assert_eq!((effects, keys_of(&scene, "/echo").len()), (vec![1, 1], 1));
    let cards = scene.cards().await;
    assert_eq!(
        (cards.len(), &cards[0]["status"], &cards[0]["output"]),
        (1, &json!("failed"), &json!({"error": UNKNOWN}))
    );
    let shown = |message: &Value| message["parts"][0]["output"]["error"] == UNKNOWN;
    socket
        .shows(&scene.space, "the unknown outcome", SOON, |view| {
            view.messages.values().any(shown).then_some(())
        })
        .await;
    assert_eq!(scene.stack.messages(&scene.space).await.len(), 3);
}

#[tokio::test]
async fn a_shutdown_during_a_call_has_the_same_outcome_as_a_kill() {
    let Some(mut scene) = ToolScene::on_disk(tools).await else { return };
    let run = scene.begin(vec![call("order", json!({})), call("set", json!({}))]).await;
    scene.server.gate.reached(2).await;
    let (status, took) = scene.stack.terminate().await;
    assert!(status.success(), "{status} after {took:?}");
    scene.stack.restart().await;
    scene.server.gate.reached(3).await;
    scene.server.gate.open();
    let run = scene.stack.ended(&run, SOON).await;
    let outcomes: Vec<_> = run["steps"][0]["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| call["output"].clone())
        .collect();
    assert_eq!(outcomes, [json!({"error": UNKNOWN}), json!({"count": 2})]);
    let mut effects: Vec<_> = scene.server.effects().into_values().collect();
    effects.sort_unstable();
    assert_eq!(effects, [1, 2]);
}

#[tokio::test]
async fn a_run_that_fails_after_too_many_attempts_closes_the_card_of_its_call() {
    let Some(mut scene) = ToolScene::on_disk(tools).await else { return };
    let run = scene.begin(vec![call("shownSet", json!({}))]).await;
    let mut tries = 1;
    loop {
        scene.server.gate.reached(tries).await;
        scene.stack.kill9();
        scene.stack.restart().await;
        tries += 1;
        let failed = wait_for("another attempt or the end", SOON, async || {
            let failed = scene.stack.run(&run).await["status"] == "failed";
            let tried_again = scene.server.requests().len() >= tries;
            (failed || tried_again).then_some(failed)
        })
        .await;
        if failed {
            break;
        }
        assert!(tries < 10, "the run does not fail after {tries} attempts");
    }
    let run = scene.stack.ended(&run, SOON).await;
    assert_eq!((&run["status"], &run["error"]["code"]), (&json!("failed"), &json!("attempts")));
    let card = wait_for("the card to be closed", SOON, async || {
        scene.cards().await.pop().filter(|card| card["status"] != "pending")
    })
    .await;
    let error = json!({"error": ENDED});
    assert_eq!((&card["status"], &card["output"]), (&json!("canceled"), &error));
    let call = &scene.stack.run(run["id"].as_str().unwrap()).await["steps"][0]["calls"][0];
    assert_eq!((&call["status"], &call["output"]), (&json!("canceled"), &error));
    assert_eq!(
        keys_of(&scene, "/count").into_iter().collect::<BTreeSet<_>>().len(),
        1,
        "the attempts used different keys"
    );
}

#[tokio::test]
async fn an_idempotent_call_is_retried_after_temporary_errors() {
    let Some(scene) = ToolScene::with(tools).await else { return };
    let busy = |status: &str| {
        let code: u16 = status[..3].parse().unwrap();
        json!({"error": format!("the server answered {status}"), "body": {"code": code}})
    };
    for (statuses, tool, requests, output) in [
        (&[503, 503, 200][..], "nextSet", 3, json!({"code": 200})),
        (&[429, 502, 504], "nextSet", 3, busy("504 Gateway Timeout")),
        (&[500], "nextSet", 1, busy("500 Internal Server Error")),
        (&[404], "nextSet", 1, busy("404 Not Found")),
        (&[503], "next", 1, busy("503 Service Unavailable")),
    ] {
        scene.server.queue_statuses(statuses);
        let calls = scene.calls(vec![call(tool, json!({}))]).await;
        let received = scene.server.of_call(&calls[0]);
        assert_eq!(received.len(), requests, "{tool} {statuses:?}");
        assert_eq!(calls[0]["output"], output, "{tool} {statuses:?}");
        assert!(
            received.iter().all(|request| request.headers == received[0].headers),
            "the attempts differ: {received:?}"
        );
    }
    let calls = scene.calls(vec![call("closesSet", json!({})), call("closes", json!({}))]).await;
    assert_eq!([0, 1].map(|index| scene.server.of_call(&calls[index]).len()), [3, 1]);
    assert_eq!(calls[0]["output"], calls[1]["output"]);
}
