//! Runs: lists and shows what agents did, cancels, repeats and forks a run.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::IntoResponse,
};
use serde::Deserialize;
use smartspace_domain::{
    Error, Result, Time,
    access::{Caller, KnownBy, SpaceAction},
    agents::{ForkChanges, ModelConfig},
    ids::{EntityId, MessageId, RunId, SpaceId},
    long_steps,
    runs::{EndReason, Run, RunStatus},
};
use smartspace_pipeline::access::KnownSpaces;
use smartspace_store::{
    Store,
    runs::{RunRecord, listing::RunFilter, no_such_run, steps},
    table::pages::{Page, PageRequest},
};
use utoipa::{
    IntoParams, ToSchema,
    openapi::schema::{Object, ObjectBuilder, Type},
};

use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::{ApiResult, Created},
    auth::{Authenticated, Credential},
    description::{ChainDepth, RequiredIdempotencyKey, limit},
    input::{Body, DEEPEST, Id, Query, depth},
};

pub(super) fn routes() -> Routes {
    routes![all, of_space, of_agent, show, cancel, retry, fork]
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
struct RunsQuery {
    /// Only runs with this status.
    status: Option<RunStatus>,
    /// Only runs of this agent.
    agent_id: Option<EntityId>,
    /// Only runs that messages of this space triggered.
    space_id: Option<SpaceId>,
    /// Only runs that this message triggered.
    trigger: Option<MessageId>,
    /// Only runs with this chain depth or more: 0 for those that people set off.
    #[param(minimum = 0, maximum = 1_000_000)]
    min_chain_depth: Option<u32>,
    /// Only runs that were triggered at this time or later.
    #[param(value_type = Option<String>, format = DateTime)]
    since: Option<Time>,
    /// Only runs that were triggered before this time.
    #[param(value_type = Option<String>, format = DateTime)]
    until: Option<Time>,
    /// Whether each run has `asked`, `askedBy`, `postSeq` and `said`: the beginnings of the
    /// messages that triggered it and that it posted first, and who sent the former.
    #[param(value_type = Option<bool>, default = false)]
    #[serde(default)]
    messages: bool,
    /// The `nextCursor` of the previous page.
    cursor: Option<String>,
    #[param(schema_with = limit)]
    limit: Option<usize>,
}

/// List the runs of all agents
///
/// By the time of their trigger, newest first, without steps. A page looks at up to 1,000 runs, so
/// a page may be empty although there is another one.
#[utoipa::path(
    get, path = "/v1/runs", operation_id = "listRuns", tag = "runs",
    params(RunsQuery),
    responses((status = 200, body = Page<Run>))
)]
async fn all(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Query(query): Query<RunsQuery>,
) -> ApiResult<Json<Page<Run>>> {
    caller.must_be_operator()?;
    let RunsQuery { status, agent_id, space_id, trigger, min_chain_depth, since, until, .. } =
        query;
    if let (Some(since), Some(until)) = (since, until)
        && since >= until
    {
        let text = format!("query parameter `since`: expected a time before {until}, got {since}");
        return Err(Error::Malformed(text).into());
    }
    if min_chain_depth.is_some_and(|depth| depth > DEEPEST) {
        let text = format!("query parameter `minChainDepth`: expected 0 to {DEEPEST}");
        return Err(Error::Malformed(text).into());
    }
    let filter = RunFilter {
        status,
        agent: agent_id,
        space: space_id,
        message: trigger,
        min_chain_depth: min_chain_depth.unwrap_or(0),
        since,
        until,
        without_forks: false,
    };
    let request = PageRequest { cursor: query.cursor, limit: query.limit };
    if query.messages {
        return Ok(Json(with_messages(&api, caller, &filter, &request).await?));
    }
    list(&api, &filter, request).await
}

