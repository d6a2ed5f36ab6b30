//! A request to the fake model, with accessors for what tests compare.

use std::time::Instant;

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use serde_json::Value;

use crate::support::model::{files::all_files, prompt::Prompt};

/// The line before each notice of the system.
const NOTICE: &str = "SYSTEM NOTICE:\n";

/// The API that a request uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    /// `OpenAI`'s chat completions.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
    /// Bedrock's `ConverseStream`.
    Bedrock,
}

/// A request to the fake model.
#[derive(Clone, Debug)]
pub(crate) struct ModelRequest {
    /// The model's name without the tag of the test.
    pub(crate) model: String,
    pub(crate) at: Instant,
    pub(crate) body: Value,
    pub(crate) api: Api,
    pub(crate) key: String,
    /// The `anthropic-version`. Empty for the other APIs.
    pub(crate) version: String,
}

impl ModelRequest {
    /// A request with an empty key and version.
    pub(crate) fn of(api: Api, model: &str, body: Value) -> Self {
        Self {
            model: model.to_owned(),
            at: Instant::now(),
            body,
            api,
            key: String::new(),
            version: String::new(),
        }
    }

    /// The messages of the conversation.
    pub(crate) fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    pub(crate) fn system(&self) -> Prompt {
        Prompt::read(&match self.api {
            Api::OpenAi => text_of(&self.messages()[0]["content"]),
            Api::Anthropic | Api::Bedrock => text_of(&self.body["system"]),
        })
    }

    /// The first user message. It holds the whole context of the run.
    pub(crate) fn user(&self) -> Prompt {
        let first = self.messages().iter().find(|message| message["role"] == "user");
        let text = first.map(|message| text_of(&message["content"])).unwrap_or_default();
        Prompt::read(text.split(NOTICE).next().unwrap_or_default())
    }

    /// The tool results so far, in order.
    pub(crate) fn results(&self) -> Vec<Value> {
        let results = self.messages().iter().flat_map(|message| match self.api {
            Api::OpenAi => {
                Vec::from_iter((message["role"] == "tool").then(|| text_of(&message["content"])))
            }
            Api::Anthropic => {
                let blocks = message["content"].as_array().into_iter().flatten();
                blocks
                    .filter(|block| block["type"] == "tool_result")
                    .map(|block| text_of(&block["content"]))
                    .collect()
            }
            Api::Bedrock => {
                let blocks = message["content"].as_array().into_iter().flatten();
                blocks
                    .filter_map(|block| block.get("toolResult"))
                    .map(|result| text_of(&result["content"]))
                    .collect()
            }
        });
        results.map(output_of).collect()
    }

    /// The notices that the system added between steps, in order.
    pub(crate) fn system_notes(&self) -> Vec<String> {
        let said = self.messages().iter().filter(|message| message["role"] != "system");
        let mut texts = Vec::new();
        said.for_each(|message| collect_texts(&message["content"], &mut texts));
        let notices = texts.iter().flat_map(|text| text.split(NOTICE).skip(1));
        notices.map(|notice| notice.trim_end().to_owned()).collect()
    }

    /// The media type and the bytes of each file, in order.
    pub(crate) fn files(&self) -> Vec<(String, Vec<u8>)> {
        let files = all_files(self).into_iter();
        files.map(|file| (file.media_type(), BASE64.decode(file.base64).unwrap())).collect()
    }

    /// The index of the step: the number of earlier answers in the run.
    pub(crate) fn step(&self) -> usize {
        self.messages().iter().filter(|message| message["role"] == "assistant").count()
    }

    /// The names of the offered tools.
    pub(crate) fn tools(&self) -> Vec<&str> {
        let (tools, name) = match self.api {
            Api::OpenAi => ("/tools", "/function/name"),
            Api::Anthropic => ("/tools", "/name"),
            Api::Bedrock => ("/toolConfig/tools", "/toolSpec/name"),
        };
        let tools =
            self.body.pointer(tools).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        tools.iter().filter_map(|tool| tool.pointer(name)?.as_str()).collect()
    }

    /// The text of the message that triggered the run. Empty for other triggers.
    pub(crate) fn trigger_text(&self) -> String {
        self.user()
            .message()
            .map(|text| {
                // The note behind a text that is cut is no part of it.
                let mut json = serde_json::Deserializer::from_str(&text).into_iter::<String>();
                json.next().unwrap().unwrap()
            })
            .unwrap_or_default()
    }

    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    pub(crate) fn full_name(&self) -> String {
        self.body["model"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn wants_usage(&self) -> bool {
        self.body["stream_options"]["include_usage"] == true
    }

    /// The number of characters. A file counts by its tokens, with four characters each.
    pub(crate) fn characters(&self) -> usize {
        let all = self.body["messages"].to_string().len();
        let files = all_files(self);
        let encoded: usize = files.iter().map(|file| file.base64.len()).sum();
        all - encoded + files.iter().map(|file| file.tokens() * 4).sum::<usize>()
    }
}

/// The output in the text of a result, after which labels of files and notices may stand.
fn output_of(text: String) -> Value {
    let mut json = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    match json.next() {
        Some(Ok(output)) if text[json.byte_offset()..].trim_start_matches('\n').is_empty() => {
            output
        }
        Some(Ok(output)) if text[json.byte_offset()..].starts_with("\n\n") => output,
        _ => Value::from(text.split(NOTICE).next().unwrap_or_default().trim_end()),
    }
}

/// All texts in a message's content.
fn collect_texts(content: &Value, texts: &mut Vec<String>) {
    match content {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(parts) => parts.iter().for_each(|part| {
            for field in [&part["text"], &part["content"], &part["toolResult"]["content"]] {
                collect_texts(field, texts);
            }
        }),
        _ => {}
    }
}

/// The text of a message's content, which is a string or a list of blocks. Each block ends with a
/// line break.
pub(crate) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let mut whole = String::new();
            for block in blocks {
                whole.push_str(block["text"].as_str().unwrap_or_default());
                if !whole.ends_with('\n') {
                    whole.push('\n');
                }
            }
            whole
        }
        _ => String::new(),
    }
}
