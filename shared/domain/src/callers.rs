//! The caller of a request, and who may know something.

use serde::{Deserialize, Serialize};

use crate::ids::{EntityId, SpaceId};

/// The caller of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Caller {
    /// The holder of the admin key, who may do everything.
    Operator,
    /// A person or an agent, on its own behalf.
    Entity(EntityId),
}

/// The readers who may know something. The operator may always know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownBy {
    /// The members of a space.
    Members(SpaceId),
    /// Nobody else.
    Operator,
}

impl Caller {
    /// A name for the caller that no other caller has, to scope idempotency keys.
    pub fn label(self) -> String {
        match self {
            Self::Operator => "operator".to_owned(),
            Self::Entity(entity) => entity.to_string(),
        }
    }
}
