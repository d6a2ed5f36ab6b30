//! Stores an entity with its configuration as JSON text. The table's own maps could not hold every
//! schema and script.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use smartspace_domain::{
    Time,
    agents::AgentConfig,
    entities::{Entity, EntityType},
    ids::{EntityId, SpaceId},
    projects::ManagedBy,
    stored,
};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredEntity {
    id: EntityId,
    #[serde(rename = "type", deserialize_with = "stored::read")]
    kind: EntityType,
    name: String,
    #[serde(default)]
    external_id: Option<String>,
    created_at: Time,
    /// The configuration, as JSON text.
    #[serde(default)]
    agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revision: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    managed_by: Option<ManagedBy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    guest_of: Option<SpaceId>,
}

/// The configuration of an agent with all that is stored, known to this version or not.
#[derive(Deserialize)]
pub(super) struct WholeConfig {
    pub(super) rev: u64,
    #[serde(default)]
    agent: Option<String>,
}

impl WholeConfig {
    /// The text to store when the configuration changes from `before` to `after`.
    pub(super) fn changed(
        self,
        before: Option<&AgentConfig>,
        after: Option<&AgentConfig>,
    ) -> serde_json::Result<Option<String>> {
        let (Some(agent), Some(before), Some(after)) = (self.agent, before, after) else {
            return text(after);
        };
        let after = serde_json::to_value(after)?;
        let merged =
            stored::merge(serde_json::from_str(&agent)?, &serde_json::to_value(before)?, after);
        serde_json::to_string(&merged).map(Some)
    }
}

/// A configuration, as it is stored.
pub(super) fn text(agent: Option<&AgentConfig>) -> serde_json::Result<Option<String>> {
    agent.map(serde_json::to_string).transpose()
}

pub(super) fn serialize<S: Serializer>(entity: &Entity, serializer: S) -> Result<S::Ok, S::Error> {
    let Entity { id, kind, name, external_id, created_at, agent, revision, managed_by, guest_of } =
        entity.clone();
    let agent = text(agent.as_ref()).map_err(ser::Error::custom)?;
    StoredEntity { id, kind, name, external_id, created_at, agent, revision, managed_by, guest_of }
        .serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Entity, D::Error> {
    let StoredEntity {
        id,
        kind,
        name,
        external_id,
        created_at,
        agent,
        revision,
        managed_by,
        guest_of,
    } = StoredEntity::deserialize(deserializer)?;
    let agent = match agent {
        Some(agent) => {
            let document = serde_json::from_str(&agent);
            Some(document.and_then(AgentConfig::read_stored).map_err(de::Error::custom)?)
        }
        None => None,
    };
    Ok(Entity { id, kind, name, external_id, created_at, agent, revision, managed_by, guest_of })
}
