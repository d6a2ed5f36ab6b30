//! People and agents: equal members of spaces.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    Time,
    access::Caller,
    agents::AgentConfig,
    errors::{Faults, Result},
    ids::EntityId,
    schemas,
};

/// What an entity is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum EntityType {
    /// A person.
    Human,
    /// An agent.
    Agent,
}

impl EntityType {
    /// `human` or `agent`, as prompts and the API write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Agent => "agent",
        }
    }
}

/// A person or an agent, as the API shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Entity {
    /// Its id.
    pub id: EntityId,
    /// Person or agent.
    #[serde(rename = "type")]
    pub kind: EntityType,
    /// Its name.
    pub name: String,
    /// Its id in the deployment's own user directory.
    #[schema(required)]
    pub external_id: Option<String>,
    /// When it was made.
    pub created_at: Time,
    /// Set for agents only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentConfig>,
}

impl Entity {
    /// As a caller sees it: how an agent is made is its operator's.
    #[must_use]
    pub fn seen_by(self, caller: Caller) -> Self {
        match caller {
            Caller::Operator => self,
            Caller::Entity(_) => Self { agent: None, ..self },
        }
    }
}

/// What can be set of an entity: the body of `POST /v1/entities`, and what a merge patch is applied to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EntitySettings {
    /// Person or agent; can't be changed.
    #[serde(rename = "type")]
    pub kind: EntityType,
    /// 1 to 128 characters.
    #[schema(schema_with = schemas::name)]
    pub name: String,
    /// At most 256 characters, and not like one of our ids.
    #[serde(default)]
    #[schema(schema_with = schemas::external_id)]
    pub external_id: Option<String>,
    /// Required for agents, refused for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentConfig>,
}

impl EntitySettings {
    /// Whether a text begins like an id of ours: no `externalId` does, so that a token's `sub` is either one or the other.
    pub fn is_like_an_id(text: &str) -> bool {
        ["ent_", "spc_", "msg_", "run_", "pln_", "cal_", "str_", "dlv_", "tkt_"].iter().any(|prefix| text.starts_with(prefix))
    }

    /// Everything that is wrong with it, at once.
    pub fn check(&self) -> Result<()> {
        let mut faults = Faults::default();
        check_name(&mut faults, &self.name);
        if let Some(external_id) = &self.external_id {
            let chars = external_id.chars().count();
            faults.check(
                (1..=256).contains(&chars) && !external_id.contains('\0'),
                "externalId",
                "expected 1 to 256 characters without NUL",
            );
            faults.check(!Self::is_like_an_id(external_id), "externalId", "must not begin like an id of ours");
        }
        match (self.kind, &self.agent) {
            (EntityType::Agent, None) => faults.check(false, "agent", "required for an agent"),
            (EntityType::Human, Some(_)) => faults.check(false, "agent", "only agents have this"),
            (EntityType::Human, None) => {}
            (EntityType::Agent, Some(agent)) => faults.within("agent", |faults| agent.check(faults)),
        }
        faults.done()
    }
}

/// Names of entities and spaces: 1 to 128 characters, not only blanks, no NUL.
pub fn check_name(faults: &mut Faults, name: &str) {
    let fine = (1..=128).contains(&name.chars().count()) && !name.trim().is_empty() && !name.contains('\0');
    faults.check(fine, "name", "expected 1 to 128 characters, not only blanks, without NUL");
}
