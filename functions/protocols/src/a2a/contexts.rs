//! The contexts of A2A are spaces. A message without a context gets a new one, of which nothing is
//! left if the message is refused.

use serde::Deserialize;
use serde_json::json;
use smartspace_client::{Refusal, Session as ApiSession};
use smartspace_domain::{idempotency::IdempotencyKey, ids::SpaceId, spaces::Space};

use crate::a2a::{AgentCall, rpc::RpcError};

/// How often a client can repeat a message whose earlier attempts were refused.
const MAX_ATTEMPTS: u32 = 4;

#[derive(Debug, Deserialize)]
struct CreatedSpace {
    id: SpaceId,
}

/// Creates a space of the caller and the agent. The same message always gets the same one.
pub(super) async fn new_context(
    call: &AgentCall,
    key: &IdempotencyKey,
) -> Result<SpaceId, RpcError> {
    let body = json!({"name": call.agent.name, "members": [call.agent.id]});
    let mut attempt = 1;
    loop {
        let key = match attempt {
            1 => key.to_string(),
            _ => format!("{key}:{attempt}"),
        };
        let created: Result<CreatedSpace, Refusal> =
            call.api.post("/v1/spaces", &body, Some(key.as_str())).await;
        match created {
            Ok(created) => return Ok(created.id),
            // The key belongs to the space of an earlier attempt, which was refused.
            Err(refusal) if refusal.status == 409 && attempt < MAX_ATTEMPTS => attempt += 1,
            Err(refusal) => return Err(refusal.into()),
        }
    }
}

/// Deletes the space of a refused message. Keeps it if it has messages: an earlier request may have
/// posted the same message.
pub(super) async fn discard_unused(call: &AgentCall, space: SpaceId) {
    let mut retries = 0;
    while let Err(refusal) = delete_unused(&call.api, space).await {
        if let Err(refusal) = refusal.wait_before_retry(&mut retries).await {
            tracing::warn!(%space, %refusal, "the space of a refused message is left");
            return;
        }
    }
}

async fn delete_unused(api: &ApiSession, space: SpaceId) -> Result<(), Refusal> {
    let path = format!("/v1/spaces/{space}");
    let space: Space = api.get(&path, &[]).await?;
    if space.seq > 0 {
        return Ok(());
    }
    api.delete(&path).await
}
