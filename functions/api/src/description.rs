//! `/openapi.json`: the `OpenAPI` description of this API, and `/schemas`: the schemas of files.
//!
//! A test generates the description from the handlers' annotations ([`crate::annotated_routes`])
//! and compares it with the committed text ([`made`]), so the two can't diverge. This module serves
//! the committed text and describes the parameters that many handlers share.

#[cfg(test)]
mod answers;
#[cfg(test)]
mod file_schemas;
#[cfg(test)]
mod flat;
#[cfg(test)]
mod made;
#[cfg(test)]
mod merge_patches;

use axum::{body::Body, extract::Path, http::HeaderMap, response::Response};
use smartspace_domain::{Error, limits, problems::Problem};
use smartspace_web::respond;
use utoipa::{
    IntoParams,
    openapi::{
        Required,
        path::{Parameter, ParameterBuilder, ParameterIn},
        schema::{Object, ObjectBuilder, Type},
    },
};

use crate::{
    annotated_routes::{Routes, routes},
    static_files,
};

/// How long caches may show the description without asking.
const CACHING: &str = "public, max-age=300";

pub(crate) fn routes() -> Routes {
    routes![openapi, schema]
}

/// Show this description
///
/// It is generated from the code that serves the API.
#[utoipa::path(
    get, path = "/openapi.json", operation_id = "showDescription", tag = "service", security(),
    responses((status = 200, body = serde_json::Value))
)]
async fn openapi(headers: HeaderMap) -> Response<Body> {
    static_files::DESCRIPTION.answer(&headers, CACHING)
}

/// Show the schema of a file
///
/// A JSON Schema (2020-12) of a file that `smartspace apply` reads, for editors.
#[utoipa::path(
    get, path = "/schemas/{name}", operation_id = "showSchema", tag = "service", security(),
    params(
        ("name" = String, Path, description = "`agent.json`, `space.json`, `plan.json`, \
            `tools.json`, `environment.json` or `project.json`."),
    ),
    responses((status = 200, body = serde_json::Value))
)]
async fn schema(path: Path<String>, headers: HeaderMap) -> Response<Body> {
    match static_files::SCHEMAS.iter().find(|file| file.name == path.0) {
        Some(file) => file.answer(&headers, CACHING),
        None => respond(&Problem::of(&Error::NotFound("there is no such schema".into()))),
    }
}

pub(crate) struct IdempotencyKey;

impl IntoParams for IdempotencyKey {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![idempotency_key(Required::False)]
    }
}

/// The same, for a request that must have one.
pub(crate) struct RequiredIdempotencyKey;

impl IntoParams for RequiredIdempotencyKey {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![idempotency_key(Required::True)]
    }
}

fn idempotency_key(required: Required) -> Parameter {
    // HTTP drops spaces at the ends of a header's value.
    let key = ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(1))
        .max_length(Some(limits::KEY_CHARS))
        .pattern(Some("^[!-~]([ -~]*[!-~])?$"));
    ParameterBuilder::new()
        .name("Idempotency-Key")
        .parameter_in(ParameterIn::Header)
        .required(required)
        .description(Some(
            "Makes the request safe to repeat. For 24 hours, the same key with the same body \
             returns what the first request created; with another body the answer is 422.",
        ))
        .schema(Some(key))
        .build()
}

pub(crate) struct ChainDepth;

impl IntoParams for ChainDepth {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let depth = ObjectBuilder::new()
            .schema_type(Type::Integer)
            .minimum(Some(0))
            .maximum(Some(1_000_000));
        let parameter = ParameterBuilder::new()
            .name("smartspace-chain-depth")
            .parameter_in(ParameterIn::Header)
            .required(Required::False)
            .description(Some(
                "The chain depth of what caused this request. A tool that calls this API forwards \
                 the header that it received.",
            ))
            .schema(Some(depth));
        vec![parameter.build()]
    }
}

/// The `limit` of a list.
pub(crate) fn limit() -> Object {
    let (default, maximum) = limits::PAGE_ITEMS;
    ObjectBuilder::new()
        .schema_type(Type::Integer)
        .description(Some("The greatest number of items. A page also ends at 1 MiB."))
        .default(Some(default.into()))
        .minimum(Some(1))
        .maximum(Some(maximum))
        .build()
}
