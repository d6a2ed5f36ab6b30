//! `/v1/spaces`.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use futures::future::try_join_all;
use serde_json::Value;
use smartspace_domain::{
    Error, Result,
    access::{Caller, SpaceAction},
    entities::EntityType,
    events::Happening,
    ids::{EntityId, SpaceId},
    limits,
    schemas::NewSpace,
    spaces::{Role, Space, SpaceSettings},
};
use smartspace_pipeline::access::may_in;
use smartspace_store::pages::Page;

use super::PageQuery;
use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::{Answer, Created, gone},
    auth::By,
    description::IdempotencyKey,
    input::{Asked, Body, Id, shaped},
};

pub(super) fn routes() -> Routes {
    routes![list, create, show, change, delete]
}

/// Make a space
#[utoipa::path(
    post, path = "/v1/spaces", operation_id = "createSpace", tag = "spaces",
    params(IdempotencyKey),
    request_body = NewSpace,
    responses(
        (status = 201, body = Space),
        (status = 409, description = "Two of its agents have the same name, one is in too many spaces, or what the key made is gone."),
    )
)]
async fn create(State(api): State<Arc<Api>>, By(caller): By, headers: HeaderMap, body: Body) -> Answer<Created<Space>> {
    let (settings, members) = new_space(&body, caller)?;
    let key = body.key(&headers, caller, "/v1/spaces")?;
    let (store, now) = (&api.pipeline.store, api.pipeline.now());
    if let Some(before) = store.made_before::<SpaceId>(key.as_ref(), now).await? {
        return finished(&api, caller, before, &members).await;
    }
    // All of them before anything is made: a space without some of its members is not what was asked for.
    let members = try_join_all(members.iter().enumerate().map(async |(index, id)| match store.entity(*id).await {
        Err(Error::NotFound(_)) => Err(Error::invalid(format!("/members/{index}"), format!("there is no entity {id}"))),
        found => found,
    }))
    .await?;
    for member in &members {
        if Caller::Entity(member.id) != caller {
            caller.may_bring_in(member)?;
        }
    }
    let mut names: Vec<_> =
        members.iter().filter(|member| member.kind == EntityType::Agent).map(|member| member.name.to_lowercase()).collect();
    names.sort();
    if let Some([name, _]) = names.array_windows().find(|[one, other]| one == other) {
        return Err(Error::Conflict(format!("two of the agents are named {name:?}; names of agents are unique within a space")).into());
    }
    if let Some(admin) = settings.admin_agent_id
        && !members.iter().any(|member| member.id == admin && member.kind == EntityType::Agent)
    {
        return Err(Error::invalid("/adminAgentId", "expected an agent among the members").into());
    }
    try_join_all(members.iter().map(|member| store.has_room_for_a_space(member))).await?;
    let own = SpaceId::new(now, api.pipeline.ids.random());
    let id = store.create_space(own, settings, key.as_ref(), now).await?;
    if id != own {
        // The same request made it, at the same time: that one says what becomes of it, and who has left since stays out.
        let members: Vec<_> = members.iter().map(|member| member.id).collect();
        return finished(&api, caller, id, &members).await;
    }
    for member in &members {
        if let Err(error) = api.pipeline.join(id, member, role_of(caller, member.id)).await {
            return Err(given_up(&api, id, error).await.into());
        }
    }
    Ok(Created { location: format!("/v1/spaces/{id}"), made: store.space(id).await?.seen_by(caller) })
}

/// Who makes a space owns it.
fn role_of(caller: Caller, member: EntityId) -> Role {
    if caller == Caller::Entity(member) { Role::Owner } else { Role::Member }
}

/// Why a space was not made after all. Where one can't join who could a moment ago, nothing is left of it; what is not known to be kept is repeated with its
/// key, and finds it.
async fn given_up(api: &Api, id: SpaceId, error: Error) -> Error {
    if error.is_passing() {
        return error;
    }
    api.pipeline.delete_space(id).await.err().unwrap_or(error)
}

