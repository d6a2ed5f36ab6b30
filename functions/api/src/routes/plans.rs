//! `/v1/agents/{id}/plans`: what an agent is to do later, for its operator.

use std::{collections::BTreeSet, sync::Arc};

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::IntoResponse,
};
use smartspace_domain::{
    Error, Result,
    ids::{EntityId, PlanId},
    plans::{Plan, PlanChange},
    runs::Run,
};
use smartspace_store::{
    Store,
    kept::By as ChangedBy,
    pages::Page,
    plans::{SetPlan, no_such_plan},
};

use super::{PageQuery, what_is_kept};
use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::{Answer, Created, gone},
    auth::By,
    description::{ChainDepth, IdempotencyKey},
    input::{Asked, Body, Id, TwoIds, depth},
};

pub(super) fn routes() -> Routes {
    routes![list, create, change, delete, run]
}

/// List the plans of an agent
///
/// By age.
#[utoipa::path(
    get, path = "/v1/agents/{id}/plans", operation_id = "listPlans", tag = "agents",
    params(("id" = EntityId, Path), PageQuery),
    responses((status = 200, body = Page<Plan>))
)]
async fn list(
    State(api): State<Arc<Api>>,
    By(caller): By,
    Id(agent): Id<EntityId>,
    Asked(query): Asked<PageQuery>,
) -> Answer<Json<Page<Plan>>> {
    let store = what_is_kept(&api, caller, agent).await?;
    Ok(Json(store.plans(agent, &query.into()).await?))
}

/// Make a plan of an agent
///
/// It needs a name, an instruction and exactly one of `runAfter`, `scheduledAt` and `cron`.
#[utoipa::path(
    post, path = "/v1/agents/{id}/plans", operation_id = "createPlan", tag = "agents",
    params(("id" = EntityId, Path), IdempotencyKey, ChainDepth),
    request_body = PlanChange,
    responses((status = 201, body = Plan), (status = 409, description = "It has as many plans as it may have, it would wake nobody from so deep, or what the key made is gone."))
)]
async fn create(
    State(api): State<Arc<Api>>,
    By(caller): By,
    Id(agent): Id<EntityId>,
    headers: HeaderMap,
    body: Body,
) -> Answer<Created<Plan>> {
    let store = what_is_kept(&api, caller, agent).await?;
    let path = format!("/v1/agents/{agent}/plans");
    let (change, key) = (body.read()?, body.key(&headers, caller, &path)?);
    let created = |made: Plan| Created { location: format!("{path}/{}", made.id), made };
    let now = api.pipeline.now();
    if let Some(made) = store.made_before::<PlanId>(key.as_ref(), now).await? {
        return Ok(created(made_then(store, agent, made, change).await?));
    }
    let id = PlanId::new(now, api.pipeline.ids.random());
    let by = match &key {
        Some(key) => ChangedBy::Post(api.pipeline.token(), Box::new(key.write(&id.to_string(), now)?)),
        None => ChangedBy::Request(api.pipeline.token()),
    };
    match set(&api, (agent, id), false, (change.clone(), depth(&headers)?), &by).await {
        Ok(made) => Ok(created(made)),
        Err(conflict @ Error::Conflict(_)) => match store.made_before::<PlanId>(key.as_ref(), now).await? {
            // The same request, at the same time.
            Some(made) => Ok(created(made_then(store, agent, made, change).await?)),
            None => Err(conflict.into()),
        },
        Err(error) => Err(error.into()),
    }
}

/// What a key made. A plan that was to fire once is gone when it has: then as it was asked for, with no time to come.
async fn made_then(store: &Store, agent: EntityId, id: PlanId, asked: PlanChange) -> Result<Plan> {
    match store.plan(agent, id).await {
        Err(Error::NotFound(_)) => {}
        found => return found,
    }
    let plan = asked.apply(id, None, id.time(), "")?;
    if plan.repeats() { Err(gone(no_such_plan())) } else { Ok(Plan { next_run_at: None, ..plan }) }
}

/// Change a plan of an agent
///
/// What is left out stays as it is; one of `runAfter`, `scheduledAt` and `cron` sets its time anew. `status` pauses it, and lets it go on. It may be
/// repeated.
#[utoipa::path(
    put, path = "/v1/agents/{id}/plans/{planId}", operation_id = "changePlan", tag = "agents",
    params(("id" = EntityId, Path), ("planId" = PlanId, Path), ChainDepth),
    request_body = PlanChange,
    responses((status = 200, body = Plan), (status = 409, description = "It would wake nobody: the agent takes nothing from so deep."))
)]
async fn change(
    State(api): State<Arc<Api>>,
    By(caller): By,
    TwoIds(agent, plan): TwoIds<EntityId, PlanId>,
    headers: HeaderMap,
    body: Body,
) -> Answer<Json<Plan>> {
    let store = what_is_kept(&api, caller, agent).await?;
    store.plan(agent, plan).await?;
    let by = ChangedBy::Request(api.pipeline.token());
    Ok(Json(set(&api, (agent, plan), true, (body.read()?, depth(&headers)?), &by).await?))
}

/// Sets a plan. What it wakes is as deep in a chain of agents' doings as who asks for it.
async fn set(
    api: &Api,
    (agent, id): (EntityId, PlanId),
    known: bool,
    (change, chain_depth): (PlanChange, u32),
    by: &ChangedBy<Plan>,
) -> Result<Plan> {
    let config = api.pipeline.store.agent(agent).await?.agent;
    let max_chain_depth = config.map_or(0, |config| config.max_chain_depth);
    let set = SetPlan { id, known, change, chain_depth, max_chain_depth, pointer: String::new() };
    let mut made = api.pipeline.set_plans(agent, &[set], by).await?;
    made.pop().ok_or_else(no_such_plan)
}

/// Drop a plan of an agent
///
/// It may be repeated.
#[utoipa::path(
    delete, path = "/v1/agents/{id}/plans/{planId}", operation_id = "deletePlan", tag = "agents",
    params(("id" = EntityId, Path), ("planId" = PlanId, Path)),
    responses((status = 204))
)]
async fn delete(State(api): State<Arc<Api>>, By(caller): By, TwoIds(agent, plan): TwoIds<EntityId, PlanId>) -> Answer<StatusCode> {
    let store = what_is_kept(&api, caller, agent).await?;
    store.delete_plans(agent, &BTreeSet::from([plan]), &ChangedBy::Request(api.pipeline.token())).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Run a plan now
///
/// When it fires by itself stays as it is.
#[utoipa::path(
    post, path = "/v1/agents/{id}/plans/{planId}/run", operation_id = "runPlan", tag = "agents",
    params(("id" = EntityId, Path), ("planId" = PlanId, Path), IdempotencyKey, ChainDepth),
    responses(
        (status = 202, body = Run),
        (status = 409, description = "The agent is paused, or takes nothing from so deep."),
        (status = 422, description = "The key was used before with another body.")
    )
)]
async fn run(
    State(api): State<Arc<Api>>,
    By(caller): By,
    TwoIds(agent, plan): TwoIds<EntityId, PlanId>,
    headers: HeaderMap,
    body: Body,
) -> Answer<impl IntoResponse> {
    let store = what_is_kept(&api, caller, agent).await?;
    let key = body.key(&headers, caller, &format!("/v1/agents/{agent}/plans/{plan}/run"))?;
    let run = api.pipeline.run_plan(agent, plan, depth(&headers)?, key.as_ref()).await?;
    Ok((StatusCode::ACCEPTED, Json(store.run(&run).await?)))
}
