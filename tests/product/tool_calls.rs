//! Calls that take their time: neighbours are made side by side, a visible one is shown while it is under way, and nothing stays open for ever.

use serde_json::{Value, json};

use super::{
    acting::{Acting, but, http_tool},
    model::{answer, call, say, stop},
    routes::woken,
    socket::Socket,
    waiting::{SOON, wait_for},
};

/// What is told of a call whose run was ended.
const ENDED: &str = "the run ended while this was under way; whether it took effect is not known";

fn tools(url: &str) -> Value {
    let slow = |name: &str| http_tool(name, "POST", &format!("{url}/slow?n={{{{input.n}}}}"), json!({}));
    json!([
        slow("slow"),
        but(slow("shown"), json!({"visible": true})),
        http_tool("echo", "POST", &format!("{url}/echo?n={{{{input.n}}}}"), json!({})),
        but(http_tool("refused", "POST", &format!("{url}/status/403"), json!({})), json!({"visible": true})),
    ])
}

/// The message of a tool's card, as a socket is told of it.
async fn shown(socket: &Socket, kind: &str, tool: &str, status: &str) -> Value {
    let fits = |frame: &Value| frame["message"]["parts"][0]["name"] == tool && frame["message"]["parts"][0]["status"] == status;
    socket.frame(kind, SOON, fits).await.body["message"].clone()
}

impl Acting {
    async fn follow(&self) -> Socket {
        let socket = self.stack.socket_of(&self.person).await;
        socket.subscribe(&self.space, None).await;
        socket
    }
}

#[tokio::test]
async fn neighbours_are_called_side_by_side_and_answered_in_their_order() {
    let Some(acting) = Acting::with(tools).await else { return };
    let calls = ["slow", "echo", "slow"].into_iter().zip(1..).map(|(tool, n)| call(tool, json!({"n": n})));
    let run = acting.begin(calls.chain([say("After them."), call("echo", json!({"n": 4}))]).collect()).await;
    acting.server.gate.reached(2).await;
    wait_for("all three at the server", SOON, async || (acting.server.seen().len() == 3).then_some(())).await;
    let steps = acting.stack.run(&run).await["steps"].clone();
    let status = |index: usize| steps[0]["calls"][index]["status"].clone();
    assert_eq!([status(0), status(2), status(3), status(4)], ["pending"; 4].map(Value::from), "{steps:.1000}");
    assert_eq!(acting.stack.texts(&acting.space).await, ["Go on."], "what stands behind them waits for them");
    acting.server.gate.open();
    let run = acting.stack.ended(&run, SOON).await;
    let calls = run["steps"][0]["calls"].as_array().unwrap();
    let targets: Vec<_> = calls.iter().map(|call| call["output"]["target"].as_str().unwrap_or_default()).collect();
    assert_eq!(targets, ["/slow?n=1", "/echo?n=2", "/slow?n=3", "", "/echo?n=4"]);
    assert_eq!(acting.results(), calls.iter().map(|call| call["output"].clone()).collect::<Vec<_>>());
    assert_eq!(acting.stack.texts(&acting.space).await, ["Go on.", "After them."]);
}

#[tokio::test]
async fn a_visible_call_is_shown_while_it_is_under_way_and_then_with_its_result() {
    let Some(acting) = Acting::with(tools).await else { return };
    let bea = acting.stack.agent("Bea", &acting.stack.model.name("bea")).await;
    acting.stack.put(&format!("/v1/spaces/{}/members/{bea}", acting.space), json!({})).await.must_be(200);
    let socket = acting.follow().await;
    let run = acting.begin(vec![call("shown", json!({"n": "ä"})), call("refused", json!({}))]).await;
    acting.server.gate.reached(1).await;
    let open = shown(&socket, "message.created", "shown", "pending").await;
    let steps = acting.stack.run(&run).await["steps"].clone();
    let part = |output: Value, status: &str| {
        json!({"type": "tool", "callId": steps[0]["calls"][0]["callId"], "name": "shown", "input": {"n": "ä"}, "output": output, "status": status,
            "ui": null, "resultSchema": null, "answerBy": null, "resolvedBy": null, "expiresAt": null})
    };
    assert_eq!(open["parts"], json!([part(Value::Null, "pending")]));
    assert_eq!((&open["dispatch"], &open["runId"], &open["rev"]), (&json!([]), &json!(run), &json!(1)));
    let kept = acting.stack.messages(&acting.space).await;
    assert_eq!(kept.iter().find(|message| message["id"] == open["id"]), Some(&open));

    acting.server.gate.open();
    let done = shown(&socket, "message.updated", "shown", "completed").await;
    acting.stack.quiet(&acting.space).await;
    let output = acting.results()[0].clone();
    assert_eq!(output["target"], "/slow?n=%C3%A4");
    assert_eq!((&done["parts"], &done["rev"], &done["seq"]), (&json!([part(output, "completed")]), &json!(2), &open["seq"]));
    let refused = json!({"error": "the server answered 403 Forbidden", "body": {"detail": "as you like it"}});
    let failed = shown(&socket, "message.updated", "refused", "failed").await;
    assert_eq!((&failed["parts"][0]["output"], &acting.results()[1]), (&refused, &refused));
    assert_eq!(acting.stack.model.asked("bea").len(), 1, "woken by what was said, not by cards");
    let statuses = socket.view(&acting.space).messages.into_values().map(|message| message["parts"][0]["status"].clone());
    assert_eq!(statuses.collect::<Vec<_>>(), [json!(null), json!("completed"), json!("failed")]);
}

