//! Streams: the frames that clients receive while agents write.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{
    model::{Gate, answer, raw_call, say, say_held, stop},
    routes::{id, seq},
    stack::Stack,
    waiting::{SOON, patient},
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

#[tokio::test]
async fn a_late_subscriber_receives_the_text_so_far_within_a_second() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    stack
        .model
        .plays("ada", [answer([say_held("The first half, ", &gate, "and the second.")]), stop()]);
    let (person, agent, space) = stack.pair().await;
    let early = stack.socket().await;
    early.subscribe(&space, None).await;
    let question = stack.post(&space, &person, "Both?").await;
    early
        .shows(&space, "the first half", SOON, |view| {
            (view.live() == ["The first half, "]).then_some(())
        })
        .await;

    let late = stack.socket_of(&person).await;
    let subscribed = late.subscribe(&space, Some(0)).await;
    let run = &question["dispatch"][0]["runId"];
    let active = json!([{ "runId": run, "agentId": agent, "status": "running" }]);
    assert_eq!(subscribed["active"], active);
    late.shows(&space, "the first half", SOON, |view| {
        (view.live() == ["The first half, "]).then_some(())
    })
    .await;
    // Each of these subscribes right after a snapshot and waits for the next one. The fastest of
    // three counts, since other tests use the machine too.
    let mut fastest = Duration::MAX;
    for _ in 0..3 {
        let later = stack.socket_of(&person).await;
        let joined = Instant::now();
        later.subscribe(&space, None).await;
        later
            .shows(&space, "the first half", SOON, |view| {
                (view.live() == ["The first half, "]).then_some(())
            })
            .await;
        fastest = fastest.min(joined.elapsed());
    }
    // One second, and some slack for a busy machine.
    let limit = patient(Duration::from_millis(1_500));
    assert!(fastest < limit, "it took {fastest:?}");

    gate.open();
    for socket in [&early, &late] {
        let shown = socket
            .shows(&space, "the message", SOON, |view| {
                (view.messages.len() == 2).then(|| view.clone())
            })
            .await;
        assert_eq!(
            (shown.texts(), shown.live()),
            (vec!["Both?", "The first half, and the second."], vec![])
        );
    }
}

#[tokio::test]
async fn subscribing_between_deltas_loses_no_text() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    let half = "word ".repeat(60);
    // The second half waits for the gate, so that the text can't end before the late subscription.
    stack.model.plays(
        "ada",
        [answer([say_held(&half, &gate, &half)]).slow(5, Duration::from_millis(40)), stop()],
    );
    let (person, _, space) = stack.pair().await;
    let early = stack.socket().await;
    early.subscribe(&space, None).await;
    stack.post(&space, &person, "Many words, please.").await;
    early
        .shows(&space, "some words", SOON, |view| {
            view.live().first().is_some_and(|text| text.len() > 50).then_some(())
        })
        .await;

    let late = stack.socket().await;
    late.subscribe(&space, None).await;
    late.shows(&space, "all words so far", SOON, |view| {
        view.live().first().is_some_and(|text| text.len() > 50).then_some(())
    })
    .await;
    gate.open();
    let shown =
        late.shows(&space, "the message", SOON, |view| view.messages.get(&2).cloned()).await;
    assert_eq!(shown["parts"][0]["text"], half.repeat(2));
}

#[tokio::test]
async fn a_client_that_reconnects_with_after_seq_receives_every_message_once() {
    let stack = Stack::start().await;
    stack.model.replies("ada", |request| say(&format!("re: {}", request.trigger_text())));
    let (person, _, space) = stack.pair().await;
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, Some(0)).await;
    for number in 0..3 {
        stack.post(&space, &person, &format!("before {number}")).await;
    }
    stack.quiet(&space).await;
    let shown = socket
        .shows(&space, "six messages", SOON, |view| {
            (view.messages.len() == 6).then(|| view.clone())
        })
        .await;
    let last = *shown.messages.keys().last().unwrap();
    drop(socket);

    for number in 0..3 {
        stack.post(&space, &person, &format!("meanwhile {number}")).await;
    }
    let again = stack.socket_of(&person).await;
    let subscribed = again.subscribe(&space, Some(last)).await;
    assert_eq!(subscribed["from"], last + 1);
    stack.post(&space, &person, "after").await;
    stack.quiet(&space).await;

    let expected = stack.messages(&space).await;
    assert_eq!(expected.len(), 14);
    again
        .shows(&space, "the other eight", SOON, |view| (view.messages.len() == 8).then_some(()))
        .await;
    let mut both = shown;
    both.messages.extend(again.view(&space).messages);
    let ids = |messages: Vec<&Value>| messages.into_iter().map(id).collect::<Vec<_>>();
    assert_eq!(ids(both.messages.values().collect()), ids(expected.iter().collect()));
}

#[tokio::test]
async fn a_replay_is_limited_to_200_messages_and_names_its_first_seq() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let space = stack.space("Alone", &[&person]).await;
    let early = stack.socket().await;
    early.subscribe(&space, None).await;
    for number in 1..=230 {
        stack.post(&space, &person, &format!("message {number}")).await;
    }
    // Wait until all are broadcast: a late broadcast would come in addition to the replay.
    early.shows(&space, "all 230", SOON, |view| (view.messages.len() == 230).then_some(())).await;
    let socket = stack.socket().await;
    let subscribed = socket.subscribe(&space, Some(5)).await;
    assert_eq!((subscribed["seq"].as_u64(), subscribed["from"].as_u64()), (Some(230), Some(31)));
    socket
        .shows(&space, "200 messages", SOON, |view| (view.messages.len() == 200).then_some(()))
        .await;
    let created: Vec<u64> = socket
        .frames()
        .iter()
        .filter(|frame| frame.kind == "message.created" && frame.body["spaceId"] == space.as_str())
        .map(|frame| seq(&frame.body["message"]))
        .collect();
    assert_eq!(created.len(), 200, "a message was replayed twice or not at all");
    assert_eq!(
        socket.view(&space).messages.keys().copied().collect::<Vec<_>>(),
        (31..=230).collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn a_message_longer_than_a_frame_is_truncated_and_marked() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let space = stack.space("Alone", &[&person]).await;
    let socket = stack.socket().await;
    socket.subscribe(&space, None).await;
    // Control characters take six bytes each in JSON.
    for long in ["ä".repeat(16_000), "\u{1}".repeat(30_000)] {
        let message = stack.post(&space, &person, &long).await;
        assert_eq!(message["parts"][0]["text"], long.as_str());
        let frame = socket
            .frame("message.created", SOON, |frame| frame["message"]["id"] == message["id"])
            .await;
        assert_eq!(frame.body["message"]["truncated"], true);
        let cut = frame.body["message"]["parts"][0]["text"].as_str().unwrap();
        assert!(long.starts_with(cut) && !cut.is_empty());
    }
}
