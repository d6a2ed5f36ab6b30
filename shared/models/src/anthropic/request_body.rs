//! The body of a request to the Messages API.

use serde::Serialize;
use serde_json::{Map, Value, json, value::RawValue};
use smartspace_domain::agents::ToolChoice;

use crate::{
    calls,
    port::{
        Request, ToolSpec,
        files::{LoadedFile, Media},
    },
    reasoning::{self, Thinking},
    turns::{Answer, CallPart, Content, ResultPart, Turn, UserTurn},
};

/// Anthropic's highest temperature. Configurations allow up to 2.
const MAX_TEMPERATURE: f32 = 1.0;

#[derive(Serialize)]
pub(crate) struct RequestBody<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Value>,
    messages: Vec<WrittenTurn>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<Value>,
    /// What the configuration adds. It has none of the fields above.
    #[serde(flatten)]
    added: &'a Map<String, Value>,
}

#[derive(Serialize)]
struct WrittenTurn {
    role: Role,
    content: Vec<Value>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Assistant,
}

impl<'a> RequestBody<'a> {
    pub(crate) fn new(request: &'a Request) -> Self {
        let thinking = reasoning::thinking(&request.model, false);
        // The API refuses both next to thinking.
        let is_plain = !thinking.is_some_and(Thinking::is_on);
        let temperature = request.model.temperature.filter(|_| is_plain);
        Self {
            model: &request.model.name,
            max_tokens: request.model.max_output_tokens,
            system: system(&request.system),
            messages: turns(request),
            tools: request.tools.iter().map(tool).collect(),
            tool_choice: tool_choice(request).filter(|_| is_plain),
            stream: true,
            temperature: temperature.map(|chosen| chosen.min(MAX_TEMPERATURE)),
            thinking: thinking.and_then(Thinking::field),
            output_config: thinking
                .and_then(Thinking::effort)
                .map(|effort| json!({"effort": effort})),
            added: &request.model.request,
        }
    }
}

fn tool_choice(request: &Request) -> Option<Value> {
    let forced = request.forced_tool.as_ref();
    let is_required = request.model.tool_choice == ToolChoice::Required;
    forced
        .map(|forced| json!({"type": "tool", "name": forced.name}))
        .or_else(|| is_required.then(|| json!({"type": "any"})))
        .filter(|_| !request.tools.is_empty())
}

/// The mark at the end makes the provider cache the whole system message and the tools, which come
/// before it.
fn system(parts: &[String]) -> Vec<Value> {
    let mut blocks: Vec<Value> = parts.iter().filter_map(|part| text(part)).collect();
    if let Some(last) = blocks.last_mut() {
        mark(last);
    }
    blocks
}

/// Makes the provider cache everything up to the end of this block.
fn mark(block: &mut Value) {
    block["cache_control"] = json!({"type": "ephemeral"});
}

/// The API requires that the results of calls come first in the turn after the calls.
fn turns(request: &Request) -> Vec<WrittenTurn> {
    let write = |turn| match turn {
        Turn::User(turn) => WrittenTurn { role: Role::User, content: user(turn) },
        Turn::Assistant(answers) => {
            let content = answers.iter().flat_map(assistant).collect();
            WrittenTurn { role: Role::Assistant, content }
        }
    };
    crate::turns::turns(request, &request.cache_points).into_iter().map(write).collect()
}

fn user(turn: UserTurn<'_>) -> Vec<Value> {
    let results = turn.results.iter().map(|shown| marked(vec![result(shown)], shown.is_marked));
    let parts = turn.parts.into_iter().map(|part| {
        let blocks = match part.content {
            Content::Text(words) => Vec::from_iter(text(&words)),
            Content::Notice(notice) => Vec::from_iter(text(&notice)),
            Content::File(file) => {
                text(&file.label).into_iter().chain(file.loaded.map(file_block)).collect()
            }
        };
        marked(blocks, part.is_marked)
    });
    results.chain(parts).flatten().collect()
}

/// The thinking comes first, unchanged: the API refuses calls without the thinking that led to
/// them.
fn assistant(answer: &Answer<'_>) -> Vec<Value> {
    let thinking = answer.opaque.and_then(|opaque| opaque["blocks"].as_array());
    let words = marked(Vec::from_iter(text(answer.text)), answer.is_marked);
    let calls = answer.calls.iter().map(call);
    thinking.into_iter().flatten().cloned().chain(words).chain(calls).collect()
}

/// The blocks of a part, with the mark at its end.
fn marked(mut blocks: Vec<Value>, is_marked: bool) -> Vec<Value> {
    if let Some(last) = blocks.last_mut().filter(|_| is_marked) {
        mark(last);
    }
    blocks
}

/// The provider refuses a block that contains only whitespace.
fn text(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

fn file_block(file: LoadedFile<'_>) -> Value {
    let source = json!({"type": "base64", "media_type": file.content_type});
    let mut block = match file.media {
        Media::Image => json!({"type": "image", "source": source}),
        Media::Pdf => json!({"type": "document", "source": source, "title": file.name}),
    };
    // `json!` would copy the text.
    block["source"]["data"] = file.base64().into();
    block
}

fn call(call: &CallPart<'_>) -> Value {
    let input = calls::input(call.input);
    json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
}

fn result(result: &ResultPart) -> Value {
    json!({"type": "tool_result", "tool_use_id": result.id, "content": result.text()})
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a RawValue,
}

fn tool(tool: &ToolSpec) -> Tool<'_> {
    Tool { name: &tool.name, description: &tool.description, input_schema: tool.input_schema() }
}

#[cfg(test)]
mod tests;
