//! The configuration of an agent.

mod fork_changes;
mod model;
pub mod revisions;
mod run_settings;
mod runtime;
mod stored_config;
mod tool_fingerprint;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::schema::{Array, ArrayBuilder},
};

pub(crate) use crate::agents::model::check_model_name;
pub use crate::agents::{
    fork_changes::ForkChanges,
    model::{FallbackModel, ModelConfig, Reasoning, SeenFiles, Speaks, ToolChoice},
    run_settings::{
        Builtins, ConcurrencyConfig, ConcurrencyMode, ContextConfig, ContinueOn, History,
        LoopConfig, SpacesShown,
    },
    runtime::{Runtime, RuntimeType},
};
use crate::{
    approvals::{ApprovalRule, check_rules},
    budgets::Budget,
    errors::Faults,
    limits,
    names::{SecretName, ServiceName},
    schemas,
    tools::{McpConfig, Tool, check_tools},
};

/// The longest configuration, in bytes of JSON. One table item holds it together with the rest of
/// its agent.
const CONFIG_BYTES: usize = 256 * 1024;

/// The configuration of an agent, at most 256 KiB of JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentConfig {
    /// The agent's purpose in one sentence, at most 4,096 bytes.
    #[serde(default)]
    #[schema(max_length = 4096, default = "")]
    pub description: String,
    /// The start of every prompt, at most 32 KiB.
    #[serde(default)]
    #[schema(schema_with = schemas::instructions)]
    pub instructions: String,
    /// Nothing triggers a paused agent. Its active runs continue.
    #[serde(default)]
    #[schema(default = false)]
    pub paused: bool,
    /// Whether owners of spaces may add the agent. Otherwise only the operator may.
    #[serde(default)]
    #[schema(default = false)]
    pub open: bool,
    /// Whether a token may name the agent by its `externalId`. Otherwise such a token is refused:
    /// the name of a file is easy to guess, and some identity providers let people choose theirs.
    #[serde(default)]
    #[schema(default = false)]
    pub sign_in: bool,
    /// The model that the agent runs on. Absent if it has a `runtime`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelConfig>,
    /// Where the agent works instead, if it has no model here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<Runtime>,
    /// Limits of one run.
    #[serde(rename = "loop", default)]
    #[schema(default = LoopConfig::default)]
    pub run_loop: LoopConfig,
    /// What the prompt contains.
    #[serde(default)]
    #[schema(default = ContextConfig::default)]
    pub context: ContextConfig,
    /// Which groups of built-in tools it has.
    #[serde(default)]
    #[schema(default = Builtins::default)]
    pub builtins: Builtins,
    /// How many runs may work at the same time, and what a message does while they do.
    #[serde(default)]
    #[schema(default = ConcurrencyConfig::default)]
    pub concurrency: ConcurrencyConfig,
    /// Limits for the agent's runs and costs.
    #[serde(default = "Budget::of_agent")]
    #[schema(default = Budget::of_agent)]
    pub budget: Budget,
    /// A message, plan or delivery with this chain depth or more does not trigger the agent.
    #[serde(default = "default_chain_depth")]
    #[schema(default = default_chain_depth, maximum = 100)]
    pub max_chain_depth: u32,
    /// The agent's own tools, besides the built-in ones.
    #[serde(default)]
    #[schema(max_items = 100)]
    pub tools: Vec<Tool>,
    /// MCP servers whose tools the agent can call.
    #[serde(default)]
    pub mcp: McpConfig,
    /// Rules for calls that people decide, or that are refused. They hold for all tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 50)]
    pub approvals: Vec<ApprovalRule>,
    /// Services whose signed webhooks may trigger the agent, by name.
    #[serde(default)]
    #[schema(value_type = BTreeMap<ServiceName, Webhook>)]
    pub webhooks: BTreeMap<String, Webhook>,
}

/// The default of `maxChainDepth`, for agents and for spaces.
pub fn default_chain_depth() -> u32 {
    5
}

/// How a service's webhook is signed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Webhook {
    /// The scheme of the service's signatures.
    pub scheme: WebhookScheme,
    /// Names of 1 to 5 secrets. A signature with any of them is valid.
    #[schema(schema_with = secret_names)]
    pub secrets: Vec<String>,
}

fn secret_names() -> Array {
    ArrayBuilder::new().items(SecretName::schema()).min_items(Some(1)).max_items(Some(5)).build()
}

/// A scheme of webhook signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum WebhookScheme {
    /// Standard Webhooks 1.0.
    Standard,
    /// `X-Hub-Signature-256`, as GitHub signs.
    Github,
    /// `Stripe-Signature`, as Stripe signs.
    Stripe,
    /// `X-Slack-Signature`, as Slack signs.
    Slack,
}

