//! `/v1/entities`: people and agents.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use serde_json::{Map, Value};
use smartspace_domain::{
    Error,
    access::{Caller, EntityAction},
    agents::AgentConfig,
    entities::{Entity, EntitySettings, EntityType, NewEntity},
    errors::Faults,
    ids::EntityId,
    providers::Providers,
    request_json::merged,
};
use smartspace_store::{
    Store,
    entities::{EntityRecord, revisions::Made},
    spaces::{
        members::{guest_name_is_free, name_is_free},
        rosters::MemberRecord,
    },
    table::pages::Page,
};

use super::PageQuery;
use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::{ApiResult, Created, gone},
    auth::Authenticated,
    description::IdempotencyKey,
    input::{Body, Id, Query},
};

pub(super) fn routes() -> Routes {
    routes![list, create, show, change, retire]
}

/// Create a person or an agent
///
/// For the operator.
#[utoipa::path(
    post, path = "/v1/entities", operation_id = "createEntity", tag = "entities",
    params(IdempotencyKey),
    request_body = NewEntity,
    responses(
        (status = 201, body = Entity),
        (status = 409, description = "Another entity has this `externalId`, or the entity that \
            the key created no longer exists."),
    )
)]
async fn create(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    headers: HeaderMap,
    body: Body,
) -> ApiResult<Created<Entity>> {
    caller.must_be_operator()?;
    let settings: EntitySettings = body.read()?;
    settings.check()?;
    check_providers(&api.providers, &settings)?;
    let key = body.key(&headers, caller, "/v1/entities")?;
    let store = &api.pipeline.store;
    let now = api.pipeline.now();
    if let Some(before) = store.idempotency().made_before::<EntityId>(key.as_ref(), now).await? {
        let made = store.entities().get(before).await.map_err(gone)?;
        return Ok(Created { location: format!("/v1/entities/{}", made.id), made });
    }
    let id = EntityId::new(now, api.pipeline.ids.random());
    let made = store.entities().create(id, settings, key.as_ref(), now).await.map_err(gone)?;
    Ok(Created { location: format!("/v1/entities/{}", made.id), made })
}

/// List people and agents
///
/// The oldest comes first. The operator sees all; an entity sees itself and those with whom it
/// shares a space.
#[utoipa::path(
    get, path = "/v1/entities", operation_id = "listEntities", tag = "entities",
    params(PageQuery),
    responses((status = 200, body = Page<Entity>))
)]
async fn list(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<Entity>>> {
    let store = &api.pipeline.store;
    match caller {
        Caller::Operator => Ok(Json(store.entities().list(&query.into()).await?)),
        Caller::Entity(own) => {
            let Page { items, next_cursor } =
                store.relationships().known_to(own, &query.into()).await?;
            Ok(Json(Page {
                items: items.into_iter().map(|entity| entity.seen_by(caller)).collect(),
                next_cursor,
            }))
        }
    }
}

/// Show a person or an agent
///
/// Only the operator sees the configuration of an agent.
#[utoipa::path(
    get, path = "/v1/entities/{id}", operation_id = "showEntity", tag = "entities",
    params(("id" = EntityId, Path)),
    responses((status = 200, body = Entity))
)]
async fn show(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Id(id): Id<EntityId>,
) -> ApiResult<Json<Entity>> {
    api.pipeline.authorise_with(caller, EntityAction::Read, id).await?;
    Ok(Json(api.pipeline.store.entities().get(id).await?.seen_by(caller)))
}

/// Change a person or an agent
///
/// The body is a JSON merge patch: a field that it names is changed, and null resets a field to its
/// default. `type` can't be changed.
#[utoipa::path(
    patch, path = "/v1/entities/{id}", operation_id = "changeEntity", tag = "entities",
    params(("id" = EntityId, Path)),
    request_body(
        content = ref("#/components/schemas/EntityPatch"),
        content_type = "application/merge-patch+json",
    ),
    responses(
        (status = 200, body = Entity),
        (status = 409, description = "The name or the `externalId` is taken, or the entity was \
            changed at the same time."),
    )
)]
async fn change(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Id(id): Id<EntityId>,
    body: Body,
) -> ApiResult<Json<Entity>> {
    api.pipeline.authorise_with(caller, EntityAction::Rename, id).await?;
    let patch = body.object()?;
    if caller != Caller::Operator
        && let Some(field) =
            patch.keys().find(|field| ["type", "externalId", "agent"].contains(&field.as_str()))
    {
        return Err(Error::Forbidden(format!(
            "/{field}: only the operator may change this; you may change `name`"
        ))
        .into());
    }
    let record = api.pipeline.store.entities().record(id).await?;
    let settings = patched(&record.entity, &patch)?;
    settings.check()?;
    if models_differ(&settings, &record.entity) {
        check_providers(&api.providers, &settings)?;
    }
    if settings.kind != record.entity.kind {
        return Err(Error::invalid("/type", "can't be changed").into());
    }
    if record.entity.guest_of.is_some() && settings.external_id.is_some() {
        let expected = "expected none: a guest has no account, only the token of its invite";
        return Err(Error::invalid("/externalId", expected).into());
    }
    let entity = apply(&api, &record, settings, &Made::by_api(caller)).await?;
    Ok(Json(entity.seen_by(caller)))
}

