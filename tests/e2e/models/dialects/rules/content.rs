//! Rules on the contents of the messages of a chat completion.

use serde_json::{Map, Value};

use crate::models::dialects::rules::{Rule, found};

/// A message that has `"content": null`, even beside calls.
pub(crate) fn no_null_content(words: &'static str) -> Rule {
    Rule::new("no null content", words, |received| {
        let is_null = |message: &&Value| message.get("content").is_some_and(Value::is_null);
        received.messages().iter().find(is_null).map(Value::to_string)
    })
}

/// A message without content, and without calls in its place.
pub(crate) fn content_or_calls(words: &'static str) -> Rule {
    Rule::new("content or calls", words, |received| {
        let is_empty = |message: &&Value| {
            let is_blank = match &message["content"] {
                Value::String(text) => text.is_empty(),
                Value::Array(parts) => parts.is_empty(),
                _ => true,
            };
            is_blank && message["tool_calls"].as_array().is_none_or(Vec::is_empty)
        };
        received.messages().iter().find(is_empty).map(Value::to_string)
    })
}

/// Parts of a content: texts and, if the server sees, images.
pub(crate) fn known_parts(kinds: &'static [&'static str], words: &'static str) -> Rule {
    Rule::new("known parts", words, move |received| {
        let parts = received.messages().iter().flat_map(|message| {
            message["content"].as_array().into_iter().flatten().map(|part| &part["type"])
        });
        let unknown = |kind: &&Value| !kinds.contains(&kind.as_str().unwrap_or_default());
        parts.into_iter().find(unknown).and_then(Value::as_str).map(str::to_owned)
    })
}

/// The content of these roles is one text.
pub(crate) fn plain_text_of(roles: &'static [&'static str], words: &'static str) -> Rule {
    Rule::new("plain text", words, move |received| {
        let is_other = |message: &&Value| {
            let role = message["role"].as_str().unwrap_or_default();
            roles.contains(&role) && !message["content"].is_string()
        };
        received.messages().iter().find(is_other).map(Value::to_string)
    })
}

/// Templates insert the arguments of earlier calls, so they have to be a JSON object.
pub(crate) fn arguments_are_objects(words: &'static str) -> Rule {
    Rule::new("arguments are objects", words, |received| {
        let calls = received.messages().iter().flat_map(|message| {
            message["tool_calls"].as_array().into_iter().flatten().map(|call| &call["function"])
        });
        let wrong = |call: &&Value| !call["arguments"].as_str().is_some_and(is_json_object);
        let call = calls.into_iter().find(wrong)?;
        found(true, call)
    })
}

fn is_json_object(text: &str) -> bool {
    serde_json::from_str::<Map<String, Value>>(text).is_ok()
}
