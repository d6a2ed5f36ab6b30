//! Spaces as they are stored.

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Error, Time,
    ids::{LeaseId, SpaceId},
    spaces::{SpaceSettings, owner_limits::OperatorLimits},
};

/// A space and its settings, as they are stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpaceRecord {
    pub id: SpaceId,
    pub settings: SpaceSettings,
    /// What the operator has set, which bounds what owners can set.
    #[serde(default, skip_serializing_if = "OperatorLimits::is_none")]
    pub operator_limits: OperatorLimits,
    /// When it was made.
    pub created_at: Time,
    /// Raised by each change.
    pub rev: u64,
    /// Whether it is deleted. Its other items may still exist.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// The token of the request that deleted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) deleted_by: Option<LeaseId>,
    /// When its last member left, if it has had members and has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emptied_at: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) g2pk: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) g2sk: Option<String>,
}

pub(crate) fn no_such_space() -> Error {
    Error::NotFound("there is no such space".into())
}
