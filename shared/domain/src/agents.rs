//! How an agent is configured. Accepted and checked whole, also where a part has no effect yet (README: "Not yet").

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    durations::WrittenDuration,
    errors::Faults,
    limits, schemas,
    scripts::Script,
    tools::{McpConfig, Tool, check_tools},
};

/// A configuration, in bytes of JSON: an item of the table holds it whole, beside the rest of its agent.
const CONFIG_BYTES: usize = 256 * 1024;

/// The configuration of an agent: at most 256 KiB of JSON in all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentConfig {
    /// What it is for, in a sentence; a router reads it.
    #[serde(default)]
    #[schema(max_length = 4096, default = "")]
    pub description: String,
    /// Its own instructions, the beginning of every prompt; at most 32 KiB.
    #[serde(default)]
    #[schema(schema_with = schemas::instructions)]
    pub instructions: String,
    /// A paused agent is not woken.
    #[serde(default)]
    #[schema(default = false)]
    pub paused: bool,
    /// Owners of spaces may add it.
    #[serde(default)]
    #[schema(default = false)]
    pub open: bool,
    /// The model that thinks for it.
    pub model: ModelConfig,
    /// Bounds of one run.
    #[serde(rename = "loop", default)]
    #[schema(default = LoopConfig::default)]
    pub run_loop: LoopConfig,
    /// What it reads.
    #[serde(default)]
    #[schema(default = ContextConfig::default)]
    pub context: ContextConfig,
    /// How many runs side by side.
    #[serde(default)]
    #[schema(default = ConcurrencyConfig::default)]
    pub concurrency: ConcurrencyConfig,
    /// What it may spend.
    #[serde(default = "Budget::of_agent")]
    #[schema(default = Budget::of_agent)]
    pub budget: Budget,
    /// Messages of this depth or more do not wake it.
    #[serde(default = "default_chain_depth")]
    #[schema(default = default_chain_depth, maximum = 100)]
    pub max_chain_depth: u32,
    /// Its own tools.
    #[serde(default)]
    #[schema(max_items = 100)]
    pub tools: Vec<Tool>,
    /// MCP servers whose tools it has.
    #[serde(default)]
    pub mcp: McpConfig,
    /// Services that may wake it, by name.
    #[serde(default)]
    #[schema(value_type = BTreeMap<schemas::ServiceName, Webhook>)]
    pub webhooks: BTreeMap<String, Webhook>,
}

/// The depth at which messages wake nobody, where nothing else is said.
pub fn default_chain_depth() -> u32 {
    5
}

/// Who offers a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// Plays a script from the configuration; needs no key.
    Scripted,
    /// Chat completions, and whatever speaks like it.
    Openai,
    /// Anthropic's messages API.
    Anthropic,
    /// Amazon Bedrock.
    Bedrock,
}

impl Provider {
    /// The name in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Scripted => "scripted",
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
            Self::Bedrock => "bedrock",
        }
    }
}

/// Which model, and how it is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModelConfig {
    /// Who offers it.
    pub provider: Provider,
    /// Its name there.
    #[schema(schema_with = schemas::model_name)]
    pub name: String,
    /// 0 to 2; the provider's default where null.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 2)]
    pub temperature: Option<f32>,
    /// Tokens of one answer.
    #[serde(default = "ModelConfig::default_output")]
    #[schema(default = ModelConfig::default_output, minimum = 1, maximum = 1_000_000)]
    pub max_output_tokens: u32,
    /// Tokens that it reads at most.
    #[serde(default = "ModelConfig::default_window")]
    #[schema(default = ModelConfig::default_window, minimum = 1_000, maximum = 10_000_000)]
    pub context_window: u32,
    /// Tried in order once it failed for good.
    #[serde(default)]
    #[schema(max_items = 4)]
    pub fallback: Vec<FallbackModel>,
    /// What a scripted model plays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<Script>,
}

