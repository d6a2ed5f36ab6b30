//! The end of a chain: a message of an agent that wakes nobody since agents have talked enough.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::stored::tolerant;

/// That a message of an agent would have triggered others but for a limit, and triggers nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChainEnded {
    /// The limit.
    pub by: ChainLimit,
    /// Its number: how many answers in a row it allows.
    pub limit: u32,
}

/// A limit of what agents may say to each other. If both hold, the first one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", remote = "Self")]
pub enum ChainLimit {
    /// `maxChainDepth` of the space or of the agents.
    Depth,
    /// `maxAutoReplies` of the space.
    AutoReplies,
}

tolerant!(ChainLimit);

impl ChainEnded {
    /// The end by either of two limits for two agents: the higher number of the first limit.
    pub(super) fn or(self, other: Option<Self>) -> Self {
        match other {
            Some(other) if other.by < self.by => other,
            Some(other) if other.by == self.by => {
                Self { limit: self.limit.max(other.limit), ..self }
            }
            _ => self,
        }
    }
}