/// A space that the same key made before. Where its first request was cut off, those join who never did.
async fn finished(api: &Api, caller: Caller, id: SpaceId, members: &[EntityId]) -> Answer<Created<Space>> {
    let store = &api.pipeline.store;
    store.space_record(id).await.map_err(gone)?;
    for member in members {
        if !store.was_member(id, *member).await? {
            match store.entity(*member).await {
                Ok(member) => api.pipeline.join(id, &member, role_of(caller, member.id)).await.map_err(gone)?,
                Err(Error::NotFound(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    // Who has left it since may not know of it any more.
    api.pipeline.authorise(caller, SpaceAction::Read, id).await?;
    Ok(Created { location: format!("/v1/spaces/{id}"), made: store.space(id).await?.seen_by(caller) })
}

/// `{name, members?: [id], …}`. Who makes a space is its first member.
fn new_space(body: &Body, caller: Caller) -> Result<(SpaceSettings, Vec<EntityId>)> {
    let mut object = body.object()?;
    let members = object.remove("members").unwrap_or_else(|| Value::Array(Vec::new()));
    let mut members: Vec<EntityId> = shaped(members).map_err(|error| match error {
        Error::Invalid(faults) => Error::invalid(format!("/members{}", faults[0].pointer), faults[0].detail.clone()),
        error => error,
    })?;
    let settings: SpaceSettings = shaped(Value::Object(object))?;
    settings.check()?;
    let mut seen = std::collections::BTreeSet::new();
    if let Caller::Entity(own) = caller {
        members.insert(0, own);
    }
    members.retain(|member| seen.insert(*member));
    if members.len() > limits::MEMBERS {
        return Err(Error::invalid("/members", format!("expected at most {} members", limits::MEMBERS)));
    }
    Ok((settings, members))
}

/// List spaces
#[utoipa::path(
    get, path = "/v1/spaces", operation_id = "listSpaces", tag = "spaces",
    params(PageQuery),
    responses((status = 200, body = Page<Space>))
)]
async fn list(State(api): State<Arc<Api>>, By(caller): By, Asked(query): Asked<PageQuery>) -> Answer<Json<Page<Space>>> {
    let store = &api.pipeline.store;
    Ok(Json(match caller {
        Caller::Operator => store.spaces(&query.into()).await?,
        Caller::Entity(own) => store.own_spaces(own, &query.into()).await?,
    }))
}

/// Show a space
#[utoipa::path(
    get, path = "/v1/spaces/{id}", operation_id = "showSpace", tag = "spaces",
    params(("id" = SpaceId, Path)),
    responses((status = 200, body = Space))
)]
async fn show(State(api): State<Arc<Api>>, By(caller): By, Id(id): Id<SpaceId>) -> Answer<Json<Space>> {
    api.pipeline.authorise(caller, SpaceAction::Read, id).await?;
    Ok(Json(api.pipeline.store.space(id).await?.seen_by(caller)))
}

/// Change a space
///
/// A JSON merge patch: what it names changes, null goes back to the default.
#[utoipa::path(
    patch, path = "/v1/spaces/{id}", operation_id = "changeSpace", tag = "spaces",
    params(("id" = SpaceId, Path)),
    request_body(content = ref("#/components/schemas/SpacePatch"), content_type = "application/merge-patch+json"),
    responses((status = 200, body = Space), (status = 409, description = "It was changed at the same time."))
)]
async fn change(State(api): State<Arc<Api>>, By(caller): By, Id(id): Id<SpaceId>, body: Body) -> Answer<Json<Space>> {
    let store = &api.pipeline.store;
    let (record, roster) = (store.space_record(id).await?, store.roster(id).await?);
    may_in(&roster, caller, SpaceAction::Govern)?;
    let mut value = serde_json::to_value(&record.settings).map_err(|error| Error::Internal(error.to_string()))?;
    json_patch::merge(&mut value, &Value::Object(body.object()?));
    let settings: SpaceSettings = shaped(value)?;
    settings.check()?;
    if let Some(admin) = settings.admin_agent_id.filter(|admin| Some(*admin) != record.settings.admin_agent_id)
        && !roster.agents().any(|agent| agent == admin)
    {
        return Err(Error::invalid("/adminAgentId", "expected an agent of the space").into());
    }
    store.change_space(id, &settings, record.rev, &roster).await?;
    let space = store.space(id).await?;
    api.pipeline.announce(id, Happening::SpaceUpdated { space: Box::new(space.clone()) }).await;
    Ok(Json(space.seen_by(caller)))
}

/// Delete a space with all that was said in it
#[utoipa::path(
    delete, path = "/v1/spaces/{id}", operation_id = "deleteSpace", tag = "spaces",
    params(("id" = SpaceId, Path)),
    responses((status = 204))
)]
async fn delete(State(api): State<Arc<Api>>, By(caller): By, Id(id): Id<SpaceId>) -> Answer<StatusCode> {
    api.pipeline.authorise(caller, SpaceAction::Govern, id).await?;
    api.pipeline.delete_space(id).await?;
    Ok(StatusCode::NO_CONTENT)
}
