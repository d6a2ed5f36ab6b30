//! The tools of an agent's configuration: their own, and those of MCP servers.
//!
//! The built-in tools are implemented in `functions/run`; here are only their names.

mod checks;
mod images;

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

pub(crate) use crate::tools::checks::{check_schema, check_tools};
pub use crate::tools::images::{ImageSize, image_input};
use crate::{
    durations::WrittenDuration,
    ids::{EntityId, SpaceId},
    providers::ProviderName,
    schemas, stored, templates,
};

/// The built-in tool with which an agent posts a message.
pub const SEND_MESSAGE: &str = "send_message";

/// The built-in tool with which an agent edits or deletes a message of its own.
pub const EDIT_MESSAGE: &str = "edit_message";

/// The built-in tool with which an agent reacts to a message.
pub const REACT: &str = "react";

/// The built-in tool with which an agent searches messages.
pub const SEARCH_MESSAGES: &str = "search_messages";

/// The names of the built-in tools. Configured tools may not use them.
pub const BUILT_IN: &[&str] = &[
    "absorb_run",
    "delegate",
    "delete_goals",
    "delete_memories",
    "delete_plans",
    EDIT_MESSAGE,
    "enter_space",
    "get_goals",
    "get_memories",
    "get_my_runs",
    "get_plans",
    REACT,
    "read_attachment",
    "read_messages",
    SEARCH_MESSAGES,
    SEND_MESSAGE,
    "set_goals",
    "set_memories",
    "set_plans",
    "skip_response",
    "stop_run",
];

/// A configured tool of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Tool {
    /// `[A-Za-z_][A-Za-z0-9_]{0,63}`, unique, and not the name of a built-in tool.
    #[schema(pattern = "^[A-Za-z_][A-Za-z0-9_]{0,63}$")]
    pub name: String,
    /// What the model reads about the tool, at most 4,096 bytes.
    #[schema(max_length = 4096)]
    pub description: String,
    /// What the row of a call's card says in place of the tool's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = templates::title_schema)]
    pub title: Option<String>,
    /// JSON Schema of the input. A tool of the type `image` has none: its input is `{prompt}`.
    #[serde(default = "no_schema")]
    #[schema(schema_with = schemas::json_schema)]
    pub input_schema: Value,
    /// Whether each call is shown in the space as a card. Forms and pictures are always shown.
    #[serde(default)]
    #[schema(default = false)]
    pub visible: bool,
    /// Whether a call changes nothing. Matters for `loop.continueOn: "writes"`.
    #[serde(default)]
    #[schema(default = false)]
    pub read_only: bool,
    /// Whether a call may be repeated with the same `Idempotency-Key`.
    #[serde(default)]
    #[schema(default = false)]
    pub idempotent: bool,
    /// The space in which cards appear. The default is the active space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_space_id: Option<SpaceId>,
    /// How a call is executed.
    pub execution: Execution,
}

/// How a call of a tool is executed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(
    tag = "type",
    rename_all = "lowercase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum Execution {
    /// Sends an HTTP request.
    #[schema(rename_all = "camelCase")]
    Http {
        /// GET, POST, PUT, PATCH or DELETE.
        #[schema(pattern = "^(GET|POST|PUT|PATCH|DELETE)$")]
        method: String,
        /// The URL, at most 2,048 bytes. It may hold placeholders after the host.
        #[schema(schema_with = schemas::url)]
        url: String,
        /// Headers. Their values may hold placeholders.
        #[serde(default)]
        #[schema(value_type = BTreeMap<schemas::HeaderName, schemas::HeaderValue>)]
        headers: BTreeMap<String, String>,
        /// The JSON body. Its texts may hold placeholders.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<Value>,
        /// How long a call may take in milliseconds, with redirects and retries.
        #[serde(default = "http_timeout")]
        #[schema(default = http_timeout, minimum = 1, maximum = 300_000)]
        timeout_ms: u32,
    },
    /// Shows a form in the space and waits for an answer.
    #[schema(rename_all = "camelCase")]
    Space {
        /// `form`, `buttons`, or a component that your client knows.
        #[serde(default = "form")]
        #[schema(default = form, min_length = 1, max_length = 64)]
        ui: String,
        /// JSON Schema of the answer. The default of `buttons` is `{choice, comment?}`; other forms
        /// accept any JSON without one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(schema_with = schemas::json_schema)]
        result_schema: Option<Value>,
        /// How long the form stays open, at most 7 days. The default is 7 days.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_after: Option<WrittenDuration>,
        /// Who may answer.
        #[serde(default)]
        #[schema(default = AnswerBy::default)]
        answer_by: AnswerBy,
    },
    /// Evaluates a CEL expression over the input.
    Compute {
        /// The expression. It sees the input as `input`.
        #[schema(min_length = 1, max_length = 8192)]
        expression: String,
    },
    /// Draws a picture, which the card of the call shows.
    #[schema(rename_all = "camelCase")]
    Image {
        /// The provider whose model draws it. Its API is that of OpenAI, Bedrock or a script.
        provider: ProviderName,
        /// The model's name at its provider. `scripted` needs none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(min_length = 1, max_length = 256)]
        model: Option<String>,
        /// The size of the picture. Each model has its own sizes.
        #[serde(default)]
        #[schema(default = default_size)]
        size: ImageSize,
    },
    /// Returns `output`.
    Static {
        /// The result of every call.
        output: Value,
    },
}

