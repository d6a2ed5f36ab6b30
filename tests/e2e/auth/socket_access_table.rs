//! The access table of the socket: each action for each kind of caller.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    auth::access_table::{CALLERS, scene::Scene},
    support::stack::Stack,
};

/// An action and the expected answers: the type of the frame, or the status of the error.
struct Row {
    pub(crate) action: &'static str,
    pub(crate) request: &'static str,
    /// The answer for each kind of caller, in the order of [`CALLERS`].
    pub(crate) expected: [&'static str; 6],
}

const APPROVE: &str = concat!(
    r#"{"runId":"{approving}","callId":"{approval}","#,
    r#""decision":{"action":"approve"}{,senderId}}"#,
);
const APPROVE_FOR_OWNERS: &str = concat!(
    r#"{"runId":"{approving}","callId":"{ownersApproval}","#,
    r#""decision":{"action":"approve"}{,senderId}}"#,
);

const TABLE: [Row; 13] = [
    Row {
        action: "subscribe",
        request: r#"{"spaceId":"{space}","afterSeq":0}"#,
        expected: ["404", "subscribed", "subscribed", "subscribed", "subscribed", "subscribed"],
    },
    Row {
        action: "snapshot",
        request: r#"{"streamId":"str_01KHRMMJH0000000000000000J","spaceId":"{space}"}"#,
        expected: ["404", "accepted", "accepted", "accepted", "accepted", "accepted"],
    },
    Row {
        action: "presence",
        request: r#"{"spaceId":"{space}","typing":true}"#,
        expected: ["404", "accepted", "accepted", "accepted", "accepted", "accepted"],
    },
    Row {
        action: "ping",
        request: r#"{"present":["{space}"]}"#,
        expected: ["404", "pong", "pong", "pong", "pong", "pong"],
    },
    Row {
        action: "unsubscribe",
        request: r#"{"spaceId":"{space}"}"#,
        expected: ["unsubscribed"; 6],
    },
    Row {
        action: "send",
        request: r#"{"spaceId":"{space}","text":"Hello"{,senderId}}"#,
        expected: ["404", "sent", "sent", "sent", "sent", "sent"],
    },
    Row {
        action: "send",
        request: r#"{"spaceId":"{space}","text":"Yes","replyTo":1{,senderId}}"#,
        expected: ["404", "sent", "sent", "sent", "sent", "sent"],
    },
    Row {
        action: "send",
        request: r#"{"spaceId":"{space}","text":"Hello","senderId":"{owner}"}"#,
        expected: ["404", "403", "sent", "403", "403", "sent"],
    },
    Row {
        action: "toolResult",
        request: r#"{"runId":"{asking}","callId":"{owners}","output":1}"#,
        expected: ["404", "403", "accepted", "403", "404", "409"],
    },
    Row {
        action: "toolResult",
        request: r#"{"runId":"{asking}","callId":"{anyones}","output":1}"#,
        expected: ["404", "accepted", "409", "409", "404", "409"],
    },
    Row {
        action: "decide",
        request: APPROVE_FOR_OWNERS,
        expected: ["404", "403", "accepted", "403", "404", "403"],
    },
    Row {
        action: "decide",
        request: APPROVE,
        expected: ["404", "accepted", "409", "403", "404", "accepted"],
    },
    Row { action: "ping", request: r#"{"spaces":{"{space}":0}}"#, expected: ["pong"; 6] },
];

#[tokio::test]
async fn every_caller_gets_the_answer_of_the_socket_access_table() {
    let actions: BTreeSet<_> = TABLE.iter().map(|row| row.action).collect();
    assert_eq!(actions, smartspace_socket::ACTIONS.into(), "an action without a row");
    let Some(stack) = Stack::with_secret(&["--invites", "guests"]).await else { return };
    let scene = Scene::new(&stack).await;
    for (column, caller) in CALLERS.into_iter().enumerate() {
        let socket = scene.client(&stack, caller).socket().await;
        for Row { action, request, expected } in &TABLE {
            let mut request: Value = serde_json::from_str(&scene.fill(request, caller)).unwrap();
            request["action"] = (*action).into();
            let asks_for_seqs = request.get("spaces").is_some();
            let answer = socket.request(request).await;
            let outcome = answer["status"].as_u64().map_or_else(
                || answer["type"].as_str().unwrap().to_owned(),
                |status| status.to_string(),
            );
            assert_eq!(outcome, expected[column], "{action} by {caller}: {answer}");
            let ahead = answer["spaces"].get(scene.id("space")).is_some();
            assert_eq!(
                ahead,
                asks_for_seqs && caller != "stranger",
                "{action} by {caller}: {answer}"
            );
        }
        let seen = socket.frames().iter().any(|frame| frame.kind == "message.created");
        assert!(!seen || caller != "stranger", "{:?}", socket.frames());
    }
}
