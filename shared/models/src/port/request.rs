//! A request to a model.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};
use smartspace_domain::{
    agents::ModelConfig,
    ids::{AttachmentId, CallId, SpaceId},
};

use crate::port::{ScriptCause, notices::without_headings, text::as_json};

/// One request to a model: a whole conversation, and the tools that the model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Identifies the request in the provider's logs: the run, its step and the try, with dots in
    /// between. Empty for a request that belongs to no run.
    pub id: String,
    /// The model and its settings.
    pub model: ModelConfig,
    /// The system message, in parts. Parts that change less often come first.
    pub system: Vec<String>,
    /// The conversation so far. It is never empty, and every call in it has a result.
    pub messages: Vec<Message>,
    /// Sorted by name. The tools of an agent are the same bytes in every space, so that a provider
    /// finds them in its cache.
    pub tools: Arc<[ToolSpec]>,
    /// The tool that the answer must call. Models that can't be forced get the request without it.
    pub forced_tool: Option<ForcedTool>,
    /// Requests with the same key share a prefix. At most 64 characters (`OpenAI`'s
    /// `prompt_cache_key`).
    pub cache_key: String,
    /// The ends of the prefixes that later requests will repeat, for providers that cache only at
    /// marks. In order, at most two. The system message is always marked in addition.
    pub cache_points: Vec<CachePoint>,
    /// The bytes of the files that the model gets. The label of any other file stands alone.
    pub files: Arc<BTreeMap<AttachmentId, Bytes>>,
    /// Why the model is asked, for models that play a script. `None` for all others.
    pub cause: Option<Arc<ScriptCause>>,
}

/// The tool that an answer must call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForcedTool {
    /// One of the request's tools.
    pub name: String,
    /// Whether chat completions ask for its input by its schema, and offer no tool. The answer is
    /// the call in any case.
    pub by_schema: bool,
}

/// A position in a conversation: the end of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CachePoint {
    /// Index of the message.
    pub message: usize,
    /// Index of the block, or of the tool result, in that message.
    pub block: usize,
}

impl CachePoint {
    /// The end of a conversation. Returns `None` if the conversation is empty.
    pub fn end_of(messages: &[Message]) -> Option<Self> {
        let blocks = match messages.last()? {
            Message::User { blocks } => blocks.len(),
            Message::ToolResults { results } => results.len(),
            Message::Files { files } => files.len(),
            Message::Assistant { .. } | Message::System { .. } => 1,
        };
        Some(Self { message: messages.len() - 1, block: blocks.saturating_sub(1) })
    }
}

/// A message of the conversation. Runs store it in this form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// Text for the model, in blocks.
    User { blocks: Vec<String> },
    /// An earlier answer of the model.
    Assistant {
        /// Its text, which may be empty.
        text: String,
        calls: Vec<ToolCall>,
        /// What only its model understands.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        own: Option<Box<ModelData>>,
    },
    /// One result for each call of the message before, in the order of the calls.
    ToolResults { results: Vec<ToolResult> },
    /// Files for the model, each after its label.
    Files { files: Vec<FileRef> },
    /// A notice of the system between two steps.
    System { text: String },
}

/// What only the model that gave an answer understands. Requests to it repeat this, and requests to
/// any other model leave it out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelData {
    /// The name of that model, as [`ModelConfig::full_name`] writes it.
    pub model: String,
    /// The provider's own id of each call, in order. Empty where it gave none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub call_ids: Vec<String>,
    /// Its thinking and the like, in the form of [`crate::port::Piece::Opaque`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Value>,
}

impl Request {
    /// What the model of this request has given with an answer, and gets back. `None` if another
    /// model gave that answer.
    pub(crate) fn own_data<'a>(&self, own: Option<&'a ModelData>) -> Option<&'a ModelData> {
        own.filter(|own| own.model == self.model.full_name())
    }
}

/// A tool call of the model, with the id that Smartspace gave it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// Smartspace's own id.
    pub call_id: CallId,
    /// Name of the tool.
    pub name: String,
    /// The input as the model wrote it. It may be invalid JSON.
    pub input: String,
}

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// Id of the call.
    pub call_id: CallId,
    /// Output of the tool.
    pub output: Value,
    /// Whether a text output is lines that Smartspace wrote, such as those of a timeline. The model
    /// reads them as they are. All other output is JSON on one line.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_lines: bool,
}

impl ToolResult {
    /// The output as the model reads it. No line of it looks like the heading of a notice.
    pub(crate) fn text(&self) -> String {
        match &self.output {
            // Some providers refuse an empty text.
            Value::String(lines) if self.has_lines && !lines.trim().is_empty() => {
                without_headings(lines).into_owned()
            }
            output => as_json(output),
        }
    }
}

/// A file for a model, without its bytes: runs store it in this form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileRef {
    /// The space of the file.
    pub space_id: SpaceId,
    pub attachment_id: AttachmentId,
    /// Its hash: a request that is repeated sends the same bytes.
    pub sha256: String,
    pub name: String,
    pub content_type: String,
    pub bytes: u64,
    /// The text before it, which says where it comes from.
    pub label: String,
    /// The call that has returned it, if it is not of a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<CallId>,
    /// Whether the model gets the label alone, since the conversation is too long.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

/// The description of a tool for a model.
#[derive(Clone, Debug)]
pub struct ToolSpec {
    pub name: String,
    /// A description of the tool, for the model.
    pub description: String,
    /// JSON Schema of its input. It is serialized once, because every request contains it.
    input_schema: Box<RawValue>,
}

impl ToolSpec {
    /// A tool whose input has this JSON Schema.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: &Value,
    ) -> Self {
        let input_schema = to_raw_value(&with_properties(input_schema)).unwrap_or_default();
        Self { name: name.into(), description: description.into(), input_schema }
    }

    /// JSON Schema of its input: an object with properties.
    pub fn input_schema(&self) -> &RawValue {
        &self.input_schema
    }
}

impl PartialEq for ToolSpec {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.description == other.description
            && self.input_schema.get() == other.input_schema.get()
    }
}

/// The schema of a tool's input. A configured schema may be `{}`, but providers refuse a schema
/// that does not describe an object with properties.
fn with_properties(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(fields) = schema.as_object_mut() {
        let kind = fields.entry("type").or_insert_with(|| json!("object"));
        if *kind == "object" {
            fields.entry("properties").or_insert_with(|| json!({}));
        }
    }
    schema
}
