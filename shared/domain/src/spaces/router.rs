//! The router of a space: a model that chooses which agents a message triggers.

use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::{
    agents::{ModelConfig, check_model_name},
    errors::Faults,
    limits,
    providers::{ProviderApi, ProviderEntry, ProviderName, Providers},
    schemas,
    scripts::{Rule, Script, ScriptCall, ScriptStep, When},
};

/// The longest router, in bytes of JSON.
const ROUTER_BYTES: usize = 64 * 1024;

/// The name of the tool by which a router answers.
pub const CHOOSE: &str = "choose";

/// The model that chooses which agents a message triggers, if the message mentions none. At most 64
/// KiB of JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RouterConfig {
    /// The model; only the operator can choose it. Null is the router model of the deployment.
    #[serde(default)]
    pub model: Option<RouterModel>,
    /// What the model should know besides the agents' descriptions, at most 32 KiB. An owner can
    /// write at most 2,000 characters.
    #[serde(default)]
    #[schema(max_length = 32768)]
    pub instructions: Option<String>,
    /// How many agents it chooses at most.
    #[serde(default = "default_max_agents")]
    #[schema(default = default_max_agents, minimum = 1, maximum = 20)]
    pub max_agents: u32,
    /// How long it may take for an answer, in milliseconds. The default is 5,000, and 30,000 for a
    /// model on a server of the deployment's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1_000, maximum = 60_000)]
    pub timeout_ms: Option<u64>,
}

/// A router's model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RouterModel {
    /// The model's provider.
    pub provider: ProviderName,
    /// The model's name at its provider.
    #[schema(schema_with = schemas::model_name)]
    pub name: String,
    /// The script of the provider `scripted`; refused for other providers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<RouterScript>,
}

/// The script of a router. The first rule that matches the message is played. If none matches, the
/// router does not answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RouterScript {
    /// Milliseconds between two words.
    #[serde(default)]
    #[schema(maximum = 60_000)]
    pub word_delay_ms: u64,
    /// The rules, tried in order.
    #[schema(max_items = 100)]
    pub rules: Vec<RouterRule>,
}

/// One rule of a router's script.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RouterRule {
    /// Which agents the router chooses, and when.
    pub choose: ScriptedChoice,
}

/// A choice of a scripted router.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScriptedChoice {
    /// When the rule matches. Without fields it always matches.
    #[serde(default)]
    pub when: When,
    /// The agents that it chooses; may be empty.
    #[schema(max_items = 20)]
    pub agents: Vec<ScriptedAgent>,
    /// Agents that it leaves out, with its reasons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 20)]
    pub others: Vec<ScriptedAgent>,
}

/// An agent in a choice of a scripted router.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ScriptedAgent {
    /// The agent's name.
    pub name: String,
    /// Why it is chosen or left out.
    #[serde(default)]
    pub reason: String,
}

fn default_max_agents() -> u32 {
    3
}

impl Default for RouterConfig {
    /// The router of a space that sets nothing about it.
    fn default() -> Self {
        Self { model: None, instructions: None, max_agents: default_max_agents(), timeout_ms: None }
    }
}

impl RouterConfig {
    pub(super) fn check(&self, faults: &mut Faults) {
        if let Some(model) = &self.model {
            faults.within("model", |faults| model.check(faults));
        }
        let length = self.instructions.as_ref().map_or(0, String::len);
        faults.check(
            length <= limits::INSTRUCTIONS_BYTES,
            "instructions",
            "expected at most 32 KiB",
        );
        faults.check_range(&self.max_agents, 1..=20, "maxAgents");
        if let Some(timeout) = &self.timeout_ms {
            faults.check_range(timeout, 1_000..=60_000, "timeoutMs");
        }
        // Every message reads the settings of its space.
        let bytes = serde_json::to_string(self).map_or(usize::MAX, |text| text.len());
        faults.check(
            bytes <= ROUTER_BYTES,
            "",
            format!("expected at most {ROUTER_BYTES} bytes of JSON in all, got {bytes}"),
        );
    }
}

impl RouterModel {
    /// Reads `provider/name`, the router model of a deployment. An empty text is none.
    pub fn read(text: &str) -> Result<Option<Self>, String> {
        if text.is_empty() {
            return Ok(None);
        }
        let expected =
            || format!("expected provider/name, such as openai/gpt-4.1-mini, got {text:?}");
        let (provider, name) = text.split_once('/').ok_or_else(expected)?;
        let provider: ProviderName = provider.parse().map_err(|_| expected())?;
        if provider.is(ProviderApi::Scripted) {
            return Err("expected another provider than scripted, which needs a script".into());
        }
        let mut faults = Faults::default();
        check_model_name(name, &mut faults);
        faults.done().map_err(|_| expected())?;
        Ok(Some(Self { provider, name: name.to_owned(), script: None }))
    }

    /// `provider/model`, the name in prices.
    pub fn full_name(&self) -> String {
        self.provider.full_name(&self.name)
    }

    fn check(&self, faults: &mut Faults) {
        check_model_name(&self.name, faults);
        let scripted = self.provider.is(ProviderApi::Scripted);
        faults.check(
            scripted == self.script.is_some(),
            "script",
            "expected a script for the provider scripted, and none for others",
        );
        let Some(script) = &self.script else { return };
        faults.within("script", |faults| {
            faults.check_range(&script.word_delay_ms, 0..=60_000, "wordDelayMs");
            faults.check(script.rules.len() <= 100, "rules", "expected at most 100 rules");
            for (index, rule) in script.rules.iter().enumerate() {
                faults.within("rules", |faults| {
                    faults.within(index, |faults| {
                        faults.within("choose", |faults| rule.choose.check(faults));
                    });
                });
            }
        });
    }

    /// Refuses a provider that does not exist, at the JSON pointer `/router/model`.
    ///
    /// # Errors
    /// `invalid`, with the providers that exist.
    pub fn must_have_provider(&self, providers: &Providers) -> crate::Result<()> {
        let mut faults = Faults::default();
        faults.within("router", |faults| {
            faults.within("model", |faults| {
                providers.find(&self.provider, faults);
            });
        });
        faults.done()
    }

    /// Whether every question fails, because the provider has no key.
    pub fn provider_lacks_key(&self, providers: &Providers) -> bool {
        providers.get(&self.provider).is_some_and(ProviderEntry::lacks_key)
    }

    /// The model with the settings of a router's request.
    pub fn config(&self, max_output_tokens: u32) -> ModelConfig {
        ModelConfig {
            max_output_tokens,
            script: self.script.clone().map(Script::from),
            ..ModelConfig::named(self.provider.clone(), &self.name)
        }
    }
}

impl ScriptedChoice {
    fn check(&self, faults: &mut Faults) {
        faults.within("when", |faults| self.when.check(faults));
        faults.check(self.agents.len() <= 20, "agents", "expected at most 20 agents");
        faults.check(self.others.len() <= 20, "others", "expected at most 20 agents");
    }
}

impl From<RouterScript> for Script {
    fn from(script: RouterScript) -> Self {
        let rule = |RouterRule { choose: ScriptedChoice { when, agents, others } }| {
            let input = json!({"agents": agents, "others": others});
            let calls = vec![ScriptCall { tool: CHOOSE.to_owned(), input }];
            Rule { when, steps: vec![ScriptStep { calls, ..ScriptStep::default() }] }
        };
        Self {
            word_delay_ms: script.word_delay_ms,
            rules: script.rules.into_iter().map(rule).collect(),
        }
    }
}
