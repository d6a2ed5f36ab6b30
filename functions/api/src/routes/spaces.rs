//! `/v1/spaces`: creates, lists, shows, changes and deletes spaces.

mod creation;

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use futures::future::try_join_all;
use serde_json::Value;
use smartspace_domain::{
    Error,
    access::{Caller, SpaceAction},
    events::EventKind,
    ids::SpaceId,
    prices::Prices,
    spaces::{NewSpace, Space, SpaceSettings},
};
use smartspace_pipeline::access::may_in;
use smartspace_store::table::pages::Page;

use self::creation::{check_members, existing, finished, given_up, new_space, role_of};
use super::PageQuery;
use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::{ApiResult, Created},
    auth::{Authenticated, Credential},
    description::IdempotencyKey,
    input::{Body, Id, Query, shaped},
};

pub(super) fn routes() -> Routes {
    routes![list, create, show, change, delete]
}

/// Create a space
#[utoipa::path(
    post, path = "/v1/spaces", operation_id = "createSpace", tag = "spaces",
    params(IdempotencyKey),
    request_body = NewSpace,
    responses(
        (status = 201, body = Space),
        (status = 409, description = "Two of the agents have the same name, a member is in too \
            many spaces, or the space that the key created no longer exists."),
    )
)]
async fn create(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    headers: HeaderMap,
    body: Body,
) -> ApiResult<Created<Space>> {
    let (settings, members) = new_space(&body, caller)?;
    if let Some(router) = &settings.router {
        router.model.must_have_provider(&api.providers)?;
    }
    check_prices(&api.prices, &settings)?;
    let key = body.key(&headers, caller, "/v1/spaces")?;
    let store = &api.pipeline.store;
    let now = api.pipeline.now();
    if let Some(before) = store.idempotency().made_before::<SpaceId>(key.as_ref(), now).await? {
        return finished(&api, caller, before, &members).await;
    }
    // All members are checked before anything is stored, so that a space never lacks some of the
    // members that the caller asked for.
    let members = existing(store, &members).await?;
    check_members(caller, &settings, &members)?;
    try_join_all(members.iter().map(|member| store.members().has_room_for_a_space(member))).await?;
    let own = SpaceId::new(now, api.pipeline.ids.random());
    let id = store.spaces().create(own, settings, key.as_ref(), now).await?;
    if id != own {
        // An identical request created the space at the same time. Members that have left it since
        // then are not added again.
        let members: Vec<_> = members.iter().map(|member| member.id).collect();
        return finished(&api, caller, id, &members).await;
    }
    if let Err(error) = api.pipeline.join_many(id, &members, |member| role_of(caller, member)).await
    {
        return Err(given_up(&api, id, error).await.into());
    }
    Ok(Created {
        location: format!("/v1/spaces/{id}"),
        made: store.spaces().get(id).await?.seen_by(caller),
    })
}

/// List spaces
#[utoipa::path(
    get, path = "/v1/spaces", operation_id = "listSpaces", tag = "spaces",
    params(PageQuery),
    responses((status = 200, body = Page<Space>))
)]
async fn list(
    State(api): State<Arc<Api>>,
    Credential { caller, .. }: Credential,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<Space>>> {
    let store = &api.pipeline.store;
    Ok(Json(match caller {
        Caller::Operator => store.spaces().list(&query.into()).await?,
        Caller::Entity(own) => store.relationships().spaces_of_entity(own, &query.into()).await?,
    }))
}

/// Show a space
#[utoipa::path(
    get, path = "/v1/spaces/{id}", operation_id = "showSpace", tag = "spaces",
    params(("id" = SpaceId, Path)),
    responses((status = 200, body = Space))
)]
async fn show(
    State(api): State<Arc<Api>>,
    Credential { caller, .. }: Credential,
    Id(id): Id<SpaceId>,
) -> ApiResult<Json<Space>> {
    api.pipeline.authorise(caller, SpaceAction::Read, id).await?;
    Ok(Json(api.pipeline.store.spaces().get(id).await?.seen_by(caller)))
}

/// Change a space
///
/// The body is a JSON merge patch: a field that it names is changed, and null resets a field to its
/// default.
#[utoipa::path(
    patch, path = "/v1/spaces/{id}", operation_id = "changeSpace", tag = "spaces",
    params(("id" = SpaceId, Path)),
    request_body(
        content = ref("#/components/schemas/SpacePatch"),
        content_type = "application/merge-patch+json",
    ),
    responses(
        (status = 200, body = Space),
        (status = 409, description = "The space was changed at the same time."),
    )
)]
async fn change(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Id(id): Id<SpaceId>,
    body: Body,
) -> ApiResult<Json<Space>> {
    let store = &api.pipeline.store;
    let record = store.spaces().record(id).await?;
    let roster = store.members().roster(id).await?;
    may_in(&roster, caller, SpaceAction::Govern)?;
    let mut value = serde_json::to_value(&record.settings)
        .map_err(|error| Error::Internal(error.to_string()))?;
    json_patch::merge(&mut value, &Value::Object(body.object()?));
    let settings: SpaceSettings = shaped(value)?;
    settings.check(Some(&record.settings))?;
    if let Some(router) = &settings.router
        && settings.router != record.settings.router
    {
        router.model.must_have_provider(&api.providers)?;
    }
    check_prices(&api.prices, &settings)?;
    if let Some(admin) =
        settings.admin_agent_id.filter(|admin| Some(*admin) != record.settings.admin_agent_id)
        && !roster.agents().any(|agent| agent == admin)
    {
        return Err(Error::invalid("/adminAgentId", "expected an agent of the space").into());
    }
    store.spaces().change(&record, &settings, &roster).await?;
    let space = store.spaces().get(id).await?;
    api.pipeline.announce(id, EventKind::SpaceUpdated { space: Box::new(space.clone()) }).await;
    Ok(Json(space.seen_by(caller)))
}

/// Delete a space with all of its messages
#[utoipa::path(
    delete, path = "/v1/spaces/{id}", operation_id = "deleteSpace", tag = "spaces",
    params(("id" = SpaceId, Path)),
    responses((status = 204))
)]
async fn delete(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Id(id): Id<SpaceId>,
) -> ApiResult<StatusCode> {
    api.pipeline.authorise(caller, SpaceAction::Govern, id).await?;
    api.pipeline.delete_space(id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Refuses a budget in dollars that could not be checked when the router is asked. The models of
/// the agents are checked when their runs are: agents come and go.
fn check_prices(prices: &Prices, settings: &SpaceSettings) -> smartspace_domain::Result<()> {
    match &settings.router {
        Some(router) if settings.budget.cost_per_day.is_some() => {
            prices.must_have("/budget/costPerDay", [router.model.full_name()])
        }
        _ => Ok(()),
    }
}
