//! The body of a request for a chat completion.

mod tools;

use serde::Serialize;
use serde_json::{Value, json};

use self::tools::{Tool, tool};
use crate::{
    calls,
    estimate::as_text,
    port::{Message, Request, ToolCall, ToolResult},
};

#[derive(Serialize)]
pub(super) struct RequestBody<'a> {
    model: &'a str,
    messages: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    stream: bool,
    stream_options: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    /// `OpenAI`'s newer models refuse `max_tokens`. Most other servers know only `max_tokens`, and
    /// without it they would not limit the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    /// Only for `OpenAI`: other servers may refuse an unknown field.
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
}

impl<'a> RequestBody<'a> {
    /// `native` means `OpenAI`'s own servers.
    pub(super) fn new(request: &'a Request, native: bool) -> Self {
        let max_tokens = Some(request.model.max_output_tokens);
        Self {
            model: &request.model.name,
            messages: system(&request.system)
                .into_iter()
                .chain(request.messages.iter().flat_map(message))
                .collect(),
            tools: request.tools.iter().map(tool).collect(),
            tool_choice: request
                .forced_tool
                .as_ref()
                .map(|name| json!({"type": "function", "function": {"name": name}})),
            stream: true,
            stream_options: json!({"include_usage": true}),
            temperature: request.model.temperature,
            max_completion_tokens: max_tokens.filter(|_| native),
            max_tokens: max_tokens.filter(|_| !native),
            prompt_cache_key: Some(request.cache_key.as_str())
                .filter(|key| native && !key.is_empty()),
        }
    }
}

/// One message with one text, which every server accepts. Some servers refuse text parts or a
/// second system message at the beginning.
fn system(parts: &[String]) -> Option<Value> {
    (!parts.is_empty()).then(|| json!({"role": "system", "content": parts.join("\n\n")}))
}

fn message(message: &Message) -> Vec<Value> {
    match message {
        Message::User { blocks } => {
            let part = |block: &String| json!({"type": "text", "text": block});
            let content = match blocks.as_slice() {
                [block] => json!(block),
                blocks => blocks.iter().map(part).collect(),
            };
            vec![json!({"role": "user", "content": content})]
        }
        Message::Assistant { text, calls } if calls.is_empty() => {
            vec![json!({"role": "assistant", "content": text})]
        }
        Message::Assistant { text, calls } => {
            let content = Some(text).filter(|text| !text.is_empty());
            let calls: Vec<Value> = calls.iter().map(call).collect();
            vec![json!({"role": "assistant", "content": content, "tool_calls": calls})]
        }
        Message::ToolResults { results } => results.iter().map(result).collect(),
        Message::System { text } => vec![json!({"role": "system", "content": text})],
    }
}

fn call(call: &ToolCall) -> Value {
    let function = json!({"name": calls::name(&call.name), "arguments": arguments(&call.input)});
    json!({"id": call.call_id, "type": "function", "function": function})
}

fn result(result: &ToolResult) -> Value {
    let content = as_text(&result.output);
    json!({"role": "tool", "tool_call_id": result.call_id, "content": content})
}

/// The input as the model wrote it, if it is a JSON object. Servers that insert the arguments into
/// a prompt template fail on any other text, and a retry would fail too.
fn arguments(input: &str) -> String {
    let object = smartspace_domain::json::parse(input).is_ok_and(|input| input.is_object());
    if object { input.to_owned() } else { Value::Object(calls::input(input)).to_string() }
}

#[cfg(test)]
mod tests;
