//! How `model.reasoning` is written for each API and each generation of models.

use serde_json::{Value, json};
use smartspace_domain::agents::{ModelConfig, Reasoning};

/// The fewest tokens that Claude may think.
const FEWEST_TOKENS: u32 = 1_024;

/// The field `reasoning_effort` of a chat completion. `native` means `OpenAI`'s own servers.
pub(crate) fn effort(model: &ModelConfig, native: bool) -> Option<&'static str> {
    let is_named = |prefix: &str| model.name.starts_with(prefix);
    match model.reasoning? {
        Reasoning::Off if !native => Some("none"),
        // Each of OpenAI's generations has its own least effort. Models before them don't think.
        Reasoning::Off if is_named("gpt-5.") => Some("none"),
        Reasoning::Off if is_named("gpt-5") => Some("minimal"),
        Reasoning::Off if ["o1", "o3", "o4"].into_iter().any(is_named) => Some("low"),
        Reasoning::Off => None,
        level => Some(effort_of(level)),
    }
}

/// The forms in which models with Anthropic's API are asked to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thinking {
    /// At most so many tokens, which count as part of the answer.
    Budget(u32),
    /// The model decides, guided by this effort.
    Adaptive(&'static str),
    /// The model can't stop thinking, but this effort keeps it short.
    LeastEffort,
    /// Not at all, for models that think unless they are asked not to.
    Disabled,
}

impl Thinking {
    /// Whether the model is asked to think. It then takes neither a temperature nor a forced call.
    pub(crate) fn is_on(self) -> bool {
        matches!(self, Self::Budget(_) | Self::Adaptive(_))
    }

    /// The field `thinking` of a request.
    pub(crate) fn field(self) -> Option<Value> {
        match self {
            Self::Budget(tokens) => Some(json!({"type": "enabled", "budget_tokens": tokens})),
            Self::Adaptive(_) => Some(json!({"type": "adaptive"})),
            Self::LeastEffort => None,
            Self::Disabled => Some(json!({"type": "disabled"})),
        }
    }

    /// The effort in the field `output_config` of a request.
    pub(crate) fn effort(self) -> Option<&'static str> {
        match self {
            Self::Adaptive(effort) => Some(effort),
            Self::LeastEffort => Some("low"),
            Self::Budget(_) | Self::Disabled => None,
        }
    }
}

/// How a model with Anthropic's API is asked to think. Returns `None` if the request should not
/// mention it. `claude_only` is set where other vendors' models don't know the fields.
pub(crate) fn thinking(model: &ModelConfig, claude_only: bool) -> Option<Thinking> {
    let level = model.reasoning?;
    let Some(claude) = model.name.find("claude").map(|at| &model.name[at..]) else {
        let of_others = match level {
            Reasoning::Off => Some(Thinking::Disabled),
            level => budget(level, model.max_output_tokens),
        };
        return of_others.filter(|_| !claude_only);
    };
    let generation = Generation::of(claude);
    match (generation, level) {
        (Generation::Silent, _) => None,
        (Generation::Budget | Generation::Adaptive, Reasoning::Off) => None,
        (Generation::AlwaysAdaptive, Reasoning::Off) => Some(Thinking::LeastEffort),
        (Generation::Budget, level) => budget(level, model.max_output_tokens),
        (Generation::Adaptive | Generation::AlwaysAdaptive, level) => {
            Some(Thinking::Adaptive(effort_of(level)))
        }
    }
}

/// What Claude's generations know. <https://docs.claude.com/en/docs/build-with-claude>, the pages
/// "Extended thinking" and "Adaptive thinking".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Generation {
    /// Before 3.7: it does not think.
    Silent,
    /// 3.7 to 4.5: it thinks within a budget.
    Budget,
    /// From 4.6 on: it decides itself. 4.7 refuses a budget.
    Adaptive,
    /// From 5 on: it may also think if it is not asked to.
    AlwaysAdaptive,
}

impl Generation {
    /// The generation of a name that begins with `claude`, such as `claude-opus-4-6-20260205`. A
    /// name without a number is newer than this list.
    fn of(name: &str) -> Self {
        let is_first = ["claude-instant", "claude-v"].iter().any(|old| name.starts_with(old));
        // A number of more than two digits is a date.
        let number = |part: &str| part.parse::<u32>().ok().filter(|number| *number < 100);
        let mut parts = name.split(['-', '.', ':', '@']).skip_while(|part| number(part).is_none());
        let major = parts.next().and_then(number);
        let minor = parts.next().and_then(number).unwrap_or_default();
        match major.map(|major| major * 100 + minor) {
            _ if is_first => Self::Silent,
            Some(..307) => Self::Silent,
            Some(307..406) => Self::Budget,
            Some(406..500) => Self::Adaptive,
            Some(500..) | None => Self::AlwaysAdaptive,
        }
    }
}

