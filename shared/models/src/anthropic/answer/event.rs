//! The events of the Messages API's stream, as far as a run uses them.

use serde::Deserialize;
use smartspace_domain::json::Plain;

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Event {
    MessageStart {
        message: StartedMessage,
    },
    ContentBlockStart {
        index: u64,
        content_block: BlockStart,
    },
    ContentBlockDelta {
        index: u64,
        delta: Delta,
    },
    ContentBlockStop {
        index: u64,
    },
    MessageDelta {
        delta: Ending,
        usage: Option<Counts>,
    },
    MessageStop,
    Error {
        error: Plain,
    },
    /// A ping, or an event of a newer version of the API.
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(super) struct StartedMessage {
    pub(super) usage: Option<Counts>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum BlockStart {
    Text {
        #[serde(default)]
        text: String,
    },
    ToolUse {
        name: String,
        input: Option<Plain>,
    },
    /// Thinking, or a tool that the provider runs itself.
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
pub(super) enum Delta {
    #[serde(rename = "text_delta")]
    Text { text: String },
    #[serde(rename = "input_json_delta")]
    Input { partial_json: String },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(super) struct Ending {
    pub(super) stop_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Counts {
    #[serde(rename = "input_tokens")]
    pub(super) uncached: Option<u64>,
    #[serde(rename = "cache_creation_input_tokens")]
    pub(super) cache_write: Option<u64>,
    #[serde(rename = "cache_read_input_tokens")]
    pub(super) cached: Option<u64>,
    #[serde(rename = "output_tokens")]
    pub(super) written: Option<u64>,
}