/// Changes an entity, and what follows from that elsewhere.
pub(super) async fn apply(
    api: &Api,
    record: &EntityRecord,
    settings: EntitySettings,
    made: &Made,
) -> smartspace_domain::Result<Entity> {
    let pipeline = &api.pipeline;
    let entities = pipeline.store.entities();
    if settings.name != record.entity.name {
        name_is_free_everywhere(&pipeline.store, &record.entity, &settings).await?;
    }
    let entity = entities.change(record, settings, made, pipeline.now()).await?;
    if entity.agent.is_some() {
        pipeline.fill_slots(entity.id).await;
    }
    if MemberRecord::shows_change(&record.entity, &entity) {
        // If this fails half-way, the entity stays due and `sweep` finishes it.
        pipeline.settle_entity(entity.id).await?;
    }
    Ok(entity)
}

/// Fails if an agent or a guest can't have its new name in one of its spaces.
async fn name_is_free_everywhere(
    store: &Store,
    entity: &Entity,
    settings: &EntitySettings,
) -> smartspace_domain::Result<()> {
    let is_guest = entity.guest_of.is_some();
    // The names of agents are unique within a space, and guests look like nobody else there.
    if settings.kind != EntityType::Agent && !is_guest {
        return Ok(());
    }
    for space in store.entities().spaces_of(entity.id).await? {
        match store.members().roster(space).await {
            Ok(roster) if is_guest => guest_name_is_free(&roster, entity.id, &settings.name)?,
            Ok(roster) => name_is_free(&roster, entity.id, settings.kind, &settings.name)?,
            // The space is being deleted, so its names no longer matter.
            Err(Error::NotFound(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Retire a person or an agent
///
/// The entity leaves its spaces and its runs end. Its messages keep its name.
#[utoipa::path(
    delete, path = "/v1/entities/{id}", operation_id = "retireEntity", tag = "entities",
    params(("id" = EntityId, Path)),
    responses(
        (status = 204),
        (status = 409, description = "The entity was changed at the same time."),
    )
)]
async fn retire(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Id(id): Id<EntityId>,
) -> ApiResult<StatusCode> {
    api.pipeline.authorise_with(caller, EntityAction::Change, id).await?;
    let record = api.pipeline.store.entities().record(id).await?;
    api.pipeline.store.entities().retire(&record, api.pipeline.now()).await?;
    api.pipeline.settle_entity(id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Whether a change concerns models or tools. Any other change does not fail because of a provider
/// that is gone.
fn models_differ(settings: &EntitySettings, before: &Entity) -> bool {
    let chosen = |agent: &Option<AgentConfig>| {
        agent.as_ref().map(|agent| (agent.model.clone(), agent.tools.clone()))
    };
    chosen(&settings.agent) != chosen(&before.agent)
}

/// Refuses a provider of models that this deployment does not have.
pub(super) fn check_providers(
    providers: &Providers,
    settings: &EntitySettings,
) -> smartspace_domain::Result<()> {
    let mut faults = Faults::default();
    if let Some(agent) = &settings.agent {
        faults.within("agent", |faults| agent.check_providers(providers, faults));
    }
    faults.done()
}

/// The settings of an entity after a merge patch.
fn patched(
    entity: &Entity,
    patch: &Map<String, Value>,
) -> smartspace_domain::Result<EntitySettings> {
    let Entity { kind, name, external_id, agent, .. } = entity.clone();
    let settings = EntitySettings { kind, name, external_id, agent };
    let value =
        serde_json::to_value(settings).map_err(|error| Error::Internal(error.to_string()))?;
    merged(value, patch)
}
