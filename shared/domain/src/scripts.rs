//! The scripts of the provider `scripted`: for demos and tests, without a model and a key.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{
    errors::Faults,
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

impl Script {
    /// Adds all faults of the script.
    pub fn check(&self, faults: &mut Faults) {
        faults.check_range(&self.word_delay_ms, 0..=60_000, "wordDelayMs");
        faults.check(self.rules.len() <= 100, "rules", "expected at most 100 rules");
        for (index, rule) in self.rules.iter().enumerate() {
            faults.within("rules", |faults| {
                faults.within(index, |faults| {
                    faults.within("when", |faults| rule.when.check(faults));
                    faults.check(rule.steps.len() <= 200, "steps", "expected at most 200 steps");
                });
            });
        }
    }
}

impl When {
    fn check(&self, faults: &mut Faults) {
        if let Some(trigger) = &self.trigger {
            let is_known = ["space_message", "plan", "service"].contains(&trigger.as_str());
            faults.check(is_known, "trigger", "expected space_message, plan or service");
        }
        if let Some(source) = &self.source {
            let is_known =
                ["delegated", "mention", "auto", "router", "broadcast"].contains(&source.as_str());
            faults.check(
                is_known,
                "source",
                "expected delegated, mention, auto, router or broadcast",
            );
        }
    }
}
