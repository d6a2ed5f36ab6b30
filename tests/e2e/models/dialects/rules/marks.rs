//! Rules on what a server has written for itself.

use serde_json::Value;

use crate::models::dialects::{
    received::{Received, Written},
    rules::{Rule, found},
};

/// A mark goes back in the message that repeats the answer, unchanged.
pub(crate) fn come_back(words: &'static str) -> Rule {
    Rule::new("marks come back", words, lost_mark)
}

/// The first mark that a message has lost or changed.
pub(crate) fn lost_mark(received: &Received) -> Option<String> {
    let is_lost = |(message, written): &&(&Value, &Written)| {
        let mark = written.mark.as_ref();
        mark.is_some_and(|mark| message.pointer(mark.at) != Some(&mark.value))
    };
    received.repeated().iter().find(is_lost).map(|(message, _)| message.to_string())
}

/// Each answer with calls has this field, be it empty: those of other models, too.
pub(crate) fn beside_calls(at: &'static str, words: &'static str) -> Rule {
    Rule::new("mark beside calls", words, move |received| {
        let lacks = |message: &&Value| {
            message["role"] == "assistant"
                && !Received::call_ids(message).is_empty()
                && !message.pointer(at).is_some_and(Value::is_string)
        };
        received.messages().iter().find(lacks).map(Value::to_string)
    })
}

/// A mark at this place is one that this server has written.
pub(crate) fn are_known(
    at: &'static str,
    also: &'static [&'static str],
    words: &'static str,
) -> Rule {
    Rule::new("marks are known", words, move |received| {
        let answers = received.messages().iter().filter(|message| message["role"] == "assistant");
        let values = answers.filter_map(|message| message.pointer(at));
        let is_known = |value: &&Value| {
            let marks = received.written.iter().filter_map(|written| written.mark.as_ref());
            marks.into_iter().any(|mark| mark.at == at && mark.value == **value)
                || value.as_str().is_some_and(|value| also.contains(&value))
        };
        let unknown = values.into_iter().find(|value| !is_known(value))?;
        found(true, unknown)
    })
}
