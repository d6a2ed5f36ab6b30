//! Spaces as they are stored.

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Error, Time,
    ids::{ChainId, LeaseId, LineId, SpaceId},
    messages::Sender,
    projects::ManagedBy,
    spaces::{SpaceSettings, owner_limits::OperatorLimits},
};

use crate::table::{keys, write::Write};

/// A space and its settings, as they are stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpaceRecord {
    pub id: SpaceId,
    pub settings: SpaceSettings,
    /// What the operator has set, which bounds what owners can set.
    #[serde(default, skip_serializing_if = "OperatorLimits::is_none")]
    pub operator_limits: OperatorLimits,
    /// The files that manage it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub managed_by: Option<ManagedBy>,
    /// When it was made.
    pub created_at: Time,
    /// Raised by each change.
    pub rev: u64,
    /// Whether it is deleted. Its other items may still exist.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// When it was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Time>,
    /// The token of the request that deleted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) deleted_by: Option<LeaseId>,
    /// When its last member left, if it has had members and has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emptied_at: Option<Time>,
    /// The pinned messages, in the order in which they were pinned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pins: Vec<PinRecord>,
    /// The last message that the operator has seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looked_seq: Option<u64>,
    /// The chains that were stopped here, the last one last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stopped_chains: Vec<StoppedChain>,
    /// The line of the stop that has paused the space, as long as it is paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<LineAt>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) g2pk: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) g2sk: Option<String>,
}

/// A pinned message, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinRecord {
    /// The `seq` of the message.
    pub seq: u64,
    /// The member that pinned it. `None` for the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Sender>,
    /// When it was pinned.
    pub at: Time,
}

/// A chain that was stopped in a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoppedChain {
    pub chain: ChainId,
    /// Until when the space remembers it.
    pub until: Time,
    /// The line that says so.
    pub line: LineAt,
}

/// The place of a line in its space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineAt {
    /// The number of the last message before it.
    pub after: u64,
    pub id: LineId,
}

impl SpaceRecord {
    /// Whether a chain was stopped here.
    pub fn has_stopped(&self, chain: ChainId, now: Time) -> bool {
        self.stopped_chains.iter().any(|it| it.chain == chain && it.until > now)
    }

    /// Whether a run of this chain must not start: the chain, or all that the space does, was
    /// stopped.
    pub fn stops(&self, chain: ChainId, now: Time) -> bool {
        self.stop.is_some() || self.has_stopped(chain, now)
    }
}

/// The check that a space is not deleted: nothing is written after its partition was cleared.
pub(crate) fn space_exists(space: SpaceId) -> Write {
    Write::check(keys::space_meta(space))
        .when("attribute_exists(PK) AND attribute_not_exists(#deleted)")
}

pub(crate) fn no_such_space() -> Error {
    Error::NotFound("there is no such space".into())
}
