//! The description, as the handlers' annotations say it, and the committed text held against it.
//!
//! A handler's annotation says what is its own; what many share is added here: [`answers`] the problems that can come of a request,
//! [`merge_patches`] the bodies of `PATCH`.

use std::{collections::BTreeSet, path::Path};

use serde_json::Value;
use smartspace_domain::{
    deliveries::Delivery, entities::EntitySettings, problems::Problem, schemas::NewEntity, spaces::SpaceSettings, tools::Execution,
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
        description = "People and AI agents as equal members of shared spaces. Names are camelCase, times RFC 3339 UTC, ids opaque; only \
                       `seq` is an order. A body is read as JSON whatever its content type says, and unknown fields are refused. \
                       docs/api.md has the frames of the WebSocket and the format of scripts.",
    ),
    components(schemas(EntitySettings, SpaceSettings, Problem)),
    security(("bearer" = [])),
    tags(
        (name = "entities", description = "People and agents."),
        (name = "spaces", description = "Spaces and who is in them."),
        (name = "messages", description = "What is said, whom it wakes, and who has read it."),
        (name = "runs", description = "What agents do once they are woken."),
        (name = "agents", description = "What agents keep: memories, goals and plans."),
        (name = "services", description = "What services send, and whom it wakes."),
        (name = "sockets", description = "What opens a WebSocket."),
        (name = "service", description = "The service itself."),
    )
)]
struct Frame;

/// The whole description.
fn description() -> Description {
    let (_, routes) = crate::routes::of_the_api().split_for_parts();
    let mut whole = Frame::openapi();
    whole.merge(routes);
    // Nobody in particular, and no licence of the API itself: the code has one.
    (whole.info.contact, whole.info.license) = (None, None);
    let components = whole.components.get_or_insert_default();
    let bearer = Http::builder().scheme(HttpAuthScheme::Bearer).description(Some("The admin key, or a JWT.")).build();
    components.add_security_scheme("bearer", SecurityScheme::Http(bearer));
    // Its page holds it whole, and nothing else refers to it.
    components.schemas.remove(&*Delivery::name());
    refuse_unknown_fields(components);
    merge_patches::describe(components);
    answers::describe(components);
    for operation in whole.paths.paths.values_mut().flat_map(answers::operations) {
        answers::complete(operation);
    }
    whole
}

/// Of inputs that are one of several objects: the derive says it of plain ones.
fn refuse_unknown_fields(components: &mut Components) {
    for name in [NewEntity::name(), Execution::name()] {
        let Some(RefOr::T(Schema::OneOf(choice))) = components.schemas.get_mut(&*name) else { continue };
        for item in &mut choice.items {
            if let RefOr::T(Schema::Object(object)) = item {
                object.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
            }
        }
    }
}

fn as_json() -> Value {
    serde_json::to_value(description()).unwrap()
}

/// What the tools of others read, in `docs/openapi.json`.
#[test]
fn the_committed_text_is_what_the_code_says() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    if std::env::var_os("UPDATE_OPENAPI").is_some() {
        std::fs::write(&file, description().to_pretty_json().unwrap() + "\n").unwrap();
    }
    let committed: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let same = committed == as_json();
    assert!(same, "docs/openapi.json is not what the code says; renew it: UPDATE_OPENAPI=1 cargo test -p smartspace-api committed_text");
}

#[test]
fn every_operation_says_what_it_is_and_what_it_answers() {
    let whole = as_json();
    assert_eq!(whole["openapi"], "3.1.0");
    let mut ids = BTreeSet::new();
    for (path, methods) in whole["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let what = format!("{method} {path}");
            assert!(ids.insert(operation["operationId"].as_str().unwrap().to_owned()), "{what}: its id stands twice");
            assert!(operation["summary"].as_str().is_some_and(|text| !text.is_empty()), "{what} has no summary");
            let answers = operation["responses"].as_object().unwrap();
            assert_eq!(answers.keys().filter(|status| status.starts_with('2')).count(), 1, "{what}");
            assert!(path.starts_with("/v1/") == answers.contains_key("401"), "{what} may be unauthorised, or not");
            let shown: BTreeSet<_> = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
            let parameters = operation["parameters"].as_array().unwrap();
            let said: BTreeSet<_> = parameters.iter().filter(|one| one["in"] == "path").filter_map(|one| one["name"].as_str()).collect();
            assert_eq!(shown, said, "{what}");
        }
    }
}

#[test]
fn everything_that_is_referred_to_is_there() {
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
    let lost: Vec<_> = found.iter().filter(|place| whole.pointer(place.trim_start_matches('#')).is_none()).collect();
    assert!(lost.is_empty(), "not described: {lost:?}");
    // And nothing is described that nobody refers to.
    for name in whole["components"]["schemas"].as_object().unwrap().keys() {
        assert!(found.contains(&format!("#/components/schemas/{name}")), "{name} is not referred to");
    }
}
