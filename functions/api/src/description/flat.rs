//! Makes the schemas flat, because common generators of clients read only flat ones.
//!
//! The derived schema of a flattened or tagged type is an `allOf`, and that of a page repeats its
//! items. The first becomes one object with all fields, the second a reference. Each object of a
//! choice becomes a schema of its own, so that generated types have names.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

const SCHEMAS: &str = "#/components/schemas/";

/// Rewrites the schemas of a description, and drops what nothing refers to.
pub(super) fn rewrite(description: &mut Value) {
    refer_to_items(schemas_of(description));
    let derived = schemas_of(description).clone();
    join(description, &derived);
    // An alternative may get the name of a schema that nothing uses now.
    drop_unused(description);
    name_alternatives(schemas_of(description));
}

/// All references within a value.
pub(super) fn references(value: &Value) -> BTreeSet<String> {
    fn collect(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str).map(str::to_owned));
                fields.values().for_each(|field| collect(field, found));
            }
            Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    collect(value, &mut found);
    found
}

fn schemas_of(description: &mut Value) -> &mut Map<String, Value> {
    description["components"]["schemas"].as_object_mut().unwrap()
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("{SCHEMAS}{name}")})
}

/// Replaces the items of each page by a reference to their schema.
fn refer_to_items(schemas: &mut Map<String, Value>) {
    let pages: Vec<String> =
        schemas.keys().filter(|name| name.starts_with("Page_")).cloned().collect();
    for page in pages {
        let name = page.trim_start_matches("Page_");
        let items = &mut schemas[&page]["properties"]["items"]["items"];
        let inline = std::mem::replace(items, reference(name));
        if !schemas.contains_key(name) {
            schemas.insert(name.to_owned(), inline);
        }
    }
}

/// Replaces each `allOf` by the objects that satisfy it.
fn join(value: &mut Value, schemas: &Map<String, Value>) {
    if value.get("allOf").is_some_and(Value::is_array) {
        let description = value.get("description").cloned();
        let mut joined = alternatives(value, schemas);
        *value = if joined.len() == 1 { joined.remove(0) } else { json!({"anyOf": joined}) };
        if let Some(description) = description {
            value["description"] = description;
        }
    }
    match value {
        Value::Object(fields) => fields.values_mut().for_each(|field| join(field, schemas)),
        Value::Array(items) => items.iter_mut().for_each(|item| join(item, schemas)),
        _ => {}
    }
}

/// The objects that a schema allows, each with all of its fields.
fn alternatives(schema: &Value, schemas: &Map<String, Value>) -> Vec<Value> {
    let list = |key: &str| schema.get(key).and_then(Value::as_array);
    if let Some(name) = schema["$ref"].as_str().and_then(|it| it.strip_prefix(SCHEMAS)) {
        return alternatives(&schemas[name], schemas);
    }
    if let Some(parts) = list("allOf") {
        let mut joined = vec![json!({})];
        for part in parts {
            let own = alternatives(part, schemas);
            let with_own = |one: &Value| -> Vec<Value> {
                own.iter().map(|other| with_fields_of(one, other)).collect()
            };
            joined = joined.iter().flat_map(with_own).collect();
        }
        return joined;
    }
    match list("oneOf").or_else(|| list("anyOf")) {
        Some(items) => items.iter().flat_map(|item| alternatives(item, schemas)).collect(),
        None => vec![schema.clone()],
    }
}

/// An object with the fields of both. The description is the first one's.
fn with_fields_of(one: &Value, other: &Value) -> Value {
    let mut joined = one.as_object().cloned().unwrap();
    for (key, value) in other.as_object().cloned().unwrap() {
        let is_description = key == "description";
        match (joined.entry(key).or_insert(Value::Null), value) {
            (Value::Object(known), Value::Object(more)) => known.extend(more),
            (Value::Array(known), Value::Array(more)) => known.extend(more),
            (known, value) if known.is_null() || !is_description => *known = value,
            _ => {}
        }
    }
    Value::Object(joined)
}

/// Moves the objects of each choice into schemas of their own, named by their `type` or `kind`.
fn name_alternatives(schemas: &mut Map<String, Value>) {
    let mut named = Map::new();
    for (choice, schema) in schemas.iter_mut() {
        for kind in ["oneOf", "anyOf"] {
            let Some(items) = schema.get_mut(kind).and_then(Value::as_array_mut) else { continue };
            for item in items.iter_mut().filter(|item| item.get("properties").is_some()) {
                let name = format!("{}{choice}", first_name_of(item));
                named.insert(name.clone(), std::mem::replace(item, reference(&name)));
            }
        }
    }
    for (name, schema) in named {
        let before = schemas.insert(name.clone(), schema);
        assert!(before.is_none(), "{name} is the name of two schemas");
    }
}

/// The `type` or `kind` of an object, as the beginning of a name.
fn first_name_of(object: &Value) -> String {
    let named = ["type", "kind"].map(|field| format!("/properties/{field}/enum/0"));
    let Some(kind) = named.iter().find_map(|at| object.pointer(at)?.as_str()) else {
        return "Other".to_owned();
    };
    let capitalised = |word: &str| word[..1].to_uppercase() + &word[1..];
    kind.split('_').map(capitalised).collect()
}

/// Drops schemas and answers that nothing refers to, until all of them are used.
fn drop_unused(description: &mut Value) {
    loop {
        let used = references(description);
        let mut is_done = true;
        for kind in ["schemas", "responses"] {
            let parts = description["components"][kind].as_object_mut().unwrap();
            let count = parts.len();
            parts.retain(|name, _| used.contains(&format!("#/components/{kind}/{name}")));
            is_done &= parts.len() == count;
        }
        if is_done {
            return;
        }
    }
}
