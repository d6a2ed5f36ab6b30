//! Revisions of an agent: what its configuration was after each change, what that change was, and
//! who made it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::AgentConfig;
use crate::{Time, callers::Caller, ids::EntityId, texts};

/// How many revisions of an agent are kept.
pub const REVISIONS: u64 = 50;
/// How many characters of a value a change shows.
const SHOWN_CHARS: usize = 200;

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

/// A field that a change has set. Texts, and lists as JSON, are cut to 200 characters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FieldChange {
    /// Where the field is: `/name`, or its place in the configuration such as `/model/name`.
    pub pointer: String,
    /// The value before the change. Absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Value>,
    /// The value after the change. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Value>,
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
        let mut changes = Vec::new();
        compare(&before.fields(), &self.fields(), "", &mut changes);
        changes
    }

    /// The name and the configuration as one document, as a file has them.
    fn fields(&self) -> Map<String, Value> {
        let mut fields = Map::from_iter([("name".to_owned(), self.name.clone().into())]);
        if let Ok(Value::Object(config)) = serde_json::to_value(&self.agent) {
            fields.extend(config);
        }
        fields
    }
}

fn compare(
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    place: &str,
    changes: &mut Vec<FieldChange>,
) {
    let added = after.keys().filter(|name| !before.contains_key(*name));
    for name in before.keys().chain(added) {
        let pointer = format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"));
        match (before.get(name), after.get(name)) {
            (Some(Value::Object(before)), Some(Value::Object(after))) => {
                compare(before, after, &pointer, changes);
            }
            (from, to) if from == to => {}
            (from, to) => {
                changes.push(FieldChange { pointer, from: from.map(shown), to: to.map(shown) });
            }
        }
    }
}

/// A value, as a change shows it.
fn shown(value: &Value) -> Value {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => value.to_string(),
        _ => return value.clone(),
    };
    match texts::excerpt(&text, SHOWN_CHARS) {
        (_, 0) => value.clone(),
        (start, _) => Value::String(format!("{start}…")),
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

    #[test]
    fn lists_count_whole_and_values_that_came_or_went_have_one_side() {
        let mut changes = Vec::new();
        let before = json!({"a/b": [1, 2], "gone": true, "kept": {"x": 1}});
        let after = json!({"a/b": [1], "kept": {"x": 1, "new": null}});
        let of = |value: &Value| value.as_object().unwrap().clone();
        compare(&of(&before), &of(&after), "", &mut changes);
        assert_eq!(
            serde_json::to_value(changes).unwrap(),
            json!([
                {"pointer": "/a~1b", "from": [1, 2], "to": [1]},
                {"pointer": "/gone", "from": true},
                {"pointer": "/kept/new", "to": null},
            ])
        );
    }
}
