//! Rules on messages of blocks: Anthropic's and Bedrock's.

use serde_json::Value;

use crate::models::dialects::{
    received::Received,
    rules::{Rule, found},
};

/// The user and the assistant take turns, and the user speaks first and last.
pub(crate) fn roles_alternate(words: &'static str) -> Rule {
    Rule::new("roles alternate", words, |received| {
        let roles = received.roles();
        let is_user = |at: usize| roles.get(at) == Some(&"user");
        let expected = (0..roles.len()).all(|at| is_user(at) == (at % 2 == 0));
        found(!expected || roles.len().is_multiple_of(2), format!("{roles:?}"))
    })
}

/// The results of calls come first in their message.
pub(crate) fn results_come_first(words: &'static str) -> Rule {
    Rule::new("results come first", words, |received| {
        let is_result =
            |block: &Value| block["type"] == "tool_result" || block["toolResult"].is_object();
        let is_late = |message: &&Value| {
            let blocks = Received::blocks(message);
            blocks.iter().skip_while(|block| is_result(block)).any(is_result)
        };
        received.messages().iter().find(is_late).map(Value::to_string)
    })
}

/// No text is blank, and no message is empty.
pub(crate) fn texts_are_not_blank(words: &'static str) -> Rule {
    Rule::new("texts are not blank", words, |received| {
        let is_blank =
            |block: &Value| block["text"].as_str().is_some_and(|text| text.trim().is_empty());
        let is_wrong = |message: &&Value| {
            let blocks = Received::blocks(message);
            blocks.is_empty() || blocks.iter().any(is_blank)
        };
        received.messages().iter().find(is_wrong).map(Value::to_string)
    })
}

/// Thinking stands before the text and the calls of its message.
pub(crate) fn thinking_comes_first(words: &'static str) -> Rule {
    Rule::new("thinking comes first", words, |received| {
        let is_thinking = |block: &Value| {
            block["type"].as_str().is_some_and(|kind| kind.ends_with("thinking"))
                || block["reasoningContent"].is_object()
        };
        let is_late = |message: &&Value| {
            let blocks = Received::blocks(message);
            blocks.iter().skip_while(|block| is_thinking(block)).any(is_thinking)
        };
        received.messages().iter().find(is_late).map(Value::to_string)
    })
}

/// At most four blocks are marked for the cache.
pub(crate) fn few_cache_marks(mark: &'static str, words: &'static str) -> Rule {
    Rule::new("cache marks", words, move |received| {
        let count = received.body.to_string().matches(&format!("\"{mark}\"")).count();
        found(count > 4, count)
    })
}
