//! The caller of a request, and the readers that may see something.

use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    Time,
    ids::{EntityId, SpaceId},
    stored,
};

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
    /// The owners of a space.
    Owners(SpaceId),
    /// Nobody else.
    Operator,
}

impl Caller {
    /// Reads a stored value. A caller that this version does not know is read as an entity that
    /// does not exist, which may do nothing.
    pub fn read_stored<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let nobody = Self::Entity(EntityId::new(Time::default(), 0));
        stored::read_if_known(deserializer).map(|known| known.unwrap_or(nobody))
    }

    /// The calling entity. `None` is the operator.
    pub fn entity(self) -> Option<EntityId> {
        match self {
            Self::Operator => None,
            Self::Entity(entity) => Some(entity),
        }
    }

    /// A name for the caller that no other caller has, to scope idempotency keys.
    pub fn label(self) -> String {
        match self {
            Self::Operator => "operator".to_owned(),
            Self::Entity(entity) => entity.to_string(),
        }
    }
}
