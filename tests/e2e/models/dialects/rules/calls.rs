//! Rules on calls and their results.

use std::collections::HashSet;

use serde_json::Value;

use crate::models::dialects::{
    received::Received,
    rules::{Rule, found},
};

/// The results of all calls of an answer follow it directly, and each result has its call.
pub(crate) fn results_follow_calls(words: &'static str) -> Rule {
    Rule::new("results follow calls", words, |received| {
        let mut open: Vec<&str> = Vec::new();
        for message in received.messages() {
            let results = Received::result_ids(message);
            for result in &results {
                let Some(at) = open.iter().position(|id| id == result) else {
                    return found(true, result);
                };
                open.remove(at);
            }
            if let Some(id) = open.first().filter(|_| results.is_empty()) {
                return found(true, id);
            }
            open.extend(Received::call_ids(message));
        }
        open.first().map(ToString::to_string)
    })
}

/// No two calls of a conversation have the same id.
pub(crate) fn ids_differ(words: &'static str) -> Rule {
    Rule::new("ids differ", words, |received| {
        let mut known = HashSet::new();
        let ids = received.messages().iter().flat_map(Received::call_ids);
        ids.filter(|id| !known.insert(*id)).map(str::to_owned).next()
    })
}

/// The ids of calls are letters and digits, in this number.
pub(crate) fn ids_have(length: usize, words: &'static str) -> Rule {
    Rule::new("form of ids", words, move |received| {
        let fits = |id: &&str| id.len() == length && id.chars().all(|c| c.is_ascii_alphanumeric());
        let mut ids = received.messages().iter().flat_map(Received::call_ids);
        ids.find(|id| !fits(id)).map(str::to_owned)
    })
}

/// The ids of calls have at most this length, and a pattern that the API documents.
pub(crate) fn ids_match(most: usize, is_allowed: fn(char) -> bool, words: &'static str) -> Rule {
    Rule::new("form of ids", words, move |received| {
        let fits = |id: &&str| (1..=most).contains(&id.len()) && id.chars().all(is_allowed);
        let mut ids = received.messages().iter().flat_map(Received::call_ids);
        ids.find(|id| !fits(id)).map(str::to_owned)
    })
}

/// `tool_choice` names no tool.
pub(crate) fn tool_choice_is_text(words: &'static str) -> Rule {
    Rule::new("tool_choice is a text", words, |received| {
        received.body.get("tool_choice").filter(|choice| !choice.is_string()).map(Value::to_string)
    })
}

/// Each tool is a function with a name and a schema, and there is at least one if there is a list.
pub(crate) fn tools_are_functions(words: &'static str) -> Rule {
    Rule::new("tools are functions", words, |received| {
        let tools = received.body.get("tools")?.as_array()?;
        let is_function = |tool: &Value| {
            tool["type"] == "function"
                && tool["function"]["name"].as_str().is_some_and(|name| !name.is_empty())
                && tool["function"]["parameters"]["type"] == "object"
        };
        found(tools.is_empty() || !tools.iter().all(is_function), "tools")
    })
}
