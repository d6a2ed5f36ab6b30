//! Tools that wait for messages.

use std::time::Duration;

use serde_json::{Value, json};
use smartspace_domain::{events::EventKind, ids::SpaceId, messages::Message};
use tokio::time::timeout;

use crate::{
    api_client::{Refusal, Visitor},
    following::Following,
    mcp::messages_path,
    turn::Turn,
};

/// How many messages a wait returns.
const MESSAGES: u64 = 100;

/// Posts a message and waits for the end of its turn, but not longer than `time`.
pub(super) async fn post_and_wait(
    visitor: &Visitor,
    space: SpaceId,
    text: &str,
    key: Option<&str>,
    time: Duration,
) -> Result<Value, Refusal> {
    // The space is followed first, so that no event is missed.
    let mut following = match time {
        Duration::ZERO => None,
        _ => Some(Following::open(visitor, space, None).await?),
    };
    let posted: Value = visitor.post(&messages_path(space), &json!({"text": text}), key).await?;
    let message: Message = serde_json::from_value(posted.clone()).map_err(|error| Refusal {
        status: 500,
        detail: format!("the API's answer could not be read: {error}"),
    })?;
    let mut turn = Turn::of(&message);
    let mut is_over = turn.is_over();
    if let Some(following) = &mut following {
        let until_over = async {
            while !turn.is_over() {
                turn.saw(&following.next().await?.what);
            }
            Ok(())
        };
        is_over = match timeout(time, until_over).await {
            Ok(ended) => ended.map(|()| true)?,
            Err(_) => false,
        };
    }
    let messages =
        if time.is_zero() { json!([]) } else { after(visitor, space, message.seq).await? };
    Ok(json!({"message": posted, "messages": messages, "isOver": is_over}))
}

/// Waits for messages after `seq`, but not longer than `time`.
pub(super) async fn wait(
    visitor: &Visitor,
    space: SpaceId,
    seq: u64,
    time: Duration,
) -> Result<Value, Refusal> {
    let known = after(visitor, space, seq).await?;
    if time.is_zero() || known.as_array().is_some_and(|known| !known.is_empty()) {
        return Ok(json!({"messages": known}));
    }
    // Messages that were posted since this read are replayed.
    let mut following = Following::open(visitor, space, Some(seq)).await?;
    let until_posted = async {
        loop {
            if let EventKind::MessageCreated { message } = following.next().await?.what
                && message.seq > seq
            {
                return Ok(());
            }
        }
    };
    match timeout(time, until_posted).await {
        Ok(posted) => posted?,
        Err(_) => return Ok(json!({"messages": []})),
    }
    Ok(json!({"messages": after(visitor, space, seq).await?}))
}

/// The messages after `seq`, oldest first.
async fn after(visitor: &Visitor, space: SpaceId, seq: u64) -> Result<Value, Refusal> {
    let query = [("after", seq.to_string()), ("limit", MESSAGES.to_string())];
    let mut page: Value = visitor.get(&messages_path(space), &query).await?;
    Ok(page["items"].take())
}
