//! Generates the description from the handlers' annotations and compares it with the committed
//! text.
//!
//! A handler's annotation describes what is special to it. This module adds what many handlers
//! share: [`answers`] adds the problems, [`merge_patches`] adds the bodies of `PATCH`, and [`flat`]
//! makes the schemas flat.

use std::{collections::BTreeSet, path::Path};

use serde_json::{Value, json};
use smartspace_domain::{
    entities::{EntitySettings, NewEntity},
    problems::Problem,
    spaces::SpaceSettings,
    tools::Execution,
};
use utoipa::{
    OpenApi, ToSchema,
    openapi::{
        Components, License, OpenApi as Description, RefOr, Server,
        schema::{AdditionalProperties, Schema},
        security::{Http, HttpAuthScheme, SecurityScheme},
    },
};

use super::{answers, flat, merge_patches};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Smartspace",
        description = "People and AI agents work together as equal members of shared spaces. \
            Names are camelCase, times are RFC 3339 in UTC, and ids are opaque: sort by `seq`, \
            never by id or time. A body is read as JSON whatever its content type is, and unknown \
            fields are refused. docs/reference/live.md describes the frames of the WebSocket, \
            docs/reference/scripts.md the format of scripts.",
    ),
    components(schemas(EntitySettings, SpaceSettings, Problem)),
    security(("bearer" = [])),
    tags(
        (name = "entities", description = "People and agents."),
        (name = "spaces", description = "Spaces and their members."),
        (name = "invites", description = "Links with which people join a space."),
        (name = "messages", description = "Messages, whom they wake, and read positions."),
        (name = "attachments", description = "The files of spaces."),
        (name = "runs", description = "The runs of agents."),
        (name = "allowances", description = "Approvals that later calls need no more."),
        (name = "usage", description = "The tokens and the cost of models."),
        (name = "agents", description = "The state of agents: memories, goals and plans."),
        (name = "remote agents", description = "What remote agents do about their runs."),
        (name = "services", description = "Webhooks, triggers and their deliveries."),
        (name = "sockets", description = "Tickets for WebSockets."),
        (name = "service", description = "The service itself."),
    )
)]
struct Frame;

fn description() -> Description {
    let routes = crate::routes::of_the_api().description();
    let mut whole = Frame::openapi();
    whole.merge(routes);
    // Cargo.toml would fill it in.
    whole.info.contact = None;
    let mut license = License::new("Apache License 2.0");
    license.identifier = Some("Apache-2.0".into());
    whole.info.license = Some(license);
    let mut server = Server::new("/");
    server.description = Some("The host that serves this description.".into());
    whole.servers = Some(vec![server]);
    let components = whole.components.get_or_insert_default();
    let bearer = Http::builder()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("The admin key, or a JWT."))
        .build();
    components.add_security_scheme("bearer", SecurityScheme::Http(bearer));
    let callback = Http::builder()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("The token that the webhook of a run carries to its remote agent."))
        .build();
    components.add_security_scheme("callbackToken", SecurityScheme::Http(callback));
    refuse_unknown_fields(components);
    merge_patches::describe(components);
    answers::describe(components);
    for operation in whole.paths.paths.values_mut().flat_map(answers::operations) {
        answers::complete(operation);
    }
    whole
}

/// Marks inputs that are one of several objects as closed. For plain objects the derive does it.
pub(super) fn refuse_unknown_fields(components: &mut Components) {
    for name in [NewEntity::name(), Execution::name()] {
        let Some(RefOr::T(Schema::OneOf(choice))) = components.schemas.get_mut(&*name) else {
            continue;
        };
        for item in &mut choice.items {
            if let RefOr::T(Schema::Object(object)) = item {
                object.additional_properties =
                    Some(Box::new(AdditionalProperties::FreeForm(false)));
            }
        }
    }
}

fn as_json() -> Value {
    let mut whole = serde_json::to_value(description()).unwrap();
    flat::rewrite(&mut whole);
    whole
}

