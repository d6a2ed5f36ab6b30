//! The routes, one file per resource.

mod deliveries;
mod entities;
mod goals;
mod health;
mod hooks;
mod members;
mod memories;
mod messages;
mod plans;
mod reads;
mod runs;
mod socket_tickets;
mod spaces;
mod tool_calls;
mod triggers;

use std::sync::Arc;

use axum::Router;
use serde::Deserialize;
use smartspace_domain::{Result, access::Caller, ids::EntityId};
use smartspace_store::{Store, pages::Ask};
use utoipa::IntoParams;

use crate::{
    Api,
    annotated_routes::Routes,
    console,
    description::{self, limit},
};

/// All of them.
pub(crate) fn all() -> Router<Arc<Api>> {
    Router::from(of_the_api()).merge(console::routes())
}

/// Those that `/openapi.json` describes.
pub(crate) fn of_the_api() -> Routes {
    Routes::default()
        .merge(entities::routes())
        .merge(spaces::routes())
        .merge(members::routes())
        .merge(messages::routes())
        .merge(reads::routes())
        .merge(runs::routes())
        .merge(tool_calls::routes())
        .merge(memories::routes())
        .merge(goals::routes())
        .merge(plans::routes())
        .merge(triggers::routes())
        .merge(hooks::routes())
        .merge(deliveries::routes())
        .merge(socket_tickets::routes())
        .merge(health::routes())
        .merge(description::routes())
}

/// The store, for what an agent keeps: that is the operator's to see and to change, while the agent is there.
async fn what_is_kept(api: &Api, caller: Caller, agent: EntityId) -> Result<&Store> {
    caller.must_be_operator()?;
    let store = &api.pipeline.store;
    store.agent(agent).await?;
    Ok(store)
}

/// The query of a list.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct PageQuery {
    /// What `nextCursor` of the page before said.
    cursor: Option<String>,
    #[param(schema_with = limit)]
    limit: Option<usize>,
}

impl From<PageQuery> for Ask {
    fn from(query: PageQuery) -> Self {
        Self { cursor: query.cursor, limit: query.limit }
    }
}
