use serde_json::{Value, json};
use smartspace_domain::ids::SpaceId;

use super::*;
use crate::samples::{at, message, run, run_id};

const HELLO: &str = "Hello, \u{1f44b} all of you";

fn stream_id(number: u128) -> StreamId {
    StreamId::new(at(), number)
}

fn call_id(number: u128) -> CallId {
    CallId::new(at(), number)
}

fn space() -> Space {
    let space = json!({
        "id": SpaceId::new(at(), 1), "name": "Team", "seq": 0, "createdAt": at(),
        "members": [], "me": null,
    });
    serde_json::from_value(space).unwrap()
}

fn sequencer() -> TurnSequencer {
    let tracker = TurnTracker::starting_with(&message(1, None, Some(&[1])));
    let caller = EntityId::new(at(), 9);
    TurnSequencer::new(caller, &space(), tracker, 1)
}

fn started(stream: u128, attempt: u32) -> EventKind {
    let sender = json!({"id": EntityId::new(at(), 1), "type": "agent", "name": "Guide"});
    EventKind::StreamStarted {
        stream_id: stream_id(stream),
        run_id: run_id(1),
        call_id: call_id(1),
        attempt,
        sender: serde_json::from_value(sender).unwrap(),
        kind: StreamKind::Message,
        tool_name: None,
    }
}

fn delta(stream: u128, offset: usize, text: &str) -> EventKind {
    EventKind::StreamDelta { stream_id: stream_id(stream), offset, text: text.into() }
}

/// The message that ends a stream.
fn posted(stream: u128, text: &str) -> Message {
    let mut posted = serde_json::to_value(message(2, Some(1), Some(&[]))).unwrap();
    posted["streamId"] = json!(stream_id(stream));
    posted["parts"] = json!([{"type": "text", "text": text}]);
    serde_json::from_value(posted).unwrap()
}

fn card(status: &str, output: &Value) -> Message {
    let mut card = serde_json::to_value(message(2, Some(1), Some(&[]))).unwrap();
    card["parts"] = json!([{
        "type": "tool", "callId": call_id(1), "name": "approve", "input": {},
        "output": output, "status": status, "ui": "form", "resultSchema": null,
        "answerBy": "anyone", "resolvedBy": null, "expiresAt": null,
    }]);
    serde_json::from_value(card).unwrap()
}

fn run_event(status: &str) -> EventKind {
    let run = run(1, 1, status, &json!({}));
    match status {
        "running" => EventKind::RunStarted { run },
        "waiting_tool" => EventKind::RunWaitingTool { run },
        _ => EventKind::RunCompleted { run, read_seq: None },
    }
}

/// Every permutation of `0..count`.
fn orders(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let shorter = orders(count - 1);
    let longer = |order: &Vec<usize>| {
        let at = |place: usize| {
            let mut order = order.clone();
            order.insert(place, count - 1);
            order
        };
        (0..count).map(at).collect::<Vec<_>>()
    };
    shorter.iter().flat_map(longer).collect()
}

/// The events of a turn whose frames come in this order, after which the space is read.
fn events_in(order: &[usize], frames: &[EventKind], read: &[Message]) -> Vec<TurnEvent> {
    let mut sequencer = sequencer();
    let mut events = Vec::new();
    for index in order {
        events.extend(sequencer.on_event(frames[*index].clone()));
    }
    let ended = run(1, 1, "completed", &json!({}));
    events.extend(sequencer.sync(read, &[*ended]));
    assert!(sequencer.is_over(), "{order:?}");
    events.extend(sequencer.end().0);
    events
}

#[test]
fn a_text_is_emitted_once_and_in_order_for_every_order_of_frames() {
    let message = posted(1, HELLO);
    let frames = [
        run_event("running"),
        started(1, 1),
        delta(1, 0, "Hello, "),
        delta(1, 7, "\u{1f44b} all"),
        EventKind::MessageCreated { message: message.clone() },
        run_event("completed"),
    ];
    for order in orders(frames.len()) {
        // Each event may also be lost.
        for lost in 0..=frames.len() {
            let order: Vec<_> = order.iter().copied().filter(|index| *index != lost).collect();
            let events = events_in(&order, &frames, std::slice::from_ref(&message));
            let mut text = String::new();
            let mut steps = Vec::new();
            for one in &events {
                match one {
                    TurnEvent::RunStarted { agent, .. } => {
                        assert!(!agent.is_empty());
                        steps.push("run");
                    }
                    TurnEvent::TextStarted { .. } => steps.push("text"),
                    TurnEvent::TextDelta { text: more, .. } => text.push_str(more),
                    TurnEvent::TextEnded { rest, .. } => {
                        text.push_str(rest.as_ref().unwrap());
                        steps.push("end of text");
                    }
                    TurnEvent::Message { message, .. } => {
                        text.push_str(message.text());
                        steps.extend(["text", "end of text"]);
                    }
                    TurnEvent::RunEnded { .. } => steps.push("end of run"),
                    other => panic!("{order:?}: {other:?}"),
                }
            }
            assert_eq!(text, HELLO, "{order:?}");
            let mut sorted = steps.clone();
            sorted.sort_by_key(|step| {
                ["run", "text", "end of text", "end of run"].iter().position(|at| at == step)
            });
            let starts = steps.iter().filter(|step| **step == "run").count();
            assert_eq!((starts, steps.len()), (1, 4), "{order:?}: {steps:?}");
            assert_eq!(steps[0], "run", "{order:?}: {steps:?}");
            if order.iter().position(|at| *at == 4) < order.iter().position(|at| *at == 5) {
                assert_eq!(steps, sorted, "{order:?}");
            }
        }
    }
}

