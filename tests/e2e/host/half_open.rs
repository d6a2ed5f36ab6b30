//! What half-sent requests hold: memory and files, while others are served.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::json;
use tokio::{
    io::AsyncWriteExt,
    net::TcpStream,
    time::{interval, timeout},
};

use crate::{
    host::raw::{begun, head, sent, status},
    support::{
        files::{announced, put},
        process::Setup,
        stack::Stack,
        tokens::jwt_env,
        waiting::{SOON, patient, wait_for},
    },
};

const MIB: usize = 1024 * 1024;
const CLIENTS: usize = 12;
/// How much more memory half-sent requests may take.
const MORE_MEMORY: u64 = 40 * MIB as u64;

/// A product on disk that accepts tokens, with these time limits.
async fn stack(time_limits: &str) -> Option<Stack> {
    let flags = ["--time-limits", time_limits].map(str::to_owned).to_vec();
    Stack::of(Setup { on_disk: true, flags, env: jwt_env(), ..Setup::default() }).await
}

/// Waits until the files that are arriving have these lengths.
async fn wait_for_partial(stack: &Stack, lengths: &[usize]) {
    let expected: Vec<_> = lengths.iter().map(|length| *length as u64).collect();
    let what = format!("partial files of {expected:?} bytes");
    wait_for(&what, SOON, async || (stack.partial_files() == expected).then_some(())).await;
}

#[tokio::test]
async fn half_sent_requests_hold_little_and_not_for_long() {
    // The next bytes may take six seconds.
    let Some(stack) = stack("0.2").await else { return };
    let (observer, _, quiet) = stack.pair().await;
    let mut people = Vec::new();
    for number in 0..CLIENTS {
        people.push(stack.person(&format!("Person {number}")).await);
    }
    let members: Vec<&String> = people.iter().collect();
    let space = stack.space("Uploads", &members).await;
    let mut uploads = Vec::new();
    for person in &people {
        let mut file = announced("a.pdf", "application/pdf", b"");
        file["bytes"] = json!(20 * MIB);
        uploads.push(stack.as_entity(person).start_upload(&space, file).await);
    }
    stack.post(&quiet, &observer, "before").await;
    // What the first run takes is no part of the difference.
    stack.quiet(&quiet).await;
    let memory = stack.memory();

    let mut connections = Vec::new();
    for upload in &uploads {
        connections.push(begun(&stack, upload, 20 * MIB, &vec![b' '; MIB]).await);
    }
    let targets = ["/v1/mcp", "/v1/agui", "/v1/chat"];
    for (person, target) in people.iter().zip(targets.into_iter().cycle()) {
        let bearer = format!("Bearer {}", stack.as_entity(person).key);
        let head = head("POST", target, 6_000_000, &[("Authorization", &bearer)]);
        connections.push(sent(&stack, &head, &vec![b' '; 5_900_000]).await);
    }
    let more = || stack.memory().zip(memory).map(|(now, before)| now.saturating_sub(before));
    // The allocator returns what refused bodies took after a moment.
    let held = wait_for("less memory", Duration::from_secs(2), async || {
        more().is_none_or(|held| held <= MORE_MEMORY).then(&more)
    })
    .await;
    println!("memory: {held:?} more");
    stack.post(&quiet, &observer, "meanwhile").await;

    wait_for_partial(&stack, &[]).await;
    for (number, connection) in connections.iter_mut().enumerate() {
        let status = status(connection).await;
        // A body for which there was no room was refused before its client saw the answer.
        let expected: &[u16] = if number < CLIENTS { &[408] } else { &[408, 503, 0] };
        assert!(expected.contains(&status), "{number}: {status}");
    }
    stack.post(&quiet, &observer, "afterwards").await;
}

#[tokio::test]
async fn a_newer_upload_of_an_address_ends_the_older_one() {
    let Some(stack) = stack("1").await else { return };
    let (_, _, space) = stack.pair().await;
    let bytes = vec![b'x'; 3 * MIB];
    let upload = stack.start_upload(&space, announced("a.txt", "text/plain", &bytes)).await;
    let mut older = begun(&stack, &upload, bytes.len(), &bytes[..MIB]).await;
    wait_for_partial(&stack, &[MIB]).await;
    let mut newer = begun(&stack, &upload, bytes.len(), &bytes[..2 * MIB]).await;
    assert_eq!(status(&mut older).await, 409);
    wait_for_partial(&stack, &[2 * MIB]).await;
    assert_eq!(put(&upload, &bytes).await, StatusCode::OK);
    assert_eq!(status(&mut newer).await, 409);
    assert!(stack.partial_files().is_empty());
}

#[tokio::test]
async fn a_dribbled_upload_ends_although_each_byte_is_in_time() {
    // The next bytes may take 1.5 seconds.
    let Some(stack) = stack("0.05").await else { return };
    let (_, _, space) = stack.pair().await;
    let mut file = announced("a.pdf", "application/pdf", b"");
    file["bytes"] = json!(MIB);
    let upload = stack.start_upload(&space, file).await;
    let mut stream = begun(&stack, &upload, MIB, b"").await;
    let dribbled = dribble(&mut stream);
    timeout(patient(SOON), dribbled).await.expect("the product ends the upload");
    wait_for_partial(&stack, &[]).await;
}

/// Sends a byte again and again, until the connection ends.
async fn dribble(stream: &mut TcpStream) {
    let mut ticks = interval(Duration::from_millis(100));
    while stream.write_all(b"x").await.is_ok() {
        ticks.tick().await;
    }
}
