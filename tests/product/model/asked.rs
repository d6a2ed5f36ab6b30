//! A request to the model, as tests read it.

use std::time::Instant;

use serde_json::Value;

use super::prompt::Prompt;

/// Whose language a request is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    /// Chat completions.
    OpenAi,
    /// Messages.
    Anthropic,
    /// `ConverseStream`.
    Bedrock,
}

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// The model's name, as the test gave it.
    pub(crate) model: String,
    /// When it came.
    pub(crate) at: Instant,
    /// All of it.
    pub(crate) body: Value,
    /// In which language.
    pub(crate) api: Api,
    /// With which key.
    pub(super) key: String,
    /// Of which version of the language; `OpenAI`'s has none.
    pub(super) version: String,
}

impl Asked {
    /// A request without headers.
    pub(super) fn of(api: Api, model: &str, body: Value) -> Self {
        Self { model: model.to_owned(), at: Instant::now(), body, api, key: String::new(), version: String::new() }
    }

    /// The conversation.
    pub(crate) fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The system message that it begins with.
    pub(crate) fn system(&self) -> Prompt {
        Prompt::read(&match self.api {
            Api::OpenAi => text_of(&self.messages()[0]["content"]),
            Api::Anthropic | Api::Bedrock => text_of(&self.body["system"]),
        })
    }

    /// The first message in the user's role: the whole context of the run.
    pub(crate) fn user(&self) -> Prompt {
        let first = self.messages().iter().find(|message| message["role"] == "user");
        Prompt::read(&first.map(|message| text_of(&message["content"])).unwrap_or_default())
    }

    /// The results of all calls so far, in order.
    pub(crate) fn results(&self) -> Vec<Value> {
        let results = self.messages().iter().flat_map(|message| match self.api {
            Api::OpenAi => Vec::from_iter((message["role"] == "tool").then(|| text_of(&message["content"]))),
            Api::Anthropic => {
                let blocks = message["content"].as_array().into_iter().flatten();
                blocks.filter(|block| block["type"] == "tool_result").map(|block| text_of(&block["content"])).collect()
            }
            Api::Bedrock => {
                let blocks = message["content"].as_array().into_iter().flatten();
                blocks.filter_map(|block| block.get("toolResult")).map(|result| text_of(&result["content"])).collect()
            }
        });
        results.map(|text| serde_json::from_str(&text).unwrap_or(Value::String(text))).collect()
    }

    /// What the system said between steps, in order.
    pub(crate) fn told(&self) -> Vec<String> {
        let said = self.messages().iter().skip(usize::from(self.api == Api::OpenAi)).flat_map(|message| match self.api {
            Api::OpenAi => Vec::from_iter((message["role"] == "system").then(|| text_of(&message["content"]))),
            Api::Anthropic | Api::Bedrock => {
                let blocks = message["content"].as_array().into_iter().flatten().filter_map(|block| block["text"].as_str());
                blocks.filter_map(|text| text.strip_prefix("SYSTEM: ")).map(str::to_owned).collect()
            }
        });
        said.collect()
    }

    /// How many answers the run had before this one.
    pub(crate) fn step(&self) -> usize {
        self.messages().iter().filter(|message| message["role"] == "assistant").count()
    }

    /// Names of the tools that it offers.
    pub(crate) fn tools(&self) -> Vec<&str> {
        let (tools, name) = match self.api {
            Api::OpenAi => ("/tools", "/function/name"),
            Api::Anthropic => ("/tools", "/name"),
            Api::Bedrock => ("/toolConfig/tools", "/toolSpec/name"),
        };
        let tools = self.body.pointer(tools).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        tools.iter().filter_map(|tool| tool.pointer(name)?.as_str()).collect()
    }

    /// The text of the message that woke the run.
    pub(crate) fn trigger_text(&self) -> String {
        self.user().field("TRIGGER", "message").map(|text| serde_json::from_str(&text).unwrap()).unwrap_or_default()
    }

    pub(super) fn key(&self) -> &str {
        &self.key
    }

    pub(super) fn full_name(&self) -> String {
        self.body["model"].as_str().unwrap_or_default().to_owned()
    }

    pub(super) fn wants_usage(&self) -> bool {
        self.body["stream_options"]["include_usage"] == true
    }

    pub(super) fn characters(&self) -> usize {
        self.body["messages"].to_string().len()
    }
}

/// The text of a message's content: a string, or blocks, each of which ends its line.
pub(super) fn text_of(content: &Value) -> String {
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