#[test]
fn a_new_attempt_drops_the_text_of_the_old_one() {
    let message = posted(2, HELLO);
    let frames = [
        started(1, 1),
        delta(1, 0, "Hell is"),
        started(2, 2),
        delta(2, 0, "Hello"),
        EventKind::MessageCreated { message: message.clone() },
    ];
    for order in orders(frames.len()) {
        let events = events_in(&order, &frames, std::slice::from_ref(&message));
        let mut shown: BTreeMap<StreamId, String> = BTreeMap::new();
        for one in events {
            match one {
                TurnEvent::TextDelta { stream, text } => *shown.entry(stream).or_default() += &text,
                TurnEvent::TextEnded { stream, rest, .. } => {
                    *shown.entry(stream).or_default() += &rest.unwrap();
                }
                TurnEvent::TextDropped { stream } => {
                    assert!(shown.remove(&stream).is_some(), "{order:?}");
                }
                TurnEvent::Message { message, .. } => {
                    shown.insert(message.stream_id.unwrap(), message.text().to_owned());
                }
                _ => {}
            }
        }
        assert_eq!(shown, BTreeMap::from([(stream_id(2), HELLO.to_owned())]), "{order:?}");
    }
}

#[test]
fn a_text_that_differs_from_its_message_is_replaced() {
    let mut sequencer = sequencer();
    sequencer.on_event(started(1, 1));
    sequencer.on_event(delta(1, 0, "Goodbye"));
    let message = posted(1, HELLO);
    let events = sequencer.on_event(EventKind::MessageCreated { message });
    assert!(matches!(&events[..], [TurnEvent::TextEnded { rest: None, .. }]), "{events:?}");
}

#[test]
fn a_failed_text_is_dropped_and_a_canceled_one_waits_for_its_message() {
    for (reason, is_dropped) in [(StreamEnd::Failed, true), (StreamEnd::Canceled, false)] {
        let mut sequencer = sequencer();
        sequencer.on_event(started(1, 1));
        sequencer.on_event(delta(1, 0, "Hello"));
        let ended = EventKind::StreamEnded {
            stream_id: stream_id(1),
            message_id: None,
            reason: Some(reason),
        };
        let events = sequencer.on_event(ended);
        assert_eq!(
            events,
            [TurnEvent::TextDropped { stream: stream_id(1) }][..usize::from(is_dropped)]
        );
        assert_eq!(sequencer.has_open_text(), !is_dropped);
    }
}

#[test]
fn a_card_and_its_result_are_emitted_once() {
    let (asked, answered) = (card("pending", &Value::Null), card("completed", &json!(7)));
    let created = EventKind::MessageCreated { message: asked.clone() };
    let updated = EventKind::MessageUpdated { message: answered.clone() };
    let frames = [created.clone(), updated.clone(), created, updated];
    for order in orders(frames.len()) {
        let events = events_in(&order, &frames, std::slice::from_ref(&answered));
        let cards: Vec<_> = events
            .iter()
            .filter_map(|one| match one {
                TurnEvent::Card { .. } => Some("card"),
                TurnEvent::CardEnded(_) => Some("result"),
                _ => None,
            })
            .collect();
        assert_eq!(cards, ["card", "result"], "{order:?}");
    }
}

#[test]
fn a_card_is_read_again_if_its_run_continued_without_a_result() {
    let mut sequencer = sequencer();
    sequencer.on_event(EventKind::MessageCreated { message: card("pending", &Value::Null) });
    sequencer.on_event(run_event("waiting_tool"));
    assert!(sequencer.is_over() && sequencer.seqs_to_reread().is_empty());
    sequencer.on_event(run_event("completed"));
    assert_eq!(sequencer.seqs_to_reread(), [2]);
}

