//! `/v1/spaces/{id}/pins`: the pinned messages of a space.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use serde::Serialize;
use smartspace_domain::{
    Error, Result, Time,
    access::SpaceAction,
    ids::SpaceId,
    messages::{Message, Sender},
};
use smartspace_pipeline::{access::KnownSpaces, pins::PinnedMessage};
use utoipa::ToSchema;

use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::ApiResult,
    auth::Credential,
    input::{Body, Id, TwoIds},
};

pub(super) fn routes() -> Routes {
    routes![list, pin, unpin]
}

/// A pinned message.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PinView {
    /// The pinned message.
    message: Message,
    /// The member that pinned it; null for the operator.
    #[schema(required)]
    pinned_by: Option<Sender>,
    /// When it was pinned.
    pinned_at: Time,
}

/// The pinned messages of a space.
#[derive(Serialize, ToSchema)]
struct PinsResponse {
    /// The message that was pinned last comes first.
    items: Vec<PinView>,
}

/// List the pinned messages
///
/// The message that was pinned last comes first.
#[utoipa::path(
    get, path = "/v1/spaces/{id}/pins", operation_id = "listPins", tag = "messages",
    params(("id" = SpaceId, Path)),
    responses((status = 200, body = PinsResponse))
)]
async fn list(
    State(api): State<Arc<Api>>,
    Credential { caller, .. }: Credential,
    Id(space): Id<SpaceId>,
) -> ApiResult<Json<PinsResponse>> {
    api.pipeline.authorise(caller, SpaceAction::Read, space).await?;
    let pins = api.pipeline.pins(space).await?;
    // After the read: an entity that is removed meanwhile must not see newer messages.
    api.pipeline.authorise(caller, SpaceAction::Read, space).await?;
    let mut known = KnownSpaces::of(caller);
    let mut items = Vec::with_capacity(pins.len());
    for pin in pins {
        items.push(shown(&api, &mut known, pin).await?);
    }
    Ok(Json(PinsResponse { items }))
}

/// Pin a message
///
/// Pinned messages stand in the prompts of all agents of the space. For members that are no guests;
/// an agent pins only where it is an owner. The call may be repeated.
#[utoipa::path(
    put, path = "/v1/spaces/{id}/pins/{seq}", operation_id = "pinMessage", tag = "messages",
    params(("id" = SpaceId, Path), ("seq" = u64, Path)),
    responses(
        (status = 200, body = PinView),
        (status = 409, description = "The message was deleted, or the space has 20 pins."),
    )
)]
async fn pin(
    State(api): State<Arc<Api>>,
    Credential { caller, .. }: Credential,
    TwoIds(space, seq): TwoIds<SpaceId, u64>,
    body: Body,
) -> ApiResult<Json<PinView>> {
    body.read_nothing()?;
    let pinned = api.pipeline.pin(caller, space, seq).await?;
    let pinned = pinned.ok_or_else(|| Error::Conflict("the message was deleted".into()))?;
    Ok(Json(shown(&api, &mut KnownSpaces::of(caller), pinned).await?))
}

/// Unpin a message
///
/// The call may be repeated. 404 if no message has this number.
#[utoipa::path(
    delete, path = "/v1/spaces/{id}/pins/{seq}", operation_id = "unpinMessage", tag = "messages",
    params(("id" = SpaceId, Path), ("seq" = u64, Path)),
    responses((status = 204))
)]
async fn unpin(
    State(api): State<Arc<Api>>,
    Credential { caller, .. }: Credential,
    TwoIds(space, seq): TwoIds<SpaceId, u64>,
) -> ApiResult<StatusCode> {
    api.pipeline.unpin(caller, space, seq).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A pinned message, as the caller may see it.
async fn shown(api: &Api, known: &mut KnownSpaces, pin: PinnedMessage) -> Result<PinView> {
    let PinnedMessage { mut message, pinned_by, pinned_at } = pin;
    for known_by in message.known_by() {
        if !known.has(&api.pipeline, known_by).await? {
            message = message.for_others_than(known_by);
        }
    }
    Ok(PinView { message, pinned_by, pinned_at })
}
