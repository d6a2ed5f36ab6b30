//! The types that say which person or agent something comes from.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{ids::EntityId, stored};

/// Whether an entity is a person or an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum EntityType {
    /// A person.
    Human,
    /// An agent.
    Agent,
}

impl EntityType {
    /// `human` or `agent`, as the API and prompts write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Agent => "agent",
        }
    }
}

/// The sender of a message. It is stored with the message, so it does not change if the entity is
/// renamed or removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Sender {
    /// The entity's id.
    pub id: EntityId,
    /// The entity's name when it sent the message.
    pub name: String,
    /// Whether it is a person or an agent.
    #[serde(rename = "type", deserialize_with = "stored::read")]
    pub kind: EntityType,
    /// True if it is a guest of the space, who has no account. Absent for all others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub guest: bool,
}

impl Sender {
    /// What texts write after the name: ` (guest)`, or nothing for all others.
    pub fn mark(&self) -> &'static str {
        if self.guest { " (guest)" } else { "" }
    }

    /// The name for a text that has nothing else of the sender.
    pub fn marked_name(&self) -> String {
        format!("{}{}", self.name, self.mark())
    }
}
