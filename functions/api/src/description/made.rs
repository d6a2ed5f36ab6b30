//! Generates the description from the handlers' annotations and compares it with the committed
//! text.
//!
//! A handler's annotation describes what is special to it. This module adds what many handlers
//! share: [`answers`] adds the problems, and [`merge_patches`] adds the bodies of `PATCH`.

use std::{collections::BTreeSet, path::Path};

use serde_json::Value;
use smartspace_domain::{
    approvals::Allowance,
    deliveries::Delivery,
    entities::{EntitySettings, NewEntity},
    inbox::InboxItem,
    problems::Problem,
    spaces::SpaceSettings,
    tools::Execution,
};
use utoipa::{
    OpenApi, ToSchema,
    openapi::{
        Components, OpenApi as Description, RefOr,
        schema::{AdditionalProperties, Schema},
        security::{Http, HttpAuthScheme, SecurityScheme},
    },
};

use super::{answers, merge_patches};

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
        (name = "messages", description = "Messages, whom they wake, and read positions."),
        (name = "runs", description = "The runs of agents."),
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
    // Cargo.toml would fill these in, but the code has a license and the API has none.
    whole.info.contact = None;
    whole.info.license = None;
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
    // Their pages contain them inline, and nothing else refers to them.
    components.schemas.remove(&*Allowance::name());
    components.schemas.remove(&*Delivery::name());
    components.schemas.remove(&*InboxItem::name());
    components.schemas.remove("ListedAttachment");
    components.schemas.remove("ListedPlan");
    refuse_unknown_fields(components);
    merge_patches::describe(components);
    answers::describe(components);
    for operation in whole.paths.paths.values_mut().flat_map(answers::operations) {
        answers::complete(operation);
    }
    whole
}

/// Marks inputs that are one of several objects as closed. For plain objects the derive does it.
fn refuse_unknown_fields(components: &mut Components) {
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
    serde_json::to_value(description()).unwrap()
}

/// `docs/reference/openapi.json` is what client generators and other tools read.
#[test]
fn the_committed_text_matches_the_code() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/openapi.json");
    if std::env::var_os("UPDATE_OPENAPI").is_some() {
        std::fs::write(&file, description().to_pretty_json().unwrap() + "\n").unwrap();
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
fn every_operation_has_an_id_a_summary_and_its_responses() {
    let whole = as_json();
    assert_eq!(whole["openapi"], "3.1.0");
    let mut ids = BTreeSet::new();
    for (path, methods) in whole["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let what = format!("{method} {path}");
            assert!(
                ids.insert(operation["operationId"].as_str().unwrap().to_owned()),
                "{what}: its operationId is used twice"
            );
            assert!(
                operation["summary"].as_str().is_some_and(|text| !text.is_empty()),
                "{what} has no summary"
            );
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
    fn references(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str).map(str::to_owned));
                fields.values().for_each(|field| references(field, found));
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }
    let whole = as_json();
    let mut found = BTreeSet::new();
    references(&whole, &mut found);
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
