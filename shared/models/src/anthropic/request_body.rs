//! The body of a request to the Messages API.

use serde::Serialize;
use serde_json::{Map, Value, json, value::RawValue};
use smartspace_domain::agents::ToolChoice;

use crate::{
    calls,
    port::{
        FileRef, Message, Request, ToolCall, ToolResult, ToolSpec,
        files::{LoadedFile, Media},
        text::{as_quoted_text, as_text},
        turn_has_words,
    },
    reasoning::{self, Thinking},
};

/// Anthropic's highest temperature. Configurations allow up to 2.
const MAX_TEMPERATURE: f32 = 1.0;

#[derive(Serialize)]
pub(super) struct RequestBody<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Value>,
    messages: Vec<Turn>,
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

/// Consecutive messages of one role.
#[derive(Serialize)]
struct Turn {
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
    pub(super) fn new(request: &'a Request) -> Self {
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
        .map(|name| json!({"type": "tool", "name": name}))
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

/// The API requires that the roles alternate, and that the results of calls come first in the turn
/// after the calls.
fn turns(request: &Request) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for (index, message) in request.messages.iter().enumerate() {
        let next_to_words = turn_has_words(&request.messages, index);
        let (role, mut parts) = role_and_parts(request, message, next_to_words);
        for point in request.cache_points.iter().filter(|point| point.message == index) {
            if let Some(block) = parts.get_mut(point.block).and_then(|blocks| blocks.last_mut()) {
                mark(block);
            }
        }
        let content: Vec<Value> = parts.into_iter().flatten().collect();
        match turns.last_mut() {
            _ if content.is_empty() => {}
            Some(last) if last.role == role => last.content.extend(content),
            _ => turns.push(Turn { role, content }),
        }
    }
    for turn in &mut turns {
        turn.content.sort_by_key(|block| block["type"] != "tool_result");
    }
    turns
}

/// The role and the parts of a message, which are numbered as its cache points. A part is a block,
/// a file after its label, or nothing if the provider would refuse the block.
///
/// Tool results next to words are quoted: a tool's output must not look like those words.
fn role_and_parts(
    request: &Request,
    message: &Message,
    next_to_words: bool,
) -> (Role, Vec<Vec<Value>>) {
    match message {
        Message::User { blocks } => {
            (Role::User, blocks.iter().map(|block| Vec::from_iter(text(block))).collect())
        }
        Message::Assistant { text: words, calls } => {
            let calls = calls.iter().map(|made| vec![call(made)]);
            (Role::Assistant, [Vec::from_iter(text(words))].into_iter().chain(calls).collect())
        }
        Message::ToolResults { results } => {
            let result = |shown| vec![result(shown, next_to_words)];
            (Role::User, results.iter().map(result).collect())
        }
        Message::Files { files } => {
            (Role::User, files.iter().map(|file| labelled_file(request, file)).collect())
        }
        Message::System { text: notice } => {
            (Role::User, vec![Vec::from_iter(text(&format!("SYSTEM: {notice}")))])
        }
    }
}

/// The provider refuses a block that contains only whitespace.
fn text(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

fn labelled_file(request: &Request, file: &FileRef) -> Vec<Value> {
    let block = LoadedFile::of(file, &request.files).map(file_block);
    text(&file.label).into_iter().chain(block).collect()
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

fn call(call: &ToolCall) -> Value {
    let name = calls::name(&call.name);
    let input = calls::input(&call.input);
    json!({"type": "tool_use", "id": call.call_id, "name": name, "input": input})
}

fn result(result: &ToolResult, quoted: bool) -> Value {
    let content = if quoted { as_quoted_text(&result.output) } else { as_text(&result.output) };
    json!({"type": "tool_result", "tool_use_id": result.call_id, "content": content})
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
