//! The body of a request for a chat completion.

mod tools;

use serde::Serialize;
use serde_json::{Map, Value, json};
use smartspace_domain::agents::ToolChoice;

use self::tools::{Tool, tool};
use crate::{
    calls, json_speech,
    port::{
        FileRef, Message, Request, ToolCall, ToolResult, ToolSpec,
        files::{LoadedFile, Media},
        text::as_text,
    },
    reasoning,
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
    pub(super) fn new(request: &'a Request, native: bool) -> Self {
        let max_tokens = Some(request.model.max_output_tokens);
        let speaks_json = json_speech::is_asked(request);
        let tools: &[ToolSpec] = if speaks_json { &[] } else { &request.tools };
        Self {
            model: &request.model.name,
            messages: system(&request.system)
                .into_iter()
                .chain(request.messages.iter().flat_map(|said| message(request, said)))
                .collect(),
            tools: tools.iter().map(tool).collect(),
            tool_choice: tool_choice(request).filter(|_| !tools.is_empty()),
            stream: true,
            stream_options: json!({"include_usage": true}),
            temperature: request.model.temperature,
            max_completion_tokens: max_tokens.filter(|_| native),
            max_tokens: max_tokens.filter(|_| !native),
            prompt_cache_key: Some(request.cache_key.as_str())
                .filter(|key| native && !key.is_empty()),
            reasoning_effort: reasoning::effort(&request.model, native),
            response_format: speaks_json.then(json_speech::response_format),
            added: &request.model.request,
        }
    }
}

fn tool_choice(request: &Request) -> Option<Value> {
    let forced = request.forced_tool.as_ref();
    let is_required = request.model.tool_choice == ToolChoice::Required;
    forced
        .map(|name| json!({"type": "function", "function": {"name": name}}))
        .or_else(|| is_required.then(|| json!("required")))
}

/// One message with one text, which every server accepts. Some servers refuse text parts or a
/// second system message at the beginning.
fn system(parts: &[String]) -> Option<Value> {
    (!parts.is_empty()).then(|| json!({"role": "system", "content": parts.join("\n\n")}))
}

fn message(request: &Request, message: &Message) -> Vec<Value> {
    match message {
        Message::User { blocks } => {
            let content = match blocks.as_slice() {
                [block] => json!(block),
                blocks => blocks.iter().map(|block| text_part(block)).collect(),
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
        Message::Files { files } => {
            let mut message = json!({"role": "user"});
            // `json!` would copy the content.
            message["content"] = labelled_files(request, files);
            vec![message]
        }
        Message::System { text } => vec![json!({"role": "system", "content": text})],
    }
}

fn text_part(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// The files, each after its label. Labels alone are one text, which every server accepts.
fn labelled_files(request: &Request, files: &[FileRef]) -> Value {
    let loaded = |file| LoadedFile::of(file, &request.files);
    if files.iter().all(|file| loaded(file).is_none()) {
        let labels: Vec<_> = files.iter().map(|file| file.label.as_str()).collect();
        return json!(labels.join("\n"));
    }
    let parts = files.iter().flat_map(|file| {
        let label = (!file.label.trim().is_empty()).then(|| text_part(&file.label));
        [label, loaded(file).map(file_part)].into_iter().flatten()
    });
    parts.collect()
}

fn file_part(file: LoadedFile<'_>) -> Value {
    match file.media {
        Media::Image => {
            let mut part = json!({"type": "image_url", "image_url": {}});
            part["image_url"]["url"] = file.data_url().into();
            part
        }
        Media::Pdf => {
            let mut part = json!({"type": "file", "file": {"filename": pdf_name(file.name)}});
            part["file"]["file_data"] = file.data_url().into();
            part
        }
    }
}

/// `OpenAI` refuses a file whose name has no extension that it knows.
fn pdf_name(name: &str) -> String {
    let is_pdf = name.to_ascii_lowercase().ends_with(".pdf");
    if is_pdf { name.to_owned() } else { format!("{name}.pdf") }
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
