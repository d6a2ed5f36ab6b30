//! Streams: the frames that clients receive while agents write.

mod replays;
mod subscribing;

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    model::{Gate, answer, raw_call, say, say_held, stop},
    stack::Stack,
    waiting::SOON,
};

#[tokio::test]
async fn text_streams_while_the_model_writes_and_is_replaced_by_the_stored_message() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    stack.model.plays("ada", [answer([say_held("Hello wor", &gate, "ld, at last.")]), stop()]);
    let (person, agent, space) = stack.pair().await;
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, None).await;
    let question = stack.post(&space, &person, "Hello?").await;

    socket
        .shows(&space, "the text so far", SOON, |view| (view.live() == ["Hello wor"]).then_some(()))
        .await;
    assert_eq!(
        socket.view(&space).texts(),
        ["Hello?"],
        "nothing is stored before the model finishes"
    );
    gate.open();
    let shown = socket
        .shows(&space, "the message", SOON, |view| (view.messages.len() == 2).then(|| view.clone()))
        .await;
    assert_eq!((shown.texts(), shown.live()), (vec!["Hello?", "Hello world, at last."], vec![]));

    let started = socket.frame("stream.started", SOON, |_| true).await.body;
    let answer = &shown.messages[&2];
    assert_eq!(started["kind"], "message");
    assert_eq!(started["sender"], json!({ "id": agent, "name": "Ada", "type": "agent" }));
    assert_eq!(started["runId"], question["dispatch"][0]["runId"]);
    assert_eq!((&answer["streamId"], &answer["runId"]), (&started["streamId"], &started["runId"]));
    assert_eq!(shown.streams.len(), 1);
    let ended = socket.frame("stream.ended", SOON, |_| true).await.body;
    assert_eq!(
        (&ended["streamId"], &ended["messageId"], &ended["reason"]),
        (&started["streamId"], &answer["id"], &Value::Null)
    );
    let completed = socket.frame("run.completed", SOON, |_| true).await.body;
    assert_eq!(
        (&completed["run"]["id"], &completed["run"]["endReason"]),
        (&started["runId"], &json!("done"))
    );
    socket.frame("run.started", SOON, |frame| frame["run"]["id"] == started["runId"]).await;
}

#[tokio::test]
async fn stream_offsets_count_utf16_units_and_split_no_character() {
    let stack = Stack::start().await;
    let text = "a😀b 👩‍👩‍👧 \"quoted\"\n\\ é end";
    // The model sends every non-ASCII character as an escape, one byte at a time, so that pieces
    // end inside escapes and inside surrogate pairs.
    let escaped = escape_non_ascii(&Value::from(text).to_string());
    let escapes = answer([raw_call("send_message", &format!("{{\"text\": {escaped}}}"))])
        .slow(1, Duration::from_millis(3));
    stack
        .model
        .plays("ada", [escapes, answer([say(text)]).slow(1, Duration::from_millis(12)), stop()]);
    let (person, _, space) = stack.pair().await;
    let socket = stack.socket().await;
    socket.subscribe(&space, None).await;
    stack.post(&space, &person, "?").await;

    let shown = socket
        .shows(&space, "both messages", SOON, |view| {
            (view.messages.len() == 3).then(|| view.clone())
        })
        .await;
    assert_eq!(shown.texts(), ["?", text, text]);
    socket.frame("run.completed", SOON, |_| true).await;
    assert_eq!(shown.streams.len(), 2);
    for id in shown.streams.keys() {
        let deltas: Vec<(usize, String)> = socket
            .frames()
            .iter()
            .filter(|frame| frame.kind == "stream.delta" && frame.body["streamId"] == id.as_str())
            .map(|frame| {
                (
                    frame.body["offset"].as_u64().unwrap() as usize,
                    frame.body["text"].as_str().unwrap().to_owned(),
                )
            })
            .collect();
        assert!(deltas.len() > 1, "the stream has only one delta: {deltas:?}");
        let view = socket.view(&space);
        assert_eq!(view.streams[id].text(), text, "the text assembled from deltas and snapshots");
    }
}

fn escape_non_ascii(json: &str) -> String {
    json.chars().fold(String::new(), |mut escaped, char| {
        if char.is_ascii() {
            escaped.push(char);
        } else {
            let units = char.encode_utf16(&mut [0; 2]).to_vec();
            escaped.extend(units.iter().map(|unit| format!("\\u{unit:04x}")));
        }
        escaped
    })
}
