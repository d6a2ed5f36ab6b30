//! `/v1/inbox`: the cards that wait for the caller.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::Deserialize;
use smartspace_domain::inbox::{InboxItem, InboxKind};
use smartspace_store::table::pages::Page;
use utoipa::IntoParams;

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

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct InboxQuery {
    /// Only cards that wait for this.
    kind: Option<InboxKind>,
    /// The `nextCursor` of the previous page.
    cursor: Option<String>,
}

/// List what waits for the caller
///
/// The open forms that the caller may answer, and the calls that it may decide, in all of its
/// spaces; for the operator, in all spaces. By expiry, soonest first, at most 50 a page. A page
/// looks at about 1,000 cards, so a page may be empty although there is another one.
#[utoipa::path(
    get, path = "/v1/inbox", operation_id = "listInbox", tag = "runs",
    params(InboxQuery),
    responses((status = 200, body = Page<InboxItem>))
)]
async fn list(
    State(api): State<Arc<Api>>,
    Credential { caller, .. }: Credential,
    Query(query): Query<InboxQuery>,
) -> ApiResult<Json<Page<InboxItem>>> {
    let InboxQuery { kind, cursor } = query;
    Ok(Json(api.pipeline.inbox(caller, kind, cursor).await?))
}
