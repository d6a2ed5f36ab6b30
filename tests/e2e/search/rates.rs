//! The rate of searches: a bucket of its own for each entity, and for the operator.

use std::time::Instant;

use futures::future::join_all;
use serde_json::json;

use super::try_search;
use crate::support::{client::Client, stack::Stack};

/// How many searches at once the rate allows.
const BURST: usize = 10;

/// Searches often, and checks that only the burst is accepted, and what the rate allows meanwhile.
async fn assert_burst(client: &Client, space: &str) {
    let begun = Instant::now();
    let parameters = [("q", "hello"), ("spaceId", space)];
    let replies = join_all((0..25).map(|_| try_search(client, &parameters))).await;
    let most = BURST + begun.elapsed().as_secs() as usize + 1;
    let accepted = replies.iter().filter(|reply| reply.status == 200).count();
    assert!((BURST..=most).contains(&accepted), "{accepted} searches, at most {most} may be");
    for refused in replies.iter().filter(|reply| reply.status != 200) {
        assert_eq!((refused.status, refused.header("retry-after")), (429, "1"));
        let detail = "too many calls: the limit is 1 per second and 10 at once";
        assert_eq!(refused.body["detail"], detail);
    }
}

#[tokio::test]
async fn an_entity_searches_once_a_second_and_others_do_not_wait_for_it() {
    let Some(stack) = Stack::receiving_at_once().await else { return };
    let [sara, omar] = [stack.person("Sara").await, stack.person("Omar").await];
    let space = stack.space("Team", &[&sara, &omar]).await;
    stack.post(&space, &sara, "Hello").await;
    let hers = stack.as_entity(&sara);
    assert_burst(&hers, &space).await;
    // Neither her other calls nor searches of others are refused.
    hers.get("/v1/spaces").await.must_be(200);
    let path = format!("/v1/spaces/{space}/messages");
    hers.create(&path, json!({"text": "Hello again"})).await.must_be(201);
    assert_burst(&stack.as_entity(&omar), &space).await;
    assert_burst(&stack, &space).await;
}
