//! `/v1/spaces/{id}/messages/{seq}/reactions`: reactions to a message.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Result,
    events::MessageReactions,
    ids::{EntityId, SpaceId},
    messages::{Emoji, Reaction},
};
use smartspace_pipeline::reactions::ReactionChange;
use utoipa::ToSchema;

use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::ApiResult,
    auth::Credential,
    input::{Body, TwoIds},
};

pub(super) fn routes() -> Routes {
    routes![react]
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ReactionBody {
    /// One emoji. Forms with and without U+FE0F are the same emoji.
    #[serde(default)]
    #[schema(example = "👍", required)]
    emoji: String,
    /// False takes the reaction back.
    #[serde(default = "reacts")]
    #[schema(default = reacts)]
    on: bool,
    /// The member that reacts. Required with the admin key; otherwise the caller.
    #[serde(default)]
    sender_id: Option<EntityId>,
}

/// Without `on`, a request reacts.
pub(super) fn reacts() -> bool {
    true
}

/// The change that a request asks for.
pub(super) fn change(seq: u64, emoji: &str, on: bool) -> Result<ReactionChange> {
    Ok(ReactionChange { seq, emoji: Emoji::parse(emoji)?, on })
}

/// All reactions to a message.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReactionsResponse {
    /// The message's position in the space.
    seq: u64,
    /// Its reactions, in the order of their first ones.
    reactions: Vec<Reaction>,
    /// Their revision. Of two states the higher one is newer.
    reactions_rev: u64,
}

impl From<MessageReactions> for ReactionsResponse {
    fn from(state: MessageReactions) -> Self {
        let MessageReactions { seq, reactions, reactions_rev, .. } = state;
        Self { seq, reactions, reactions_rev }
    }
}

/// React to a message, or take a reaction back
///
/// A reaction wakes no agent. The call may be repeated: each member counts once for an emoji.
#[utoipa::path(
    put, path = "/v1/spaces/{id}/messages/{seq}/reactions",
    operation_id = "reactToMessage", tag = "messages",
    params(("id" = SpaceId, Path), ("seq" = u64, Path)),
    request_body = ReactionBody,
    responses(
        (status = 200, body = ReactionsResponse),
        (status = 409, description = "The message was deleted, or it has 20 different emoji or \
            1,000 reactions."),
    )
)]
async fn react(
    State(api): State<Arc<Api>>,
    Credential { caller, .. }: Credential,
    TwoIds(space, seq): TwoIds<SpaceId, u64>,
    body: Body,
) -> ApiResult<Json<ReactionsResponse>> {
    let ReactionBody { emoji, on, sender_id } = body.read()?;
    let entity = api.pipeline.speaker(caller, space, sender_id).await?;
    let change = change(seq, &emoji, on)?;
    Ok(Json(api.pipeline.react_as(caller, space, entity, change).await?.into()))
}
