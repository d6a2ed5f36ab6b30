//! Usage: the tokens and the cost of models, by day, agent, space and model.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::Deserialize;
use smartspace_domain::{
    Error, Result,
    days::Day,
    ids::{EntityId, SpaceId},
};
use smartspace_store::usage::{UsageBy, UsageQuery, UsageReport};
use utoipa::IntoParams;

use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::ApiResult,
    auth::Authenticated,
    input::{Id, Query},
};

/// The most days of a report.
const MOST_DAYS: usize = 92;
/// The days of a report that names no first day.
const USUAL_DAYS: u16 = 30;
/// The most sums of a report.
const MOST_ITEMS: usize = 10_000;

pub(super) fn routes() -> Routes {
    routes![all, of_agent, of_space]
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ReportQuery {
    /// The first day, in UTC; by default 29 days before the last one.
    #[param(value_type = Option<String>, format = Date)]
    from: Option<Day>,
    /// The last day, in UTC; by default today. At most 92 days are reported.
    #[param(value_type = Option<String>, format = Date)]
    to: Option<Day>,
    /// What the sums are grouped by: `day`, `agent`, `space` and `model`, separated by commas.
    #[param(
        default = "day,model",
        pattern = "^(day|agent|space|model)(,(day|agent|space|model))*$"
    )]
    by: Option<String>,
}

/// Report the usage of models
///
/// Adds up what runs had used when they ended, and what summaries and routers have used.
#[utoipa::path(
    get, path = "/v1/usage", operation_id = "showUsage", tag = "usage",
    params(ReportQuery),
    responses((status = 200, body = UsageReport))
)]
async fn all(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Query(query): Query<ReportQuery>,
) -> ApiResult<Json<UsageReport>> {
    caller.must_be_operator()?;
    report(&api, query, None, None).await
}

/// Report the usage of an agent
///
/// The agent may be retired.
#[utoipa::path(
    get, path = "/v1/agents/{id}/usage", operation_id = "showUsageOfAgent", tag = "usage",
    params(("id" = EntityId, Path), ReportQuery),
    responses((status = 200, body = UsageReport))
)]
async fn of_agent(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Id(agent): Id<EntityId>,
    Query(query): Query<ReportQuery>,
) -> ApiResult<Json<UsageReport>> {
    caller.must_be_operator()?;
    api.pipeline.store.entities().get(agent).await?;
    report(&api, query, Some(agent), None).await
}

/// Report the usage in a space
///
/// The runs that messages of the space triggered, its summaries and its router.
#[utoipa::path(
    get, path = "/v1/spaces/{id}/usage", operation_id = "showUsageOfSpace", tag = "usage",
    params(("id" = SpaceId, Path), ReportQuery),
    responses((status = 200, body = UsageReport))
)]
async fn of_space(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Id(space): Id<SpaceId>,
    Query(query): Query<ReportQuery>,
) -> ApiResult<Json<UsageReport>> {
    caller.must_be_operator()?;
    api.pipeline.store.spaces().record(space).await?;
    report(&api, query, None, Some(space)).await
}

async fn report(
    api: &Api,
    query: ReportQuery,
    agent: Option<EntityId>,
    space: Option<SpaceId>,
) -> ApiResult<Json<UsageReport>> {
    let to = query.to.unwrap_or_else(|| Day::of(api.pipeline.now()));
    let from = query.from.unwrap_or_else(|| to.before(USUAL_DAYS - 1));
    let days = from.to(to).len();
    if days == 0 {
        return Err(wrong("from", format!("expected a day up to {to}, got {from}")).into());
    }
    if days > MOST_DAYS {
        let text = format!("expected at most {MOST_DAYS} days up to {to}, got {days}");
        return Err(wrong("from", text).into());
    }
    let by = groups(query.by.as_deref().unwrap_or("day,model"))?;
    let query = UsageQuery { from, to, agent, space, by };
    let mut report = api.pipeline.store.usage().report(&query).await?;
    if report.items.len() > MOST_ITEMS {
        let text = format!(
            "expected at most {MOST_ITEMS} sums, got {}; ask for fewer days or groups",
            report.items.len()
        );
        return Err(wrong("by", text).into());
    }
    api.pipeline.store.usage().add_names(&mut report).await?;
    Ok(Json(report))
}

/// Reads what the sums are grouped by.
fn groups(text: &str) -> Result<Vec<UsageBy>> {
    let group = |word: &str| match word {
        "day" => Ok(UsageBy::Day),
        "agent" => Ok(UsageBy::Agent),
        "space" => Ok(UsageBy::Space),
        "model" => Ok(UsageBy::Model),
        _ => Err(wrong(
            "by",
            format!("expected some of day, agent, space and model, with commas, got {text:?}"),
        )),
    };
    text.split(',').map(group).collect()
}

fn wrong(parameter: &str, text: String) -> Error {
    Error::Malformed(format!("query parameter `{parameter}`: {text}"))
}
