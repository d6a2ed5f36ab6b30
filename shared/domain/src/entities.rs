//! Entities: people and agents. Both are members of spaces in the same way.

use serde::{Deserialize, Serialize};
use utoipa::{PartialSchema, ToSchema};

pub use crate::identity::EntityType;
use crate::{
    Time,
    agents::AgentConfig,
    callers::Caller,
    errors::{Faults, Result},
    ids::{EntityId, SpaceId},
    managed_by::ManagedBy,
    names::Name,
    schemas,
};

/// A person or an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Entity {
    /// The entity's id.
    pub id: EntityId,
    /// Whether it is a person or an agent.
    #[serde(rename = "type")]
    pub kind: EntityType,
    /// The entity's name. An agent's name is unique among the agents of a space, as mentions
    /// compare names.
    pub name: String,
    /// The entity's id in the deployment's own user directory. Unique.
    #[schema(required)]
    pub external_id: Option<String>,
    /// When the entity was created.
    pub created_at: Time,
    /// The agent's configuration. Only the operator sees it, and people have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentConfig>,
    /// The newest revision of the agent. Only the operator sees it, and people have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// The files that manage the agent. Only the operator sees it. Absent if none do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub managed_by: Option<ManagedBy>,
    /// The space of a guest, who came by an invite and may be nowhere else. Absent for all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guest_of: Option<SpaceId>,
}

impl Entity {
    /// The entity as `caller` sees it. Only the operator sees an agent's configuration.
    #[must_use]
    pub fn seen_by(self, caller: Caller) -> Self {
        match caller {
            Caller::Operator => self,
            Caller::Entity(_) => Self { agent: None, revision: None, managed_by: None, ..self },
        }
    }
}

/// The settings of an entity: the body of `POST /v1/entities`, and the document that a merge patch
/// changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EntitySettings {
    /// Whether it is a person or an agent. Cannot be changed.
    #[serde(rename = "type")]
    pub kind: EntityType,
    /// 1 to 128 characters, not only blanks, without control characters and invisible ones.
    #[schema(schema_with = Name::schema)]
    pub name: String,
    /// 1 to 256 characters without NUL. May not start with an id prefix such as `ent_`.
    #[serde(default)]
    #[schema(schema_with = schemas::external_id)]
    pub external_id: Option<String>,
    /// The agent's configuration. Required for agents, refused for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentConfig>,
}

impl EntitySettings {
    /// Whether a text starts like an id of Smartspace. No `externalId` does, so a token's `sub` is
    /// never ambiguous.
    pub fn is_like_an_id(text: &str) -> bool {
        ["ent_", "spc_", "msg_", "run_", "pln_", "cal_", "str_", "dlv_", "tkt_", "inv_", "evl_"]
            .iter()
            .any(|prefix| text.starts_with(prefix))
    }

    /// Checks the settings and reports all faults at once.
    pub fn check(&self) -> Result<()> {
        let mut faults = Faults::default();
        faults.check_text(Name::check(&self.name), "name");
        if let Some(external_id) = &self.external_id {
            let chars = external_id.chars().count();
            faults.check(
                (1..=256).contains(&chars) && !external_id.contains('\0'),
                "externalId",
                "expected 1 to 256 characters without NUL",
            );
            faults.check(
                !Self::is_like_an_id(external_id),
                "externalId",
                "expected a text without an id prefix such as ent_",
            );
        }
        match (self.kind, &self.agent) {
            (EntityType::Agent, None) => faults.check(false, "agent", "required for an agent"),
            (EntityType::Human, Some(_)) => {
                faults.check(false, "agent", "expected none for a person");
            }
            (EntityType::Human, None) => {}
            (EntityType::Agent, Some(agent)) => {
                faults.within("agent", |faults| agent.check(faults));
            }
        }
        faults.done()
    }
}

/// The schema of the body of `POST /v1/entities`: a person or an agent.
#[derive(Debug, ToSchema)]
#[serde(
    tag = "type",
    rename_all = "lowercase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum NewEntity {
    /// A person.
    #[schema(rename_all = "camelCase")]
    Human {
        /// The entity's name.
        #[schema(schema_with = Name::schema)]
        name: String,
        /// The entity's id in the deployment's own user directory.
        #[schema(schema_with = schemas::external_id, required = false)]
        external_id: Option<String>,
    },
    /// An agent.
    #[schema(rename_all = "camelCase")]
    Agent {
        /// The entity's name.
        #[schema(schema_with = Name::schema)]
        name: String,
        /// The entity's id in the deployment's own user directory.
        #[schema(schema_with = schemas::external_id, required = false)]
        external_id: Option<String>,
        /// The agent's configuration.
        agent: Box<AgentConfig>,
    },
}
