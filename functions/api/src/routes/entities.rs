//! `/v1/entities`: people and agents.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use serde_json::Value;
use smartspace_domain::{
    Error,
    access::{Caller, EntityAction},
    entities::{Entity, EntitySettings},
    ids::EntityId,
    schemas::NewEntity,
};
use smartspace_store::{members::name_is_free, pages::Page};

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
    routes![list, create, show, change, retire]
}

/// Make a person or an agent
#[utoipa::path(
    post, path = "/v1/entities", operation_id = "createEntity", tag = "entities",
    params(IdempotencyKey),
    request_body = NewEntity,
    responses((status = 201, body = Entity), (status = 409, description = "Another entity has this `externalId`, or what the key made is gone."))
)]
async fn create(State(api): State<Arc<Api>>, By(caller): By, headers: HeaderMap, body: Body) -> Answer<Created<Entity>> {
    caller.must_be_operator()?;
    let settings: EntitySettings = body.read()?;
    settings.check()?;
    let key = body.key(&headers, caller, "/v1/entities")?;
    let (now, random) = (api.pipeline.now(), api.pipeline.ids.random());
    if let Some(before) = api.pipeline.store.made_before::<EntityId>(key.as_ref(), now).await? {
        let made = api.pipeline.store.entity(before).await.map_err(gone)?;
        return Ok(Created { location: format!("/v1/entities/{}", made.id), made });
    }
    let made = api.pipeline.store.create_entity(EntityId::new(now, random), settings, key.as_ref(), now).await.map_err(gone)?;
    Ok(Created { location: format!("/v1/entities/{}", made.id), made })
}

/// List people and agents
#[utoipa::path(
    get, path = "/v1/entities", operation_id = "listEntities", tag = "entities",
    params(PageQuery),
    responses((status = 200, body = Page<Entity>))
)]
async fn list(State(api): State<Arc<Api>>, By(caller): By, Asked(query): Asked<PageQuery>) -> Answer<Json<Page<Entity>>> {
    let store = &api.pipeline.store;
    match caller {
        Caller::Operator => Ok(Json(store.entities(&query.into()).await?)),
        Caller::Entity(own) => {
            let Page { items, next_cursor } = store.acquaintances(own, &query.into()).await?;
            Ok(Json(Page { items: items.into_iter().map(|entity| entity.seen_by(caller)).collect(), next_cursor }))
        }
    }
}

/// Show a person or an agent
#[utoipa::path(
    get, path = "/v1/entities/{id}", operation_id = "showEntity", tag = "entities",
    params(("id" = EntityId, Path)),
    responses((status = 200, body = Entity))
)]
async fn show(State(api): State<Arc<Api>>, By(caller): By, Id(id): Id<EntityId>) -> Answer<Json<Entity>> {
    api.pipeline.authorise_with(caller, EntityAction::Read, id).await?;
    Ok(Json(api.pipeline.store.entity(id).await?.seen_by(caller)))
}

/// Change a person or an agent
///
/// A JSON merge patch: what it names changes, null goes back to the default. `type` can't be changed.
#[utoipa::path(
    patch, path = "/v1/entities/{id}", operation_id = "changeEntity", tag = "entities",
    params(("id" = EntityId, Path)),
    request_body(content = ref("#/components/schemas/EntityPatch"), content_type = "application/merge-patch+json"),
    responses(
        (status = 200, body = Entity),
        (status = 409, description = "Its name or `externalId` is taken, or it was changed at the same time."),
    )
)]
async fn change(State(api): State<Arc<Api>>, By(caller): By, Id(id): Id<EntityId>, body: Body) -> Answer<Json<Entity>> {
    api.pipeline.authorise_with(caller, EntityAction::Rename, id).await?;
    let store = &api.pipeline.store;
    let patch = body.object()?;
    if caller != Caller::Operator
        && let Some(field) = patch.keys().find(|field| ["type", "externalId", "agent"].contains(&field.as_str()))
    {
        return Err(Error::Forbidden(format!("/{field}: only the operator may change this; `name` is yours to change")).into());
    }
    let record = store.entity_record(id).await?;
    let settings = patched(&record.entity, Value::Object(patch))?;
    settings.check()?;
    if settings.kind != record.entity.kind {
        return Err(Error::invalid("/type", "can't be changed").into());
    }
    let renamed = settings.name != record.entity.name;
    if renamed {
        for space in store.spaces_of(id).await? {
            match store.roster(space).await {
                Ok(roster) => name_is_free(&roster, id, settings.kind, &settings.name)?,
                // A space that is being removed asks for no name.
                Err(Error::NotFound(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    let entity = store.change_entity(&record, settings, api.pipeline.now()).await?;
    if renamed {
        // What is not finished here is due, and finished by `sweep`.
        api.pipeline.settle_entity(id).await?;
    }
    Ok(Json(entity.seen_by(caller)))
}

/// Retire a person or an agent
///
/// It leaves its spaces, its runs end, its messages keep its name.
#[utoipa::path(
    delete, path = "/v1/entities/{id}", operation_id = "retireEntity", tag = "entities",
    params(("id" = EntityId, Path)),
    responses((status = 204), (status = 409, description = "It was changed at the same time."))
)]
async fn retire(State(api): State<Arc<Api>>, By(caller): By, Id(id): Id<EntityId>) -> Answer<StatusCode> {
    api.pipeline.authorise_with(caller, EntityAction::Change, id).await?;
    let record = api.pipeline.store.entity_record(id).await?;
    api.pipeline.store.retire_entity(&record, api.pipeline.now()).await?;
    api.pipeline.settle_entity(id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// What can be set of an entity, with a merge patch applied.
fn patched(entity: &Entity, patch: Value) -> smartspace_domain::Result<EntitySettings> {
    let Entity { kind, name, external_id, agent, .. } = entity.clone();
    let settings = EntitySettings { kind, name, external_id, agent };
    let mut value = serde_json::to_value(settings).map_err(|error| Error::Internal(error.to_string()))?;
    json_patch::merge(&mut value, &patch);
    shaped(value)
}
