//! Makes the schemas of the files of agents, spaces, plans and tool sets, and compares them with
//! those in `docs/reference/schemas`.

use std::{collections::BTreeSet, path::Path};

use serde_json::{Map, Value, json};
use smartspace_domain::{
    agents::AgentConfig,
    projects::{MemberSpec, PlanSpec},
    spaces::SpaceSettings,
};
use utoipa::OpenApi;

use super::{flat, made::refuse_unknown_fields};

const COMPONENTS: &str = "#/components/schemas/";

#[derive(OpenApi)]
#[openapi(components(schemas(AgentConfig, SpaceSettings, PlanSpec, MemberSpec)))]
struct Files;

/// The schemas of what files have, by name.
fn schemas() -> Map<String, Value> {
    let mut files = Files::openapi();
    refuse_unknown_fields(files.components.get_or_insert_default());
    let mut whole = serde_json::to_value(files).unwrap();
    let roots = ["AgentConfig", "SpaceSettings", "PlanSpec", "MemberSpec"];
    whole["roots"] = roots.map(|name| json!({"$ref": format!("{COMPONENTS}{name}")})).into();
    whole["components"]["responses"] = json!({});
    flat::rewrite(&mut whole);
    let mut schemas = whole["components"]["schemas"].take();
    rewrite(&mut schemas);
    let Value::Object(mut schemas) = schemas else { unreachable!() };
    for id in ["EntityId", "SpaceId"] {
        let text = "An id, or the name of a file.";
        schemas.insert(id.into(), json!({"type": "string", "minLength": 1, "description": text}));
    }
    schemas
}

/// Makes references those of a schema of its own, and allows a variable wherever a text has a
/// form.
fn rewrite(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.values_mut().for_each(rewrite);
            if let Some(Value::String(reference)) = fields.get_mut("$ref") {
                *reference = reference.replace(COMPONENTS, "#/$defs/");
            }
            let is_formed = fields.contains_key("pattern") || fields.contains_key("format");
            if fields.get("type") == Some(&json!("string")) && is_formed {
                let description = fields.remove("description");
                let default = fields.remove("default");
                let formed = Value::Object(std::mem::take(fields));
                let variable = json!({"type": "string", "pattern": r"\$\{var\."});
                fields.insert("anyOf".into(), json!([formed, variable]));
                fields.extend(description.map(|it| ("description".into(), it)));
                fields.extend(default.map(|it| ("default".into(), it)));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(rewrite),
        _ => {}
    }
}

/// The schema of a file: `root`, and whatever it refers to.
fn file(title: &str, mut root: Value, schemas: &Map<String, Value>) -> Value {
    let mut needed = BTreeSet::new();
    let mut open: Vec<String> = flat::references(&root).into_iter().collect();
    while let Some(reference) = open.pop() {
        let name = reference.trim_start_matches("#/$defs/").to_owned();
        if needed.insert(name.clone()) {
            open.extend(flat::references(&schemas[&name]));
        }
    }
    let defs: Map<_, _> =
        needed.into_iter().map(|name| (name.clone(), schemas[&name].clone())).collect();
    let mut file = Map::new();
    file.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    file.insert("title".into(), json!(title));
    let properties = root["properties"].as_object_mut().unwrap();
    let here = json!({"type": "string", "description": "The path of this schema."});
    properties.insert("$schema".into(), here);
    file.extend(root.as_object().unwrap().clone());
    file.insert("additionalProperties".into(), json!(false));
    if !defs.is_empty() {
        file.insert("$defs".into(), Value::Object(defs));
    }
    Value::Object(file)
}

/// Allows a text of its own file in place of a text.
fn or_file(text: &mut Value) {
    let description = text.as_object_mut().unwrap().shift_remove("description");
    let path = json!({"type": "string", "description": "The path from this file to the text."});
    let file = json!({
        "type": "object", "properties": {"file": path}, "required": ["file"],
        "additionalProperties": false,
    });
    *text = json!({"anyOf": [text.take(), file], "description": description});
}

/// The fields that each file may have besides those of the API.
fn with_names(root: &mut Value, kind: &str, required: &[&str]) {
    let name = format!(
        "The name of the {kind} in files, if it is not the name of this file. It never changes."
    );
    let id = format!("The id of a {kind} that was made by hand and that this file takes over.");
    root["properties"]["externalId"] =
        json!({"type": "string", "minLength": 1, "maxLength": 256, "description": name});
    root["properties"]["id"] = json!({"type": "string", "description": id});
    root["required"] = json!(required);
    root["description"] = json!(format!("A file of a {kind}."));
}

fn made() -> [(&'static str, Value); 4] {
    let mut schemas = schemas();
    let mut agent = schemas["AgentConfig"].clone();
    let name = json!({"type": "string", "minLength": 1, "description": "The agent's name."});
    agent["properties"]["name"] = name;
    agent["properties"]["toolSets"] = json!({
        "type": "array", "items": {"type": "string"},
        "description": "Names of files in tools/, whose tools come after the agent's own.",
    });
    or_file(&mut agent["properties"]["instructions"]);
    with_names(&mut agent, "agent", &["name"]);
    let mut space = schemas["SpaceSettings"].clone();
    space["properties"]["members"] = json!({
        "type": "array", "items": {"$ref": "#/$defs/MemberSpec"}, "maxItems": 500,
        "description": "Members that files manage. Others may join and leave as they like. A \
            person whom nobody knows is created.",
    });
    with_names(&mut space, "space", &["name"]);
    or_file(&mut schemas["RouterConfig"]["properties"]["instructions"]);
    let mut plan = schemas["PlanSpec"].clone();
    or_file(&mut plan["properties"]["instruction"]);
    with_names(&mut plan, "plan", &["agent", "name", "instruction", "cron"]);
    let config = &schemas["AgentConfig"]["properties"];
    let mut mcp = schemas["McpConfig"].clone();
    mcp["properties"].as_object_mut().unwrap().retain(|name, _| name == "servers");
    let tools = json!({
        "type": "object",
        "description": "A file of a tool set, which agents name in `toolSets`.",
        "properties": {"tools": config["tools"], "mcp": mcp},
    });
    [
        ("agent", file("Agent", agent, &schemas)),
        ("space", file("Space", space, &schemas)),
        ("plan", file("Plan", plan, &schemas)),
        ("tools", file("Tool set", tools, &schemas)),
    ]
}

/// Editors and `smartspace init` use these files.
#[test]
fn the_committed_schemas_of_files_match_the_code() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/schemas");
    for (name, schema) in made() {
        let file = folder.join(format!("{name}.json"));
        if std::env::var_os("UPDATE_OPENAPI").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            let text = serde_json::to_string_pretty(&schema).unwrap();
            std::fs::write(&file, text + "\n").unwrap();
        }
        let committed = std::fs::read_to_string(&file).unwrap_or_default();
        let committed: Value = serde_json::from_str(&committed).unwrap_or_default();
        assert!(
            committed == schema,
            "docs/reference/schemas/{name}.json does not match the code; update it: \
             UPDATE_OPENAPI=1 cargo test -p smartspace-api committed_"
        );
    }
}
