//! The routes, one file per resource.

mod entities;
mod health;
mod members;
mod messages;
mod reads;
mod runs;
mod socket_tickets;
mod spaces;

use std::sync::Arc;

use axum::Router;
use serde::Deserialize;
use smartspace_store::pages::Ask;

use crate::{Api, console};

/// All of them.
pub(crate) fn all() -> Router<Arc<Api>> {
    Router::new()
        .merge(entities::routes())
        .merge(spaces::routes())
        .merge(members::routes())
        .merge(messages::routes())
        .merge(reads::routes())
        .merge(runs::routes())
        .merge(socket_tickets::routes())
        .merge(health::routes())
        .merge(console::routes())
}

/// The query of a list.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct PageQuery {
    cursor: Option<String>,
    limit: Option<usize>,
}

impl From<PageQuery> for Ask {
    fn from(query: PageQuery) -> Self {
        Self { cursor: query.cursor, limit: query.limit }
    }
}
