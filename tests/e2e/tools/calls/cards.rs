//! The cards of slow calls, which show the call from its start to its final status.

use serde_json::{Value, json};

use crate::{
    support::{
        model::call,
        socket::Socket,
        tool_scene::{ToolScene, card_part},
        waiting::SOON,
    },
    tools::calls::{ENDED, tools},
};

/// Waits for a frame of this kind with the tool's card in this status. Returns the card's message.
async fn card_message(socket: &Socket, kind: &str, tool: &str, status: &str) -> Value {
    let fits = |frame: &Value| {
        frame["message"]["parts"][0]["name"] == tool
            && frame["message"]["parts"][0]["status"] == status
    };
    socket.frame(kind, SOON, fits).await.body["message"].clone()
}

#[tokio::test]
async fn a_visible_call_has_a_card_from_its_start_and_its_result_in_the_end() {
    let Some(scene) = ToolScene::with(tools).await else { return };
    let bea = scene.stack.agent("Bea", &scene.stack.model.name("bea")).await;
    let membership = format!("/v1/spaces/{}/members/{bea}", scene.space);
    scene.stack.put(&membership, json!({})).await.must_be(200);
    let socket = scene.follow().await;
    let run = scene.begin(vec![call("shown", json!({"n": "ä"})), call("refused", json!({}))]).await;
    scene.server.gate.reached(1).await;
    let open = card_message(&socket, "message.created", "shown", "pending").await;
    let call_id = scene.stack.run(&run).await["steps"][0]["calls"][0]["callId"].clone();
    let input = json!({"n": "ä"});
    let pending = card_part(&call_id, "shown", &input, &Value::Null, "pending");
    assert_eq!(open["parts"], json!([pending]));
    assert_eq!(
        (&open["dispatch"], &open["runId"], &open["rev"]),
        (&json!([]), &json!(run), &json!(1))
    );
    let stored = scene.stack.messages(&scene.space).await;
    assert_eq!(stored.iter().find(|message| message["id"] == open["id"]), Some(&open));

    scene.server.gate.open();
    let done = card_message(&socket, "message.updated", "shown", "completed").await;
    scene.stack.quiet(&scene.space).await;
    let output = scene.results()[0].clone();
    assert_eq!(output["target"], "/slow?n=%C3%A4");
    let completed = card_part(&call_id, "shown", &input, &output, "completed");
    assert_eq!(
        (&done["parts"], &done["rev"], &done["seq"]),
        (&json!([completed]), &json!(2), &open["seq"])
    );
    let refused =
        json!({"error": "the server answered 403 Forbidden", "body": {"detail": "as you like it"}});
    let failed = card_message(&socket, "message.updated", "refused", "failed").await;
    assert_eq!((&failed["parts"][0]["output"], &scene.results()[1]), (&refused, &refused));
    assert_eq!(scene.stack.model.requests("bea").len(), 1, "a card triggered the other agent");
    let statuses = socket
        .view(&scene.space)
        .messages
        .into_values()
        .map(|message| message["parts"][0]["status"].clone());
    assert_eq!(statuses.collect::<Vec<_>>(), [json!(null), json!("completed"), json!("failed")]);
}

#[tokio::test]
async fn ending_a_run_closes_the_cards_of_its_calls() {
    let Some(scene) = ToolScene::with(tools).await else { return };
    let socket = scene.follow().await;
    let calls = || {
        vec![
            call("shown", json!({"n": 1})),
            call("slow", json!({"n": 2})),
            call("echo", json!({"n": 3})),
        ]
    };
    let first = scene.begin(calls()).await;
    scene.server.gate.reached(2).await;
    scene.stack.cancel(&first).await.must_be(202);
    let card = card_message(&socket, "message.updated", "shown", "canceled").await;
    assert_eq!(
        (&card["parts"][0]["output"], &card["runId"]),
        (&json!({"error": ENDED}), &json!(first))
    );
    // The agent is retired during the next run.
    let second = scene.begin(calls()).await;
    scene.server.gate.reached(4).await;
    scene.stack.delete(&format!("/v1/entities/{}", scene.agent)).await.must_be(204);
    socket
        .frame("message.updated", SOON, |frame| frame["message"]["runId"] == second.as_str())
        .await;
    scene.server.gate.open();
    for run in [&first, &second] {
        let run = scene.stack.ended(run, SOON).await;
        let calls = run["steps"][0]["calls"].as_array().unwrap();
        assert_eq!(run["status"], "canceled");
        assert!(calls.iter().all(|call| call["status"] != "pending"), "{calls:?}");
        assert_eq!(
            (&calls[0]["status"], &calls[1]["status"]),
            (&json!("canceled"), &json!("canceled"))
        );
        assert_eq!(calls[0]["output"], json!({"error": ENDED}));
    }
    let cards: Vec<_> = scene
        .cards()
        .await
        .iter()
        .map(|card| (card["status"].clone(), card["output"].clone()))
        .collect();
    assert_eq!(
        cards,
        vec![(json!("canceled"), json!({"error": ENDED})); 2],
        "a late answer of the server changed a card"
    );
}

#[tokio::test]
async fn deleting_the_space_of_a_card_does_not_disturb_the_run() {
    let Some(scene) = ToolScene::with(tools).await else { return };
    let board = scene.stack.space("Board", &[&scene.person, &scene.agent]).await;
    let run = scene
        .begin(vec![
            call("shown", json!({"targetSpaceId": board, "n": 1})),
            call("shown", json!({"n": 2})),
        ])
        .await;
    scene.server.gate.reached(2).await;
    assert_eq!(scene.stack.messages(&board).await[0]["parts"][0]["status"], "pending");
    scene.stack.delete(&format!("/v1/spaces/{board}")).await.must_be(204);
    scene.server.gate.open();
    let run = scene.stack.ended(&run, SOON).await;
    let calls = run["steps"][0]["calls"].as_array().unwrap();
    let shown: Vec<_> = calls
        .iter()
        .map(|call| (call["status"].clone(), call["output"]["target"].clone()))
        .collect();
    assert_eq!(
        shown,
        [(json!("completed"), json!("/slow?n=1")), (json!("completed"), json!("/slow?n=2"))]
    );
    assert_eq!(
        (&run["status"], &scene.cards().await[0]["status"]),
        (&json!("completed"), &json!("completed"))
    );
}

#[tokio::test]
async fn a_visible_call_that_cannot_be_shown_is_not_made() {
    let Some(scene) = ToolScene::with(tools).await else { return };
    let elsewhere = scene.stack.space("Elsewhere", &[&scene.person]).await;
    let calls = scene.calls(vec![
        call("shown", json!({"targetSpaceId": elsewhere})),
        call("shown", json!({"targetSpaceId": "nonsense"})),
        call("shown", json!({"n": "x".repeat(70_000)})),
    ]);
    let errors: Vec<_> = calls
        .await
        .iter()
        .map(|call| call["output"]["error"].as_str().unwrap().to_owned())
        .collect();
    assert!(errors[0].starts_with(&format!("you are not a member of {elsewhere}")), "{errors:?}");
    assert!(
        errors[1].starts_with("targetSpaceId: ") && errors[2].contains("too long to be shown"),
        "{errors:?}"
    );
    assert_eq!((scene.server.connections(), scene.cards().await.len()), (0, 0));
}
