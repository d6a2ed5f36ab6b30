use axum::{Router, body::to_bytes, middleware, routing::post};
use futures::{StreamExt, stream};
use tower::ServiceExt;

use super::*;

const LIMITS: TimeLimits = TimeLimits(1.0);

fn held(memory: &Arc<Memory>, credential: &str) -> Held {
    let headers = [(header::AUTHORIZATION, credential.parse().unwrap())];
    Held::new(Some(Arc::clone(memory)), &headers.into_iter().collect())
}

/// How many whole MiB fit in, one after the other.
fn room(held: &Held) -> usize {
    (0..100).take_while(|_| held.take(MIB)).count()
}

#[test]
fn half_sent_bodies_keep_out_no_small_ones() {
    let memory = Arc::<Memory>::default();
    let many: Vec<_> = (0..12).map(|number| held(&memory, &format!("Bearer {number}"))).collect();
    let taken: usize = many.iter().map(room).sum();
    assert_eq!(taken, 12);
    let small = held(&memory, "Bearer another");
    assert!(small.take(SMALL));
    assert!(!small.take(MIB));
    drop(many);
    assert!(small.take(MIB));
    drop(small);
    let used = lock(&memory.used);
    assert_eq!((used.all, used.arriving, used.of_callers.len()), (0, 0, 0));
}

#[test]
fn guests_have_a_smaller_share_and_each_caller_has_one() {
    let memory = Arc::<Memory>::default();
    let guests = [held(&memory, "Bearer guest_1"), held(&memory, "Bearer guest_2")];
    assert_eq!(guests.iter().map(room).sum::<usize>(), 6);
    let person = held(&memory, "Bearer person");
    assert_eq!(room(&person), 12);
    // A body that has arrived leaves its share to others, but not that of its caller.
    person.end();
    assert_eq!(lock(&memory.used).arriving, 0);
    assert!(!held(&memory, "Bearer person").take(1));
    assert_eq!(room(&held(&memory, "Bearer another")), 12);
}

#[test]
fn all_bodies_together_have_a_limit() {
    let memory = Arc::<Memory>::default();
    let whole: Vec<_> = (0..8)
        .map(|number| {
            let held = held(&memory, &format!("Bearer {number}"));
            let taken = (0..8).all(|_| held.take(MIB));
            held.end();
            (held, taken)
        })
        .collect();
    assert!(whole.iter().all(|(_, taken)| *taken));
    assert!(!held(&memory, "Bearer another").take(1));
    drop(whole);
    assert!(held(&memory, "Bearer another").take(1));
}

/// Sends a body to a route that reads it. Returns the answer's status.
async fn sent(body: Body) -> (u16, Option<HeaderValue>) {
    let read = async |request: Request| match to_bytes(request.into_body(), 100 * MIB).await {
        Ok(bytes) => bytes.len().to_string(),
        Err(error) => error.to_string(),
    };
    let bodies = Bodies::in_memory(LIMITS);
    let app =
        Router::new().route("/", post(read)).layer(middleware::from_fn_with_state(bodies, limit));
    let response = app.oneshot(Request::post("/").body(body).unwrap()).await.unwrap();
    (response.status().as_u16(), response.headers().get(header::RETRY_AFTER).cloned())
}

/// A body of chunks of this length, with a pause before each.
fn dribbled(chunk: usize, pause: Duration, count: usize) -> Body {
    Body::from_stream(stream::iter(0..count).then(move |_| async move {
        sleep(pause).await;
        Ok::<_, io::Error>(vec![b'x'; chunk])
    }))
}

#[tokio::test(start_paused = true)]
async fn a_body_that_arrives_too_slowly_is_cut() {
    let silent = stream::pending::<io::Result<Bytes>>();
    let began = Instant::now();
    assert_eq!(sent(Body::from_stream(silent)).await.0, 408);
    assert_eq!(began.elapsed().as_secs(), 30);
    // One byte at a time keeps the limit of each chunk, and not the rate.
    let began = Instant::now();
    assert_eq!(sent(dribbled(1, Duration::from_secs(1), 10_000)).await.0, 408);
    assert_eq!(began.elapsed().as_secs(), 31);
    let twice_the_rate = dribbled(64 * KIB, Duration::from_secs(2), 90);
    assert_eq!(sent(twice_the_rate).await.0, 200);
    let late = dribbled(MIB, Duration::from_secs(31), 1);
    assert_eq!(sent(late).await.0, 408);
}

#[tokio::test]
async fn a_body_without_room_may_be_sent_again() {
    let (status, retry_after) = sent(dribbled(MIB, Duration::ZERO, 13)).await;
    assert_eq!((status, retry_after), (503, Some(RETRY_AFTER.into())));
    assert_eq!(sent(dribbled(MIB, Duration::ZERO, 12)).await.0, 200);
}