impl Execution {
    /// The model that draws, as `provider/model`, if this is a tool of the type `image`.
    pub fn image_model(&self) -> Option<String> {
        match self {
            Self::Image { provider, model, .. } => {
                Some(provider.full_name(model.as_deref().unwrap_or(SCRIPTED_IMAGE_MODEL)))
            }
            _ => None,
        }
    }

    /// The type.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Http { .. } => "http",
            Self::Space { .. } => "space",
            Self::Compute { .. } => "compute",
            Self::Image { .. } => "image",
            Self::Static { .. } => "static",
        }
    }

    /// The fields of an execution of this type besides `type`, if this version knows the type.
    pub(crate) fn fields_of(kind: &str) -> Option<&'static [&'static str]> {
        Some(match kind {
            "http" => &["method", "url", "headers", "body", "timeoutMs"],
            "space" => &["ui", "resultSchema", "expiresAfter", "answerBy"],
            "compute" => &["expression"],
            "image" => &["provider", "model", "size"],
            "static" => &["output"],
            _ => return None,
        })
    }
}

/// The name of a scripted model of pictures that has none.
pub const SCRIPTED_IMAGE_MODEL: &str = "picture";

fn no_schema() -> Value {
    json!({})
}

fn default_size() -> String {
    ImageSize::default().to_string()
}

fn http_timeout() -> u32 {
    10_000
}

fn form() -> String {
    "form".to_owned()
}

/// Who may answer a form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(untagged, expecting = "expected humans, anyone, or a list of ids")]
pub enum AnswerBy {
    /// A group of members.
    Group(AnswerGroup),
    /// 1 to 100 entities by their ids. Those that are not members cannot see the form.
    Entities(Vec<EntityId>),
}

impl Default for AnswerBy {
    fn default() -> Self {
        Self::Group(AnswerGroup::Humans)
    }
}

impl AnswerBy {
    /// Reads a stored value. Nobody but the operator may answer a form for a group that this
    /// version does not know.
    pub fn read_stored<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        stored::read_if_known(deserializer).map(|known| known.unwrap_or(Self::Entities(Vec::new())))
    }
}

/// A group of members that may answer a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum AnswerGroup {
    /// People who are members of the space.
    Humans,
    /// All members of the space, agents too.
    Anyone,
}

/// The MCP servers of an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct McpConfig {
    /// At most 10 servers.
    #[serde(default)]
    #[schema(max_items = 10)]
    pub servers: Vec<McpServer>,
}

/// An MCP server, called over streamable HTTP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct McpServer {
    /// The prefix of the tools' names: the model sees `server__tool`. So it has no two underscores
    /// in a row, and none at its end.
    #[schema(pattern = "^_?[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*$", max_length = 64)]
    pub name: String,
    /// The server's URL. It may hold no placeholders and no secret.
    #[schema(schema_with = schemas::url)]
    pub url: String,
    /// Headers of each request. Their values may hold `${secret.NAME}`.
    #[serde(default)]
    #[schema(value_type = BTreeMap<schemas::HeaderName, schemas::HeaderValue>)]
    pub headers: BTreeMap<String, String>,
    /// Whether each call is shown in the space as a card, with the progress that the server
    /// reports.
    #[serde(default)]
    #[schema(default = false)]
    pub visible: bool,
    /// The names of the server's tools that the agent may call. The default is all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_tools: Option<Vec<String>>,
    /// How long a call may take, in milliseconds.
    #[serde(default = "mcp_timeout")]
    #[schema(default = mcp_timeout, minimum = 1, maximum = 300_000)]
    pub timeout_ms: u32,
}

fn mcp_timeout() -> u32 {
    30_000
}
