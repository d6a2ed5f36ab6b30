//! `/openapi.json`: what this API is, for machines.
//!
//! Tests make it from the handlers' annotations ([`crate::annotated_routes`]) and hold the committed text against that, so that the two can't
//! part ([`made`]). Here is what is answered with, and the parameters that many handlers take.

#[cfg(test)]
mod answers;
#[cfg(test)]
mod made;
#[cfg(test)]
mod merge_patches;

use std::sync::LazyLock;

use axum::{http::header, response::IntoResponse};
use smartspace_domain::limits;
use utoipa::{
    IntoParams,
    openapi::{
        Required,
        path::{Parameter, ParameterBuilder, ParameterIn},
        schema::{Object, ObjectBuilder, Type},
    },
};

use crate::annotated_routes::{Routes, routes};

/// As it is committed, for people too.
const COMMITTED: &str = include_str!("../../../docs/openapi.json");

pub(crate) fn routes() -> Routes {
    routes![openapi]
}

/// This description
///
/// It is made from the code that answers.
#[utoipa::path(
    get, path = "/openapi.json", operation_id = "showDescription", tag = "service", security(),
    responses((status = 200, body = serde_json::Value))
)]
async fn openapi() -> impl IntoResponse {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let whole = smartspace_domain::json::parse(COMMITTED);
        whole.map_or_else(|_| COMMITTED.to_owned(), |whole| whole.to_string())
    });
    ([(header::CONTENT_TYPE, "application/json")], TEXT.as_str())
}

/// The header `Idempotency-Key`.
pub(crate) struct IdempotencyKey;

impl IntoParams for IdempotencyKey {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        // Spaces at its ends would be lost on the way.
        let key = ObjectBuilder::new()
            .schema_type(Type::String)
            .min_length(Some(1))
            .max_length(Some(limits::KEY_CHARS))
            .pattern(Some("^[!-~]([ -~]*[!-~])?$"));
        let parameter = ParameterBuilder::new()
            .name("Idempotency-Key")
            .parameter_in(ParameterIn::Header)
            .required(Required::False)
            .description(Some("For a day, the same key with the same body answers with what was made; with another body it is 422."))
            .schema(Some(key));
        vec![parameter.build()]
    }
}

/// The header `smartspace-chain-depth`.
pub(crate) struct ChainDepth;

impl IntoParams for ChainDepth {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let depth = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).maximum(Some(1_000_000));
        let parameter = ParameterBuilder::new()
            .name("smartspace-chain-depth")
            .parameter_in(ParameterIn::Header)
            .required(Required::False)
            .description(Some("How deep in a chain of agents' doings this is: tools of agents send it along. It counts where it is higher than what is known here."))
            .schema(Some(depth));
        vec![parameter.build()]
    }
}

/// The `limit` of a list.
pub(crate) fn limit() -> Object {
    let (usual, most) = limits::PAGE_ITEMS;
    ObjectBuilder::new()
        .schema_type(Type::Integer)
        .description(Some("How many at most; a page also ends at 1 MiB."))
        .default(Some(usual.into()))
        .minimum(Some(1))
        .maximum(Some(most))
        .build()
}