/// Runs with the beginnings of their messages, as far as the caller may read these.
async fn with_messages(
    api: &Api,
    caller: Caller,
    filter: &RunFilter,
    request: &PageRequest,
) -> Result<Page<Run>> {
    let now = api.pipeline.now();
    let (mut page, posts) =
        api.pipeline.store.runs().list_with_messages(filter, request, now).await?;
    let mut known = KnownSpaces::of(caller);
    for (run, post) in page.items.iter_mut().zip(posts) {
        let Some(space) = post else { continue };
        if !known.has(&api.pipeline, KnownBy::Members(space)).await? {
            (run.post_seq, run.said) = (None, None);
        }
    }
    Ok(page)
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct SpaceRunsQuery {
    /// Whether each run has `asked`, `askedBy`, `postSeq` and `said`: the beginnings of the
    /// messages that triggered it and that it posted first, and who sent the former.
    #[param(value_type = Option<bool>, default = false)]
    #[serde(default)]
    messages: bool,
    /// The `nextCursor` of the previous page.
    cursor: Option<String>,
    #[param(schema_with = limit)]
    limit: Option<usize>,
}

async fn list(api: &Api, filter: &RunFilter, request: PageRequest) -> ApiResult<Json<Page<Run>>> {
    Ok(Json(api.pipeline.store.runs().list_short(filter, &request, api.pipeline.now()).await?))
}

/// List the runs that messages of a space triggered
///
/// Newest first, without steps.
#[utoipa::path(
    get, path = "/v1/spaces/{id}/runs", operation_id = "listRunsOfSpace", tag = "runs",
    params(("id" = SpaceId, Path), SpaceRunsQuery),
    responses((status = 200, body = Page<Run>))
)]
async fn of_space(
    State(api): State<Arc<Api>>,
    Credential { caller, .. }: Credential,
    Id(space): Id<SpaceId>,
    Query(query): Query<SpaceRunsQuery>,
) -> ApiResult<Json<Page<Run>>> {
    api.pipeline.authorise(caller, SpaceAction::Read, space).await?;
    api.pipeline.store.spaces().record(space).await?;
    let filter = RunFilter { space: Some(space), ..RunFilter::default() };
    let SpaceRunsQuery { messages, cursor, limit } = query;
    let request = PageRequest { cursor, limit };
    let Page { items, next_cursor } = if messages {
        with_messages(&api, caller, &filter, &request).await?
    } else {
        list(&api, &filter, request).await?.0
    };
    let mut known = KnownSpaces::of(caller);
    let mut shown = Vec::with_capacity(items.len());
    for run in items {
        shown.push(seen(&api, run, Some(space), &mut known).await?);
    }
    Ok(Json(Page { items: shown, next_cursor }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct AgentRunsQuery {
    /// Only runs with this status.
    status: Option<RunStatus>,
    /// The `nextCursor` of the previous page.
    cursor: Option<String>,
    #[param(schema_with = limit)]
    limit: Option<usize>,
}

/// List the runs of an agent
///
/// Newest first, without steps.
#[utoipa::path(
    get, path = "/v1/agents/{id}/runs", operation_id = "listRunsOfAgent", tag = "runs",
    params(("id" = EntityId, Path), AgentRunsQuery),
    responses((status = 200, body = Page<Run>))
)]
async fn of_agent(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Id(agent): Id<EntityId>,
    Query(query): Query<AgentRunsQuery>,
) -> ApiResult<Json<Page<Run>>> {
    caller.must_be_operator()?;
    api.pipeline.store.entities().get(agent).await?;
    let AgentRunsQuery { status, cursor, limit } = query;
    let filter = RunFilter { status, agent: Some(agent), ..RunFilter::default() };
    list(&api, &filter, PageRequest { cursor, limit }).await
}

/// Show a run with its steps
///
/// Only the operator sees the steps. The last one may be under way. If all steps together are
/// longer than 4 MB, their longest texts are cut and say how much is missing. If that is not
/// enough, lists and objects are cut as JSON text, and then the prompts of the first steps are left
/// out.
#[utoipa::path(
    get, path = "/v1/runs/{id}", operation_id = "showRun", tag = "runs",
    params(("id" = RunId, Path)),
    responses((status = 200, body = Run))
)]
async fn show(
    State(api): State<Arc<Api>>,
    Credential { caller, .. }: Credential,
    Id(id): Id<RunId>,
) -> ApiResult<Json<Run>> {
    let store = &api.pipeline.store;
    let record = of_own_space(&api, caller, SpaceAction::Read, id).await?;
    if caller != Caller::Operator {
        let hints = steps::hints(&store.steps().answers(id).await?);
        let run = Run { hints: Some(hints), ..store.runs().get(&record).await? };
        return Ok(Json(seen(&api, run, record.space_id(), &mut KnownSpaces::of(caller)).await?));
    }
    Ok(Json(Box::pin(with_steps(store, &record)).await?))
}

