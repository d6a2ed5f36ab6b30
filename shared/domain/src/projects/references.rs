//! Places in files where an external id may stand for an id.

use serde_json::{Map, Value};

use super::ObjectKind;
use crate::{entities::EntitySettings, errors::Fault};

/// What an id names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Referred {
    /// A person or an agent.
    Entity,
    /// A space.
    Space,
}

impl Referred {
    fn as_str(self) -> &'static str {
        match self {
            Self::Entity => "person or agent",
            Self::Space => "space",
        }
    }
}

/// All fields of files that take an id. `*` stands for each item of a list.
const PLACES: [(ObjectKind, &[&str], Referred); 6] = [
    (ObjectKind::Agent, &["approvals", "*", "by", "*"], Referred::Entity),
    (ObjectKind::Agent, &["tools", "*", "execution", "answerBy", "*"], Referred::Entity),
    (ObjectKind::Agent, &["tools", "*", "targetSpaceId"], Referred::Space),
    (ObjectKind::Space, &["adminAgentId"], Referred::Entity),
    (ObjectKind::Space, &["members", "*", "id"], Referred::Entity),
    (ObjectKind::Plan, &["agent"], Referred::Entity),
];

/// Replaces the external ids of a file by ids. `id_of` gives the id of an external id, or the text
/// that says why there is none. Returns the faults, with their places in the file.
pub fn refer(
    kind: ObjectKind,
    spec: &mut Map<String, Value>,
    id_of: &mut dyn FnMut(Referred, &str, &str) -> Option<String>,
) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (_, place, referred) in PLACES.iter().filter(|(of, ..)| *of == kind) {
        let Some((first, rest)) = place.split_first() else { continue };
        if let Some(value) = spec.get_mut(*first) {
            visit(value, rest, &format!("/{first}"), &mut |pointer, text| {
                if EntitySettings::is_like_an_id(text) {
                    return;
                }
                match id_of(*referred, pointer, text) {
                    Some(id) => *text = id,
                    None => faults.push(Fault::new(
                        pointer,
                        format!("there is no {} {text:?}, here or in a file", referred.as_str()),
                    )),
                }
            });
        }
    }
    faults
}

/// Replaces ids by what `name_of` calls them in files. Others stay.
pub fn name_ids(
    kind: ObjectKind,
    spec: &mut Map<String, Value>,
    name_of: &dyn Fn(&str) -> Option<String>,
) {
    for (_, place, _) in PLACES.iter().filter(|(of, ..)| *of == kind) {
        let Some((first, rest)) = place.split_first() else { continue };
        if let Some(value) = spec.get_mut(*first) {
            visit(value, rest, "", &mut |_, text| {
                if let Some(name) = name_of(text) {
                    *text = name;
                }
            });
        }
    }
}

fn visit(
    value: &mut Value,
    place: &[&str],
    pointer: &str,
    found: &mut dyn FnMut(&str, &mut String),
) {
    match (place.split_first(), value) {
        (None, Value::String(text)) => found(pointer, text),
        (Some((&"*", rest)), Value::Array(items)) => {
            for (index, item) in items.iter_mut().enumerate() {
                visit(item, rest, &format!("{pointer}/{index}"), found);
            }
        }
        (Some((name, rest)), Value::Object(fields)) => {
            if let Some(field) = fields.get_mut(*name) {
                visit(field, rest, &format!("{pointer}/{name}"), found);
            }
        }
        // What has the wrong type is reported when the whole file is read.
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn external_ids_become_ids_and_unknown_ones_are_faults() {
        let Value::Object(mut spec) = json!({
            "name": "Desk",
            "adminAgentId": "ada",
            "members": [{"id": "ada"}, {"id": "ent_01"}, {"id": "nobody", "role": "owner"}, 7],
        }) else {
            unreachable!()
        };
        let faults = refer(ObjectKind::Space, &mut spec, &mut |referred, _, text| {
            assert_eq!(referred, Referred::Entity);
            (text == "ada").then(|| "ent_ADA".to_owned())
        });
        assert_eq!(spec["adminAgentId"], "ent_ADA");
        assert_eq!(spec["members"][0]["id"], "ent_ADA");
        assert_eq!(spec["members"][1]["id"], "ent_01");
        let text = "there is no person or agent \"nobody\", here or in a file";
        assert_eq!(faults, [Fault::new("/members/2/id", text)]);
    }
}
