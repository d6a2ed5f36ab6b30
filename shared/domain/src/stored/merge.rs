//! Changing a document without losing what only another version understands.

use serde_json::{Map, Value};

/// The document to store after a change. `stored` is the whole document, `before` the part of it
/// that this version reads, and `after` that part once it is changed.
///
/// Every part that is equal in `before` and `after` stays as it is stored, with its unknown fields
/// and values. Elements of a list belong together if they have the same `name`.
pub fn merge(stored: Value, before: &Value, after: Value) -> Value {
    if *before == after {
        return stored;
    }
    match (stored, before, after) {
        (Value::Object(stored), Value::Object(before), Value::Object(after)) => {
            Value::Object(merge_objects(stored, before, after))
        }
        (Value::Array(stored), Value::Array(before), Value::Array(after)) => {
            Value::Array(merge_lists(stored, before, after))
        }
        (_, _, after) => after,
    }
}

/// The known fields in the order of `after`, and then those that only another version knows.
fn merge_objects(
    mut stored: Map<String, Value>,
    before: &Map<String, Value>,
    after: Map<String, Value>,
) -> Map<String, Value> {
    let mut merged = Map::with_capacity(stored.len());
    for (field, after) in after {
        match (stored.get_mut(&field), before.get(&field)) {
            (Some(stored), Some(before)) => {
                merged.insert(field, merge(stored.take(), before, after));
            }
            // The field is not stored, since it has its default.
            (None, Some(before)) if *before == after => {}
            _ => {
                merged.insert(field, after);
            }
        }
    }
    let unknown = |field: &String| !before.contains_key(field) && !merged.contains_key(field);
    let unknown: Vec<_> = stored.into_iter().filter(|(field, _)| unknown(field)).collect();
    merged.extend(unknown);
    merged
}

fn merge_lists(mut stored: Vec<Value>, before: &[Value], after: Vec<Value>) -> Vec<Value> {
    let mut merged = Vec::with_capacity(after.len());
    for element in after {
        let same = |other: &&Value| is_same(other, &element);
        let place = stored.iter().position(|other| same(&other));
        merged.push(match (place, before.iter().find(same)) {
            (Some(place), Some(before)) => merge(stored.remove(place), before, element),
            _ => element,
        });
    }
    // Elements that this version did not read at all, such as a tool of an unknown kind.
    let name_of = |element: &Value| element.get("name").cloned();
    stored.retain(|element| {
        name_of(element).is_some_and(|name| {
            !before.iter().chain(&merged).any(|other| name_of(other).as_ref() == Some(&name))
        })
    });
    merged.extend(stored);
    merged
}

fn is_same(one: &Value, other: &Value) -> bool {
    match (one.get("name"), other.get("name")) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}