/// `docs/reference/openapi.json` is what client generators and other tools read.
#[test]
fn the_committed_text_matches_the_code() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/openapi.json");
    if std::env::var_os("UPDATE_OPENAPI").is_some() {
        let text = serde_json::to_string_pretty(&as_json()).unwrap();
        std::fs::write(&file, text + "\n").unwrap();
    }
    let committed: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let same = committed == as_json();
    assert!(
        same,
        "docs/reference/openapi.json does not match the code; update it: UPDATE_OPENAPI=1 cargo \
         test -p smartspace-api committed_text"
    );
}

#[test]
fn every_operation_has_an_id_texts_known_tags_and_its_responses() {
    let whole = as_json();
    let known: BTreeSet<_> =
        whole["tags"].as_array().unwrap().iter().filter_map(|tag| tag["name"].as_str()).collect();
    assert_eq!(whole["openapi"], "3.1.0");
    let mut ids = BTreeSet::new();
    for (path, methods) in whole["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let what = format!("{method} {path}");
            assert!(
                ids.insert(operation["operationId"].as_str().unwrap().to_owned()),
                "{what}: its operationId is used twice"
            );
            for text in ["summary", "description"] {
                let is_there = operation[text].as_str().is_some_and(|text| !text.is_empty());
                assert!(is_there, "{what} has no {text}");
            }
            let tags = operation["tags"].as_array().unwrap();
            assert!(!tags.is_empty(), "{what}");
            assert!(tags.iter().all(|tag| known.contains(tag.as_str().unwrap())), "{what}");
            let answers = operation["responses"].as_object().unwrap();
            assert_eq!(
                answers.keys().filter(|status| status.starts_with('2')).count(),
                1,
                "{what}"
            );
            assert!(
                path.starts_with("/v1/") == answers.contains_key("401"),
                "{what}: only routes below /v1 answer 401"
            );
            let shown: BTreeSet<_> = path
                .split('/')
                .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
                .collect();
            let parameters = operation["parameters"].as_array().unwrap();
            let described: BTreeSet<_> = parameters
                .iter()
                .filter(|one| one["in"] == "path")
                .filter_map(|one| one["name"].as_str())
                .collect();
            assert_eq!(shown, described, "{what}");
        }
    }
}

#[test]
fn every_reference_resolves_and_every_schema_is_referenced() {
    let whole = as_json();
    let found = flat::references(&whole);
    assert!(found.len() > 40, "{found:?}");
    let missing: Vec<_> = found
        .iter()
        .filter(|reference| whole.pointer(reference.trim_start_matches('#')).is_none())
        .collect();
    assert!(missing.is_empty(), "not described: {missing:?}");
    for name in whole["components"]["schemas"].as_object().unwrap().keys() {
        assert!(
            found.contains(&format!("#/components/schemas/{name}")),
            "{name} is described, but nothing refers to it"
        );
    }
}

#[test]
fn schemas_are_flat_so_that_generators_of_clients_read_them() {
    fn check(value: &Value, path: &str) {
        match value {
            Value::Object(fields) => {
                assert!(!fields.contains_key("allOf"), "{path} is no flat object");
                for kind in ["oneOf", "anyOf"] {
                    let mut items =
                        fields.get(kind).and_then(Value::as_array).into_iter().flatten();
                    let is_unnamed = items.any(|item| item.get("properties").is_some());
                    assert!(!is_unnamed, "{path} has unnamed objects");
                }
                fields.iter().for_each(|(name, field)| check(field, &format!("{path}/{name}")));
            }
            Value::Array(items) => items.iter().for_each(|item| check(item, path)),
            _ => {}
        }
    }
    let whole = as_json();
    check(&whole, "");
    let schema = |name: &str| whole["components"]["schemas"][name].clone();
    let message = &schema("SpaceMessageOrigin")["properties"];
    assert!(message["toolsUsed"].is_object() && message["seq"].is_object(), "{message}");
    assert_eq!(schema("ToolPart")["properties"]["type"]["enum"], json!(["tool"]));
    assert!(schema("CronPlan")["properties"]["nextRunAt"].is_object());
    let items = &schema("Page_Run")["properties"]["items"]["items"];
    assert_eq!(items["$ref"], "#/components/schemas/Run");
}
