//! The shortest file of an object.

use serde_json::{Map, Value};
use smartspace_domain::projects::{ObjectKind, Spec};

/// What a file must say of an object: what it would not be without.
pub(super) fn shortest(kind: ObjectKind, document: &Map<String, Value>) -> Map<String, Value> {
    let read = |spec: &Map<String, Value>| {
        Spec::read(kind, None, spec, &[]).ok().map(|read| read.document())
    };
    let Some(whole) = read(document) else { return document.clone() };
    let mut spec = document.clone();
    let mut places = Vec::new();
    collect(&Value::Object(spec.clone()), &mut Vec::new(), &mut places);
    for place in places {
        let mut shorter = Value::Object(spec.clone());
        if !remove(&mut shorter, &place) {
            continue;
        }
        if let Value::Object(shorter) = shorter
            && read(&shorter).as_ref() == Some(&whole)
        {
            spec = shorter;
        }
    }
    spec
}

#[derive(Clone, Debug)]
enum Step {
    Name(String),
    Index(usize),
}

/// The places of all fields, outer ones first.
fn collect(value: &Value, place: &mut Vec<Step>, places: &mut Vec<Vec<Step>>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                place.push(Step::Name(name.clone()));
                places.push(place.clone());
                collect(value, place, places);
                place.pop();
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                place.push(Step::Index(index));
                collect(value, place, places);
                place.pop();
            }
        }
        _ => {}
    }
}

/// Removes a field. Returns whether it was there.
fn remove(value: &mut Value, place: &[Step]) -> bool {
    match (place, value) {
        ([Step::Name(name)], Value::Object(fields)) => fields.shift_remove(name).is_some(),
        ([Step::Name(name), rest @ ..], Value::Object(fields)) => {
            fields.get_mut(name).is_some_and(|value| remove(value, rest))
        }
        ([Step::Index(index), rest @ ..], Value::Array(items)) => {
            items.get_mut(*index).is_some_and(|value| remove(value, rest))
        }
        _ => false,
    }
}
