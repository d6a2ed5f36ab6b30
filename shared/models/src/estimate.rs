//! Estimates tokens if the provider doesn't report them: four characters per token.

use serde_json::Value;

use crate::port::{Message, Request};

pub(crate) fn tokens(characters: usize) -> u64 {
    characters.div_ceil(4) as u64
}

/// The number of characters in all parts of a request.
pub(crate) fn characters(request: &Request) -> usize {
    sum(request, &|text| text.chars().count())
}

/// The number of bytes in all parts of a request.
pub(crate) fn bytes(request: &Request) -> usize {
    sum(request, &str::len)
}

/// Adds up the sizes of all texts of a request.
fn sum(request: &Request, size: &impl Fn(&str) -> usize) -> usize {
    let system = request.system.iter().map(|part| size(part)).sum::<usize>();
    let messages = request.messages.iter().map(|message| of_message(message, size)).sum::<usize>();
    let tools = request
        .tools
        .iter()
        .map(|tool| size(&tool.name) + size(&tool.description) + size(tool.input_schema().get()))
        .sum::<usize>();
    system + messages + tools
}

fn of_message(message: &Message, size: &impl Fn(&str) -> usize) -> usize {
    match message {
        Message::User { blocks } => blocks.iter().map(|block| size(block)).sum(),
        Message::Assistant { text, calls } => {
            let calls = calls.iter().map(|call| size(&call.name) + size(&call.input));
            size(text) + calls.sum::<usize>()
        }
        Message::ToolResults { results } => {
            results.iter().map(|result| size(&as_text(&result.output))).sum()
        }
        Message::System { text } => size(text),
    }
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
