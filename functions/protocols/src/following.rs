//! Follows the events of a space.

use std::time::Duration;

use smartspace_client::{Refusal, Session as ApiSession, Subscription, SubscriptionOptions};
use smartspace_domain::ids::SpaceId;
use tokio::time::sleep;

/// How long a call queues if its entity has too many that wait.
const QUEUE_TIME: Duration = Duration::from_secs(1);

/// Subscribes to a space, for a call of a protocol client. With `after_seq`, the messages after it
/// are replayed.
///
/// On AWS each call has a process of its own, so only the API knows how many calls of the entity
/// wait. If there are too many, it is asked once more a second later.
pub(crate) async fn follow(
    api: &ApiSession,
    space: SpaceId,
    after_seq: Option<u64>,
) -> Result<Subscription, Refusal> {
    let options = SubscriptionOptions { after_seq, protocol: true };
    match Subscription::open(api, space, options).await {
        Err(refusal) if refusal.status == 429 => {
            sleep(QUEUE_TIME).await;
            Subscription::open(api, space, options).await
        }
        opened => opened,
    }
}
