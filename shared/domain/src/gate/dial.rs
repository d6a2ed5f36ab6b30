//! The settings of the gate, and what a score leads to.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Whether the gate decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum GateMode {
    /// It decides under the policy `router`.
    #[default]
    On,
    /// It records what it would decide, under every policy.
    Shadow,
    /// It computes no scores, except for a question that nobody would answer.
    Off,
}

/// How many agents the gate wakes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Dial {
    /// Few: about three answers of four, with the fewest runs.
    Quiet,
    /// About four answers of five.
    #[default]
    Balanced,
    /// Most answers, with more runs.
    Lively,
}

/// The gate of a space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GateSettings {
    /// Whether it decides.
    #[serde(default)]
    #[schema(default = GateMode::default)]
    pub mode: GateMode,
    /// How many agents it wakes.
    #[serde(default)]
    #[schema(default = Dial::default)]
    pub dial: Dial,
}

/// The scores from which an agent is woken, and asked about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// An agent with this score or more is woken.
    pub wake: f64,
    /// The model decides about an agent with this score or more that is not woken. `None` without
    /// a model.
    pub ask: Option<f64>,
}

/// What a score leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Would {
    /// The agent is woken.
    Wake,
    /// The model is asked about the agent.
    Ask,
    /// The agent is not woken.
    Silent,
}

impl Dial {
    /// All dials, from the quietest.
    pub const ALL: [Self; 3] = [Self::Quiet, Self::Balanced, Self::Lively];

    /// The thresholds for a space that has a router model, or has none. They belong to the weights.
    pub fn thresholds(self, has_model: bool) -> Thresholds {
        let (alone, sure) = match self {
            Self::Quiet => (0.15, 0.48),
            Self::Balanced => (0.07, 0.27),
            Self::Lively => (0.04, 0.15),
        };
        if has_model {
            Thresholds { wake: sure, ask: Some(alone) }
        } else {
            Thresholds { wake: alone, ask: None }
        }
    }
}

impl Thresholds {
    /// What `score` leads to.
    pub fn would(self, score: f64) -> Would {
        if score >= self.wake {
            Would::Wake
        } else if self.ask.is_some_and(|ask| score >= ask) {
            Would::Ask
        } else {
            Would::Silent
        }
    }
}
