//! Estimates tokens if the provider doesn't report them: four characters per token.

use serde_json::Value;

use crate::port::{Message, Request};

pub(crate) fn tokens(characters: usize) -> u64 {
    characters.div_ceil(4) as u64
}

/// The number of characters in all parts of a request.
pub(crate) fn characters(request: &Request) -> usize {
    let system = request.system.iter().map(|part| count(part)).sum::<usize>();
    let messages = request.messages.iter().map(of_message).sum::<usize>();
    let tools = request
        .tools
        .iter()
        .map(|tool| count(&tool.name) + count(&tool.description) + count(tool.input_schema().get()))
        .sum::<usize>();
    system + messages + tools
}

fn of_message(message: &Message) -> usize {
    match message {
        Message::User { blocks } => blocks.iter().map(|block| count(block)).sum(),
        Message::Assistant { text, calls } => {
            count(text)
                + calls.iter().map(|call| count(&call.name) + count(&call.input)).sum::<usize>()
        }
        Message::ToolResults { results } => {
            results.iter().map(|result| of_value(&result.output)).sum()
        }
        Message::System { text } => count(text),
    }
}

fn of_value(value: &Value) -> usize {
    count(&as_text(value))
}

/// A string as it is, any other value as JSON. Characters that could change how a text is displayed
/// are escaped in the JSON: they can occur only inside its strings.
pub(crate) fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => as_quoted_text(value),
    }
}

/// Any value as JSON. A text in quotes stays on one line and can't look like the words after it.
pub(crate) fn as_quoted_text(value: &Value) -> String {
    smartspace_domain::quoting::escaped(&value.to_string())
}

fn count(text: &str) -> usize {
    text.chars().count()
}
