//! Revisions of an agent: what its configuration was after each change, what that change was, and
//! who made it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::AgentConfig;
use crate::{
    Time,
    callers::Caller,
    field_changes::{FieldChange, compare},
    ids::EntityId,
};

/// How many revisions of an agent are kept.
pub const REVISIONS: u64 = 50;

/// A revision of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Revision {
    /// Its number: 1 when the agent was created, and one more after each change.
    pub revision: u64,
    /// When the change was made.
    pub at: Time,
    /// Who made it.
    pub by: Actor,
    /// What made it.
    pub source: RevisionSource,
    /// The fields that it changed, by pointer. Empty for the first revision.
    pub changes: Vec<FieldChange>,
}

/// Who made a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Actor {
    /// The holder of the admin key.
    AdminKey,
    /// A person or an agent, with a token of its own.
    Entity {
        /// The entity's id.
        id: EntityId,
    },
    /// Somebody of a kind that this version does not know.
    #[serde(other)]
    Unknown,
}

impl From<Caller> for Actor {
    fn from(caller: Caller) -> Self {
        match caller {
            Caller::Operator => Self::AdminKey,
            Caller::Entity(id) => Self::Entity { id },
        }
    }
}

/// What made a revision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum RevisionSource {
    /// A call that created or changed the agent.
    Api,
    /// Files that were applied.
    Apply {
        /// The project.
        project: String,
        /// The path of the file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// The commit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
    },
    /// A call that restored an earlier revision.
    #[schema(rename_all = "camelCase")]
    Restore {
        /// The revision that it restored.
        restored_from: u64,
    },
    /// Something that this version does not know.
    #[serde(other)]
    Unknown,
}

/// The part of an agent that has revisions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RevisedAgent {
    /// The agent's name.
    pub name: String,
    /// The agent's configuration.
    pub agent: AgentConfig,
}

impl RevisedAgent {
    /// The fields that differ from `before`, by pointer.
    pub fn changes_since(&self, before: &Self) -> Vec<FieldChange> {
        compare(&before.fields(), &self.fields())
    }

    /// The name and the configuration as one document, as a file has them.
    pub fn fields(&self) -> Map<String, Value> {
        let mut fields = Map::from_iter([("name".to_owned(), self.name.clone().into())]);
        if let Ok(Value::Object(config)) = serde_json::to_value(&self.agent) {
            fields.extend(config);
        }
        fields
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn agent(name: &str, config: Value) -> RevisedAgent {
        RevisedAgent { name: name.into(), agent: serde_json::from_value(config).unwrap() }
    }

    #[test]
    fn a_change_names_each_field_that_differs() {
        let before = agent("Ada", json!({"model": {"provider": "anthropic", "name": "a"}}));
        let after = json!({
            "model": {"provider": "anthropic", "name": "b"},
            "instructions": "Pay.".repeat(100),
        });
        let changes = agent("Ada L.", after).changes_since(&before);
        assert_eq!(
            serde_json::to_value(changes).unwrap(),
            json!([
                {"pointer": "/name", "from": "Ada", "to": "Ada L."},
                {"pointer": "/instructions", "from": "", "to": format!("{}…", "Pay.".repeat(50))},
                {"pointer": "/model/name", "from": "a", "to": "b"},
            ])
        );
        assert_eq!(before.changes_since(&before), []);
    }
}
