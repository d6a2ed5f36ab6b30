//! The names of providers, and the APIs that they speak.

use serde::{Deserialize, Serialize};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, schema::Schema},
};

use crate::{InvalidText, checked_text::checked_text, schemas};

/// What a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProviderApi {
    /// `OpenAI`'s chat completions.
    Openai,
    /// Anthropic's Messages API.
    Anthropic,
    /// Amazon Bedrock.
    Bedrock,
    /// Plays the script from the configuration. Needs no key.
    Scripted,
}

impl ProviderApi {
    /// The name in the API. The provider of this name exists without an entry.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
            Self::Bedrock => "bedrock",
            Self::Scripted => "scripted",
        }
    }
}

impl ProviderApi {
    /// The fields of a request's body that Smartspace sets itself, or whose answers it can't read.
    /// A configuration may not add them.
    pub fn own_fields(self) -> &'static [&'static str] {
        match self {
            Self::Openai => &[
                "max_completion_tokens",
                "max_tokens",
                "messages",
                "model",
                "n",
                "prompt_cache_key",
                "reasoning_effort",
                "response_format",
                "stream",
                "stream_options",
                "temperature",
                "tool_choice",
                "tools",
            ],
            Self::Anthropic => &[
                "max_tokens",
                "messages",
                "model",
                "output_config",
                "stream",
                "system",
                "temperature",
                "thinking",
                "tool_choice",
                "tools",
            ],
            Self::Bedrock => &["inferenceConfig", "messages", "modelId", "system", "toolConfig"],
            Self::Scripted => &[],
        }
    }
}

checked_text! {
    /// The name of a provider of models: `[a-z][a-z0-9-]*`, at most 32 characters. `openai`,
    /// `anthropic`, `bedrock` and `scripted` exist everywhere; a deployment may have more.
    ProviderName
}

impl ProviderName {
    /// Checks that a text is the name of a provider.
    pub fn check(text: &str) -> Result<(), InvalidText> {
        let is_name = text.len() <= 32
            && text.starts_with(|first: char| first.is_ascii_lowercase())
            && text
                .chars()
                .all(|char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '-');
        let expected = "expected the name of a provider: [a-z][a-z0-9-]*, at most 32 characters";
        if is_name { Ok(()) } else { Err(InvalidText::new(expected)) }
    }

    /// `provider/model`, the name of its model `name` in steps and prices.
    pub fn full_name(&self, name: &str) -> String {
        format!("{self}/{name}")
    }

    /// Whether this is the provider that exists without an entry and speaks `api`.
    pub fn is(&self, api: ProviderApi) -> bool {
        self.as_str() == api.as_str()
    }
}

impl From<ProviderApi> for ProviderName {
    fn from(api: ProviderApi) -> Self {
        Self(api.as_str().to_owned())
    }
}

impl PartialSchema for ProviderName {
    fn schema() -> RefOr<Schema> {
        let description = "The name of a provider of models. `openai`, `anthropic`, `bedrock` and \
            `scripted` exist in every deployment.";
        schemas::text(description).pattern(Some("^[a-z][a-z0-9-]{0,31}$")).into()
    }
}

impl ToSchema for ProviderName {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_has_a_name_in_small_letters() {
        let most = "a".repeat(32);
        for name in ["openai", "groq-2", "x", "a-", &most] {
            assert_eq!(ProviderName::check(name), Ok(()), "{name:?}");
        }
        for text in ["", "Groq", "2x", "-a", "a_b", "a/b", "ä", &format!("{most}a")] {
            assert!(ProviderName::check(text).is_err(), "{text:?}");
        }
        assert_eq!(ProviderName::from(ProviderApi::Bedrock).full_name("m"), "bedrock/m");
    }
}
