//! The inputs of the MCP tools. Their comments become descriptions, which models read.

use rmcp::{
    ErrorData,
    handler::server::{common::FromContextPart, tool::ToolCallContext},
    schemars::{self, JsonSchema, Schema, SchemaGenerator},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use smartspace_domain::ids::{AttachmentId, CallId, RunId, SpaceId};

use crate::{
    body::from_value,
    mcp::{files::NewFile, schemas::without_null},
};

/// The beginning of errors that `rmcp` returns as the result of the tool, which the model reads. It
/// returns any other error to the client, and the model never learns what is wrong.
const MODEL_ERROR: &str = "failed to deserialize parameters:";

/// The input of a tool. Unlike the type of `rmcp` with this name, it names the field that does not
/// fit. The macro `tool` recognizes the type by its name.
#[derive(Debug)]
pub(super) struct Parameters<T>(pub(super) T);

impl<T: JsonSchema> JsonSchema for Parameters<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = T::json_schema(generator);
        without_null(&mut schema);
        schema
    }
}

impl<S, T: DeserializeOwned> FromContextPart<ToolCallContext<'_, S>> for Parameters<T> {
    fn from_context_part(context: &mut ToolCallContext<'_, S>) -> Result<Self, ErrorData> {
        let input = Value::Object(context.arguments.take().unwrap_or_default());
        from_value(input).map(Self).map_err(|refusal| {
            // A missing field has no path but that of the whole input.
            let detail = refusal.detail.strip_prefix(".: ").unwrap_or(&refusal.detail);
            ErrorData::invalid_params(format!("{MODEL_ERROR} {detail}"), None)
        })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ListSpaces {
    /// `nextCursor` of the previous page.
    #[serde(default)]
    pub(super) cursor: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ReadMessages {
    /// The id of the space, `spc_…`.
    #[schemars(with = "String")]
    pub(super) space_id: SpaceId,
    /// Only messages after this `seq`, oldest first.
    #[serde(default)]
    pub(super) after_seq: Option<u64>,
    /// Only messages before this `seq`, the newest of them.
    #[serde(default)]
    pub(super) before_seq: Option<u64>,
    /// How many: 20 if absent, at most 200.
    #[serde(default)]
    pub(super) limit: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SearchMessages {
    /// Words, `"a phrase"`, `prefix*`, `-not`, and filters: `from:Sara`, `has:file`,
    /// `in:"Ops room"`, `before:2026-02-18`, `after:2026-02-18`.
    pub(super) query: String,
    /// The id of the only space to search, `spc_…`: all of your spaces if absent.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub(super) space_id: Option<SpaceId>,
    /// The name or id of a sender, or `me`.
    #[serde(default)]
    pub(super) from: Option<String>,
    /// Only messages before this time or day, such as 2026-02-18.
    #[serde(default)]
    pub(super) before: Option<String>,
    /// Only messages since this time or day.
    #[serde(default)]
    pub(super) after: Option<String>,
    /// How many: 10 if absent, at most 20.
    #[serde(default)]
    #[schemars(range(min = 1, max = 20))]
    pub(super) limit: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ReadFile {
    /// The id of the space, `spc_…`.
    #[schemars(with = "String")]
    pub(super) space_id: SpaceId,
    /// The file, `att_…`: `attachmentId` of a part of type file.
    #[schemars(with = "String")]
    pub(super) attachment_id: AttachmentId,
    /// The byte at which a page of a text begins: 0 if absent, or `nextOffset` of the page before.
    #[serde(default)]
    pub(super) offset: u64,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PostMessage {
    /// The id of the space, `spc_…`.
    #[schemars(with = "String")]
    pub(super) space_id: SpaceId,
    /// The text, in Markdown. May be left out if the message has files.
    #[serde(default)]
    pub(super) text: String,
    /// Files that the space has, `att_…`.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(super) attachments: Vec<AttachmentId>,
    /// New files. With those in `attachments` at most 10.
    #[serde(default)]
    pub(super) files: Vec<NewFile>,
    /// The `seq` of the message to which it replies. A reply to an agent's message wakes the agent.
    #[serde(default)]
    pub(super) reply_to: Option<u64>,
    /// How many seconds to wait for the answers of the agents that the message wakes: 0 if absent,
    /// at most 20.
    #[serde(default)]
    pub(super) wait_seconds: Option<u64>,
    /// A name for this message. Posting again with the same name posts nothing new.
    #[serde(default)]
    pub(super) idempotency_key: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct React {
    /// The id of the space, `spc_…`.
    #[schemars(with = "String")]
    pub(super) space_id: SpaceId,
    /// The `seq` of the message.
    pub(super) seq: u64,
    /// One emoji, such as 👍.
    pub(super) emoji: String,
    /// False takes your reaction back. True if absent.
    #[serde(default)]
    pub(super) on: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct EditMessage {
    /// The id of the space, `spc_…`.
    #[schemars(with = "String")]
    pub(super) space_id: SpaceId,
    /// The `seq` of your message.
    pub(super) seq: u64,
    /// The new text, in Markdown.
    pub(super) text: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DeleteMessage {
    /// The id of the space, `spc_…`.
    #[schemars(with = "String")]
    pub(super) space_id: SpaceId,
    /// The `seq` of the message.
    pub(super) seq: u64,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct WaitForMessages {
    /// The id of the space, `spc_…`.
    #[schemars(with = "String")]
    pub(super) space_id: SpaceId,
    /// The `seq` of the last message that you know.
    pub(super) after_seq: u64,
    /// How many seconds to wait: 20 if absent, which is the most.
    #[serde(default)]
    pub(super) timeout_seconds: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AnswerForm {
    /// The run that asks, `run_…`: `runId` of the message with the form.
    #[schemars(with = "String")]
    pub(super) run_id: RunId,
    /// The call that asks, `cal_…`: `callId` of the form.
    #[schemars(with = "String")]
    pub(super) call_id: CallId,
    /// The answer. It must match the form's `resultSchema`.
    #[serde(default)]
    pub(super) output: Option<Value>,
    /// True to refuse an answer. Then there is no `output`.
    #[serde(default)]
    pub(super) declined: bool,
    /// Why you decline.
    #[serde(default)]
    pub(super) reason: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CancelRun {
    /// The id of the run, `run_…`.
    #[schemars(with = "String")]
    pub(super) run_id: RunId,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_schema_of_a_search_says_what_is_allowed() {
        let schema = Parameters::<SearchMessages>::json_schema(&mut SchemaGenerator::default());
        let properties = schema.get("properties").unwrap();
        let limit = &properties["limit"];
        assert_eq!((&limit["minimum"], &limit["maximum"]), (&json!(1), &json!(20)));
        assert_eq!(limit["type"], "integer");
        assert_eq!(schema.get("required"), Some(&json!(["query"])));
        let query = properties["query"]["description"].as_str().unwrap();
        for filter in ["from:", "has:", "in:\"", "before:", "after:"] {
            assert!(query.contains(filter), "{filter}");
        }
    }
}
