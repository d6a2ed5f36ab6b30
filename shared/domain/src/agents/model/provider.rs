//! The providers of models.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A provider of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// Plays the script from the configuration. Needs no key.
    Scripted,
    /// OpenAI's chat completions, and servers that are compatible with them.
    Openai,
    /// Anthropic's Messages API.
    Anthropic,
    /// Amazon Bedrock.
    Bedrock,
}

impl Provider {
    /// `provider/model`, the name of its model `name` in steps and prices.
    pub fn full_name(self, name: &str) -> String {
        format!("{}/{name}", self.as_str())
    }

    /// The provider's name in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Scripted => "scripted",
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
            Self::Bedrock => "bedrock",
        }
    }
}
