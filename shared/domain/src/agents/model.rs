//! The models that an agent runs on.

mod known_providers;
mod settings;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

pub use self::settings::{Reasoning, SeenFiles, Speaks, ToolChoice};
use crate::{
    errors::Faults,
    providers::{ProviderApi, ProviderName},
    schemas,
    scripts::Script,
    stored,
};

/// The most that `request` may add to a body, in bytes of JSON.
const REQUEST_BYTES: usize = 4 * 1024;

/// A model and its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModelConfig {
    /// The model's provider.
    pub provider: ProviderName,
    /// The model's name at its provider.
    #[schema(schema_with = schemas::model_name)]
    pub name: String,
    /// 0 to 2. Null is the provider's default; Anthropic and Bedrock get at most 1.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 2)]
    pub temperature: Option<f32>,
    /// The longest answer, in tokens.
    #[serde(default = "ModelConfig::default_output")]
    #[schema(default = ModelConfig::default_output, minimum = 1, maximum = 1_000_000)]
    pub max_output_tokens: u32,
    /// How many tokens the model can read.
    #[serde(default = "ModelConfig::default_window")]
    #[schema(default = ModelConfig::default_window, minimum = 1_000, maximum = 10_000_000)]
    pub context_window: u32,
    /// How much the model thinks. Null leaves that to its provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Reasoning>,
    /// Which files the model takes besides text. Null decides by the model's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 2)]
    pub sees: Option<Vec<SeenFiles>>,
    /// Fields that are added to the body of each request to this model, at most 4 KiB of JSON.
    /// Fields that Smartspace sets itself are refused.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schema(value_type = Object)]
    pub request: Map<String, Value>,
    /// How the model says what it wants to do. The default is `tools`.
    #[serde(default, skip_serializing_if = "stored::is_default")]
    pub speaks: Speaks,
    /// Whether an answer must call a tool. The default is `auto`.
    #[serde(default, skip_serializing_if = "stored::is_default")]
    pub tool_choice: ToolChoice,
    /// Models to try, in this order, after the model has failed.
    #[serde(default)]
    #[schema(max_items = 4)]
    pub fallback: Vec<FallbackModel>,
    /// The script of the provider `scripted`; refused for other providers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<Script>,
}

impl ModelConfig {
    /// `provider/model`, the name in steps and prices.
    pub fn full_name(&self) -> String {
        self.provider.full_name(&self.name)
    }

    /// The names, as [`Self::full_name`] writes them, of the model and its fallbacks.
    pub fn all_names(&self) -> Vec<String> {
        let fallbacks = self.fallback.iter().map(|model| model.provider.full_name(&model.name));
        [self.full_name()].into_iter().chain(fallbacks).collect()
    }

    /// A model with the default settings.
    pub fn named(provider: impl Into<ProviderName>, name: &str) -> Self {
        Self {
            provider: provider.into(),
            name: name.to_owned(),
            temperature: None,
            max_output_tokens: Self::default_output(),
            context_window: Self::default_window(),
            reasoning: None,
            sees: None,
            request: Map::new(),
            speaks: Speaks::default(),
            tool_choice: ToolChoice::default(),
            fallback: Vec::new(),
            script: None,
        }
    }

    fn default_output() -> u32 {
        4096
    }

    pub(super) fn default_window() -> u32 {
        200_000
    }

    pub(super) fn check(&self, faults: &mut Faults) {
        check_model_name(&self.name, faults);
        if let Some(temperature) = self.temperature {
            faults.check_range(&temperature, 0.0..=2.0, "temperature");
        }
        faults.check_range(&self.max_output_tokens, 1..=1_000_000, "maxOutputTokens");
        faults.check_range(&self.context_window, 1_000..=10_000_000, "contextWindow");
        faults.check(
            self.sees.as_ref().is_none_or(|seen| seen.len() <= 2),
            "sees",
            "expected images, pdf or both",
        );
        let bytes = serde_json::to_string(&self.request).map_or(usize::MAX, |text| text.len());
        faults.check(bytes <= REQUEST_BYTES, "request", "expected at most 4 KiB of JSON");
        faults.check(self.fallback.len() <= 4, "fallback", "expected at most 4 models");
        for (index, fallback) in self.fallback.iter().enumerate() {
            faults.within("fallback", |faults| {
                faults.within(index, |faults| check_model_name(&fallback.name, faults));
            });
        }
        let scripted = self.provider.is(ProviderApi::Scripted);
        faults.check(
            scripted || self.script.is_none(),
            "script",
            "expected no script: only the provider scripted plays one",
        );
        if let Some(script) = &self.script {
            faults.within("script", |faults| script.check(faults));
        }
    }
}

pub(crate) fn check_model_name(name: &str, faults: &mut Faults) {
    let fine = (1..=200).contains(&name.len()) && !name.contains(char::is_control);
    faults.check(fine, "name", "expected the model's name, 1 to 200 bytes");
}

/// A model without settings of its own. As a fallback it gets those of the agent's `model`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FallbackModel {
    /// The model's provider.
    pub provider: ProviderName,
    /// The model's name at its provider.
    #[schema(schema_with = schemas::model_name)]
    pub name: String,
}
