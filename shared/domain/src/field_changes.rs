//! Which fields of two documents differ.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::texts;

/// How many characters of a value a change shows.
const SHOWN_CHARS: usize = 200;

/// A field that a change has set. Texts, and lists as JSON, are cut to 200 characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
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

/// The fields of `after` that differ from those of `before`, by pointer. Lists count whole.
pub fn compare(before: &Map<String, Value>, after: &Map<String, Value>) -> Vec<FieldChange> {
    let mut changes = Vec::new();
    compare_within(before, after, "", &mut changes);
    changes
}

/// The pointer of the field `name` in the object at `place`.
pub(crate) fn pointer_to(place: &str, name: &str) -> String {
    format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"))
}

fn compare_within(
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    place: &str,
    changes: &mut Vec<FieldChange>,
) {
    let added = after.keys().filter(|name| !before.contains_key(*name));
    for name in before.keys().chain(added) {
        let pointer = pointer_to(place, name);
        match (before.get(name), after.get(name)) {
            (Some(Value::Object(before)), Some(Value::Object(after))) => {
                compare_within(before, after, &pointer, changes);
            }
            (from, to) if from == to => {}
            (from, to) => {
                changes.push(FieldChange { pointer, from: from.map(shown), to: to.map(shown) });
            }
        }
    }
}

/// A value, as a change shows it.
pub(crate) fn shown(value: &Value) -> Value {
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

    #[test]
    fn lists_count_whole_and_values_that_came_or_went_have_one_side() {
        let before = json!({"a/b": [1, 2], "gone": true, "kept": {"x": 1}});
        let after = json!({"a/b": [1], "kept": {"x": 1, "new": null}});
        let of = |value: &Value| value.as_object().unwrap().clone();
        assert_eq!(
            serde_json::to_value(compare(&of(&before), &of(&after))).unwrap(),
            json!([
                {"pointer": "/a~1b", "from": [1, 2], "to": [1]},
                {"pointer": "/gone", "from": true},
                {"pointer": "/kept/new", "to": null},
            ])
        );
    }
}