impl ModelConfig {
    /// `provider/model`, as steps and prices name it.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.provider.as_str(), self.name)
    }

    fn default_output() -> u32 {
        4096
    }

    fn default_window() -> u32 {
        200_000
    }

    fn check(&self, faults: &mut Faults) {
        check_model_name(&self.name, faults);
        if let Some(temperature) = self.temperature {
            faults.check_range(&temperature, 0.0..=2.0, "temperature");
        }
        faults.check_range(&self.max_output_tokens, 1..=1_000_000, "maxOutputTokens");
        faults.check_range(&self.context_window, 1_000..=10_000_000, "contextWindow");
        faults.check(self.fallback.len() <= 4, "fallback", "expected at most 4 models");
        for (index, fallback) in self.fallback.iter().enumerate() {
            faults.within("fallback", |faults| faults.within(index, |faults| check_model_name(&fallback.name, faults)));
        }
        let scripted = self.provider == Provider::Scripted;
        faults.check(scripted || self.script.is_none(), "script", "only the provider scripted plays one");
        if let Some(script) = &self.script {
            faults.within("script", |faults| script.check(faults));
        }
    }
}

pub(crate) fn check_model_name(name: &str, faults: &mut Faults) {
    let fine = (1..=200).contains(&name.len()) && !name.contains(char::is_control);
    faults.check(fine, "name", "expected the model's name, 1 to 200 bytes");
}

/// A model that steps in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FallbackModel {
    /// Who offers it.
    pub provider: Provider,
    /// Its name there.
    #[schema(schema_with = schemas::model_name)]
    pub name: String,
}

/// Bounds of one run's loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schema(default)]
pub struct LoopConfig {
    /// Model answers at most.
    #[schema(minimum = 1, maximum = 200)]
    pub max_steps: u32,
    /// When a run goes on after its tools.
    pub continue_on: ContinueOn,
    /// How long a run may take.
    pub time_limit: WrittenDuration,
}

impl Default for LoopConfig {
    fn default() -> Self {
        Self { max_steps: 20, continue_on: ContinueOn::ToolCalls, time_limit: half_an_hour() }
    }
}

fn half_an_hour() -> WrittenDuration {
    // The text is ours and fits its own grammar; the fallback can't be reached and is no panic.
    "30 minutes".parse().unwrap_or_else(|_| unreachable!("\"30 minutes\" is a duration"))
}

/// When a run goes on after its tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum ContinueOn {
    /// After any call.
    #[default]
    ToolCalls,
    /// Only after a call that changed something.
    Writes,
}

/// What an agent reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schema(default)]
pub struct ContextConfig {
    /// Messages of the timeline; up to half as many more, since the window moves in halves.
    #[schema(minimum = 2, maximum = 500)]
    pub window: u32,
    /// In which form.
    pub history: History,
    /// Which spaces are listed; the default is `active` for an open agent, else `all`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spaces: Option<SpacesShown>,
}

impl Default for ContextConfig {
    fn default() -> Self {
        Self { window: 50, history: History::Timeline, spaces: None }
    }
}

/// The form of the history in a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum History {
    /// One structured text.
    Timeline,
    /// Alternating messages.
    Roles,
}

/// Which of its spaces an agent is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SpacesShown {
    /// All of them.
    All,
    /// The active one.
    Active,
}

/// How many runs of an agent go side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schema(default)]
pub struct ConcurrencyConfig {
    /// Active runs at most.
    #[schema(minimum = 1, maximum = 100)]
    pub max_runs: u32,
    /// What a trigger does while a run is active in its space.
    pub mode: ConcurrencyMode,
}

impl Default for ConcurrencyConfig {
    fn default() -> Self {
        Self { max_runs: 5, mode: ConcurrencyMode::Parallel }
    }
}

/// What a trigger does while a run is active in its space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ConcurrencyMode {
    /// Its own run, at once.
    Parallel,
    /// Its own run, afterwards.
    Queue,
    /// It joins the run that is queued.
    Coalesce,
    /// It cancels what is active.
    Latest,
}

/// What may be spent in a day, and how often something may run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Budget {
    /// Tokens a day.
    #[schema(maximum = 1_000_000_000_000_000_i64)]
    pub tokens_per_day: Option<u64>,
    /// Dollars a day.
    #[schema(minimum = 0, maximum = 1_000_000_000)]
    pub cost_per_day: Option<f64>,
    /// Runs a minute.
    #[schema(minimum = 1, maximum = 100_000)]
    pub runs_per_minute: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Self::of_agent()
    }
}

impl Budget {
    /// An agent's, where nothing is said.
    pub fn of_agent() -> Self {
        Self { tokens_per_day: None, cost_per_day: None, runs_per_minute: 60 }
    }

    /// A space's, where nothing is said.
    pub fn of_space() -> Self {
        Self { runs_per_minute: 120, ..Self::of_agent() }
    }

