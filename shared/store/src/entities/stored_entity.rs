//! Stores an entity with its configuration as JSON text. The table's own maps could not hold every
//! schema and script.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use smartspace_domain::{
    Time,
    agents::AgentConfig,
    entities::{Entity, EntityType},
    ids::EntityId,
};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredEntity {
    id: EntityId,
    #[serde(rename = "type")]
    kind: EntityType,
    name: String,
    #[serde(default)]
    external_id: Option<String>,
    created_at: Time,
    #[serde(default)]
    agent: Option<Agent>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Agent {
    Text(String),
    /// The form of older items.
    Map(Box<AgentConfig>),
}

/// A configuration, as it is stored.
pub(super) fn text(agent: Option<&AgentConfig>) -> serde_json::Result<Option<String>> {
    agent.map(serde_json::to_string).transpose()
}

pub(super) fn serialize<S: Serializer>(entity: &Entity, serializer: S) -> Result<S::Ok, S::Error> {
    let Entity { id, kind, name, external_id, created_at, agent } = entity.clone();
    let agent = text(agent.as_ref()).map_err(ser::Error::custom)?.map(Agent::Text);
    StoredEntity { id, kind, name, external_id, created_at, agent }.serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Entity, D::Error> {
    let StoredEntity { id, kind, name, external_id, created_at, agent } =
        StoredEntity::deserialize(deserializer)?;
    let agent = match agent {
        Some(Agent::Text(text)) => Some(serde_json::from_str(&text).map_err(de::Error::custom)?),
        Some(Agent::Map(agent)) => Some(*agent),
        None => None,
    };
    Ok(Entity { id, kind, name, external_id, created_at, agent })
}
