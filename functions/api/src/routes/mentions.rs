//! `/v1/mentions`: the messages that name the caller or reply to it.

use std::sync::Arc;

use axum::{Json, extract::State};
use smartspace_domain::mentioned::Mentioned;
use smartspace_store::table::pages::Page;

use super::PageQuery;
use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::ApiResult,
    auth::Credential,
    input::Query,
};

pub(super) fn routes() -> Routes {
    routes![list]
}

/// List the caller's mentions
///
/// The messages of the last 90 days that mention the caller or reply to it, in all spaces of which
/// it is a member, newest first. A page may have fewer messages than its limit although there is
/// another one, because deleted messages are left out. The operator and agents have none.
#[utoipa::path(
    get, path = "/v1/mentions", operation_id = "listMentions", tag = "messages",
    params(PageQuery),
    responses((status = 200, body = Page<Mentioned>))
)]
async fn list(
    State(api): State<Arc<Api>>,
    Credential { caller, .. }: Credential,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<Mentioned>>> {
    Ok(Json(api.pipeline.mentions(caller, &query.into()).await?))
}
