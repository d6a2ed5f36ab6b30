//! Estimates tokens if the provider doesn't report them: four characters per token.

use std::borrow::Cow;

use serde_json::Value;

use crate::port::{Message, Request};

pub(crate) fn tokens(characters: usize) -> u64 {
    characters.div_ceil(4) as u64
}

/// The number of characters in all parts of a request.
pub(crate) fn characters(request: &Request) -> usize {
    texts(request).iter().map(|text| text.chars().count()).sum()
}

/// The number of bytes in all parts of a request.
pub(crate) fn bytes(request: &Request) -> usize {
    texts(request).iter().map(|text| text.len()).sum()
}

/// All texts of a request that the model reads, in the order in which providers cache them.
pub(crate) fn texts(request: &Request) -> Vec<Cow<'_, str>> {
    let tools = request.tools.iter().flat_map(|tool| {
        [tool.name.as_str(), tool.description.as_str(), tool.input_schema().get()]
    });
    let system = request.system.iter().map(String::as_str);
    let mut texts: Vec<_> = tools.chain(system).map(Cow::Borrowed).collect();
    for message in &request.messages {
        match message {
            Message::User { blocks } => {
                texts.extend(blocks.iter().map(|block| Cow::Borrowed(block.as_str())));
            }
            Message::Assistant { text, calls } => {
                texts.push(Cow::Borrowed(text));
                let calls = calls.iter().flat_map(|call| [call.name.as_str(), &call.input]);
                texts.extend(calls.map(Cow::Borrowed));
            }
            Message::ToolResults { results } => {
                texts.extend(results.iter().map(|result| Cow::Owned(as_text(&result.output))));
            }
            Message::System { text } => texts.push(Cow::Borrowed(text)),
        }
    }
    texts
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
