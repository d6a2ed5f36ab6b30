//! `/v1/spaces/{id}/messages/{seq}`: reads, edits and deletes one message.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use serde::Deserialize;
use smartspace_domain::{
    Error, Result,
    access::{Caller, SpaceAction},
    ids::{EntityId, SpaceId},
    limits::MESSAGE_BYTES,
    messages::Message,
    schemas,
};
use smartspace_pipeline::access::KnownSpaces;
use utoipa::ToSchema;

use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::ApiResult,
    auth::Credential,
    input::{Body, IdAndSeq},
    routes::messages::message_text,
};

pub(super) fn routes() -> Routes {
    routes![get, edit, delete]
}

/// Read a message
///
/// A deleted message is a tombstone: `deleted` is set, and it has no parts.
#[utoipa::path(
    get, path = "/v1/spaces/{id}/messages/{seq}", operation_id = "getMessage", tag = "messages",
    params(("id" = SpaceId, Path), ("seq" = u64, Path)),
    responses((status = 200, body = Message))
)]
async fn get(
    State(api): State<Arc<Api>>,
    Credential { caller, .. }: Credential,
    IdAndSeq(space, seq): IdAndSeq<SpaceId>,
) -> ApiResult<Json<Message>> {
    api.pipeline.store.spaces().record(space).await?;
    api.pipeline.authorise(caller, SpaceAction::Read, space).await?;
    let message = api.pipeline.store.messages().get(space, seq).await?;
    Ok(Json(shown(&api, caller, message).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct MessageEdit {
    /// The new text. It may be empty only if the message has files.
    #[schema(schema_with = message_text, required)]
    text: Option<String>,
    /// The revision that the message must have. Without it, any.
    #[serde(default)]
    #[schema(schema_with = schemas::seq)]
    rev: Option<u64>,
    /// The member that has sent the message. Required with the admin key; otherwise the caller.
    #[serde(default)]
    sender_id: Option<EntityId>,
}

/// Edit a message
///
/// For its sender. Mentions are found anew; they wake and notify nobody. The old text is stored
/// nowhere, except in what runs have read. A message with the same text stays as it is.
#[utoipa::path(
    patch, path = "/v1/spaces/{id}/messages/{seq}", operation_id = "editMessage",
    tag = "messages",
    params(("id" = SpaceId, Path), ("seq" = u64, Path)),
    request_body = MessageEdit,
    responses(
        (status = 200, body = Message),
        (
            status = 409,
            description = "The message was deleted, is a card, or has another revision.",
        ),
    )
)]
async fn edit(
    State(api): State<Arc<Api>>,
    Credential { caller, .. }: Credential,
    IdAndSeq(space, seq): IdAndSeq<SpaceId>,
    body: Body,
) -> ApiResult<Json<Message>> {
    let MessageEdit { text, rev, sender_id } = body.read()?;
    // A message with files may get an empty text, so a missing one must not count as empty.
    let text = text.ok_or_else(no_text)?;
    let editor = api.pipeline.speaker(caller, space, sender_id).await?;
    let message = api.pipeline.edit_message(caller, (space, seq), editor, &text, rev).await?;
    Ok(Json(shown(&api, caller, message).await?))
}

fn no_text() -> Error {
    Error::invalid("/text", format!("expected 1 to {MESSAGE_BYTES} bytes of text, got none"))
}

/// Delete a message
///
/// For its sender, the owners of the space and the operator. What remains is a tombstone. Runs that
/// answer nothing else are canceled. Within a minute, the text is also removed from what is stored
/// of runs that have read it; what people and agents have written themselves stays.
#[utoipa::path(
    delete, path = "/v1/spaces/{id}/messages/{seq}", operation_id = "deleteMessage",
    tag = "messages",
    params(("id" = SpaceId, Path), ("seq" = u64, Path)),
    responses(
        (status = 204, description = "Also if the message was deleted before."),
        (status = 409, description = "The message is a card, and its call has no result yet."),
    )
)]
async fn delete(
    State(api): State<Arc<Api>>,
    Credential { caller, .. }: Credential,
    IdAndSeq(space, seq): IdAndSeq<SpaceId>,
) -> ApiResult<StatusCode> {
    api.pipeline.delete_message(caller, space, seq).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The message with the parts that the caller may see.
async fn shown(api: &Api, caller: Caller, mut message: Message) -> Result<Message> {
    let mut known = KnownSpaces::of(caller);
    for known_by in message.known_by() {
        if !known.has(&api.pipeline, known_by).await? {
            message = message.for_others_than(known_by);
        }
    }
    Ok(message)
}