#[tokio::test]
async fn what_ends_a_run_closes_the_cards_of_its_calls() {
    let Some(acting) = Acting::with(tools).await else { return };
    let socket = acting.follow().await;
    let calls = || vec![call("shown", json!({"n": 1})), call("slow", json!({"n": 2})), call("echo", json!({"n": 3}))];
    let first = acting.begin(calls()).await;
    acting.server.gate.reached(2).await;
    acting.stack.cancel(&first).await.must_be(202);
    let card = shown(&socket, "message.updated", "shown", "canceled").await;
    assert_eq!((&card["parts"][0]["output"], &card["runId"]), (&json!({"error": ENDED}), &json!(first)));
    // The agent is retired in the middle of the next one.
    let second = acting.begin(calls()).await;
    acting.server.gate.reached(4).await;
    acting.stack.delete(&format!("/v1/entities/{}", acting.agent)).await.must_be(204);
    socket.frame("message.updated", SOON, |frame| frame["message"]["runId"] == second.as_str()).await;
    acting.server.gate.open();
    for run in [&first, &second] {
        let run = acting.stack.ended(run, SOON).await;
        let calls = run["steps"][0]["calls"].as_array().unwrap();
        assert_eq!(run["status"], "canceled");
        assert!(calls.iter().all(|call| call["status"] != "pending"), "{calls:?}");
        assert_eq!((&calls[0]["status"], &calls[1]["status"]), (&json!("canceled"), &json!("canceled")));
        assert_eq!(calls[0]["output"], json!({"error": ENDED}));
    }
    let cards: Vec<_> = acting.cards().await.iter().map(|card| (card["status"].clone(), card["output"].clone())).collect();
    assert_eq!(cards, vec![(json!("canceled"), json!({"error": ENDED})); 2], "what the server answered then is nobody's");
}

#[tokio::test]
async fn a_card_in_a_space_that_is_deleted_meanwhile_costs_nobody_anything() {
    let Some(acting) = Acting::with(tools).await else { return };
    let board = acting.stack.space("Board", &[&acting.person, &acting.agent]).await;
    let run = acting.begin(vec![call("shown", json!({"targetSpaceId": board, "n": 1})), call("shown", json!({"n": 2}))]).await;
    acting.server.gate.reached(2).await;
    assert_eq!(acting.stack.messages(&board).await[0]["parts"][0]["status"], "pending");
    acting.stack.delete(&format!("/v1/spaces/{board}")).await.must_be(204);
    acting.server.gate.open();
    let run = acting.stack.ended(&run, SOON).await;
    let calls = run["steps"][0]["calls"].as_array().unwrap();
    let shown: Vec<_> = calls.iter().map(|call| (call["status"].clone(), call["output"]["target"].clone())).collect();
    assert_eq!(shown, [(json!("completed"), json!("/slow?n=1")), (json!("completed"), json!("/slow?n=2"))]);
    assert_eq!((&run["status"], &acting.cards().await[0]["status"]), (&json!("completed"), &json!("completed")));
}

#[tokio::test]
async fn where_a_call_can_not_be_shown_it_is_not_made() {
    let Some(acting) = Acting::with(tools).await else { return };
    let elsewhere = acting.stack.space("Elsewhere", &[&acting.person]).await;
    let calls = acting.calls(vec![
        call("shown", json!({"targetSpaceId": elsewhere})),
        call("shown", json!({"targetSpaceId": "nonsense"})),
        call("shown", json!({"n": "x".repeat(70_000)})),
    ]);
    let errors: Vec<_> = calls.await.iter().map(|call| call["output"]["error"].as_str().unwrap().to_owned()).collect();
    assert!(errors[0].starts_with(&format!("you are not a member of {elsewhere}")), "{errors:?}");
    assert!(errors[1].starts_with("targetSpaceId: ") && errors[2].contains("too long to be shown"), "{errors:?}");
    assert_eq!((acting.server.connections(), acting.cards().await.len()), (0, 0));
}

#[tokio::test]
async fn while_a_call_is_under_way_the_agent_answers_others() {
    let Some(acting) = Acting::with(tools).await else { return };
    acting.stack.model.answers("ada", |asked| match (asked.trigger_text().as_str(), asked.step()) {
        ("Go on.", 0) => answer([call("slow", json!({"n": 1}))]),
        ("And me?", 0) => say("I work on it.").into(),
        _ => stop(),
    });
    let run = acting.wake().await;
    acting.server.gate.reached(1).await;
    let message = acting.stack.post(&acting.space, &acting.person, "And me?").await;
    acting.stack.ended(&woken(&message, &acting.agent).unwrap(), SOON).await;
    assert_eq!(acting.stack.texts(&acting.space).await, ["Go on.", "And me?", "I work on it."]);
    assert_eq!(acting.stack.run(&run).await["status"], "running");
    acting.server.gate.open();
    acting.stack.quiet(&acting.space).await;
}
