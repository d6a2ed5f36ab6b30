//! Which files manage an agent, a space or a plan.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Time;

/// Which files manage an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ManagedBy {
    /// The project's name.
    pub project: String,
    /// The path of the file in the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The name of the object in the project. Only the operator sees it, and what follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    /// The commit with which the object was changed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// When the object was changed last by an apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied_at: Option<Time>,
    /// The revision of an agent that the apply made, or found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
}

impl ManagedBy {
    /// Whether it is the file of this name in this project.
    pub fn is(&self, project: &str, external_id: &str) -> bool {
        self.project == project && self.external_id.as_deref() == Some(external_id)
    }

    /// What an owner of a space sees of it.
    #[must_use]
    pub fn for_owners(self) -> Self {
        let Self { project, path, .. } = self;
        Self { project, path, external_id: None, commit: None, applied_at: None, revision: None }
    }
}
