//! What is named by a file, and what differs from what was applied last.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Drift;
use crate::field_changes::pointer_to;

/// The fields that were applied last, with the values that the object had after that. Null stands
/// for no value.
pub type AppliedFields = BTreeMap<String, Value>;

/// The pointers of the fields that a file names.
pub fn leaves(spec: &Map<String, Value>) -> Vec<String> {
    let mut found = Vec::new();
    collect(spec, "", &mut found);
    found
}

fn collect(fields: &Map<String, Value>, place: &str, found: &mut Vec<String>) {
    for (name, value) in fields {
        let pointer = pointer_to(place, name);
        match value {
            Value::Object(inner) if !inner.is_empty() => collect(inner, &pointer, found),
            _ => found.push(pointer),
        }
    }
}

/// A file as a merge patch that also resets the fields in `dropped`, unless the file says what
/// becomes of them.
pub fn merged(spec: Map<String, Value>, dropped: &[String]) -> Map<String, Value> {
    let named = leaves(&spec);
    let is_within = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let mut patch = Value::Object(spec);
    for pointer in dropped {
        if !named.iter().any(|named| is_within(named, pointer) || is_within(pointer, named)) {
            reset(&mut patch, pointer);
        }
    }
    match patch {
        Value::Object(patch) => patch,
        _ => Map::new(),
    }
}

fn reset(patch: &mut Value, pointer: &str) {
    let Some(rest) = pointer.strip_prefix('/') else {
        *patch = Value::Null;
        return;
    };
    let (name, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let name = name.replace("~1", "/").replace("~0", "~");
    if let Value::Object(fields) = patch {
        reset(fields.entry(name).or_insert_with(|| Value::Object(Map::new())), rest);
    }
}

/// The managed fields that somebody else has changed: those that are neither as they were applied
/// last nor as they shall be.
pub fn drift_of(
    applied: &AppliedFields,
    now: impl Fn(&str) -> Value,
    wanted: impl Fn(&str) -> Value,
) -> Vec<Drift> {
    let differs = |(pointer, applied): (&String, &Value)| {
        let (now, wanted) = (now(pointer), wanted(pointer));
        let is_drift = now != *applied && now != wanted;
        is_drift.then(|| Drift::new(pointer.clone(), applied, &now, &wanted))
    };
    applied.iter().filter_map(differs).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }

    #[test]
    fn a_file_names_leaves_and_whole_lists() {
        let spec = map(json!({"a": {"b": 1, "c/d": [1, {"x": 2}]}, "e": {}, "f": null}));
        assert_eq!(leaves(&spec), ["/a/b", "/a/c~1d", "/e", "/f"]);
    }

    #[test]
    fn a_field_that_left_the_file_is_reset_unless_the_file_says_otherwise() {
        let dropped = ["/model/name", "/headers", "/x/y~1z", "/model/params/top"];
        let dropped = dropped.map(str::to_owned);
        let spec = json!({"model": {"provider": "a", "params": null}, "headers": {"k": "v"}});
        assert_eq!(
            Value::Object(merged(map(spec), &dropped)),
            json!({
                "model": {"provider": "a", "params": null, "name": null},
                "headers": {"k": "v"},
                "x": {"y/z": null},
            })
        );
    }

    #[test]
    fn drift_is_what_is_neither_applied_nor_wanted() {
        let applied = AppliedFields::from_iter(
            [("/a", json!(1)), ("/b", json!(1)), ("/c", json!(1)), ("/gone", Value::Null)]
                .map(|(pointer, value)| (pointer.to_owned(), value)),
        );
        let now = json!({"a": 1, "b": 2, "c": 3, "gone": "x"});
        let wanted = json!({"a": 9, "b": 2, "c": 4});
        let at = |document: &Value, pointer: &str| {
            document.pointer(pointer).cloned().unwrap_or(Value::Null)
        };
        let drift = drift_of(&applied, |it| at(&now, it), |it| at(&wanted, it));
        assert_eq!(
            serde_json::to_value(drift).unwrap(),
            json!([
                {"pointer": "/c", "applied": 1, "now": 3, "file": 4},
                {"pointer": "/gone", "now": "x"},
            ])
        );
    }
}