fn effort_of(level: Reasoning) -> &'static str {
    match level {
        Reasoning::Off | Reasoning::Low => "low",
        Reasoning::Medium => "medium",
        Reasoning::High => "high",
    }
}

/// A part of the longest answer, so that some of it remains for the words. Returns `None` if the
/// answer is too short to think.
fn budget(level: Reasoning, longest: u32) -> Option<Thinking> {
    let tokens = match level {
        Reasoning::Off => return None,
        Reasoning::Low => (longest / 4).min(4_096),
        Reasoning::Medium => (longest / 2).min(16_384),
        Reasoning::High => (longest / 4 * 3).min(32_768),
    };
    Some(tokens.max(FEWEST_TOKENS)).filter(|tokens| *tokens < longest).map(Thinking::Budget)
}

#[cfg(test)]
mod tests {
    use smartspace_domain::providers::ProviderApi;

    use super::*;

    fn model(name: &str, reasoning: Reasoning, max_output_tokens: u32) -> ModelConfig {
        let reasoning = Some(reasoning);
        let model = ModelConfig::named(ProviderApi::Anthropic, name);
        ModelConfig { reasoning, max_output_tokens, ..model }
    }

    #[test]
    fn each_generation_of_claude_thinks_in_its_form() {
        let high = |name: &str| thinking(&model(name, Reasoning::High, 4_096), true);
        for name in ["claude-3-7-sonnet-latest", "claude-sonnet-4-20250514", "claude-opus-4-1"] {
            assert_eq!(high(name), Some(Thinking::Budget(3_072)), "{name}");
        }
        for name in ["eu.anthropic.claude-haiku-4-5-20251001-v1:0", "anthropic/claude-opus-4.5"] {
            assert_eq!(high(name), Some(Thinking::Budget(3_072)), "{name}");
        }
        for name in ["claude-opus-4-6", "us.anthropic.claude-opus-4-7-v1", "claude-sonnet-5"] {
            assert_eq!(high(name), Some(Thinking::Adaptive("high")), "{name}");
        }
        for name in ["claude-3-5-haiku-20241022", "claude-3-opus-latest", "claude-2.1"] {
            assert_eq!(high(name), None, "{name}");
        }
        for name in ["anthropic.claude-v2:1", "claude-instant-1.2", "amazon.nova-pro-v1:0"] {
            assert_eq!(high(name), None, "{name}");
        }
    }

    #[test]
    fn thinking_is_switched_off_where_it_is_on_by_itself() {
        let off =
            |name: &str, claude_only| thinking(&model(name, Reasoning::Off, 4_096), claude_only);
        assert_eq!(off("claude-opus-4-5", true), None);
        assert_eq!(off("claude-opus-4-7", true), None);
        assert_eq!(off("claude-opus-5", true), Some(Thinking::LeastEffort));
        assert_eq!(off("glm-4.6", false), Some(Thinking::Disabled));
        assert_eq!(off("amazon.nova-pro-v1:0", true), None);
    }

    #[test]
    fn a_budget_is_never_as_long_as_the_answer() {
        for longest in [1, 1_024, 1_025, 2_000, 4_096, 8_192, 64_000, 1_000_000] {
            for level in [Reasoning::Low, Reasoning::Medium, Reasoning::High] {
                match thinking(&model("claude-opus-4-5", level, longest), false) {
                    Some(Thinking::Budget(tokens)) => {
                        assert!(tokens >= FEWEST_TOKENS && tokens < longest, "{tokens} {longest}");
                    }
                    other => assert!(other.is_none() && longest <= FEWEST_TOKENS, "{longest}"),
                }
            }
        }
        let budgets = [Reasoning::Low, Reasoning::Medium, Reasoning::High]
            .map(|level| thinking(&model("kimi-k2", level, 4_096), false));
        assert_eq!(budgets, [1_024, 2_048, 3_072].map(|tokens| Some(Thinking::Budget(tokens))));
    }

    #[test]
    fn the_effort_of_a_chat_completion() {
        let of = |name: &str, level, native| effort(&model(name, level, 4_096), native);
        assert_eq!(of("gpt-5-mini", Reasoning::Medium, true), Some("medium"));
        assert_eq!(of("qwen3:8b", Reasoning::High, false), Some("high"));
        assert_eq!(of("qwen3:8b", Reasoning::Off, false), Some("none"));
        assert_eq!(of("gpt-5.1", Reasoning::Off, true), Some("none"));
        assert_eq!(of("gpt-5-mini", Reasoning::Off, true), Some("minimal"));
        assert_eq!(of("o3", Reasoning::Off, true), Some("low"));
        assert_eq!(of("gpt-4o", Reasoning::Off, true), None);
        let unset = ModelConfig { reasoning: None, ..model("o3", Reasoning::Low, 1) };
        assert_eq!((effort(&unset, true), thinking(&unset, false)), (None, None));
    }
}
