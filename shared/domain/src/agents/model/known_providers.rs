//! Checks a configuration against the providers of the deployment.

use crate::{
    Result,
    agents::{AgentConfig, ModelConfig, Speaks},
    errors::Faults,
    providers::{ProviderApi, ProviderEntry, Providers},
    tools::Execution,
};

impl AgentConfig {
    /// Adds a fault for each provider that does not exist, and for each setting that its API does
    /// not take.
    pub fn check_providers(&self, providers: &Providers, faults: &mut Faults) {
        if let Some(model) = &self.model {
            faults.within("model", |faults| model.check_providers(providers, faults));
        }
        for (index, tool) in self.tools.iter().enumerate() {
            let Execution::Image { provider, .. } = &tool.execution else { continue };
            let check = |faults: &mut Faults| {
                let found = providers.find(provider, faults);
                let draws = found.is_none_or(|entry| entry.api != ProviderApi::Anthropic);
                faults.check(
                    draws,
                    "provider",
                    "expected another provider: this one draws nothing",
                );
            };
            faults.within("tools", |faults| {
                faults.within(index, |faults| faults.within("execution", check));
            });
        }
    }
}

impl ModelConfig {
    /// The same for a model and its fallbacks.
    pub(in crate::agents) fn check_providers(&self, providers: &Providers, faults: &mut Faults) {
        if let Some(entry) = providers.find(&self.provider, faults) {
            self.check_settings(entry, faults);
        }
        for (index, fallback) in self.fallback.iter().enumerate() {
            faults.within("fallback", |faults| {
                faults.within(index, |faults| {
                    providers.find(&fallback.provider, faults);
                });
            });
        }
    }

    fn check_settings(&self, entry: &ProviderEntry, faults: &mut Faults) {
        let own = entry.api.own_fields();
        faults.within("request", |faults| {
            for field in self.request.keys() {
                let text = format!(
                    "expected another field: Smartspace sets {} for this provider itself",
                    own.join(", ")
                );
                faults.check(!own.contains(&field.as_str()), field, text);
            }
        });
        let takes_json = matches!(entry.api, ProviderApi::Openai | ProviderApi::Scripted);
        faults.check(
            self.speaks != Speaks::Json || takes_json,
            "speaks",
            "expected tools: only servers with chat completions are asked for JSON",
        );
    }

    /// Refuses a model whose provider does not exist, at the JSON pointer `/model`.
    ///
    /// # Errors
    /// `invalid`, with all faults.
    pub fn must_have_provider(&self, providers: &Providers) -> Result<()> {
        let mut faults = Faults::default();
        faults.within("model", |faults| self.check_providers(providers, faults));
        faults.done()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::errors::Error;

    fn providers() -> Providers {
        let entries = r#"{"providers": {"groq": {"api": "openai"}, "glm": {"api": "anthropic"}}}"#;
        Providers::read(entries).unwrap()
    }

    /// The pointers of all faults of a configuration with this model and these tools.
    fn faults(model: Value, tools: Value) -> Vec<String> {
        let config: AgentConfig =
            serde_json::from_value(json!({"model": model, "tools": tools})).unwrap();
        let mut faults = Faults::default();
        config.check_providers(&providers(), &mut faults);
        let found = faults.done().err().and_then(|error| error.faults()).unwrap_or_default();
        found.into_iter().map(|fault| fault.pointer).collect()
    }

    #[test]
    fn models_fallbacks_and_pictures_name_a_provider_that_exists() {
        let fallback = json!([{"provider": "glm", "name": "a"}, {"provider": "x", "name": "b"}]);
        let image = |provider: &str| {
            let execution = json!({"type": "image", "provider": provider, "model": "m"});
            json!({"name": "draw", "description": "d", "execution": execution})
        };
        let model = |provider: &str| json!({"provider": provider, "name": "m"});
        assert!(faults(model("groq"), json!([image("groq"), image("bedrock")])).is_empty());
        assert_eq!(faults(model("vllm"), json!([])), ["/model/provider"]);
        let with_fallbacks = json!({"provider": "groq", "name": "m", "fallback": fallback});
        assert_eq!(faults(with_fallbacks, json!([])), ["/model/fallback/1/provider"]);
        assert_eq!(
            faults(model("openai"), json!([image("x"), image("glm")])),
            ["/tools/0/execution/provider", "/tools/1/execution/provider"]
        );
    }

    #[test]
    fn fields_that_smartspace_sets_are_refused_by_api() {
        let with = |provider: &str, field: &str| {
            let request = json!({field: 1, "top_k": 5});
            faults(json!({"provider": provider, "name": "m", "request": request}), json!([]))
        };
        for (provider, refused, taken) in [
            ("openai", "max_tokens", "thinking"),
            ("groq", "reasoning_effort", "top_p"),
            ("groq", "response_format", "chat_template_kwargs"),
            ("glm", "thinking", "reasoning_effort"),
            ("anthropic", "system", "service_tier"),
            ("bedrock", "inferenceConfig", "additionalModelRequestFields"),
        ] {
            let pointer = format!("/model/request/{refused}");
            assert_eq!(with(provider, refused), [pointer], "{provider}");
            assert!(with(provider, taken).is_empty(), "{provider} {taken}");
        }
    }

    #[test]
    fn only_chat_completions_speak_json() {
        let with = |provider: &str| {
            faults(json!({"provider": provider, "name": "m", "speaks": "json"}), json!([]))
        };
        assert!(with("groq").is_empty() && with("openai").is_empty());
        assert_eq!([with("glm"), with("bedrock")].concat(), ["/model/speaks"; 2]);
    }

    #[test]
    fn an_unknown_provider_is_answered_with_those_that_exist() {
        let model: ModelConfig =
            serde_json::from_value(json!({"provider": "vllm", "name": "m"})).unwrap();
        let text = "expected a provider of this deployment \
            (anthropic, bedrock, glm, groq, openai, scripted), got vllm";
        let expected = Error::invalid("/model/provider", text);
        assert_eq!(model.must_have_provider(&providers()), Err(expected));
    }
}
