//! Tokens that are signed with a secret or by an identity provider.

use std::{process::Command, time::Duration};

use serde_json::{Value, json};

use crate::support::{
    client::{Client, Reply},
    routes::id,
    stack::Stack,
    tokens::{Provider, SECRET, Signer, in_seconds},
    waiting::{SOON, wait_for},
};

const ISSUER: &str = "https://login.example.com/";
const AUDIENCE: &str = "smartspace";

async fn with_external_id(stack: &Stack, external_id: &str) -> String {
    id(&stack
        .create(
            "/v1/entities",
            json!({ "type": "human", "name": "Sara", "externalId": external_id }),
        )
        .await
        .must_be(201))
}

#[track_caller]
fn refused(reply: &Reply, expected: &str) {
    assert_eq!(reply.status, 401, "{}", reply.text);
    assert!(
        reply.body["detail"].as_str().unwrap().contains(expected),
        "expected {expected:?}: {}",
        reply.text
    );
}

#[tokio::test]
async fn a_token_subject_is_an_external_id_or_with_a_secret_an_entity_id() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let sara = with_external_id(&stack, "auth0|7").await;
    let path = format!("/v1/entities/{sara}");
    for subject in ["auth0|7", &sara] {
        let own = stack.as_subject(subject, 600).get(&path).await.must_be(200);
        assert_eq!((&own["name"], &own["externalId"]), (&json!("Sara"), &json!("auth0|7")));
    }
    refused(
        &stack.as_subject("nobody@example.com", 600).get(&path).await,
        "no entity has externalId \"nobody@example.com\"",
    );
    refused(
        &stack.as_subject("ent_01ARZ3NDEKTSV4RRFFQ69G5FAV", 600).get(&path).await,
        "no entity has",
    );
    refused(&stack.as_subject("run_x", 600).get(&path).await, "no entity has");
    for like_an_id in [format!("{sara}x"), "spc_1".into()] {
        stack.patch(&path, json!({ "externalId": like_an_id })).await.must_be(422);
    }
    // After a change of the external id, the old one matches nobody.
    stack.patch(&path, json!({ "externalId": "auth0|8" })).await.must_be(200);
    refused(&stack.as_subject("auth0|7", 600).get(&path).await, "no entity has");
    stack.as_subject("auth0|8", 600).get(&path).await.must_be(200);
    stack.delete(&path).await.must_be(204);
    refused(&stack.as_subject("auth0|8", 600).get("/v1/spaces").await, "no entity has");
    refused(&stack.as_subject(&sara, 600).get("/v1/spaces").await, "no entity has");
    let log = stack.log();
    assert!(!log.contains(SECRET) && !log.contains(&stack.as_subject("x", 1).key), "{log}");
}

#[tokio::test]
async fn with_jwt_create_an_unknown_subject_becomes_exactly_one_person() {
    let Some(stack) = Stack::with_secret(&["--jwt-create"]).await else { return };
    let token = Signer::secret(SECRET)
        .token(&json!({ "sub": "new@example.com", "exp": in_seconds(600), "name": "Noor" }));
    let newcomer = Client::with(&stack, &token);
    let first: Vec<_> = (0..20).map(|_| newcomer.get("/v1/entities")).collect();
    let seen: Vec<Value> = futures::future::join_all(first)
        .await
        .into_iter()
        .map(|reply| reply.must_be(200)["items"].clone())
        .collect();
    assert!(seen.iter().all(|items| *items == seen[0]), "{seen:?}");
    let entities = stack.all("/v1/entities").await;
    assert_eq!(entities.len(), 1, "{entities:?}");
    assert_eq!(
        (&entities[0]["type"], &entities[0]["name"], &entities[0]["externalId"]),
        (&json!("human"), &json!("Noor"), &json!("new@example.com"))
    );
    assert_eq!(seen[0], json!(entities));
    // Without a name the subject becomes the name. A subject that looks like an entity id creates
    // nobody.
    stack.as_subject("plain", 600).get("/v1/spaces").await.must_be(200);
    assert!(stack.all("/v1/entities").await.iter().any(|entity| entity["name"] == "plain"));
    refused(
        &stack.as_subject("ent_01ARZ3NDEKTSV4RRFFQ69G5FAV", 600).get("/v1/spaces").await,
        "no entity has",
    );
    // An unsigned token creates nobody.
    let unsigned = Signer::none().token(&json!({ "sub": "eve", "exp": in_seconds(600) }));
    refused(&Client::with(&stack, &unsigned).get("/v1/spaces").await, "");
    assert_eq!(stack.all("/v1/entities").await.len(), 2);
}

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
        assert_eq!(
            status(&stack, &signer.token(&with("aud", json!(["another", AUDIENCE])))).await,
            200
        );
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
    ];
    for other in others {
        assert_eq!(status(&stack, &other.token(&claims())).await, 401);
    }
    assert_eq!(status(&stack, &Signer::secret(SECRET).token(&claims())).await, 401);
    assert_eq!(provider.request_count(), 1, "known keys are not fetched again");
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

#[test]
fn the_jwt_secret_shows_neither_in_help_nor_in_errors() {
    let smartspace = |arguments: &[&str], secret: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_smartspace-under-test"))
            .args(arguments)
            .env_clear()
            .envs([
                ("SMARTSPACE_JWT_SECRET", secret),
                ("SMARTSPACE_ADMIN_KEY", "an-admin-key-of-ours"),
            ])
            .output()
            .unwrap();
        format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )
    };
    let help = smartspace(&["--help"], SECRET);
    assert!(
        help.contains("SMARTSPACE_JWT_SECRET")
            && !help.contains(SECRET)
            && !help.contains("an-admin-key"),
        "{help}"
    );
    let short = smartspace(&["--data", ":memory:"], "short-but-secret");
    assert!(
        short.contains("--jwt-secret: expected at least 32 bytes, got 16")
            && !short.contains("short-but-secret"),
        "{short}"
    );
    let both =
        smartspace(&["--data", ":memory:", "--jwks-url", "https://login.example.com/keys"], SECRET);
    assert!(both.contains("expected only one of") && !both.contains(SECRET), "{both}");
}
