//! What a fork of a run does differently.

use serde::{Deserialize, Serialize};

use crate::{
    Result,
    agents::{AgentConfig, ModelConfig, check_instructions},
    errors::Faults,
};

/// What a fork does differently from the run that it replays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ForkChanges {
    /// Another model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelConfig>,
    /// Other instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
}

impl ForkChanges {
    /// Whether nothing differs.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Checks the changes and reports all faults at once.
    pub fn check(&self) -> Result<()> {
        let mut faults = Faults::default();
        if let Some(instructions) = &self.instructions {
            check_instructions(instructions, &mut faults);
        }
        if let Some(model) = &self.model {
            faults.within("model", |faults| model.check(faults));
        }
        faults.done()
    }

    /// Makes the changes.
    pub fn apply(&self, config: &mut AgentConfig) {
        if let Some(model) = &self.model {
            config.model = Some(model.clone());
        }
        if let Some(instructions) = &self.instructions {
            config.instructions.clone_from(instructions);
        }
    }
}
