//! A request as a fake server sees it, together with what the server has written before.

use axum::http::HeaderMap;
use serde_json::Value;

use crate::support::model::{Api, ModelRequest};

/// A request to a fake server.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
    pub(crate) api: Api,
    pub(crate) model: String,
    /// The answers of the server so far.
    pub(crate) written: Vec<Written>,
}

/// An answer that a server has written.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    /// The ids of its calls.
    pub(crate) ids: Vec<String>,
    pub(crate) mark: Option<Mark>,
}

/// What the server has to find unchanged in the message that repeats an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mark {
    /// Where it stands in the message, as a JSON pointer.
    pub(crate) at: &'static str,
    pub(crate) value: Value,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    pub(crate) fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    pub(crate) fn roles(&self) -> Vec<&str> {
        self.messages().iter().map(|message| message["role"].as_str().unwrap_or_default()).collect()
    }

    /// The request for the methods that read prompts.
    pub(crate) fn read(&self) -> ModelRequest {
        ModelRequest::of(self.api, &self.model, self.body.clone())
    }

    /// The blocks of a message of Anthropic's API or Bedrock's.
    pub(crate) fn blocks(message: &Value) -> &[Value] {
        message["content"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The ids of the calls of a message, in any API.
    pub(crate) fn call_ids(message: &Value) -> Vec<&str> {
        let of_chat = message["tool_calls"].as_array().into_iter().flatten();
        let of_chat = of_chat.map(|call| &call["id"]);
        let of_blocks = Self::blocks(message).iter().filter_map(|block| {
            let of_bedrock = block.pointer("/toolUse/toolUseId");
            of_bedrock.or_else(|| (block["type"] == "tool_use").then(|| &block["id"]))
        });
        of_chat.chain(of_blocks).map(|id| id.as_str().unwrap_or_default()).collect()
    }

    /// The ids of the calls whose results a message has, in any API.
    pub(crate) fn result_ids(message: &Value) -> Vec<&str> {
        let of_chat = (message["role"] == "tool").then(|| &message["tool_call_id"]);
        let of_blocks = Self::blocks(message).iter().filter_map(|block| {
            let of_bedrock = block.pointer("/toolResult/toolUseId");
            of_bedrock.or_else(|| (block["type"] == "tool_result").then(|| &block["tool_use_id"]))
        });
        of_chat.into_iter().chain(of_blocks).map(|id| id.as_str().unwrap_or_default()).collect()
    }

    /// The messages that repeat answers of this server, each with what was written.
    pub(crate) fn repeated(&self) -> Vec<(&Value, &Written)> {
        let answers = self.messages().iter().filter(|message| message["role"] == "assistant");
        let mut repeated = Vec::new();
        for message in answers {
            let ids = Self::call_ids(message);
            let of_ids = |written: &&Written| !ids.is_empty() && written.ids == ids;
            repeated.extend(self.written.iter().find(of_ids).map(|written| (message, written)));
        }
        repeated
    }
}