#[test]
fn a_run_that_waited_is_resumed_but_not_by_a_frame_from_before() {
    let counted = |status: &str, steps: u32| run(1, 1, status, &json!({"stepCount": steps}));
    let mut sequencer = sequencer();
    let first = sequencer.on_event(EventKind::RunWaitingTool { run: counted("waiting_tool", 1) });
    assert!(matches!(first[..], [TurnEvent::RunStarted { .. }]), "{first:?}");
    let late = sequencer.on_event(EventKind::RunStarted { run: counted("running", 0) });
    assert_eq!(late, []);
    let resumed = sequencer.on_event(EventKind::RunResumed { run: counted("running", 1) });
    assert_eq!(resumed, [TurnEvent::RunResumed { run: run_id(1) }]);
    let again = sequencer.on_event(EventKind::RunResumed { run: counted("running", 1) });
    assert_eq!(again, []);
}

#[test]
fn a_message_before_a_known_one_is_emitted() {
    let mut sequencer = sequencer();
    sequencer.mark_shown(&message(3, None, Some(&[])));
    assert_eq!(sequencer.complete_to(), 1);
    let before = message(2, None, Some(&[]));
    let events = sequencer.on_event(EventKind::MessageCreated { message: before.clone() });
    assert_eq!(events, [TurnEvent::Message { message: before.into(), in_turn: false }]);
    assert_eq!(sequencer.complete_to(), 3);
    let known = EventKind::MessageCreated { message: message(3, None, Some(&[])) };
    assert_eq!(sequencer.on_event(known), []);
}

#[test]
fn other_runs_are_not_emitted_but_their_messages_are() {
    let mut sequencer = sequencer();
    let other = run(7, 6, "running", &json!({}));
    assert_eq!(sequencer.on_event(EventKind::RunStarted { run: other }), []);
    let message = message(3, Some(7), Some(&[]));
    let events = sequencer.on_event(EventKind::MessageCreated { message: message.clone() });
    assert_eq!(events, [TurnEvent::Message { message: message.into(), in_turn: false }]);
    assert_eq!(sequencer.complete_to(), 1);
}

#[test]
fn a_run_that_ended_at_the_beginning_ends_after_its_message() {
    let ended = run(1, 1, "completed", &json!({}));
    let mut sequencer = sequencer();
    let events = sequencer.preload(&[], std::slice::from_ref(&ended));
    assert!(matches!(events[..], [TurnEvent::RunStarted { .. }]), "{events:?}");
    let events = sequencer.sync(&[posted(1, HELLO)], &[*ended]);
    assert!(
        matches!(events[..], [TurnEvent::Message { .. }, TurnEvent::RunEnded { .. }]),
        "{events:?}"
    );
}

#[test]
fn an_unposted_text_of_a_remote_agent_is_dropped_when_its_run_has_ended() {
    for (is_remote, dropped) in [(true, 1), (false, 0)] {
        let mut sequencer = sequencer();
        for event in [run_event("running"), started(1, 1), delta(1, 0, HELLO)] {
            sequencer.on_event(event);
        }
        let ended = run(1, 1, "completed", &json!({"remote": is_remote}));
        let events = sequencer.sync(&[], &[*ended]);
        let drops =
            events.iter().filter(|event| matches!(event, TurnEvent::TextDropped { .. })).count();
        assert_eq!(drops, dropped, "{events:?}");
        assert_eq!(sequencer.has_open_text(), !is_remote);
    }
}

/// The card of the same call for the page of the caller, after people have approved it.
fn card_for_page(status: &str, output: &Value) -> Message {
    let mut card = serde_json::to_value(card(status, output)).unwrap();
    card["id"] = json!(message(3, None, None).id);
    card["seq"] = json!(3);
    card["parts"][0]["ui"] = Value::Null;
    card["parts"][0]["answerBy"] = Value::Null;
    card["parts"][0]["pageOf"] = json!(EntityId::new(at(), 9));
    serde_json::from_value(card).unwrap()
}

#[test]
fn a_call_that_is_approved_before_its_page_gets_it_has_two_cards() {
    let approved = card("completed", &json!({"approved": true}));
    let ended = card_for_page("completed", &json!("red"));
    let frames = [
        run_event("running"),
        EventKind::MessageCreated { message: card("pending", &Value::Null) },
        EventKind::MessageUpdated { message: approved.clone() },
        EventKind::MessageCreated { message: card_for_page("pending", &Value::Null) },
        EventKind::MessageUpdated { message: ended.clone() },
    ];
    let both: [(&str, u64); 4] = [("card", 2), ("result", 2), ("card", 3), ("result", 3)];
    // A result of the first card that comes late is not one of the second.
    let late = [both[0], both[2], both[3]];
    for (order, expected) in [([0, 1, 2, 3, 4], &both[..]), ([0, 1, 3, 2, 4], &late[..])] {
        let events = events_in(&order, &frames, &[approved.clone(), ended.clone()]);
        let cards = events.iter().filter_map(|event| match event {
            TurnEvent::Card { message, .. } => Some(("card", message.seq)),
            TurnEvent::CardEnded(message) => Some(("result", message.seq)),
            _ => None,
        });
        assert_eq!(cards.collect::<Vec<_>>(), expected, "{order:?}");
    }
}
