//! The MCP tools that wait: for the end of the turn of a posted message, or for new messages.

use std::time::Duration;

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use smartspace_client::{
    NewMessage, Page, Refusal, Session as ApiSession, Subscription, messages_path,
};
use smartspace_domain::{events::EventKind, ids::SpaceId, messages::Message};
use tokio::time::timeout;

use crate::{
    following::follow,
    turn::{TurnTracker, runs},
};

/// How many messages a wait returns.
const MAX_MESSAGES: u64 = 100;

/// Posts a message and waits for the end of its turn, for at most `time`. Once the message is
/// posted, this does not fail: a client that repeated the call would post the message twice. A
/// failure after that is the `problem` of the result.
pub(super) async fn post_and_wait(
    api: &ApiSession,
    space: SpaceId,
    message: &NewMessage<'_>,
    time: Duration,
) -> Result<Value, Refusal> {
    // The subscription opens before the post, so that it receives all effects of the message.
    let subscription = match time {
        Duration::ZERO => None,
        _ => Some(follow(api, space, None).await?),
    };
    let posted: Value = message.post(api, space).await?;
    let mut result = json!({"message": posted, "messages": [], "isOver": false});
    let Ok(posted) = Message::deserialize(&result["message"]) else { return Ok(result) };
    let mut turn = TurnTracker::starting_with(&posted);
    let Some(subscription) = subscription else {
        result["isOver"] = turn.is_over().into();
        return Ok(result);
    };
    let is_repeatable = message.key.is_some();
    let waiting = async {
        if is_repeatable {
            catch_up(api, &posted, &mut turn).await?;
        }
        wait_for_end(&mut turn, subscription).await
    };
    let waited = timeout(time, waiting).await;
    result["isOver"] = turn.is_over().into();
    match messages_after(api, space, posted.seq).await {
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

/// Reads the effects of a message that may have been posted long ago, under the same key. The
/// frames of these do not come again.
async fn catch_up(
    api: &ApiSession,
    posted: &Message,
    turn: &mut TurnTracker,
) -> Result<(), Refusal> {
    let messages = messages_after::<Message>(api, posted.space_id, posted.seq).await?.items;
    turn.sync(&messages, &runs(api, posted.space_id).await?);
    Ok(())
}

async fn wait_for_end(
    turn: &mut TurnTracker,
    mut subscription: Subscription,
) -> Result<(), Refusal> {
    while !turn.is_over() {
        turn.on_event(&subscription.next().await?.what);
    }
    Ok(())
}

/// Waits for messages after `seq`, for at most `time`.
pub(super) async fn wait(
    api: &ApiSession,
    space: SpaceId,
    seq: u64,
    time: Duration,
) -> Result<Value, Refusal> {
    let known = messages_after(api, space, seq).await?;
    if time.is_zero() || !known.items.is_empty() {
        return Ok(found(known));
    }
    // The subscription replays the messages after `seq`, so none is missed that was posted between
    // the read and the subscription.
    let mut subscription = follow(api, space, Some(seq)).await?;
    let until_posted = async {
        loop {
            if let EventKind::MessageCreated { message } = subscription.next().await?.what
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
    Ok(found(messages_after(api, space, seq).await?))
}

fn found(page: Page<Value>) -> Value {
    json!({"messages": page.items, "hasMore": page.next_cursor.is_some()})
}

/// The messages after `seq`, oldest first.
async fn messages_after<T: DeserializeOwned>(
    api: &ApiSession,
    space: SpaceId,
    seq: u64,
) -> Result<Page<T>, Refusal> {
    let query = [("after", seq.to_string()), ("limit", MAX_MESSAGES.to_string())];
    api.get(&messages_path(space), &query).await
}
