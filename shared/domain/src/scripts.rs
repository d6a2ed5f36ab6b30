//! What a scripted model plays: no model, no key, for demos and tests.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{dispatch::Source, entities::EntityType, errors::Faults, triggers::TriggerKind};

/// A script: the first rule that fits wholly is played; where none fits, the agent is silent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Script {
    /// How long it takes to write a word, in milliseconds.
    #[serde(default)]
    #[schema(maximum = 60_000)]
    pub word_delay_ms: u64,
    /// Tried in order.
    #[serde(default)]
    #[schema(max_items = 100)]
    pub rules: Vec<Rule>,
}

/// One rule of a script.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rule {
    /// When it fits; every field is optional.
    #[serde(default)]
    pub when: When,
    /// The n-th step is the n-th answer, then the run ends.
    #[schema(max_items = 200)]
    pub steps: Vec<ScriptStep>,
}

/// What a trigger must be for a rule to fit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct When {
    /// `space_message`, `plan` or `service`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<TriggerKind>)]
    pub trigger: Option<String>,
    /// Person or agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<EntityType>,
    /// `mention`, `auto`, `broadcast`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Source>)]
    pub source: Option<String>,
    /// A part of the message, instruction or payload; case is ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
}

/// One answer of the scripted model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScriptStep {
    /// What it thinks; posted nowhere.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// What it calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ScriptCall>,
    /// Fails so instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ScriptError>,
}

/// A call of the scripted model. In texts of `input`, `{{message}}`, `{{sender}}` and the like are filled in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScriptCall {
    /// The tool's name.
    pub tool: String,
    /// Its input.
    #[serde(default)]
    pub input: Value,
}

/// How a scripted step fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScriptError {
    /// As with 429.
    RateLimited,
    /// As with 529.
    Overloaded,
    /// As when the prompt does not fit.
    ContextTooLong,
    /// As with 400.
    BadRequest,
    /// As when the stream is cut.
    BrokenStream,
}

impl Script {
    /// Notes everything that is wrong with it.
    pub fn check(&self, faults: &mut Faults) {
        faults.check_range(&self.word_delay_ms, 0..=60_000, "wordDelayMs");
        faults.check(self.rules.len() <= 100, "rules", "expected at most 100 rules");
        for (index, rule) in self.rules.iter().enumerate() {
            faults.within("rules", |faults| {
                faults.within(index, |faults| {
                    if let Some(trigger) = &rule.when.trigger {
                        let known = ["space_message", "plan", "service"].contains(&trigger.as_str());
                        faults.within("when", |faults| faults.check(known, "trigger", "expected space_message, plan or service"));
                    }
                    if let Some(source) = &rule.when.source {
                        let known = ["delegated", "mention", "auto", "router", "broadcast"].contains(&source.as_str());
                        faults.within("when", |faults| {
                            faults.check(known, "source", "expected delegated, mention, auto, router or broadcast");
                        });
                    }
                    faults.check(rule.steps.len() <= 200, "steps", "expected at most 200 steps");
                });
            });
        }
    }
}
