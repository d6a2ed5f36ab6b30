//! `/v1/apply`: makes agents, spaces and plans as files say.
//!
//! All objects are checked before anything is written: [`found`] reads what there is, and
//! [`comparison`] says what is to do and what was changed by hand. Then [`writing`] writes each
//! object in a transaction of its own, on the condition that it is still as it was found.

mod comparison;
mod found;
mod members;
mod pruning;
mod references;
mod writing;

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use smartspace_domain::{
    Error, Fault, Result,
    access::Caller,
    problems::Problem,
    projects::{APPLY_BYTES, Applied, Apply, ApplyAnswer, ApplySummary, ObjectResult},
};
use smartspace_web::respond;
use utoipa::IntoParams;

use self::{comparison::Planned, found::Found};
use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::ApiResult,
    auth::Authenticated,
    input::{Body, Query},
};

pub(super) fn routes() -> Routes {
    routes![apply]
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
struct ApplyQuery {
    /// Whether to answer what would be done, and do nothing.
    #[param(value_type = Option<bool>, default = false)]
    #[serde(default)]
    dry_run: bool,
}

/// Apply files
///
/// For the operator. Makes agents, spaces and plans as files say. A file manages the fields that it
/// names; a field that left the file returns to its default, and one that it never named is left
/// alone. All objects are checked first, and nothing is written if one is invalid or was changed by
/// hand. Then each is written by itself. What fails is reported, and the next apply writes it.
#[utoipa::path(
    post, path = "/v1/apply", operation_id = "apply", tag = "agents",
    params(ApplyQuery),
    request_body = Apply,
    responses(
        (status = 200, body = ApplyAnswer),
        (status = 409, description = "A managed field was changed by hand, an object belongs to \
            another project or to none, or another apply of this project is at work. The problem \
            has `results`, except in the last case."),
        (status = 413, description = "The body is longer than 4 MiB, or has more than 300 \
            objects."),
    )
)]
async fn apply(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Query(query): Query<ApplyQuery>,
    body: Body<APPLY_BYTES>,
) -> ApiResult<Response> {
    caller.must_be_operator()?;
    let mut apply: Apply = body.read().map_err(with_version)?;
    apply.check()?;
    let applying = Applying { api: &api, caller, apply: &apply };
    let found = Found::read(&api, &apply, query.dry_run).await?;
    let (mut planned, faults) = comparison::plan(applying, &found).await?;
    if !faults.is_empty() {
        return Err(with_version(Error::Invalid(faults)).into());
    }
    if apply.prune {
        planned.extend(pruning::plan(applying, &found).await?);
    }
    comparison::explain(&api, &mut planned).await?;
    if !query.dry_run && !apply.force && planned.iter().any(|it| it.result.needs_force()) {
        return Ok(refused(results(planned)));
    }
    let is_done = query.dry_run || planned.iter().all(|it| it.work.is_none());
    let results =
        if is_done { results(planned) } else { writing::write(applying, &found, planned).await? };
    let summary = ApplySummary::of(&results);
    let applied = match summary.failed as usize {
        _ if query.dry_run => Applied::None,
        0 => Applied::All,
        all if all == results.len() => Applied::None,
        _ => Applied::Partly,
    };
    Ok(Json(ApplyAnswer { applied, summary, results }).into_response())
}

fn results(planned: Vec<Planned>) -> Vec<ObjectResult> {
    planned.into_iter().map(|it| it.result).collect()
}

fn refused(results: Vec<ObjectResult>) -> Response {
    let count = results.iter().filter(|it| it.needs_force()).count();
    let objects = if count == 1 { "1 object was" } else { &format!("{count} objects were") };
    let detail = format!(
        "{objects} changed by hand, or not made by these files; nothing was written: take the \
         changes into the files, or apply with force"
    );
    respond(&Problem { results: Some(results), ..Problem::new(409, "Conflict", detail) })
}

/// Adds this version to the faults of fields that a later version may have.
fn with_version(error: Error) -> Error {
    let Error::Invalid(faults) = error else { return error };
    let named = |fault: Fault| {
        let version = env!("CARGO_PKG_VERSION");
        let is_unknown = fault.detail.starts_with("unknown field");
        let detail = if is_unknown {
            format!("{} (this is Smartspace {version})", fault.detail)
        } else {
            fault.detail
        };
        Fault { detail, ..fault }
    };
    Error::Invalid(faults.into_iter().map(named).collect())
}

/// The faults of an object, with their places in the request.
fn of_object(index: usize, error: Error) -> Result<Vec<Fault>> {
    match error.within(&format!("/objects/{index}/spec")) {
        Error::Invalid(faults) => Ok(faults),
        error => Err(error),
    }
}

/// Why an object could not be written. A fault of Smartspace itself stands in the log only.
fn shown(error: &Error) -> String {
    if matches!(error, Error::Internal(_)) {
        tracing::error!(event = "apply_failed", %error, "an object could not be written");
    }
    Problem::of(error).detail
}

/// A request to apply files.
#[derive(Clone, Copy)]
struct Applying<'a> {
    api: &'a Api,
    caller: Caller,
    apply: &'a Apply,
}