/// A run with all that the operator may see.
async fn with_steps(store: &Store, record: &RunRecord) -> Result<Run> {
    let (progress, run, previous, agent) = futures::try_join!(
        store.steps().progress(record.id),
        store.runs().get(record),
        store.prompts().of_previous(record),
        store.entities().any_record(record.agent_id),
    )?;
    let hints = steps::hints(&progress.steps);
    let fork = record.fork_of();
    let progress = match fork {
        Some(fork) => store.steps().progress(fork.run_id).await?.forked(fork, progress),
        None => progress,
    };
    // The first part of a fork's prompt may differ from that of the other run.
    let rules = progress.prompt.as_ref().filter(|_| fork.is_some());
    let rules = rules.map(|prompt| prompt.system.clone());
    let config = agent.and_then(|agent| agent.entity.agent);
    let model = config.and_then(|config| config.model);
    let asked = model.map(|model| model.full_name()).unwrap_or_default();
    let mut shown = steps::view(progress, &run, &asked)?;
    if let Some(fork) = fork {
        shown.retain(|step| step.index >= fork.step);
        if let (Some(first), Some(rules)) = (shown.first_mut(), rules) {
            first.prompt.system = rules;
        }
    }
    if let (Some(first), Some(previous)) = (shown.first_mut(), previous)
        && first.finished_at.is_some()
    {
        first.shared_prefix = Some(first.prompt.shared_prefix(&previous));
    }
    let steps = long_steps::shown(shown, long_steps::MOST);
    Ok(Run { hints: Some(hints), steps: Some(steps), ..run })
}

/// Cancel a run
///
/// Ends an active run. What its model has written so far is stored as a partial message.
#[utoipa::path(
    post, path = "/v1/runs/{id}/cancel", operation_id = "cancelRun", tag = "runs",
    params(("id" = RunId, Path)),
    responses(
        (status = 202, body = Run),
        (status = 409, description = "The run has already ended."),
    )
)]
async fn cancel(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Id(id): Id<RunId>,
) -> ApiResult<impl IntoResponse> {
    let record = of_own_space(&api, caller, SpaceAction::Cancel, id).await?;
    let run = api.pipeline.cancel(id, EndReason::Cancel).await?;
    let run = seen(&api, run, record.space_id(), &mut KnownSpaces::of(caller)).await?;
    Ok((StatusCode::ACCEPTED, Json(run)))
}

/// Repeat a run
///
/// Makes a new run for the same trigger, linked by `retryOf`. It has to pass the same limits again.
/// A run is repeated once: further requests get the run that the first one made. To try again after
/// that one failed, too, repeat that one.
#[utoipa::path(
    post, path = "/v1/runs/{id}/retry", operation_id = "retryRun", tag = "runs",
    params(("id" = RunId, Path), ChainDepth),
    responses(
        (status = 202, body = Run),
        (status = 409, description = "The run neither failed nor was canceled by a person or by \
            `stop_run`; or the agent or the space is paused, the agent has left the space or is \
            busy, or the chain depth is too deep."),
        (status = 429, description = "The runs per minute or the budget of the agent or the space \
            are used."),
    )
)]
async fn retry(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Id(id): Id<RunId>,
    headers: HeaderMap,
) -> ApiResult<impl IntoResponse> {
    let record = of_own_space(&api, caller, SpaceAction::Retry, id).await?;
    let run = api.pipeline.retry(&record, caller, depth(&headers)?).await?;
    let run = seen(&api, run, record.space_id(), &mut KnownSpaces::of(caller)).await?;
    Ok((StatusCode::ACCEPTED, Json(run)))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ForkRequest {
    /// The first step for which the model is asked again. The steps before it are replayed.
    from_step: u32,
    /// Another model.
    #[serde(default)]
    model: Option<ModelConfig>,
    /// Other instructions, at most 32 KiB.
    #[serde(default)]
    #[schema(max_length = 32768)]
    instructions: Option<String>,
    /// What the fork may do.
    #[serde(default)]
    #[schema(schema_with = fork_mode)]
    mode: ForkMode,
}

/// What a fork may do.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ForkMode {
    /// It changes nothing.
    #[default]
    Dry,
}

