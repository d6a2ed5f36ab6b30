//! What an apply has done, or would do.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::ObjectKind;
use crate::{
    Time,
    agents::revisions::Actor,
    field_changes::{FieldChange, shown},
};

/// The answer to an apply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ApplyAnswer {
    /// Whether all objects are now as the files say.
    pub applied: Applied,
    /// How many objects there are of each action.
    pub summary: ApplySummary,
    /// What became of each object: those of the files in their order, then pruned ones.
    pub results: Vec<ObjectResult>,
}

/// How much of an apply took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Applied {
    /// All of it.
    All,
    /// A part. The next apply writes the rest.
    Partly,
    /// Nothing: a dry run, or every object failed.
    None,
}

/// How many objects of an apply have each action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ApplySummary {
    /// New objects.
    pub created: u32,
    /// Objects that changed.
    pub changed: u32,
    /// Objects that are as the files say.
    pub unchanged: u32,
    /// Agents and plans that ended, and spaces that were released.
    pub pruned: u32,
    /// Objects that could not be written.
    pub failed: u32,
}

/// What became of an object, or would in a dry run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectResult {
    /// What the object is.
    pub kind: ObjectKind,
    /// Its name in files.
    pub external_id: String,
    /// Its id. Absent if it does not exist yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What was done to it.
    pub action: ObjectAction,
    /// The newest revision of an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// The fields that changed. Empty for a new object.
    pub changes: Vec<FieldChange>,
    /// Managed fields that were changed by hand.
    pub drift: Vec<Drift>,
    /// What is worth a look although nothing is wrong.
    pub warnings: Vec<String>,
    /// Why the object was not written, or would need `force`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What an apply does to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ObjectAction {
    /// Creates it.
    Created,
    /// Changes it.
    Changed,
    /// Leaves it as it is.
    Unchanged,
    /// Ends an agent or a plan that no file names any more.
    Pruned,
    /// Leaves a space that no file names any more to people.
    Released,
    /// Could not write it.
    Failed,
}

/// A managed field that was changed by hand. Texts, and lists as JSON, are cut to 200 characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Drift {
    /// Where the field is in the file.
    pub pointer: String,
    /// The value that was applied last. Absent if none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<Value>,
    /// The value that it has now. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<Value>,
    /// The value that the file says. Absent if the file names none: the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Value>,
    /// The revision of an agent that changed it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// When that revision was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Time>,
    /// Who made that revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Actor>,
}

impl Drift {
    /// A field with these values, where null stands for none.
    pub fn new(pointer: String, applied: &Value, now: &Value, file: &Value) -> Self {
        let shown = |value: &Value| (!value.is_null()).then(|| shown(value));
        let (applied, now, file) = (shown(applied), shown(now), shown(file));
        Self { pointer, applied, now, file, revision: None, at: None, by: None }
    }
}

impl ObjectResult {
    /// Whether it is written with `force` only.
    pub fn needs_force(&self) -> bool {
        self.error.is_some() || !self.drift.is_empty()
    }
}

impl ApplySummary {
    /// Counts the actions of `results`.
    pub fn of(results: &[ObjectResult]) -> Self {
        let mut summary = Self::default();
        for result in results {
            *match result.action {
                ObjectAction::Created => &mut summary.created,
                ObjectAction::Changed => &mut summary.changed,
                ObjectAction::Unchanged => &mut summary.unchanged,
                ObjectAction::Pruned | ObjectAction::Released => &mut summary.pruned,
                ObjectAction::Failed => &mut summary.failed,
            } += 1;
        }
        summary
    }
}
