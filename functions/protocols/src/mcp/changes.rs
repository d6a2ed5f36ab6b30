//! `subscriptions/listen`: notifies a client of changes of spaces, which are resources.
//!
//! Only clients of revision 2026-07-28 ask for it. Earlier ones subscribe within a session, and the
//! server has none.

use std::{collections::BTreeSet, time::Duration};

use futures::future::try_join_all;
use rmcp::{
    ErrorData,
    model::SubscriptionFilter,
    service::{SubscriptionContext, SubscriptionSink},
};
use serde::Deserialize;
use serde_json::{Value, json};
use smartspace_client::{Refusal, Session as ApiSession};
use smartspace_domain::{events::EventKind, ids::SpaceId};
use tokio::time::{Instant, timeout};

use crate::{
    following,
    mcp::resources::{error_of, space_of},
};

/// How many spaces one stream follows. Each takes a connection.
const MAX_SPACES: usize = 3;
/// How long a stream lasts. AWS ends a response after 15 minutes.
const MAX_DURATION: Duration = Duration::from_mins(14);
/// The shortest time between two notifications of a space.
const INTERVAL: Duration = Duration::from_secs(1);
/// After how much silence a frame is sent. API Gateway closes a silent connection after ten
/// minutes.
const PING_INTERVAL: Duration = Duration::from_mins(5);

/// Where a request names the resources.
const URIS: &str = "/params/notifications/resourceSubscriptions";

/// Leaves only those of the first spaces in a request that exist for the caller. Whether another
/// one exists is not said.
pub(super) async fn keep_existing(api: &ApiSession, request: &mut Value) -> Result<(), Refusal> {
    let spaces = first_spaces(&uris_of(request));
    let existing = try_join_all(spaces.iter().map(|(_, space)| exists(api, *space))).await?;
    let existing = spaces.iter().zip(existing).filter(|(_, exists)| *exists);
    let uris: Vec<_> = existing.map(|((uri, _), _)| uri.clone()).collect();
    keep(request, &uris);
    Ok(())
}

/// The resources that a request names. None if they are no texts, which `rmcp` refuses.
fn uris_of(request: &Value) -> Vec<String> {
    let uris = request.pointer(URIS).map(Vec::<String>::deserialize);
    uris.and_then(Result::ok).unwrap_or_default()
}

fn keep(request: &mut Value, uris: &[String]) {
    if !uris_of(request).is_empty()
        && let Some(named) = request.pointer_mut(URIS)
    {
        *named = json!(uris);
    }
}

async fn exists(api: &ApiSession, space: SpaceId) -> Result<bool, Refusal> {
    let shown: Result<Value, _> = api.get(&format!("/v1/spaces/{space}"), &[]).await;
    match shown {
        Ok(_) => Ok(true),
        Err(refusal) if matches!(refusal.status, 403 | 404) => Ok(false),
        Err(refusal) => Err(refusal),
    }
}

/// The first spaces among resources, each once.
fn first_spaces(uris: &[String]) -> Vec<(String, SpaceId)> {
    let mut seen = BTreeSet::new();
    let spaces = uris.iter().filter_map(|uri| Some((uri.clone(), space_of(uri)?)));
    spaces.filter(|(_, space)| seen.insert(*space)).take(MAX_SPACES).collect()
}

/// What is accepted of a filter: the first spaces that it names. [`keep_existing`] has asked for
/// them.
pub(super) fn accepted(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let uris = requested.resource_subscriptions.as_deref().unwrap_or_default();
    let spaces = first_spaces(uris).into_iter().map(|(uri, _)| uri);
    SubscriptionFilter::builder().resource_subscriptions(spaces).build()
}

/// Notifies the client of changes until it leaves, or the time of the stream is up.
pub(super) async fn listen(
    api: &ApiSession,
    context: &SubscriptionContext,
) -> Result<(), ErrorData> {
    let uris = context.accepted().resource_subscriptions.iter().flatten();
    let spaces = uris.filter_map(|uri| Some((uri, space_of(uri)?)));
    let following = spaces.map(|(uri, space)| follow(api, context.sink(), uri, space));
    let following = timeout(MAX_DURATION, try_join_all(following));
    tokio::select! {
        () = context.cancelled() => Ok(()),
        ended = following => match ended {
            Ok(Err(refusal)) => Err(error_of(refusal)),
            Ok(Ok(_)) | Err(_) => Ok(()),
        },
    }
}

async fn follow(
    api: &ApiSession,
    sink: &SubscriptionSink,
    uri: &str,
    space: SpaceId,
) -> Result<(), Refusal> {
    let mut subscription = following::follow(api, space, None).await?;
    let mut notified: Option<Instant> = None;
    let mut has_changed = false;
    loop {
        let since = notified.map_or(INTERVAL, |at| at.elapsed());
        let pause = if has_changed { INTERVAL.saturating_sub(since) } else { PING_INTERVAL };
        match timeout(pause, subscription.next()).await {
            Ok(event) => has_changed |= changes_resource(&event?.what),
            Err(_) if !has_changed => subscription.ping().await,
            Err(_) => {}
        }
        if has_changed && notified.is_none_or(|at| at.elapsed() >= INTERVAL) {
            if sink.notify_resource_updated(uri).await.is_err() {
                // The client has left.
                return Ok(());
            }
            notified = Some(Instant::now());
            has_changed = false;
        }
    }
}

/// Whether the event changes what the resource of its space shows.
fn changes_resource(event: &EventKind) -> bool {
    matches!(
        event,
        EventKind::MessageCreated { .. }
            | EventKind::MessageUpdated { .. }
            | EventKind::Reactions { .. }
            | EventKind::MemberJoined { .. }
            | EventKind::MemberLeft { .. }
            | EventKind::SpaceUpdated { .. }
            | EventKind::SpaceDeleted
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_spaces_are_followed_each_once() {
        let space = |number: u128| {
            let id = SpaceId::new(smartspace_domain::Time::from_millis(1), number);
            format!("smartspace://spaces/{id}")
        };
        let uris = [space(1), "file:///a".into(), space(1), space(2), space(3), space(4)];
        let requested = SubscriptionFilter::builder()
            .tools_list_changed()
            .resource_subscriptions(uris.to_vec())
            .build();
        let expected = SubscriptionFilter::builder()
            .resource_subscriptions(vec![space(1), space(2), space(3)])
            .build();
        assert_eq!(accepted(&requested), expected);
    }

    #[test]
    fn a_request_keeps_the_spaces_that_exist() {
        let request = |uris: Value| {
            let notifications = json!({"resourceSubscriptions": uris});
            json!({"id": 1, "params": {"notifications": notifications}})
        };
        let (mine, foreign) = ("smartspace://spaces/a", "smartspace://spaces/b");
        for named in [json!([mine, foreign]), json!([foreign, mine])] {
            let mut asked = request(named);
            keep(&mut asked, &[mine.to_owned()]);
            assert_eq!(asked, request(json!([mine])));
        }
        for other in [request(json!([1])), request(json!("x")), json!({"params": 1})] {
            let mut asked = other.clone();
            keep(&mut asked, &[]);
            assert_eq!(asked, other);
        }
    }
}
