//! Tools that wait for messages.

use std::time::Duration;

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use smartspace_domain::{events::EventKind, ids::SpaceId, messages::Message};
use tokio::time::timeout;

use crate::{
    api_client::{Refusal, Visitor, messages_path},
    conversation::{Page, runs},
    following::Following,
    posting::NewMessage,
    turn::Turn,
};

/// How many messages a wait returns.
const MESSAGES: u64 = 100;

/// A message to post.
#[derive(Debug)]
pub(super) struct Post<'a> {
    pub(super) space: SpaceId,
    pub(super) message: NewMessage<'a>,
}

/// Posts a message and waits for the end of its turn, but not longer than `time`. Once the message
/// is posted, this succeeds: a client that repeated it would post it twice.
pub(super) async fn post_and_wait(
    visitor: &Visitor,
    post: Post<'_>,
    time: Duration,
) -> Result<Value, Refusal> {
    // The space is followed first, so that no event is missed.
    let following = match time {
        Duration::ZERO => None,
        _ => Some(Following::open(visitor, post.space, None).await?),
    };
    let posted: Value = post.message.post(visitor, post.space).await?;
    let mut result = json!({"message": posted, "messages": [], "isOver": false});
    let Ok(message) = Message::deserialize(&result["message"]) else { return Ok(result) };
    let mut turn = Turn::of(&message);
    let Some(mut following) = following else {
        result["isOver"] = turn.is_over().into();
        return Ok(result);
    };
    let waiting = wait_for_end(visitor, &post, &message, &mut turn, &mut following);
    let waited = timeout(time, waiting).await;
    result["isOver"] = turn.is_over().into();
    match after(visitor, post.space, message.seq).await {
        Ok(Page { items, next_cursor }) => {
            result["messages"] = Value::Array(items);
            result["hasMore"] = next_cursor.is_some().into();
        }
        Err(refusal) => {
            result["isOver"] = false.into();
            result["problem"] = refusal.detail.into();
        }
    }
    if let Ok(Err(refusal)) = waited {
        result["problem"] = refusal.detail.into();
    }
    Ok(result)
}

async fn wait_for_end(
    visitor: &Visitor,
    post: &Post<'_>,
    message: &Message,
    turn: &mut Turn,
    following: &mut Following,
) -> Result<(), Refusal> {
    if post.message.key.is_some() {
        // It may have been posted long ago, so that its events are over.
        let messages = after::<Message>(visitor, post.space, message.seq).await?.items;
        turn.knows(&messages, &runs(visitor, post.space).await?);
    }
    while !turn.is_over() {
        turn.saw(&following.next().await?.what);
    }
    Ok(())
}

/// Waits for messages after `seq`, but not longer than `time`.
pub(super) async fn wait(
    visitor: &Visitor,
    space: SpaceId,
    seq: u64,
    time: Duration,
) -> Result<Value, Refusal> {
    let known = after(visitor, space, seq).await?;
    if time.is_zero() || !known.items.is_empty() {
        return Ok(found(known));
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
        Err(_) => return Ok(found(known)),
    }
    Ok(found(after(visitor, space, seq).await?))
}

fn found(page: Page<Value>) -> Value {
    json!({"messages": page.items, "hasMore": page.next_cursor.is_some()})
}

/// The messages after `seq`, oldest first.
async fn after<T: DeserializeOwned>(
    visitor: &Visitor,
    space: SpaceId,
    seq: u64,
) -> Result<Page<T>, Refusal> {
    let query = [("after", seq.to_string()), ("limit", MESSAGES.to_string())];
    visitor.get(&messages_path(space), &query).await
}
