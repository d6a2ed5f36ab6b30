//! A side effect happens at most once, unless its tool may be repeated: whatever is killed in between.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    acting::{Acting, but, http_tool},
    model::{call, say},
    waiting::{SOON, wait_for},
};

/// What is told of a call when nobody knows what became of it.
const UNKNOWN: &str = "this call had begun when the process that made it died. Whether it took effect is not known, and it was not repeated. \
                       Look whether it did before you call it again";

fn tools(url: &str) -> Value {
    let post = |name: &str, path: &str, settings: Value| but(http_tool(name, "POST", &format!("{url}{path}"), json!({})), settings);
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

/// Keys that the server has seen for a call.
fn keys_of(acting: &Acting, path: &str) -> Vec<String> {
    let seen = acting.server.seen();
    seen.iter().filter(|seen| seen.target.starts_with(path)).map(|seen| seen.header("idempotency-key").to_owned()).collect()
}

impl Acting {
    /// Waits until a call of the run's first answer is done.
    async fn is_done(&self, run: &str, index: usize) {
        wait_for("a call is done", SOON, async || {
            let run = self.stack.run(run).await;
            (run["steps"][0]["calls"][index]["status"] == "completed").then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn after_a_kill_a_call_that_may_be_repeated_is_made_again_with_its_key() {
    let Some(mut acting) = Acting::on_disk(tools).await else { return };
    let run = acting.begin(vec![call("echo", json!({})), call("set", json!({})), call("shownSet", json!({})), say("Done.")]).await;
    acting.server.gate.reached(2).await;
    acting.is_done(&run, 0).await;

    acting.stack.kill9();
    acting.stack.restart().await;
    acting.server.gate.reached(4).await;
    assert_eq!(acting.cards().await[0]["status"], "pending");
    acting.server.gate.open();
    let run = acting.stack.ended(&run, SOON).await;

    assert_eq!((&run["status"], &run["attempt"]), (&json!("completed"), &json!(2)));
    let calls = run["steps"][0]["calls"].as_array().unwrap();
    let outcomes: Vec<_> = calls[1..3].iter().map(|call| (call["status"].clone(), call["output"].clone())).collect();
    assert_eq!(outcomes, vec![(json!("completed"), json!({"count": 2})); 2], "its result counts");
    let ids: BTreeSet<_> = calls[1..3].iter().map(|call| call["callId"].as_str().unwrap().to_owned()).collect();
    let keys = keys_of(&acting, "/count");
    assert_eq!((keys.len(), keys.into_iter().collect::<BTreeSet<_>>()), (4, ids));
    assert_eq!(keys_of(&acting, "/echo").len(), 1, "what was done is not done again");
    assert_eq!(acting.results(), calls.iter().map(|call| call["output"].clone()).collect::<Vec<_>>());
    let cards = acting.cards().await;
    assert_eq!((cards.len(), &cards[0]["status"], &cards[0]["output"]), (1, &json!("completed"), &json!({"count": 2})));
    assert_eq!(acting.stack.messages(&acting.space).await.len(), 3, "and it is said once");
}

#[tokio::test]
async fn after_a_kill_any_other_call_is_not_made_again_and_the_model_is_told() {
    let Some(mut acting) = Acting::on_disk(tools).await else { return };
    let run = acting.begin(vec![call("echo", json!({})), call("order", json!({})), call("shownOrder", json!({})), say("Done.")]).await;
    acting.server.gate.reached(2).await;
    acting.is_done(&run, 0).await;

    acting.stack.kill9();
    acting.stack.restart().await;
    let socket = acting.stack.socket_of(&acting.person).await;
    socket.subscribe(&acting.space, Some(0)).await;
    let run = acting.stack.ended(&run, SOON).await;

    assert_eq!((&run["status"], &run["endReason"]), (&json!("completed"), &json!("done")));
    let calls = run["steps"][0]["calls"].as_array().unwrap();
    let outcomes: Vec<_> = calls[1..3].iter().map(|call| (call["status"].clone(), call["output"].clone())).collect();
    assert_eq!(outcomes, vec![(json!("unknown"), json!({"error": UNKNOWN})); 2]);
    assert_eq!(acting.results()[1..3], [json!({"error": UNKNOWN}), json!({"error": UNKNOWN})]);
    let effects: Vec<_> = acting.server.effects().into_values().collect();
    assert_eq!((effects, keys_of(&acting, "/echo").len()), (vec![1, 1], 1));
    let cards = acting.cards().await;
    assert_eq!((cards.len(), &cards[0]["status"], &cards[0]["output"]), (1, &json!("failed"), &json!({"error": UNKNOWN})));
    let shown = |message: &Value| message["parts"][0]["output"]["error"] == UNKNOWN;
    socket.shows(&acting.space, "what became of it", SOON, |view| view.messages.values().any(shown).then_some(())).await;
    assert_eq!(acting.stack.messages(&acting.space).await.len(), 3);
}

#[tokio::test]
async fn who_is_asked_to_end_leaves_a_call_as_one_that_dies_does() {
    let Some(mut acting) = Acting::on_disk(tools).await else { return };
    let run = acting.begin(vec![call("order", json!({})), call("set", json!({}))]).await;
    acting.server.gate.reached(2).await;
    let (status, took) = acting.stack.terminate().await;
    assert!(status.success(), "{status} after {took:?}");
    acting.stack.restart().await;
    acting.server.gate.reached(3).await;
    acting.server.gate.open();
    let run = acting.stack.ended(&run, SOON).await;
    let outcomes: Vec<_> = run["steps"][0]["calls"].as_array().unwrap().iter().map(|call| call["output"].clone()).collect();
    assert_eq!(outcomes, [json!({"error": UNKNOWN}), json!({"count": 2})]);
    let mut effects: Vec<_> = acting.server.effects().into_values().collect();
    effects.sort_unstable();
    assert_eq!(effects, [1, 2]);
}

#[tokio::test]
async fn a_run_that_is_given_up_closes_the_card_of_its_call() {
    let Some(mut acting) = Acting::on_disk(tools).await else { return };
    let run = acting.begin(vec![call("shownSet", json!({}))]).await;
    let mut tries = 1;
    loop {
        acting.server.gate.reached(tries).await;
        acting.stack.kill9();
        acting.stack.restart().await;
        tries += 1;
        let over = wait_for("another try, or the end", SOON, async || {
            let ended = acting.stack.run(&run).await["status"] == "failed";
            if ended { Some(true) } else { (acting.server.seen().len() >= tries).then_some(false) }
        })
        .await;
        if over {
            break;
        }
        assert!(tries < 10, "it is never given up");
    }
    let run = acting.stack.ended(&run, SOON).await;
    assert_eq!((&run["status"], &run["error"]["code"]), (&json!("failed"), &json!("attempts")));
    let card = wait_for("its card is closed", SOON, async || acting.cards().await.pop().filter(|card| card["status"] != "pending")).await;
    let error = json!({"error": "the run ended while this was under way; whether it took effect is not known"});
    assert_eq!((&card["status"], &card["output"]), (&json!("canceled"), &error));
    let call = &acting.stack.run(run["id"].as_str().unwrap()).await["steps"][0]["calls"][0];
    assert_eq!((&call["status"], &call["output"]), (&json!("canceled"), &error));
    assert_eq!(keys_of(&acting, "/count").into_iter().collect::<BTreeSet<_>>().len(), 1, "always the same key");
}

#[tokio::test]
async fn what_may_be_repeated_is_tried_again_where_that_may_help() {
    let Some(acting) = Acting::with(tools).await else { return };
    let busy = |code: &str| json!({"error": format!("the server answered {code}"), "body": {"code": code[..3].parse::<u16>().unwrap()}});
    for (statuses, tool, requests, output) in [
        (&[503, 503, 200][..], "nextSet", 3, json!({"code": 200})),
        (&[429, 502, 504], "nextSet", 3, busy("504 Gateway Timeout")),
        (&[500], "nextSet", 1, busy("500 Internal Server Error")),
        (&[404], "nextSet", 1, busy("404 Not Found")),
        (&[503], "next", 1, busy("503 Service Unavailable")),
    ] {
        acting.server.lines_up(statuses);
        let calls = acting.calls(vec![call(tool, json!({}))]).await;
        let seen = acting.server.of_call(&calls[0]);
        assert_eq!((seen.len(), &calls[0]["output"]), (requests, &output), "{tool} {statuses:?}");
        assert!(seen.iter().all(|one| one.headers == seen[0].headers), "each time the same is sent: {seen:?}");
    }
    let calls = acting.calls(vec![call("closesSet", json!({})), call("closes", json!({}))]).await;
    assert_eq!([0, 1].map(|index| acting.server.of_call(&calls[index]).len()), [3, 1]);
    assert_eq!(calls[0]["output"], calls[1]["output"]);
}
