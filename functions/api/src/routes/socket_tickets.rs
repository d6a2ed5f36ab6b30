//! `/v1/socketTickets`: one-time tickets that open a WebSocket.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::IntoResponse,
};
use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Error, Time,
    access::Caller,
    ids::{EntityId, TicketId},
    limits::TICKET_VALID,
};
use smartspace_store::connections::Ticket;
use utoipa::ToSchema;

use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::ApiResult,
    auth::Credential,
    input::Body,
};

pub(super) fn routes() -> Routes {
    routes![create]
}

/// `entityId` is the entity that the connection acts as. Without it, a connection of the operator
/// may follow every space. `protocol` is true for a connection that serves a client of another
/// protocol. An entity has fewer of these.
#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TicketBody {
    #[serde(default)]
    entity_id: Option<EntityId>,
    #[serde(default)]
    protocol: bool,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TicketResponse {
    ticket: String,
    url: String,
    expires_at: Time,
}

/// Create a ticket for a WebSocket
///
/// The ticket opens one connection and is valid for one minute. With the admin key, `entityId`
/// chooses the entity that the connection acts as. Without it, the connection may follow every
/// space.
#[utoipa::path(
    post, path = "/v1/socketTickets", operation_id = "createSocketTicket", tag = "sockets",
    request_body = Option<TicketBody>,
    responses((status = 201, body = TicketResponse))
)]
async fn create(
    State(api): State<Arc<Api>>,
    Credential { caller, until, .. }: Credential,
    headers: HeaderMap,
    body: Body,
) -> ApiResult<impl IntoResponse> {
    let TicketBody { entity_id, protocol } = body.read_or_nothing()?;
    let caller = match (caller, entity_id) {
        (Caller::Operator, None) => Caller::Operator,
        (caller, entity) => Caller::Entity(caller.speaks_as(entity)?),
    };
    if let Some(entity) = entity_id {
        api.pipeline.store.entities().get(entity).await.map_err(|error| match error {
            Error::NotFound(_) => {
                Error::invalid("/entityId", format!("there is no entity {entity}"))
            }
            error => error,
        })?;
    }
    let now = api.pipeline.now();
    // 80 random bits are enough: the ticket is valid once, and for a minute.
    let ticket = TicketId::new(now, api.pipeline.ids.random()).to_string();
    let expires_at = until.map_or(now + TICKET_VALID, |until| until.min(now + TICKET_VALID));
    let stored =
        Ticket { caller, valid_until: expires_at, credential_until: until, is_protocol: protocol };
    api.pipeline.store.connections().store_ticket(&ticket, stored).await?;
    let url = format!("{}?ticket={ticket}", api.socket_url.address(&api.public_address, &headers));
    Ok((StatusCode::CREATED, Json(TicketResponse { ticket, url, expires_at })))
}
