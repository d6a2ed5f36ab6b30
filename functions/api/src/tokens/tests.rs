use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{EncodingKey, Header, encode};
use serde_json::{Value, json};
use smartspace_ports::key_sets::KeySetError;

use super::*;

const SECRET: &str = "a secret of thirty-two bytes ...";
const NOW: Time = Time::from_millis(1_800_000_000_000);
const SOON: i64 = 1_800_000_060;

fn token_by(secret: &str, algorithm: Algorithm, claims: &Value) -> String {
    encode(&Header::new(algorithm), claims, &EncodingKey::from_secret(secret.as_bytes())).unwrap()
}

fn token(claims: &Value) -> String {
    token_by(SECRET, Algorithm::HS256, claims)
}

async fn verified(token: &str) -> Result<Subject> {
    Tokens::signed_with(SECRET, false).unwrap().verify(token, NOW).await
}

async fn refused_because(token: &str, expected: &str) {
    match verified(token).await {
        Err(Error::Unauthenticated(text)) => {
            assert!(text.contains(expected), "expected {expected:?}: {text}");
        }
        other => panic!("expected {expected:?}: {other:?}"),
    }
}

#[tokio::test]
async fn a_valid_token_has_a_subject_a_name_and_an_expiry() {
    let claims = json!({
        "sub": "auth0|7", "exp": SOON, "name": "Sara", "iss": "anyone", "aud": ["x", "y"]
    });
    let subject = verified(&token(&claims)).await;
    let until = Time::from_millis(SOON * 1_000) + LEEWAY;
    assert_eq!(subject, Ok(Subject { id: "auth0|7".into(), name: "Sara".into(), until }));
    for (name, expected) in
        [(json!(5), "7"), (json!(" "), "7"), (json!("x".repeat(200)), "7"), (json!(null), "7")]
    {
        assert_eq!(
            verified(&token(&json!({ "sub": "7", "exp": SOON, "name": name }))).await.unwrap().name,
            expected
        );
    }
    assert_eq!(
        verified(&token(&json!({ "sub": " ", "exp": SOON }))).await.unwrap().name,
        "Someone"
    );
    let fraction = verified(&token(&json!({ "sub": "7", "exp": 1_800_000_000.5 }))).await.unwrap();
    assert_eq!(fraction.until, NOW + Duration::from_millis(500) + LEEWAY);
    let far = verified(&token(&json!({ "sub": "7", "exp": 1e300 }))).await.unwrap();
    assert_eq!(far.until.to_string(), "9000-01-01T00:00:30.000Z");
}

#[tokio::test]
async fn exp_and_nbf_are_checked_with_thirty_seconds_of_leeway() {
    let now = NOW.as_seconds();
    assert!(verified(&token(&json!({ "sub": "7", "exp": now - 29 }))).await.is_ok());
    refused_because(&token(&json!({ "sub": "7", "exp": now - 30 })), "has expired").await;
    refused_because(&token(&json!({ "sub": "7", "exp": -5 })), "has expired").await;
    refused_because(&token(&json!({ "sub": "7" })), "has no exp").await;
    refused_because(&token(&json!({ "sub": "7", "exp": null })), "has no exp").await;
    refused_because(&token(&json!({ "sub": "7", "exp": "tomorrow" })), "can't be read").await;
    assert!(verified(&token(&json!({ "sub": "7", "exp": SOON, "nbf": now + 30 }))).await.is_ok());
    refused_because(&token(&json!({ "sub": "7", "exp": SOON, "nbf": now + 31 })), "not valid yet")
        .await;
    refused_because(&token(&json!({ "sub": "7", "exp": SOON, "nbf": "soon" })), "can't be read")
        .await;
}

#[tokio::test]
async fn a_token_with_another_signature_or_algorithm_is_refused() {
    let claims = json!({ "sub": "7", "exp": SOON });
    let good = token(&claims);
    assert!(verified(&good).await.is_ok());
    refused_because(
        &token_by("another secret of thirty-two ...", Algorithm::HS256, &claims),
        "is not valid",
    )
    .await;
    refused_because(&token_by(SECRET, Algorithm::HS384, &claims), "HS256").await;
    refused_because(&good[..good.len() - 2], "").await;
    let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let claims = part(claims);
    let signature = good.rsplit('.').next().unwrap();
    for (alg, expected) in [
        ("none", "can be read"),
        ("NONE", "can be read"),
        ("RS256", "HS256"),
        ("HS999", "can be read"),
    ] {
        for signature in ["", signature] {
            refused_because(
                &format!("{}.{claims}.{signature}", part(json!({ "alg": alg }))),
                expected,
            )
            .await;
        }
    }
    let critical = part(json!({ "alg": "HS256", "crit": ["b64"], "b64": false }));
    refused_because(&format!("{critical}.{claims}.{signature}"), "critical").await;
    for nonsense in ["", ".", "..", "a.b.c", "nothing", &format!("{good}.x"), &format!("x{good}")] {
        refused_because(nonsense, "").await;
    }
    refused_because(
        &token(&json!({ "sub": "7", "exp": SOON, "more": "x".repeat(9_000) })),
        "can be read",
    )
    .await;
}

#[tokio::test]
async fn a_subject_has_1_to_256_characters() {
    for sub in [json!(null), json!(""), json!("x".repeat(257)), json!("nul \u{0}")] {
        refused_because(&token(&json!({ "sub": sub, "exp": SOON })), "sub of 1 to 256").await;
    }
    refused_because(&token(&json!({ "sub": 7, "exp": SOON })), "can't be read").await;
    assert!(verified(&token(&json!({ "sub": "ä".repeat(256), "exp": SOON }))).await.is_ok());
}

#[test]
fn a_short_secret_is_refused_and_no_secret_is_shown() {
    assert_eq!(
        Tokens::signed_with("short", false).unwrap_err(),
        "expected at least 32 bytes, got 5"
    );
    assert!(!format!("{:?}", Tokens::signed_with(SECRET, true)).contains("thirty"));
}

/// A provider whose keys must not be read.
struct Unread;

#[async_trait::async_trait]
impl KeySet for Unread {
    async fn read(&self) -> std::result::Result<String, KeySetError> {
        panic!("such a token must not cause a request to the provider")
    }
}

#[tokio::test]
async fn a_token_with_another_algorithm_is_refused_without_reading_the_keys() {
    let tokens = Tokens::of_provider(Arc::new(Unread), "issuer".into(), "us".into(), false);
    let claims = json!({ "sub": "7", "exp": SOON, "iss": "issuer", "aud": "us" });
    for algorithm in [Algorithm::HS256, Algorithm::HS512] {
        let verified = tokens
            .verify(&token_by("the public key, as if it were a secret", algorithm, &claims), NOW)
            .await;
        assert!(matches!(verified, Err(Error::Unauthenticated(_))), "{verified:?}");
    }
}
