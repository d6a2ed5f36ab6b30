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

fn narration() -> Narration {
    let turn = Turn::of(&message(1, None, Some(&[1])));
    let me = EntityId::new(at(), 9);
    Narration::new(me, &space(), turn, 1)
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
        _ => EventKind::RunCompleted { run },
    }
}

/// All orders of so many things.
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

/// What is told of events in this order, and at the end after the space was read.
fn told_in(order: &[usize], events: &[EventKind], read: &[Message]) -> Vec<Told> {
    let mut narration = narration();
    let mut told = Vec::new();
    for index in order {
        told.extend(narration.saw(events[*index].clone()));
    }
    let ended = run(1, 1, "completed", &json!({}));
    told.extend(narration.knows(read, &[*ended]));
    assert!(narration.is_over(), "{order:?}");
    told.extend(narration.end().0);
    told
}

#[test]
fn a_text_is_told_once_and_in_order_whatever_comes_first() {
    let message = posted(1, HELLO);
    let events = [
        run_event("running"),
        started(1, 1),
        delta(1, 0, "Hello, "),
        delta(1, 7, "\u{1f44b} all"),
        EventKind::MessageCreated { message: message.clone() },
        run_event("completed"),
    ];
    for order in orders(events.len()) {
        // Each event may also be lost.
        for lost in 0..=events.len() {
            let order: Vec<_> = order.iter().copied().filter(|index| *index != lost).collect();
            let told = told_in(&order, &events, std::slice::from_ref(&message));
            let mut text = String::new();
            let mut steps = Vec::new();
            for one in &told {
                match one {
                    Told::RunStarted { agent, .. } => {
                        assert!(!agent.is_empty());
                        steps.push("run");
                    }
                    Told::TextStarted { .. } => steps.push("text"),
                    Told::Text { text: more, .. } => text.push_str(more),
                    Told::TextEnded { rest, .. } => {
                        text.push_str(rest.as_ref().unwrap());
                        steps.push("end of text");
                    }
                    Told::Message(message) => {
                        text.push_str(message.text());
                        steps.extend(["text", "end of text"]);
                    }
                    Told::RunEnded { .. } => steps.push("end of run"),
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
    let events = [
        started(1, 1),
        delta(1, 0, "Hell is"),
        started(2, 2),
        delta(2, 0, "Hello"),
        EventKind::MessageCreated { message: message.clone() },
    ];
    for order in orders(events.len()) {
        let told = told_in(&order, &events, std::slice::from_ref(&message));
        let mut shown: BTreeMap<StreamId, String> = BTreeMap::new();
        for one in told {
            match one {
                Told::Text { stream, text } => *shown.entry(stream).or_default() += &text,
                Told::TextEnded { stream, rest, .. } => {
                    *shown.entry(stream).or_default() += &rest.unwrap();
                }
                Told::TextDropped { stream } => {
                    assert!(shown.remove(&stream).is_some(), "{order:?}");
                }
                Told::Message(message) => {
                    shown.insert(message.stream_id.unwrap(), message.text().to_owned());
                }
                _ => {}
            }
        }
        assert_eq!(shown, BTreeMap::from([(stream_id(2), HELLO.to_owned())]), "{order:?}");
    }
}

#[test]
fn a_text_that_is_not_that_of_its_message_is_told_again() {
    let mut narration = narration();
    narration.saw(started(1, 1));
    narration.saw(delta(1, 0, "Goodbye"));
    let message = posted(1, HELLO);
    let told = narration.saw(EventKind::MessageCreated { message });
    assert!(matches!(&told[..], [Told::TextEnded { rest: None, .. }]), "{told:?}");
}

#[test]
fn a_failed_text_is_dropped_and_a_canceled_one_waits_for_its_message() {
    for (reason, is_dropped) in [(StreamEnd::Failed, true), (StreamEnd::Canceled, false)] {
        let mut narration = narration();
        narration.saw(started(1, 1));
        narration.saw(delta(1, 0, "Hello"));
        let ended = EventKind::StreamEnded {
            stream_id: stream_id(1),
            message_id: None,
            reason: Some(reason),
        };
        let told = narration.saw(ended);
        assert_eq!(told, [Told::TextDropped { stream: stream_id(1) }][..usize::from(is_dropped)]);
        assert_eq!(narration.has_open_text(), !is_dropped);
    }
}

#[test]
fn a_card_and_its_result_are_told_once() {
    let (asked, answered) = (card("pending", &Value::Null), card("completed", &json!(7)));
    let created = EventKind::MessageCreated { message: asked.clone() };
    let updated = EventKind::MessageUpdated { message: answered.clone() };
    let events = [created.clone(), updated.clone(), created, updated];
    for order in orders(events.len()) {
        let told = told_in(&order, &events, std::slice::from_ref(&answered));
        let cards: Vec<_> = told
            .iter()
            .filter_map(|one| match one {
                Told::Card(_) => Some("card"),
                Told::CardEnded(_) => Some("result"),
                _ => None,
            })
            .collect();
        assert_eq!(cards, ["card", "result"], "{order:?}");
    }
}

#[test]
fn a_card_is_read_again_if_its_run_went_on_and_nobody_said_why() {
    let mut narration = narration();
    narration.saw(EventKind::MessageCreated { message: card("pending", &Value::Null) });
    narration.saw(run_event("waiting_tool"));
    assert!(narration.is_over() && narration.open_cards().is_empty());
    narration.saw(run_event("completed"));
    assert_eq!(narration.open_cards(), [2]);
}

#[test]
fn a_message_that_came_before_a_known_one_is_told() {
    let mut narration = narration();
    narration.is_known(&message(3, None, Some(&[])));
    assert_eq!(narration.complete_to(), 1);
    let before = message(2, None, Some(&[]));
    let told = narration.saw(EventKind::MessageCreated { message: before.clone() });
    assert_eq!(told, [Told::Message(before.into())]);
    assert_eq!(narration.complete_to(), 3);
    let known = EventKind::MessageCreated { message: message(3, None, Some(&[])) };
    assert_eq!(narration.saw(known), []);
}

#[test]
fn other_runs_are_not_told_but_their_messages_are() {
    let mut narration = narration();
    let other = run(7, 6, "running", &json!({}));
    assert_eq!(narration.saw(EventKind::RunStarted { run: other }), []);
    let message = message(3, Some(7), Some(&[]));
    let told = narration.saw(EventKind::MessageCreated { message: message.clone() });
    assert_eq!(told, [Told::Message(message.into())]);
    assert_eq!(narration.complete_to(), 1);
}

#[test]
fn a_run_that_ended_at_the_beginning_ends_after_its_message() {
    let ended = run(1, 1, "completed", &json!({}));
    let mut narration = narration();
    let told = narration.begins_with(&[], std::slice::from_ref(&ended));
    assert!(matches!(told[..], [Told::RunStarted { .. }]), "{told:?}");
    let told = narration.knows(&[posted(1, HELLO)], &[*ended]);
    assert!(matches!(told[..], [Told::Message(_), Told::RunEnded { .. }]), "{told:?}");
}

#[test]
fn what_a_remote_agent_has_not_posted_is_dropped_when_its_run_has_ended() {
    for (is_remote, dropped) in [(true, 1), (false, 0)] {
        let mut narration = narration();
        for event in [run_event("running"), started(1, 1), delta(1, 0, HELLO)] {
            narration.saw(event);
        }
        let ended = run(1, 1, "completed", &json!({"remote": is_remote}));
        let told = narration.knows(&[], &[*ended]);
        let drops = told.iter().filter(|told| matches!(told, Told::TextDropped { .. })).count();
        assert_eq!(drops, dropped, "{told:?}");
        assert_eq!(narration.has_open_text(), !is_remote);
    }
}