/// The derived schema of an inline enum with a default is an `allOf` that no value satisfies.
fn fork_mode() -> Object {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some("What the fork may do."))
        .enum_values(Some(["dry"]))
        .default(Some("dry".into()))
        .build()
}

/// Fork a run
///
/// Makes a dry run that replays the steps before `fromStep` and then asks the model again. It
/// changes nothing: a call that only reads Smartspace's table is made, and any other is answered
/// with the result that the same call had in the first run, or with `{"dryRun": true}`. It counts
/// in usage and budgets, and only the operator sees it.
#[utoipa::path(
    post, path = "/v1/runs/{id}/fork", operation_id = "forkRun", tag = "runs",
    params(("id" = RunId, Path), RequiredIdempotencyKey),
    request_body = ForkRequest,
    responses(
        (status = 201, body = Run),
        (status = 409, description = "The run is a fork itself, or no answer of its model is \
            stored, or the steps to replay are not stored any more or have calls without a \
            result."),
        (status = 422, description = "The run has no such step, or the key was used before with \
            another body."),
    )
)]
async fn fork(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Id(id): Id<RunId>,
    headers: HeaderMap,
    body: Body,
) -> ApiResult<impl IntoResponse> {
    caller.must_be_operator()?;
    let store = &api.pipeline.store;
    let of = store.runs().record(id).await?;
    let key = body.key(&headers, caller, &format!("/v1/runs/{id}/fork"))?;
    let key = key.ok_or_else(|| {
        Error::Malformed(
            "Idempotency-Key: required, so that a repeated request makes no second fork".into(),
        )
    })?;
    let ForkRequest { from_step, model, instructions, mode: ForkMode::Dry } = body.read()?;
    let changes = ForkChanges { model, instructions };
    changes.check()?;
    match &changes.model {
        Some(model) => model.must_have_provider(&api.providers)?,
        None => has_model(store, of.agent_id).await?,
    }
    let run = api.pipeline.fork(&of, from_step, &changes, &key).await?;
    Ok(Created { location: format!("/v1/runs/{}", run.id), made: run })
}

/// Fails if an agent has no model that a fork could ask.
async fn has_model(store: &Store, agent: EntityId) -> Result<()> {
    let agent = store.entities().any_record(agent).await?.and_then(|agent| agent.entity.agent);
    if agent.is_some_and(|config| config.runtime.is_some()) {
        let detail = "expected a model: the agent has none, it works elsewhere now";
        return Err(Error::invalid("/model", detail));
    }
    Ok(())
}

/// A run, if the caller may do `action` in the space that triggered it. A caller that is not a
/// member of that space gets the same answer as for a run that does not exist.
async fn of_own_space(
    api: &Api,
    caller: Caller,
    action: SpaceAction,
    id: RunId,
) -> Result<RunRecord> {
    let record = api.pipeline.store.runs().record(id).await?;
    let Some(space) = record.space_id() else {
        // A plan or a service triggered it.
        return if caller == Caller::Operator { Ok(record) } else { Err(no_such_run()) };
    };
    match api.pipeline.authorise(caller, action, space).await {
        Ok(()) => Ok(record),
        Err(Error::NotFound(_)) => Err(no_such_run()),
        Err(error) => Err(error),
    }
}

/// A run as the caller may see it. The space that the run is active in is shown to members of that
/// space only, its usage to the owners of the space that triggered it, and the words of a provider
/// and its chain to the operator only.
async fn seen(
    api: &Api,
    run: Run,
    triggered_in: Option<SpaceId>,
    known: &mut KnownSpaces,
) -> Result<Run> {
    let is_owner = match triggered_in {
        Some(space) => known.has(&api.pipeline, KnownBy::Owners(space)).await?,
        None => known.is_operator(),
    };
    let run = if known.is_operator() { run } else { run.without_foreign_words().without_chain() };
    let run = if is_owner { run } else { run.for_members() };
    Ok(match triggered_in.and_then(|space| run.known_by(space)) {
        Some(other) if !known.has(&api.pipeline, other).await? => run.without_active_space(),
        _ => run,
    })
}
