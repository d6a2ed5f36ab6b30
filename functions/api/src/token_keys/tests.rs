use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tokio::sync::Semaphore;

use super::*;

const START: Time = Time::from_millis(1_800_000_000_000);

/// A provider whose answer can be changed and delayed.
struct Provider {
    answer: Mutex<Result<String, KeySetError>>,
    reads: AtomicUsize,
    gate: Semaphore,
}

#[async_trait::async_trait]
impl KeySet for Provider {
    async fn read(&self) -> Result<String, KeySetError> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        let _passed = self.gate.acquire().await.unwrap();
        self.answer.lock().unwrap().clone()
    }
}

impl Provider {
    fn publishing(kids: &[&str]) -> Arc<Self> {
        Arc::new(Self {
            answer: Mutex::new(Ok(set(kids))),
            reads: AtomicUsize::new(0),
            gate: Semaphore::new(100),
        })
    }

    fn answers(&self, answer: Result<String, KeySetError>) {
        *self.answer.lock().unwrap() = answer;
    }

    fn reads(&self) -> usize {
        self.reads.load(Ordering::SeqCst)
    }
}

fn ec(kid: &str) -> Value {
    let point = "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4";
    json!({ "kty": "EC", "crv": "P-256", "kid": kid, "x": point, "y": point })
}

fn set(kids: &[&str]) -> String {
    json!({ "keys": kids.iter().map(|kid| ec(kid)).collect::<Vec<_>>() }).to_string()
}

fn down() -> Result<String, KeySetError> {
    Err(KeySetError("down".into()))
}

fn after(seconds: u64) -> Time {
    START + Duration::from_secs(seconds)
}

/// The number of keys that fit. The error is `unknown` if the provider has no such key, and `later`
/// if its keys could not be read.
async fn fitting(keys: &Arc<TokenKeys>, kid: &str, now: Time) -> Result<usize, &'static str> {
    match keys.fitting(Algorithm::ES256, Some(kid), now).await {
        Ok(found) => Ok(found.len()),
        Err(Error::Unauthenticated(_)) => Err("unknown"),
        Err(Error::Retry(_)) => Err("later"),
        Err(other) => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_unknown_kid_reads_the_keys_again_but_seldom() {
    let provider = Provider::publishing(&["one"]);
    let keys = Arc::new(TokenKeys::new(provider.clone()));
    assert_eq!(fitting(&keys, "one", after(0)).await, Ok(1));
    provider.answers(Ok(set(&["one", "two"])));
    for _ in 0..100 {
        assert_eq!(fitting(&keys, "stranger's", after(4)).await, Err("unknown"));
    }
    assert_eq!((fitting(&keys, "one", after(4)).await, provider.reads()), (Ok(1), 1));
    assert_eq!((fitting(&keys, "two", after(5)).await, provider.reads()), (Ok(1), 2));
    assert_eq!((fitting(&keys, "one", after(6)).await, provider.reads()), (Ok(1), 2));
    // A withdrawn key is accepted for at most ten minutes.
    provider.answers(Ok(set(&["two"])));
    assert_eq!((fitting(&keys, "one", after(604)).await, provider.reads()), (Ok(1), 2));
    assert_eq!((fitting(&keys, "one", after(605)).await, provider.reads()), (Err("unknown"), 3));
}

#[tokio::test]
async fn cached_keys_stay_in_use_for_six_hours_while_the_provider_is_down() {
    let provider = Provider::publishing(&["one"]);
    let keys = Arc::new(TokenKeys::new(provider.clone()));
    assert_eq!(fitting(&keys, "one", after(0)).await, Ok(1));
    let unread = [
        down(),
        Ok("garbage".into()),
        Ok("{}".into()),
        Ok("[]".into()),
        Ok(r#"{"keys":5}"#.into()),
    ];
    for (at, answer) in (3_600..).step_by(600).zip(unread) {
        provider.answers(answer.clone());
        assert_eq!(fitting(&keys, "one", after(at)).await, Ok(1), "{answer:?}");
        assert_eq!(
            fitting(&keys, "two", after(at)).await,
            Err("later"),
            "the key may be published by now: {answer:?}"
        );
    }
    assert_eq!(provider.reads(), 6);
    let six_hours = 6 * 3_600;
    assert_eq!(fitting(&keys, "one", after(six_hours - 1)).await, Ok(1));
    assert_eq!(fitting(&keys, "one", after(six_hours)).await, Err("later"));
    provider.answers(Ok(set(&["one"])));
    assert_eq!(fitting(&keys, "one", after(six_hours + 20)).await, Ok(1));
}

#[tokio::test]
async fn one_read_runs_at_a_time_and_a_cached_key_does_not_wait_for_it() {
    let provider = Provider::publishing(&["one"]);
    provider.gate.forget_permits(100);
    let keys = Arc::new(TokenKeys::new(provider.clone()));
    let first: Vec<_> = (0..20)
        .map(|_| {
            let keys = Arc::clone(&keys);
            tokio::spawn(async move { fitting(&keys, "one", after(0)).await })
        })
        .collect();
    // One caller disconnects; the read that it started continues.
    while provider.reads() == 0 {
        tokio::task::yield_now().await;
    }
    first[0].abort();
    provider.gate.add_permits(1);
    for call in first.into_iter().skip(1) {
        assert_eq!(call.await.unwrap(), Ok(1));
    }
    assert_eq!(provider.reads(), 1);

    provider.gate.forget_permits(1);
    let slow = tokio::spawn({
        let keys = Arc::clone(&keys);
        async move { fitting(&keys, "one", after(700)).await }
    });
    while provider.reads() == 1 {
        tokio::task::yield_now().await;
    }
    for _ in 0..20 {
        assert_eq!(
            fitting(&keys, "one", after(700)).await,
            Ok(1),
            "another request waits for the provider"
        );
    }
    assert!(!slow.is_finished());
    provider.gate.add_permits(1);
    assert_eq!((slow.await.unwrap(), provider.reads()), (Ok(1), 2));
}

#[tokio::test]
async fn a_clock_that_was_set_back_does_not_stop_the_reads() {
    let provider = Provider::publishing(&["one"]);
    let keys = Arc::new(TokenKeys::new(provider.clone()));
    assert_eq!(fitting(&keys, "one", after(86_400)).await, Ok(1));
    provider.answers(Ok(set(&["two"])));
    assert_eq!((fitting(&keys, "two", after(0)).await, provider.reads()), (Ok(1), 2));
}

#[test]
fn only_keys_that_verify_signatures_are_accepted() {
    let with = |field: &str, value: Value| {
        let mut key = ec("k");
        key[field] = value;
        key
    };
    let rsa = json!({
        "kty": "RSA", "kid": "r", "n": "AQAB", "e": "AQAB", "alg": "RS256", "use": "sig",
        "x5c": ["…"],
    });
    let accepted = json!({ "keys": [
        ec("a"),
        with("use", json!("sig")),
        with("alg", json!("ES256")),
        with("key_ops", json!(["verify"])),
        rsa,
    ] });
    assert_eq!(keys_of(&accepted.to_string()).unwrap().len(), 5);
    let secret = json!({ "kty": "oct", "kid": "s", "k": "c2VjcmV0", "alg": "HS256" });
    let skipped = json!({ "keys": [
        secret,
        with("use", json!("enc")),
        with("alg", json!("ES384")),
        with("key_ops", json!(["sign"])),
        with("crv", json!("P-384")),
        with("kty", json!("??")),
        json!(5),
        json!({}),
    ] });
    assert_eq!(keys_of(&skipped.to_string()).unwrap().len(), 0);
}
