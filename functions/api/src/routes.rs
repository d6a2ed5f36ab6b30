//! The routes, one file per resource.

mod agent_cards;
mod allowances;
mod apply;
mod approvals;
mod attachments;
mod callbacks;
mod deliveries;
mod entities;
mod gate;
mod goals;
mod health;
mod hooks;
mod inbox;
mod invites;
mod me;
mod members;
mod memories;
mod mentions;
mod messages;
mod pins;
mod plans;
mod providers;
mod reactions;
mod reads;
mod revisions;
mod runs;
mod search;
mod single_messages;
mod socket_tickets;
mod spaces;
mod stops;
mod tool_calls;
mod tools;
mod triggers;
mod usage;

use std::sync::Arc;

use axum::Router;
use serde::Deserialize;
use smartspace_domain::{Result, access::Caller, ids::EntityId};
use smartspace_store::{Store, table::pages::PageRequest};
use utoipa::IntoParams;

use crate::{
    Api,
    annotated_routes::Routes,
    console,
    description::{self, limit},
};

pub(crate) fn all() -> Router<Arc<Api>> {
    Router::from(of_the_api()).merge(console::routes())
}

/// The routes that `/openapi.json` describes.
pub(crate) fn of_the_api() -> Routes {
    Routes::default()
        .merge(me::routes())
        .merge(entities::routes())
        .merge(revisions::routes())
        .merge(apply::routes())
        .merge(spaces::routes())
        .merge(members::routes())
        .merge(invites::routes())
        .merge(messages::routes())
        .merge(single_messages::routes())
        .merge(reactions::routes())
        .merge(pins::routes())
        .merge(gate::routes())
        .merge(attachments::routes())
        .merge(reads::routes())
        .merge(runs::routes())
        .merge(stops::routes())
        .merge(callbacks::routes())
        .merge(usage::routes())
        .merge(providers::routes())
        .merge(tools::routes())
        .merge(tool_calls::routes())
        .merge(inbox::routes())
        .merge(mentions::routes())
        .merge(search::routes())
        .merge(agent_cards::routes())
        .merge(memories::routes())
        .merge(goals::routes())
        .merge(plans::routes())
        .merge(approvals::routes())
        .merge(allowances::routes())
        .merge(triggers::routes())
        .merge(hooks::routes())
        .merge(deliveries::routes())
        .merge(socket_tickets::routes())
        .merge(health::routes())
        .merge(description::routes())
}

/// The store, if the caller is the operator and the agent exists: only the operator may read and
/// change an agent's memories, goals, plans and deliveries.
async fn store_for_agent(api: &Api, caller: Caller, agent: EntityId) -> Result<&Store> {
    caller.must_be_operator()?;
    let store = &api.pipeline.store;
    store.entities().agent(agent).await?;
    Ok(store)
}

/// The query of a list. `IntoParams` describes it in the API.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct PageQuery {
    /// The `nextCursor` of the previous page.
    cursor: Option<String>,
    #[param(schema_with = limit)]
    limit: Option<usize>,
}

impl From<PageQuery> for PageRequest {
    fn from(query: PageQuery) -> Self {
        Self { cursor: query.cursor, limit: query.limit }
    }
}
