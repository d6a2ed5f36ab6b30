//! `/v1/agents/{id}/plans`: the operator reads, changes and runs an agent's plans.

use std::{collections::BTreeSet, sync::Arc};

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::IntoResponse,
};
use serde::Serialize;
use smartspace_domain::{
    Error, Result, Time,
    ids::{EntityId, PlanId},
    plans::{Plan, PlanChange},
    runs::Run,
};
use smartspace_store::{
    Store,
    agents::{
        plans::{SetPlan, no_such_plan},
        state::ChangedBy,
    },
    table::pages::Page,
};
use utoipa::ToSchema;

use super::{PageQuery, store_for_agent};
use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::{ApiResult, Created, gone},
    auth::Authenticated,
    description::{ChainDepth, IdempotencyKey},
    input::{Body, Id, Query, TwoIds, depth},
};

pub(super) fn routes() -> Routes {
    routes![list, create, change, delete, run]
}

/// How many of a plan's next times a list shows.
const SHOWN_RUNS: usize = 5;

/// A plan of a list, with its next times.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ListedPlan {
    #[serde(flatten)]
    plan: Plan,
    /// The next times at which the plan fires, up to five. Empty if it is paused.
    next_runs: Vec<Time>,
}

impl From<Plan> for ListedPlan {
    fn from(plan: Plan) -> Self {
        Self { next_runs: plan.next_runs(SHOWN_RUNS), plan }
    }
}

/// List the plans of an agent
///
/// Sorted by age.
#[utoipa::path(
    get, path = "/v1/agents/{id}/plans", operation_id = "listPlans", tag = "agents",
    params(("id" = EntityId, Path), PageQuery),
    responses((status = 200, body = Page<ListedPlan>))
)]
async fn list(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Id(agent): Id<EntityId>,
    Query(query): Query<PageQuery>,
) -> ApiResult<Json<Page<ListedPlan>>> {
    let store = store_for_agent(&api, caller, agent).await?;
    let Page { items, next_cursor } = store.plans().list(agent, &query.into()).await?;
    let items = items.into_iter().map(ListedPlan::from).collect();
    Ok(Json(Page { items, next_cursor }))
}

/// Create a plan of an agent
///
/// A plan needs a name, an instruction and exactly one of `runAfter`, `scheduledAt` and `cron`.
#[utoipa::path(
    post, path = "/v1/agents/{id}/plans", operation_id = "createPlan", tag = "agents",
    params(("id" = EntityId, Path), IdempotencyKey, ChainDepth),
    request_body = PlanChange,
    responses(
        (status = 201, body = Plan),
        (status = 409, description = "The agent has the maximum number of plans, the chain depth \
            has reached the agent's `maxChainDepth`, or the plan that the key created no longer \
            exists."),
    )
)]
async fn create(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Id(agent): Id<EntityId>,
    headers: HeaderMap,
    body: Body,
) -> ApiResult<Created<Plan>> {
    let store = store_for_agent(&api, caller, agent).await?;
    let path = format!("/v1/agents/{agent}/plans");
    let change: PlanChange = body.read()?;
    let key = body.key(&headers, caller, &path)?;
    let created = |made: Plan| Created { location: format!("{path}/{}", made.id), made };
    let now = api.pipeline.now();
    if let Some(made) = store.idempotency().made_before::<PlanId>(key.as_ref(), now).await? {
        return Ok(created(created_before(store, agent, made, change).await?));
    }
    let id = PlanId::new(now, api.pipeline.ids.random());
    let by = match &key {
        Some(key) => {
            ChangedBy::Post(api.pipeline.token(), Box::new(key.write(&id.to_string(), now)?))
        }
        None => ChangedBy::Request(api.pipeline.token()),
    };
    let new = SetPlan {
        id,
        known: false,
        change: change.clone(),
        chain_depth: depth(&headers)?,
        max_chain_depth: max_chain_depth(&api, agent).await?,
        pointer: String::new(),
    };
    match set(&api, agent, new, &by).await {
        Ok(made) => Ok(created(made)),
        Err(conflict @ Error::Conflict(_)) => {
            match store.idempotency().made_before::<PlanId>(key.as_ref(), now).await? {
                // The same request came at the same time and created it.
                Some(made) => Ok(created(created_before(store, agent, made, change).await?)),
                None => Err(conflict.into()),
            }
        }
        Err(error) => Err(error.into()),
    }
}

