//! `/v1/spaces`: creates, lists, shows, changes and deletes spaces.

mod creation;

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use futures::future::try_join_all;
use serde_json::{Map, Value};
use smartspace_domain::{
    Error, Time,
    access::{Caller, SpaceAction},
    events::EventKind,
    ids::SpaceId,
    request_json::merged,
    spaces::{NewSpace, Space, SpaceSettings, owner_limits::OperatorLimits},
};
use smartspace_pipeline::access::may_in;
use smartspace_store::{spaces::lines::Reported, table::pages::Page};

use self::creation::{
    NewSpaceRequest, check_members, existing, finished, given_up, new_space, role_of,
};
use super::PageQuery;
use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::{ApiResult, Created},
    auth::{Authenticated, Credential},
    description::IdempotencyKey,
    input::{Body, Id, Query},
};

pub(super) fn routes() -> Routes {
    routes![list, create, show, change, delete]
}

/// Create a space
///
/// An entity that creates a space becomes its first owner.
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
    let NewSpaceRequest { written, settings, members } = new_space(&body, caller)?;
    let limits = bounded(caller, OperatorLimits::default(), None, &written, &settings)?;
    check_router(&api, None, &settings)?;
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
    let id = store.spaces().create_within(own, settings, limits, key.as_ref(), now).await?;
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
        made: store.spaces().seen_by(id, caller).await?,
    })
}

/// List spaces
///
/// By activity: the one with the newest message comes first. A space without messages stands where
/// it was created. The operator sees all spaces, and an entity those that it is in. A space that
/// gets a message while the pages are read may be on two of them.
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
    Ok(Json(api.pipeline.store.spaces().list(caller, &query.into()).await?))
}

/// Show a space
///
/// With its members. Only its owners and the operator see its router and its budget.
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
    Ok(Json(api.pipeline.store.spaces().seen_by(id, caller).await?))
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
    let before = serde_json::to_value(&record.settings)
        .map_err(|error| Error::Internal(error.to_string()))?;
    let patch = body.object()?;
    let settings: SpaceSettings = merged(before, &patch)?;
    settings.check(Some(&record.settings))?;
    let before = Some(&record.settings);
    let limits = bounded(caller, record.operator_limits, before, &patch, &settings)?;
    check_router(&api, before, &settings)?;
    if let Some(admin) =
        settings.admin_agent_id.filter(|admin| Some(*admin) != record.settings.admin_agent_id)
        && !roster.agents().any(|agent| agent == admin)
    {
        return Err(Error::invalid("/adminAgentId", "expected an agent of the space").into());
    }
    let at = api.pipeline.now();
    let reported = Reported { space: id, roster: &roster, by: caller, at };
    store.spaces().change(&record, &settings, limits, reported, None).await?;
    announce_change(&api, id, at).await?;
    Ok(Json(store.spaces().seen_by(id, caller).await?))
}

/// Shows a space whose settings were changed at `at` to those who follow it.
pub(super) async fn announce_change(
    api: &Api,
    id: SpaceId,
    at: Time,
) -> smartspace_domain::Result<()> {
    let space = Box::new(api.pipeline.store.spaces().get(id).await?);
    api.pipeline.announce(id, EventKind::SpaceUpdated { space }).await;
    api.pipeline.announce_lines(id, at).await;
    Ok(())
}

/// Delete a space
///
/// Its messages and files are deleted with it, and its active runs are canceled.
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

/// Refuses settings that the caller can't set in a space. Returns the limits of the operator after
/// the request.
fn bounded(
    caller: Caller,
    limits: OperatorLimits,
    before: Option<&SpaceSettings>,
    written: &Map<String, Value>,
    settings: &SpaceSettings,
) -> smartspace_domain::Result<OperatorLimits> {
    match caller {
        Caller::Operator => Ok(limits.after(written, settings)),
        Caller::Entity(_) => limits.check_owner(before, settings).map(|()| limits),
    }
}

/// Refuses the policy `router` if nothing chooses, and a model whose provider does not exist. A
/// change of other settings does not fail because of a model that is gone.
pub(super) fn check_router(
    api: &Api,
    before: Option<&SpaceSettings>,
    settings: &SpaceSettings,
) -> smartspace_domain::Result<()> {
    let chosen = |settings: &SpaceSettings| {
        (settings.trigger_policy, settings.router.clone(), settings.gate.mode)
    };
    if before.map(chosen) == Some(chosen(settings)) {
        return Ok(());
    }
    if let Some(model) = settings.router.as_ref().and_then(|router| router.model.as_ref()) {
        model.must_have_provider(&api.providers)?;
    }
    settings.must_have_router_model(api.router_model.as_ref())
}