impl AgentConfig {
    /// How `service` signs, if it may trigger the agent.
    pub fn webhook(&self, service: &str) -> Option<&Webhook> {
        self.webhooks.get(service)
    }

    /// How many tokens the agent's model can read.
    pub fn context_window(&self) -> u32 {
        self.model.as_ref().map_or(ModelConfig::default_window(), |model| model.context_window)
    }

    /// The names of the agent's model, its fallbacks, and the models with which its tools draw. A
    /// remote agent has none.
    pub fn model_names(&self) -> Vec<String> {
        let drawing = self.tools.iter().filter_map(|tool| tool.execution.image_model());
        let models = self.model.as_ref().map(ModelConfig::all_names).unwrap_or_default();
        models.into_iter().chain(drawing).collect()
    }

    /// Which spaces the agent's prompts list.
    pub fn spaces_shown(&self) -> SpacesShown {
        self.context.spaces.unwrap_or(if self.open {
            SpacesShown::Active
        } else {
            SpacesShown::All
        })
    }

    /// Adds all faults of the configuration.
    pub fn check(&self, faults: &mut Faults) {
        // Requests are limited in size, but many merge patches can add up to any length.
        let bytes = serde_json::to_string(self).map_or(usize::MAX, |text| text.len());
        faults.check(
            bytes <= CONFIG_BYTES,
            "",
            format!("expected at most {CONFIG_BYTES} bytes of JSON in all, got {bytes}"),
        );
        faults.check(self.description.len() <= 4_096, "description", "expected at most 4096 bytes");
        check_instructions(&self.instructions, faults);
        self.check_model(faults);
        faults.within("loop", |faults| {
            faults.check_range(&self.run_loop.max_steps, 1..=200, "maxSteps");
            let limit = self.run_loop.time_limit.length();
            faults.check(limit.as_secs() <= 86_400, "timeLimit", "expected at most 1 day");
        });
        faults.within("context", |faults| {
            faults.check_range(&self.context.window, 2..=limits::WINDOW_MESSAGES, "window");
        });
        faults.within("concurrency", |faults| {
            faults.check_range(&self.concurrency.max_runs, 1..=100, "maxRuns");
        });
        faults.within("budget", |faults| self.budget.check(faults));
        faults.check_range(&self.max_chain_depth, 0..=100, "maxChainDepth");
        check_tools(&self.tools, faults);
        faults.within("mcp", |faults| self.mcp.check(faults));
        check_rules(&self.approvals, faults);
        faults.within("webhooks", |faults| {
            for (service, webhook) in &self.webhooks {
                faults.within(service, |faults| {
                    faults.check_text(ServiceName::check(service), "");
                    webhook.check(faults);
                });
            }
        });
    }
}

impl AgentConfig {
    /// An agent has a model here or works elsewhere. Settings that would have no effect elsewhere
    /// are refused.
    fn check_model(&self, faults: &mut Faults) {
        match (&self.model, &self.runtime) {
            (Some(model), None) => faults.within("model", |faults| model.check(faults)),
            (None, Some(runtime)) => {
                faults.within("runtime", |faults| runtime.check(faults));
                let none = "expected none: a remote agent has its own tools";
                faults.check(self.tools.is_empty(), "tools", none);
                faults.check(self.approvals.is_empty(), "approvals", none);
                faults.within("mcp", |faults| {
                    faults.check(self.mcp.servers.is_empty(), "servers", none);
                });
                let Budget { tokens_per_day, cost_per_day, .. } = self.budget;
                let none = "expected none: nothing here measures what a remote agent uses";
                faults.within("budget", |faults| {
                    faults.check(tokens_per_day.is_none(), "tokensPerDay", none);
                    faults.check(cost_per_day.is_none(), "costPerDay", none);
                });
            }
            (Some(_), Some(_)) => {
                faults.check(false, "runtime", "expected none besides a model; set model to null");
            }
            (None, None) => faults.check(
                false,
                "model",
                "expected a model, or a runtime if the agent works elsewhere",
            ),
        }
    }
}

fn check_instructions(text: &str, faults: &mut Faults) {
    let fits = text.len() <= limits::INSTRUCTIONS_BYTES && !text.contains('\0');
    faults.check(fits, "instructions", "expected at most 32 KiB without NUL");
}

impl Webhook {
    fn check(&self, faults: &mut Faults) {
        faults.check(
            (1..=5).contains(&self.secrets.len()),
            "secrets",
            "expected 1 to 5 names of secrets",
        );
        for (index, secret) in self.secrets.iter().enumerate() {
            faults.within("secrets", |faults| {
                faults.check_text(SecretName::check(secret), &index.to_string());
            });
        }
    }
}
