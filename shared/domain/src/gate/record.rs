//! The scores of a message, as they are stored with it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    gate::{Because, Dial, GateMode, GateSettings, Score, VERSION, Would},
    ids::EntityId,
};

/// What the gate said about a message. Only owners and the operator read it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Gate {
    /// The version of the weights.
    pub version: u32,
    /// The dial of the space.
    pub dial: Dial,
    /// Whether the gate decided.
    pub mode: GateMode,
    /// The score of each agent that could be woken and that the message does not address.
    pub scores: Vec<GateScore>,
}

/// The score of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GateScore {
    /// The agent.
    pub agent_id: EntityId,
    /// How likely it is that the agent would answer, from 0 to 1.
    pub score: f64,
    /// What the score leads to.
    pub would: Would,
    /// What moved the score most, at most two.
    pub because: Vec<Because>,
}

impl Gate {
    /// The record of `scores` in a space that has a router model, or has none.
    pub fn new(settings: GateSettings, has_model: bool, scores: &[Score]) -> Self {
        let thresholds = settings.dial.thresholds(has_model);
        let scored = |score: &Score| GateScore {
            agent_id: score.agent_id,
            score: score.score,
            would: thresholds.would(score.score),
            because: score.because.clone(),
        };
        Self {
            version: VERSION,
            dial: settings.dial,
            mode: settings.mode,
            scores: scores.iter().map(scored).collect(),
        }
    }
}