/// The plan that an idempotency key created. A plan that fires once is deleted when it fires; the
/// answer is then the plan as requested, without a next time.
async fn created_before(
    store: &Store,
    agent: EntityId,
    id: PlanId,
    asked: PlanChange,
) -> Result<Plan> {
    match store.plans().get(agent, id).await {
        Err(Error::NotFound(_)) => {}
        found => return found,
    }
    let plan = asked.apply(id, None, id.time(), "")?;
    if plan.repeats() { Err(gone(no_such_plan())) } else { Ok(Plan { next_run_at: None, ..plan }) }
}

/// Change a plan of an agent
///
/// A missing field keeps its value. One of `runAfter`, `scheduledAt` and `cron` sets a new time.
/// `status` pauses the plan or resumes it. The call may be repeated.
#[utoipa::path(
    put, path = "/v1/agents/{id}/plans/{planId}", operation_id = "changePlan", tag = "agents",
    params(("id" = EntityId, Path), ("planId" = PlanId, Path), ChainDepth),
    request_body = PlanChange,
    responses(
        (status = 200, body = Plan),
        (status = 409, description = "The chain depth has reached the agent's `maxChainDepth`."),
    )
)]
async fn change(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    TwoIds(agent, plan): TwoIds<EntityId, PlanId>,
    headers: HeaderMap,
    body: Body,
) -> ApiResult<Json<Plan>> {
    let store = store_for_agent(&api, caller, agent).await?;
    store.plans().get(agent, plan).await?;
    let by = ChangedBy::Request(api.pipeline.token());
    let changed = SetPlan {
        id: plan,
        known: true,
        change: body.read()?,
        chain_depth: depth(&headers)?,
        max_chain_depth: max_chain_depth(&api, agent).await?,
        pointer: String::new(),
    };
    Ok(Json(set(&api, agent, changed, &by).await?))
}

async fn max_chain_depth(api: &Api, agent: EntityId) -> Result<u32> {
    let config = api.pipeline.store.entities().agent(agent).await?.agent;
    Ok(config.map_or(0, |config| config.max_chain_depth))
}

async fn set(api: &Api, agent: EntityId, plan: SetPlan, by: &ChangedBy<Plan>) -> Result<Plan> {
    let mut plans = api.pipeline.set_plans(agent, &[plan], by).await?;
    plans.pop().ok_or_else(no_such_plan)
}

/// Delete a plan of an agent
///
/// The call may be repeated.
#[utoipa::path(
    delete, path = "/v1/agents/{id}/plans/{planId}", operation_id = "deletePlan", tag = "agents",
    params(("id" = EntityId, Path), ("planId" = PlanId, Path)),
    responses((status = 204))
)]
async fn delete(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    TwoIds(agent, plan): TwoIds<EntityId, PlanId>,
) -> ApiResult<StatusCode> {
    let store = store_for_agent(&api, caller, agent).await?;
    store
        .plans()
        .delete(agent, &BTreeSet::from([plan]), &ChangedBy::Request(api.pipeline.token()))
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Run a plan now
///
/// The plan's own times do not change.
#[utoipa::path(
    post, path = "/v1/agents/{id}/plans/{planId}/run", operation_id = "runPlan", tag = "agents",
    params(("id" = EntityId, Path), ("planId" = PlanId, Path), IdempotencyKey, ChainDepth),
    responses(
        (status = 202, body = Run),
        (status = 409, description = "The agent is paused, or the chain depth has reached its \
            `maxChainDepth`."),
        (status = 422, description = "The key was used before with another body.")
    )
)]
async fn run(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    TwoIds(agent, plan): TwoIds<EntityId, PlanId>,
    headers: HeaderMap,
    body: Body,
) -> ApiResult<impl IntoResponse> {
    let store = store_for_agent(&api, caller, agent).await?;
    let key = body.key(&headers, caller, &format!("/v1/agents/{agent}/plans/{plan}/run"))?;
    let run = api.pipeline.run_plan(agent, plan, depth(&headers)?, key.as_ref()).await?;
    Ok((StatusCode::ACCEPTED, Json(store.runs().get(&run).await?)))
}
