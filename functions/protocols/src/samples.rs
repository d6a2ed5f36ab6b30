//! Sample messages and runs for the unit tests.

use serde_json::{Value, json};
use smartspace_domain::{
    Time,
    ids::{EntityId, MessageId, RunId, SpaceId},
    messages::Message,
    runs::{Run, Usage},
};

pub(crate) fn at() -> Time {
    Time::from_millis(1_760_000_000_000)
}

pub(crate) fn run_id(number: u128) -> RunId {
    RunId::new(at(), number)
}

pub(crate) fn message_id(number: u128) -> MessageId {
    MessageId::new(at(), number)
}

pub(crate) fn sender(number: u128) -> Value {
    json!({"id": EntityId::new(at(), number), "type": "agent", "name": format!("{number}")})
}

/// A message of the run `sent_by` that triggered the runs `triggered`.
pub(crate) fn message(number: u128, sent_by: Option<u128>, triggered: Option<&[u128]>) -> Message {
    let dispatch = triggered.map(|triggered| {
        let one = |run: &u128| json!({"agentId": EntityId::new(at(), *run), "runId": run_id(*run)});
        triggered.iter().map(one).collect::<Vec<_>>()
    });
    let mut message = json!({
        "id": message_id(number), "spaceId": SpaceId::new(at(), 1), "seq": number, "rev": 1,
        "sender": sender(9), "parts": [{"type": "text", "text": "Hello"}],
        "runId": sent_by.map(run_id), "streamId": null, "chainDepth": 0,
        "createdAt": at(), "updatedAt": at(),
    });
    if let Some(dispatch) = dispatch {
        message["dispatch"] = json!(dispatch);
    }
    serde_json::from_value(message).unwrap()
}

/// A run that the message `of_message` triggered, with the fields `more`.
pub(crate) fn run(number: u128, of_message: u128, status: &str, more: &Value) -> Box<Run> {
    let mut run = json!({
        "id": run_id(number), "agentId": EntityId::new(at(), number), "status": status,
        "endReason": null, "activeSpaceId": null, "chainDepth": 0, "attempt": 1,
        "stepCount": 0, "error": null, "createdAt": at(), "startedAt": null,
        "firstTokenAt": null, "finishedAt": null,
        "usage": Usage::default(),
        "trigger": {
            "type": "space_message", "source": "mention", "spaceId": SpaceId::new(at(), 1),
            "spaceName": "Team", "messageId": message_id(of_message), "seq": of_message,
            "sender": sender(9), "text": "Hello", "at": at(),
        },
    });
    for (name, value) in more.as_object().unwrap() {
        if name == "source" {
            run["trigger"]["source"] = value.clone();
        } else {
            run[name] = value.clone();
        }
    }
    serde_json::from_value(run).unwrap()
}
