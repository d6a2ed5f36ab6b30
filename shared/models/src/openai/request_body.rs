//! The body of a request for a chat completion.

mod messages;
mod tools;

use serde::Serialize;
use serde_json::{Map, Value, json};
use smartspace_domain::agents::ToolChoice;

use self::{
    messages::messages,
    tools::{Tool, tool},
};
use crate::{
    forced_tool, json_speech,
    port::{Request, ToolSpec},
    reasoning,
};

#[derive(Serialize)]
pub(crate) struct RequestBody<'a> {
    model: &'a str,
    messages: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Value>,
    /// What the configuration adds. It has none of the fields above.
    #[serde(flatten)]
    added: &'a Map<String, Value>,
}

impl<'a> RequestBody<'a> {
    /// `native` means `OpenAI`'s own servers.
    pub(crate) fn new(request: &'a Request, native: bool) -> Self {
        let max_tokens = Some(request.model.max_output_tokens);
        let speaks_json = json_speech::is_asked(request);
        let by_schema = forced_tool::by_schema(request);
        let has_schema = speaks_json || by_schema.is_some();
        let tools: &[ToolSpec] = if has_schema { &[] } else { &request.tools };
        let must_call =
            request.forced_tool.is_some() || request.model.tool_choice == ToolChoice::Required;
        Self {
            model: &request.model.name,
            messages: messages(request),
            tools: tools.iter().map(tool).collect(),
            // A request that forces a tool has no other. Some servers ignore the name of a tool.
            tool_choice: (must_call && !tools.is_empty()).then_some("required"),
            stream: true,
            stream_options: json!({"include_usage": true}),
            temperature: request.model.temperature,
            max_completion_tokens: max_tokens.filter(|_| native),
            max_tokens: max_tokens.filter(|_| !native),
            prompt_cache_key: Some(request.cache_key.as_str())
                .filter(|key| native && !key.is_empty()),
            reasoning_effort: reasoning::effort(&request.model, native),
            response_format: by_schema
                .map(forced_tool::response_format)
                .or_else(|| speaks_json.then(json_speech::response_format)),
            added: &request.model.request,
        }
    }
}

#[cfg(test)]
mod tests;
