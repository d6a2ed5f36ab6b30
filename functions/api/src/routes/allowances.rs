//! `/v1/allowances`: lists and deletes remembered approvals.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use serde::Deserialize;
use smartspace_domain::{
    Error,
    access::SpaceAction,
    approvals::Allowance,
    ids::{AllowanceId, EntityId, SpaceId},
};
use smartspace_store::table::pages::{Page, PageRequest};
use utoipa::IntoParams;

use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::ApiResult,
    auth::Authenticated,
    description::limit,
    input::{Id, Query},
};

pub(super) fn routes() -> Routes {
    routes![list, delete]
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
struct AllowancesQuery {
    /// Only allowances of this agent.
    agent_id: Option<EntityId>,
    /// Only allowances that count in this space alone.
    space_id: Option<SpaceId>,
    /// The `nextCursor` of the previous page.
    cursor: Option<String>,
    #[param(schema_with = limit)]
    limit: Option<usize>,
}

/// List remembered approvals
///
/// Of an agent, of a space, or both, by age. Members see those of their spaces, and only the
/// operator sees those that count everywhere. A page may hold fewer than `limit` allowances
/// although there are more: read on until `nextCursor` is missing.
#[utoipa::path(
    get, path = "/v1/allowances", operation_id = "listAllowances", tag = "allowances",
    params(AllowancesQuery),
    responses(
        (status = 200, body = Page<Allowance>),
        (status = 404, description = "There is no such space, or the caller is no member of it."),
    )
)]
async fn list(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Query(query): Query<AllowancesQuery>,
) -> ApiResult<Json<Page<Allowance>>> {
    let AllowancesQuery { agent_id, space_id, cursor, limit } = query;
    let request = PageRequest { cursor, limit };
    if let Some(space) = space_id {
        api.pipeline.authorise(caller, SpaceAction::Read, space).await?;
        api.pipeline.store.spaces().record(space).await?;
    }
    let allowances = api.pipeline.store.allowances();
    let now = api.pipeline.now();
    let page = match (agent_id, space_id) {
        (Some(agent), None) => {
            let mut page = allowances.list_of_agent(agent, &request, now).await?;
            page.items = api.pipeline.allowances_seen_by(caller, page.items).await?;
            page
        }
        (Some(agent), Some(space)) => {
            let mut page = allowances.list_of_agent(agent, &request, now).await?;
            page.items.retain(|allowance| allowance.space_id == Some(space));
            page
        }
        (None, Some(space)) => allowances.list_of_space(space, &request, now).await?,
        (None, None) => {
            return Err(Error::Malformed("expected agentId, spaceId or both".into()).into());
        }
    };
    Ok(Json(page))
}

/// Delete a remembered approval
///
/// The agent's calls ask again. The person who made it may do this, people who own its space, and
/// the operator.
#[utoipa::path(
    delete, path = "/v1/allowances/{id}", operation_id = "deleteAllowance", tag = "allowances",
    params(("id" = AllowanceId, Path)),
    responses((status = 204))
)]
async fn delete(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Id(id): Id<AllowanceId>,
) -> ApiResult<StatusCode> {
    api.pipeline.delete_allowance(caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
