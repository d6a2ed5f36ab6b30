//! The archive that the simulation searches: the first search finds it without blocks, a job builds
//! them, and later searches find the same.

use std::{sync::Arc, time::Duration};

use axum::http::Method;
use serde_json::Value;
use smartspace_simulation::{
    client::Caller, deployment::Deployment, fixtures, input::Input, parameters::Parameters,
};
use tokio::time::sleep;

async fn deployment() -> Arc<Deployment> {
    let parameters = Parameters { people: 3, searches: true, ..Parameters::quiet() };
    let input = Input { seed: 3, ..Input::default() };
    let deployment = Deployment::with_parameters(&input, parameters, None).unwrap();
    fixtures::make(&deployment).await.unwrap();
    deployment
}

/// Calls the API as the first person.
async fn ask(
    deployment: &Arc<Deployment>,
    method: Method,
    path: &str,
    body: Option<Value>,
) -> (u16, Value) {
    let person = Caller::Entity(deployment.env.ledger.lock().unwrap().people[0]);
    deployment.http("person", person, method, path, None, body.as_ref()).await.unwrap()
}

/// The numbers that a search for a word finds, and whether it is complete.
async fn found(deployment: &Arc<Deployment>, word: &str) -> (Vec<u64>, bool) {
    let path = format!("/v1/search?q={word}&limit=20&sort=newest");
    let (status, answer) = ask(deployment, Method::GET, &path, None).await;
    assert_eq!(status, 200, "{answer}");
    let items = answer["items"].as_array().unwrap().iter();
    let seqs = items.flat_map(|item| {
        let others = item["alsoSeqs"].as_array().unwrap().iter();
        [&item["seq"]].into_iter().chain(others).filter_map(Value::as_u64)
    });
    let mut seqs: Vec<_> = seqs.collect();
    seqs.sort_unstable();
    (seqs, answer["incomplete"] == false && answer["nextCursor"].is_null())
}

/// The sort keys of the stored blocks.
fn blocks(deployment: &Deployment) -> Vec<String> {
    let items = deployment.env.storage.items();
    let keys = items.iter().filter_map(|item| item["SK"].as_str());
    let mut blocks: Vec<_> =
        keys.filter(|sk| sk.starts_with("BLOCK#")).map(str::to_owned).collect();
    blocks.sort_unstable();
    blocks
}

#[tokio::test(start_paused = true)]
async fn an_archive_is_found_without_blocks_and_with_them() {
    let deployment = deployment().await;
    let archive = deployment.env.ledger.lock().unwrap().searches.archive.clone().unwrap();
    let word = archive.past[41].split(' ').next_back().unwrap().to_owned();
    let has_word = |text: &&String| text.split(' ').any(|it| it == word);
    let expected: Vec<u64> =
        (1..).zip(&archive.past).filter_map(|(seq, text)| has_word(&text).then_some(seq)).collect();
    assert!(expected.contains(&42), "{expected:?}");
    // The index of memberships lags behind.
    sleep(Duration::from_secs(5)).await;
    assert_eq!(found(&deployment, &word).await, (expected.clone(), true));
    sleep(Duration::from_mins(1)).await;
    assert_eq!(blocks(&deployment), ["BLOCK#000000", "BLOCK#000001", "BLOCK#000002"]);
    assert_eq!(found(&deployment, &word).await, (expected.clone(), true));
    // A deletion takes the block of its message with it, and nothing else.
    let own = expected.into_iter().find(|seq| (seq - 1) % 3 == 0);
    if let Some(seq) = own {
        let path = format!("/v1/spaces/{}/messages/{seq}", archive.space);
        assert_eq!(ask(&deployment, Method::DELETE, &path, None).await.0, 204);
        let left = found(&deployment, &word).await;
        assert!(left.1 && !left.0.contains(&seq), "{left:?}");
        assert_eq!(blocks(&deployment).len(), if seq > 300 { 3 } else { 2 });
    }
    deployment.end();
}
