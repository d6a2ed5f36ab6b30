//! `/v1/search`: finds messages by words and filters.

use std::sync::Arc;

use axum::{Json, extract::State};
use smartspace_domain::{
    Error, Result,
    access::Caller,
    found::SearchAnswer,
    ids::SpaceId,
    search::{Filters, Has, Query, Sort},
};
use smartspace_pipeline::search::{SEARCH_ITEMS, SearchRequest, SearchScope};
use utoipa::{
    IntoParams,
    openapi::schema::{Object, ObjectBuilder, Type},
};

use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::ApiResult,
    auth::Credential,
    input::RepeatedQuery,
};

pub(super) fn routes() -> Routes {
    routes![search]
}

/// The parameters of a search, as the description of the API shows them.
#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[expect(dead_code, reason = "only describes the parameters, which are read as texts")]
struct SearchParameters {
    /// Words, phrases in quotes, `begin*`, `-without`, and the filters `in:`, `from:`, `has:`,
    /// `before:` and `after:`. It may be empty if there is another filter.
    #[param(max_length = 256)]
    q: Option<String>,
    /// The spaces to search; by default all spaces of the caller. The operator must name one.
    #[param(max_items = 20)]
    space_id: Option<Vec<SpaceId>>,
    /// Ids or names of senders, or `me`.
    #[param(max_items = 10)]
    from: Option<Vec<String>>,
    /// Only messages before this time: RFC 3339, or a day in UTC.
    before: Option<String>,
    /// Only messages from this time on: RFC 3339, or a day in UTC.
    after: Option<String>,
    /// What a message must have; all of it if it is repeated.
    #[param(inline)]
    has: Option<Vec<Has>>,
    /// The order of the items.
    #[param(inline)]
    sort: Option<Sort>,
    #[param(schema_with = limit)]
    limit: Option<usize>,
    /// The `nextCursor` of an earlier answer to the same search.
    #[param(max_length = 2048)]
    cursor: Option<String>,
}

const PARAMETERS: [&str; 9] =
    ["q", "spaceId", "from", "before", "after", "has", "sort", "limit", "cursor"];

fn limit() -> Object {
    let (default, most) = SEARCH_ITEMS;
    ObjectBuilder::new()
        .schema_type(Type::Integer)
        .description(Some("The greatest number of items."))
        .default(Some(default.into()))
        .minimum(Some(1))
        .maximum(Some(most))
        .build()
}

/// Search messages
///
/// In the text of messages, the names of their files, and the name, question and answer of cards.
/// One call reads a limited amount, the newest messages first; `searched` says how much, and
/// `nextCursor` goes on. Members search their spaces, guests their space, and the operator the
/// spaces that it names. A caller may search once a second, and ten times at once.
#[utoipa::path(
    get, path = "/v1/search", operation_id = "searchMessages", tag = "messages",
    params(SearchParameters),
    responses(
        (status = 200, body = SearchAnswer),
        (status = 404, description = "The caller is not in one of the spaces, or no space knows \
            one of the senders."),
        (status = 422, description = "A parameter is not valid; `errors` says which one."),
    )
)]
async fn search(
    State(api): State<Arc<Api>>,
    Credential { caller, .. }: Credential,
    query: RepeatedQuery,
) -> ApiResult<Json<SearchAnswer>> {
    let request = read(&query)?;
    let scope = match caller {
        Caller::Operator => SearchScope::Operator,
        Caller::Entity(entity) => SearchScope::Member(entity),
    };
    api.pipeline.count_search(caller).await?;
    Ok(Json(api.pipeline.search(scope, &request).await?))
}

fn read(query: &RepeatedQuery) -> Result<SearchRequest> {
    query.must_be_among(&PARAMETERS)?;
    let filters = Filters {
        spaces: query.all("spaceId"),
        from: query.all("from"),
        before: query.one("before")?,
        after: query.one("after")?,
        has: query.all("has"),
    };
    let sort = match query.one("sort")?.as_deref() {
        None | Some("relevance") => Sort::Relevance,
        Some("newest") => Sort::Newest,
        Some(_) => return Err(Error::invalid("/sort", "expected relevance or newest")),
    };
    let limit = query.one("limit")?.map(|limit| limit.parse::<usize>().map_err(|_| no_limit()));
    Ok(SearchRequest {
        query: Query::parse(&query.one("q")?.unwrap_or_default(), &filters)?,
        sort,
        limit: limit.transpose()?,
        cursor: query.one("cursor")?,
    })
}

fn no_limit() -> Error {
    Error::invalid("/limit", format!("expected a whole number from 1 to {}", SEARCH_ITEMS.1))
}