    /// Checks its numbers.
    pub fn check(&self, faults: &mut Faults) {
        faults.check_range(&self.runs_per_minute, 1..=100_000, "runsPerMinute");
        if let Some(tokens) = self.tokens_per_day {
            faults.check_range(&tokens, 0..=1_000_000_000_000_000, "tokensPerDay");
        }
        if let Some(cost) = self.cost_per_day {
            // The table holds no number of any size, or smallness.
            let fine = cost == 0.0 || (1e-9..=1e9).contains(&cost);
            faults.check(fine, "costPerDay", "expected dollars, 0 or 0.000000001 to 1000000000");
        }
    }
}

/// How a service's webhook is signed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Webhook {
    /// Whose signatures.
    pub scheme: WebhookScheme,
    /// Names of secrets, any of which may have signed.
    #[schema(schema_with = schemas::secret_names)]
    pub secrets: Vec<String>,
}

/// Whose way of signing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum WebhookScheme {
    /// Standard Webhooks.
    Standard,
    /// GitHub.
    Github,
    /// Stripe.
    Stripe,
    /// Slack.
    Slack,
}

impl AgentConfig {
    /// How a service that may wake it signs.
    pub fn webhook(&self, service: &str) -> Option<&Webhook> {
        self.webhooks.get(service)
    }

    /// Whether its prompts list all of its spaces.
    pub fn spaces_shown(&self) -> SpacesShown {
        self.context.spaces.unwrap_or(if self.open { SpacesShown::Active } else { SpacesShown::All })
    }

    /// Notes everything that is wrong with it.
    pub fn check(&self, faults: &mut Faults) {
        // Patches may add up to any length.
        let bytes = serde_json::to_string(self).map_or(usize::MAX, |text| text.len());
        faults.check(bytes <= CONFIG_BYTES, "", format!("expected at most {CONFIG_BYTES} bytes of JSON in all, got {bytes}"));
        faults.check(self.description.len() <= 4_096, "description", "expected at most 4096 bytes");
        let instructions = self.instructions.len() <= limits::INSTRUCTIONS_BYTES && !self.instructions.contains('\0');
        faults.check(instructions, "instructions", "expected at most 32 KiB without NUL");
        faults.within("model", |faults| self.model.check(faults));
        faults.within("loop", |faults| {
            faults.check_range(&self.run_loop.max_steps, 1..=200, "maxSteps");
            let limit = self.run_loop.time_limit.length();
            faults.check(limit.as_secs() <= 86_400, "timeLimit", "expected at most 1 day");
        });
        faults.within("context", |faults| faults.check_range(&self.context.window, 2..=500, "window"));
        faults.within("concurrency", |faults| faults.check_range(&self.concurrency.max_runs, 1..=100, "maxRuns"));
        faults.within("budget", |faults| self.budget.check(faults));
        faults.check_range(&self.max_chain_depth, 0..=100, "maxChainDepth");
        check_tools(&self.tools, faults);
        faults.within("mcp", |faults| self.mcp.check(faults));
        faults.within("webhooks", |faults| {
            for (service, webhook) in &self.webhooks {
                faults.within(service, |faults| {
                    faults.check(is_service_name(service), "", "expected a letter or digit and up to 63 of [A-Za-z0-9._-]");
                    faults.check((1..=5).contains(&webhook.secrets.len()), "secrets", "expected 1 to 5 names of secrets");
                    for (index, secret) in webhook.secrets.iter().enumerate() {
                        faults.within("secrets", |faults| faults.check(is_secret_name(secret), &index.to_string(), SECRET_NAME));
                    }
                });
            }
        });
    }
}

/// What is said where a secret's name was expected.
pub const SECRET_NAME: &str = "expected the name of a secret: [A-Z][A-Z0-9_]*, at most 64 characters";

/// `[A-Z][A-Z0-9_]*`, at most 64 characters.
pub fn is_secret_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|first: char| first.is_ascii_uppercase())
        && name.chars().all(|char| char.is_ascii_uppercase() || char.is_ascii_digit() || char == '_')
}

/// Whether this may be the name of a service: a letter or digit, and up to 63 of `[A-Za-z0-9._-]`.
pub fn is_service_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.chars().all(|char| char.is_ascii_alphanumeric() || "._-".contains(char))
}
