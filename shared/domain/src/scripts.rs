//! The scripts of the provider `scripted`: for demos and tests, without a model and a key.

mod checks;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{
    identity::EntityType,
    triggers::{Source, TriggerKind},
};

/// A script. The first rule that matches the run's trigger is played. If none matches, the model
/// says nothing and the run ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Script {
    /// Milliseconds between two words.
    #[serde(default)]
    #[schema(maximum = 60_000)]
    pub word_delay_ms: u64,
    /// The rules, tried in order.
    #[serde(default)]
    #[schema(max_items = 100)]
    pub rules: Vec<Rule>,
}

/// One rule of a script.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rule {
    /// When the rule matches. Without fields it always matches.
    #[serde(default)]
    pub when: When,
    /// The answers: the n-th step is the n-th answer of the run. After the last one the run ends.
    #[schema(max_items = 200)]
    pub steps: Vec<ScriptStep>,
}

/// The triggers that a rule matches: all given fields must match.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct When {
    /// The type of the trigger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<TriggerKind>)]
    pub trigger: Option<String>,
    /// Whether the message's sender is a person or an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<EntityType>,
    /// Why the message triggered the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Source>)]
    pub source: Option<String>,
    /// A part of the message, the instruction or the payload. Case is ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
}

/// One answer of the scripted model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScriptStep {
    /// What the model writes besides its calls. It is posted nowhere.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The tool calls of the answer. A step without calls ends the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ScriptCall>,
    /// How the step fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ScriptError>,
}

/// A tool call of the scripted model. Texts of `input` may hold placeholders such as `{{message}}`
/// and `{{sender}}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScriptCall {
    /// The tool's name.
    pub tool: String,
    /// The call's input.
    #[serde(default)]
    pub input: Value,
}

/// How a scripted step fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScriptError {
    /// As if the provider answered 429.
    RateLimited,
    /// As if the provider answered 529.
    Overloaded,
    /// As if the prompt did not fit the model.
    ContextTooLong,
    /// As if the provider answered 400.
    BadRequest,
    /// As if the answer broke off.
    BrokenStream,
}
