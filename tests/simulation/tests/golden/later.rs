//! Items as a later release would write them.

use serde_json::{Value, json};

/// The enums of stored items: the kind, and the path of the value. `*` is each element of a list.
const ENUMS: &[(&str, &str)] = &[
    ("dlv-meta", "status"),
    ("entity-ctx-goal", "status"),
    ("entity-ctx-plan", "status"),
    ("entity-ctx-plan", "type"),
    ("entity-gate", "mode"),
    ("entity-meta", "type"),
    ("entity-rev", "by.kind"),
    ("entity-rev", "source.kind"),
    ("project-obj", "kind"),
    ("run-call", "ends"),
    ("run-call", "status"),
    ("run-error", "code"),
    ("run-form", "answerBy"),
    ("run-meta", "endReason"),
    ("run-meta", "source"),
    ("run-meta", "status"),
    ("run-step", "finishReason"),
    ("space-card", "members.*.type"),
    ("space-conn", "caller"),
    ("space-member", "kind"),
    ("space-member", "role"),
    ("space-meta", "settings.triggerPolicy"),
    ("space-msg", "card.asks.answerBy"),
    ("space-msg", "card.status"),
    ("space-msg", "deleted.by"),
    ("space-msg", "dispatch.*.reason"),
    ("space-msg", "dispatch.*.source"),
    ("space-msg", "origin.type"),
    ("space-msg", "sender.type"),
];

/// The item with an unknown field in each of its objects, and with each of its enums unknown.
pub(super) fn variants(item: &Value) -> Vec<(String, Value)> {
    let mut with_fields = item.clone();
    for (name, value) in with_fields.as_object_mut().into_iter().flatten() {
        add_fields(name, value);
    }
    with_fields["laterField"] = json!({"M": {"a": {"L": [{"N": "1"}]}}});
    add_to_config(&mut with_fields, |config| {
        for_each_object(config, &mut |object| {
            object.insert("laterField".into(), json!([1]));
        });
    });
    let mut variants = vec![("unknown fields".to_owned(), with_fields)];
    let kind = smartspace_simulation::storage::samples::kind(item);
    for (_, path) in ENUMS.iter().filter(|(of, _)| *of == kind) {
        let mut later = item.clone();
        if set(&mut later, &path.split('.').collect::<Vec<_>>()) {
            variants.push(((*path).to_owned(), later));
        }
    }
    if kind == "entity-meta" {
        for path in ["/model/provider", "/context/history", "/concurrency/mode", "/loop/continueOn"]
        {
            let mut later = item.clone();
            add_to_config(&mut later, |config| {
                if let Some(value) = config.pointer_mut(path) {
                    *value = "later".into();
                }
            });
            variants.push((path.to_owned(), later));
        }
    }
    variants
}

/// Adds a field to all objects with fixed names.
fn add_fields(name: &str, value: &mut Value) {
    if ["changed", "marks", "reads", "by", "used"].contains(&name) {
        return;
    }
    if let Some(Value::Object(fields)) = value.get_mut("M") {
        for (name, value) in fields.iter_mut() {
            add_fields(name, value);
        }
        fields.insert("laterField".into(), json!({"S": "later"}));
    }
    for value in value.get_mut("L").and_then(Value::as_array_mut).into_iter().flatten() {
        add_fields("", value);
    }
}

fn add_to_config(item: &mut Value, change: impl FnOnce(&mut Value)) {
    // What files say of a plan names its agent.
    let config = item["agent"]["S"].as_str().filter(|text| text.starts_with('{'));
    let Some(text) = config else { return };
    let mut config = serde_json::from_str(text).unwrap();
    change(&mut config);
    item["agent"]["S"] = config.to_string().into();
}

/// Changes each object whose names are fixed.
fn for_each_object(
    value: &mut Value,
    change: &mut impl FnMut(&mut serde_json::Map<String, Value>),
) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| for_each_object(value, change)),
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                if !["headers", "webhooks", "input", "inputSchema", "resultSchema", "output"]
                    .contains(&name.as_str())
                {
                    for_each_object(value, change);
                }
            }
            change(fields);
        }
        _ => {}
    }
}

/// Sets an unknown value at a path, if there is a value.
fn set(value: &mut Value, path: &[&str]) -> bool {
    let Some((first, rest)) = path.split_first() else {
        *value = json!({"S": "later"});
        return true;
    };
    if let Some(Value::Array(values)) = value.get_mut("L") {
        let set = values.iter_mut().filter_map(|value| set(value, rest).then_some(()));
        return set.count() > 0;
    }
    let fields = if value.get("M").is_some() { &mut value["M"] } else { value };
    fields.get_mut(first).is_some_and(|value| set(value, rest))
}
