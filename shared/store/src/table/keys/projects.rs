//! The items of projects.

use smartspace_domain::projects::ObjectKind;

use crate::table::keys::Key;

/// The partition of a project.
pub fn project(name: &str) -> String {
    format!("PROJECT#{name}")
}

/// Who applies a project now.
pub fn project_meta(name: &str) -> Key {
    Key::new(project(name), "META")
}

/// The prefix of the objects of a project.
pub const OBJECT: &str = "OBJ#";

/// What was applied last of an object.
pub fn object(project_name: &str, kind: ObjectKind, external_id: &str) -> Key {
    Key::new(project(project_name), format!("{OBJECT}{}#{external_id}", kind.as_str()))
}
