//! Tokens that are signed by an identity provider.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    auth::signing_in::with_external_id,
    support::{
        client::Client,
        identity_provider::Provider,
        routes::id,
        stack::Stack,
        tokens::{SECRET, Signer, in_seconds},
        waiting::{SOON, wait_for},
    },
};

const ISSUER: &str = "https://login.example.com/";

const AUDIENCE: &str = "smartspace";

/// A product that accepts the tokens of a provider, with the entity `sara`.
async fn stack_with_provider(provider: &Provider) -> Option<Stack> {
    // These tests poll, so they need a product without a rate limit.
    let flags = [
        "--jwks-url",
        &provider.url,
        "--jwt-issuer",
        ISSUER,
        "--jwt-audience",
        AUDIENCE,
        "--no-rate-limit",
    ];
    let stack = Stack::with(&flags).await?;
    with_external_id(&stack, "sara").await;
    Some(stack)
}

fn claims() -> Value {
    json!({ "sub": "sara", "exp": in_seconds(600), "iss": ISSUER, "aud": AUDIENCE })
}

async fn status(stack: &Stack, token: &str) -> u16 {
    Client::with(stack, token).get("/v1/spaces").await.status
}

#[tokio::test]
async fn a_providers_token_is_checked_for_signature_and_claims() {
    let rsa = Signer::rsa("r");
    let ec = Signer::ec("e");
    let provider = Provider::publishing(&[&rsa, &ec]).await;
    let Some(stack) = stack_with_provider(&provider).await else { return };
    let with = |field: &str, value: Value| {
        let mut claims = claims();
        claims[field] = value;
        claims
    };
    for signer in [&rsa, &ec] {
        assert_eq!(status(&stack, &signer.token(&claims())).await, 200);
    }
    // Before a token asks for another key.
    assert_eq!(provider.request_count(), 1, "known keys are not fetched again");
    for signer in [&rsa, &ec] {
        let for_others_too = with("aud", json!(["another", AUDIENCE]));
        assert_eq!(status(&stack, &signer.token(&for_others_too)).await, 200);
        let sara = id(&stack.all("/v1/entities").await[0]);
        let refused = [
            with("iss", json!("https://evil.example.com/")),
            with("iss", json!(null)),
            with("aud", json!("another")),
            with("aud", json!([])),
            with("aud", json!(null)),
            with("exp", json!(null)),
            with("exp", json!(in_seconds(-60))),
            with("nbf", json!(in_seconds(60))),
            with("sub", json!("eve")),
            with("sub", json!(null)),
            // A provider must not name people by our ids.
            with("sub", json!(sara)),
        ];
        for claims in refused {
            assert_eq!(status(&stack, &signer.token(&claims)).await, 401, "{claims}");
        }
        for (secret, what) in [
            (signer.public_bytes(), "the public key"),
            (signer.jwk().to_string().into_bytes(), "the published text"),
        ] {
            for kid in [None, Some("r"), Some("e")] {
                let forged = Signer::secret(&secret).named(kid).token(&claims());
                assert_eq!(status(&stack, &forged).await, 401, "signed with {what} as a secret");
            }
        }
    }
    let others = [
        Signer::none(),
        Signer::none().named(Some("r")),
        Signer::rsa("r"),
        Signer::ec("e"),
        Signer::ec("r"),
        Signer::rsa("e"),
        Signer::secret(SECRET),
    ];
    for other in others {
        assert_eq!(status(&stack, &other.token(&claims())).await, 401);
    }
}

#[tokio::test]
async fn keys_are_fetched_again_after_an_outage_and_after_a_rotation() {
    let old = Signer::rsa("old");
    let new = Signer::ec("new");
    let provider = Provider::publishing(&[&old]).await;
    provider.answers(500, "out of order");
    let Some(stack) = stack_with_provider(&provider).await else { return };
    let by_old = old.token(&claims());
    let by_new = new.token(&claims());
    assert_eq!(status(&stack, &by_old).await, 503, "the token cannot be checked");
    assert_eq!(status(&stack, &stack.key).await, 200, "the admin key needs no provider");
    provider.answers(200, "<html>");
    wait_for("the product reads the invalid keys", SOON, async || {
        assert_eq!(status(&stack, &by_old).await, 503);
        (provider.request_count() == 2).then_some(())
    })
    .await;
    provider.publishes(&[&old]);
    wait_for("the old key is accepted", SOON, async || {
        (status(&stack, &by_old).await == 200).then_some(())
    })
    .await;
    provider.publishes(&[&old, &new]);
    let strangers = Signer::rsa("a stranger's").token(&claims());
    let requests = provider.request_count();
    for _ in 0..50 {
        assert_eq!(status(&stack, &strangers).await, 401);
    }
    assert!(
        provider.request_count() <= requests + 1,
        "unknown keys cause at most one more request: {}",
        provider.request_count()
    );
    wait_for("the new key is accepted", SOON, async || {
        (status(&stack, &by_new).await == 200).then_some(())
    })
    .await;
    assert_eq!(status(&stack, &by_old).await, 200);
}

#[tokio::test]
async fn a_slow_provider_delays_no_token_with_a_known_key() {
    let known = Signer::ec("known");
    let provider = Provider::publishing(&[&known]).await;
    let Some(stack) = stack_with_provider(&provider).await else { return };
    let good = known.token(&claims());
    assert_eq!(status(&stack, &good).await, 200);
    provider.takes(Duration::from_mins(10));
    let unknown = Signer::ec("unknown").token(&claims());
    wait_for("the provider is asked for the unknown key", SOON, async || {
        let unknown = status(&stack, &unknown);
        tokio::pin!(unknown);
        loop {
            tokio::select! {
                code = &mut unknown => {
                    assert!([401, 503].contains(&code), "{code}");
                    return (provider.request_count() == 2).then_some(());
                }
                // Other requests do not wait for the provider.
                others = status(&stack, &good) => assert_eq!(others, 200),
            }
        }
    })
    .await;
    assert_eq!(status(&stack, &good).await, 200);
}
