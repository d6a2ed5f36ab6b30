//! Projects: agents, spaces and plans that files manage.
//!
//! A file manages the fields that it names, and a field is named by its JSON pointer. Lists count
//! whole. Of each object the table keeps what was applied last, so that a later apply can tell a
//! change by hand from a change of the file.

mod answer;
mod check;
mod merge;
mod references;
mod request;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, schema::Schema},
};

pub use self::{
    answer::{Applied, ApplyAnswer, ApplySummary, Drift, ObjectAction, ObjectResult},
    check::{MemberSpec, PlanSpec, Spec},
    merge::{AppliedFields, drift_of, leaves, merged},
    references::{Referred, name_ids, refer},
};
pub use crate::managed_by::ManagedBy;
use crate::{InvalidText, checked_text::checked_text, names::is_plain, schemas};

/// How many objects an apply may have.
pub const OBJECTS: usize = 300;
/// How long the body of an apply may be, in bytes.
pub const APPLY_BYTES: usize = 4 * 1024 * 1024;

checked_text! {
    /// The name of a project: a letter or digit, followed by up to 127 of `[A-Za-z0-9._-]`.
    ProjectName
}

impl ProjectName {
    /// Checks that a text is the name of a project.
    pub fn check(text: &str) -> Result<(), InvalidText> {
        let expected = "expected a letter or digit and up to 127 of [A-Za-z0-9._-]";
        if is_plain(text, 128) { Ok(()) } else { Err(InvalidText::new(expected)) }
    }
}

impl PartialSchema for ProjectName {
    fn schema() -> RefOr<Schema> {
        schemas::with_pattern("^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")
    }
}

impl ToSchema for ProjectName {}

/// A kind of objects that files manage.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum ObjectKind {
    /// An agent: its name and its configuration.
    Agent,
    /// A space: its settings and members.
    Space,
    /// A plan of an agent.
    Plan,
}

impl ObjectKind {
    /// The kind, as a key and a text have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Space => "space",
            Self::Plan => "plan",
        }
    }
}

/// What files say of the objects of a project: the body of `POST /v1/apply`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Apply {
    /// The project's name.
    pub project: ProjectName,
    /// Where the files come from.
    #[serde(default)]
    #[schema(required = false)]
    pub source: ApplySource,
    /// Whether changes by hand and other projects' objects are overwritten.
    #[serde(default)]
    #[schema(default = false)]
    pub force: bool,
    /// Whether agents and plans of the project that no file names end. Spaces are released only.
    #[serde(default)]
    #[schema(default = false)]
    pub prune: bool,
    /// The objects, at most 300.
    #[schema(max_items = 300)]
    pub objects: Vec<ManagedObject>,
}

/// Where files come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApplySource {
    /// The commit, at most 128 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 128, pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$")]
    pub commit: Option<String>,
    /// Where the commit can be seen, at most 2,048 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 2048, pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$")]
    pub url: Option<String>,
}

/// What a file says of an object.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ManagedObject {
    /// What the object is.
    pub kind: ObjectKind,
    /// The name of the object in files, 1 to 256 characters without NUL. It may not start with an
    /// id prefix such as `ent_`. Compared after Unicode's normal form C.
    #[schema(min_length = 1, max_length = 256, pattern = "^[^\\u0000]*$")]
    pub external_id: String,
    /// The id of an object that exists and that no project has managed so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The path of the file, at most 512 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 512, pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$")]
    pub path: Option<String>,
    /// What the file says. An agent's is `name` and the fields of its configuration, a space's its
    /// settings and `members` (a list of `id` and `role`), a plan's `agent`, `name`,
    /// `instruction`, `cron`, `timezone` and `status`. Where a field takes the id of an entity or
    /// a space, an external id may stand instead.
    #[schema(value_type = std::collections::BTreeMap<String, Value>)]
    pub spec: Map<String, Value>,
}
