//! Tokens: by a secret, and of an identity provider.

use std::{process::Command, time::Duration};

use serde_json::{Value, json};

use super::{
    client::{Client, Reply},
    routes::id,
    stack::Stack,
    tokens::{Provider, SECRET, Signer, in_seconds},
    waiting::{SOON, wait_for},
};

const ISSUER: &str = "https://login.example.com/";
const AUDIENCE: &str = "smartspace";

async fn with_external_id(stack: &Stack, external_id: &str) -> String {
    id(&stack.create("/v1/entities", json!({ "type": "human", "name": "Sara", "externalId": external_id })).await.must_be(201))
}

#[track_caller]
fn refused(reply: &Reply, expected: &str) {
    assert_eq!(reply.status, 401, "{}", reply.text);
    assert!(reply.body["detail"].as_str().unwrap().contains(expected), "expected {expected:?}: {}", reply.text);
}

#[tokio::test]
async fn a_subject_is_an_external_id_or_with_a_secret_an_id() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let sara = with_external_id(&stack, "auth0|7").await;
    let path = format!("/v1/entities/{sara}");
    for subject in ["auth0|7", &sara] {
        let own = stack.as_subject(subject, 600).get(&path).await.must_be(200);
        assert_eq!((&own["name"], &own["externalId"]), (&json!("Sara"), &json!("auth0|7")));
    }
    refused(&stack.as_subject("nobody@example.com", 600).get(&path).await, "no entity has externalId \"nobody@example.com\"");
    refused(&stack.as_subject("ent_01ARZ3NDEKTSV4RRFFQ69G5FAV", 600).get(&path).await, "no entity has");
    refused(&stack.as_subject("run_x", 600).get(&path).await, "no entity has");
    for like_an_id in [format!("{sara}x"), "spc_1".into()] {
        stack.patch(&path, json!({ "externalId": like_an_id })).await.must_be(422);
    }
    // Her name in the directory changes: the old one is nobody's.
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
async fn who_is_not_known_becomes_one_person_where_that_is_wanted() {
    let Some(stack) = Stack::with_secret(&["--jwt-create"]).await else { return };
    let token = Signer::secret(SECRET).token(&json!({ "sub": "new@example.com", "exp": in_seconds(600), "name": "Noor" }));
    let newcomer = Client::with(&stack, &token);
    let first: Vec<_> = (0..20).map(|_| newcomer.get("/v1/entities")).collect();
    let seen: Vec<Value> = futures::future::join_all(first).await.into_iter().map(|reply| reply.must_be(200)["items"].clone()).collect();
    assert!(seen.iter().all(|items| *items == seen[0]), "{seen:?}");
    let there = stack.all("/v1/entities").await;
    assert_eq!(there.len(), 1, "{there:?}");
    assert_eq!(
        (&there[0]["type"], &there[0]["name"], &there[0]["externalId"]),
        (&json!("human"), &json!("Noor"), &json!("new@example.com"))
    );
    assert_eq!(seen[0], json!(there));
    // Without a name the subject is one; an id of ours is nobody's name.
    stack.as_subject("plain", 600).get("/v1/spaces").await.must_be(200);
    assert!(stack.all("/v1/entities").await.iter().any(|entity| entity["name"] == "plain"));
    refused(&stack.as_subject("ent_01ARZ3NDEKTSV4RRFFQ69G5FAV", 600).get("/v1/spaces").await, "no entity has");
    // Whoever may not be believed is not made.
    refused(&Client::with(&stack, &Signer::none().token(&json!({ "sub": "eve", "exp": in_seconds(600) }))).get("/v1/spaces").await, "");
    assert_eq!(stack.all("/v1/entities").await.len(), 2);
}

/// A product that believes a provider, with an entity `sara`.
async fn believing(provider: &Provider) -> Option<Stack> {
    // Without a rate: these tests ask until something is so.
    let flags = ["--jwks-url", &provider.url, "--jwt-issuer", ISSUER, "--jwt-audience", AUDIENCE, "--no-rate-limit"];
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
async fn tokens_of_a_provider() {
    let (rsa, ec) = (Signer::rsa("r"), Signer::ec("e"));
    let provider = Provider::publishing(&[&rsa, &ec]).await;
    let Some(stack) = believing(&provider).await else { return };
    let with = |field: &str, value: Value| {
        let mut claims = claims();
        claims[field] = value;
        claims
    };
    for signer in [&rsa, &ec] {
        assert_eq!(status(&stack, &signer.token(&claims())).await, 200);
        assert_eq!(status(&stack, &signer.token(&with("aud", json!(["another", AUDIENCE])))).await, 200);
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
            // A provider names people as it likes, but not by our ids.
            with("sub", json!(sara)),
        ];
        for claims in refused {
            assert_eq!(status(&stack, &signer.token(&claims)).await, 401, "{claims}");
        }
        for (secret, what) in [(signer.public_bytes(), "the public key"), (signer.jwk().to_string().into_bytes(), "the published text")] {
            for kid in [None, Some("r"), Some("e")] {
                let forged = Signer::secret(&secret).named(kid).token(&claims());
                assert_eq!(status(&stack, &forged).await, 401, "signed with {what} as a secret");
            }
        }
    }
    let others = [Signer::none(), Signer::none().named(Some("r")), Signer::rsa("r"), Signer::ec("e"), Signer::ec("r"), Signer::rsa("e")];
    for other in others {
        assert_eq!(status(&stack, &other.token(&claims())).await, 401);
    }
    assert_eq!(status(&stack, &Signer::secret(SECRET).token(&claims())).await, 401);
    assert_eq!(provider.asked(), 1, "known keys are not asked for again");
}

#[tokio::test]
async fn a_provider_that_is_down_then_garbled_then_back_and_that_rotates_its_keys() {
    let (old, new) = (Signer::rsa("old"), Signer::ec("new"));
    let provider = Provider::publishing(&[&old]).await;
    provider.answers(500, "out of order");
    let Some(stack) = believing(&provider).await else { return };
    let (by_old, by_new) = (old.token(&claims()), new.token(&claims()));
    assert_eq!(status(&stack, &by_old).await, 503, "it is not known whether the token is good");
    assert_eq!(status(&stack, &stack.key).await, 200, "the operator needs no provider");
    provider.answers(200, "<html>");
    wait_for("the garbage is read", SOON, async || {
        let told = status(&stack, &by_old).await;
        assert_eq!(told, 503);
        (provider.asked() == 2).then_some(())
    })
    .await;
    provider.publishes(&[&old]);
    wait_for("the old key", SOON, async || (status(&stack, &by_old).await == 200).then_some(())).await;
    provider.publishes(&[&old, &new]);
    let strangers = Signer::rsa("a stranger's").token(&claims());
    let asked = provider.asked();
    for _ in 0..50 {
        assert_eq!(status(&stack, &strangers).await, 401);
    }
    assert!(provider.asked() <= asked + 1, "strangers can't make us ask more often: {}", provider.asked());
    wait_for("the new key", SOON, async || (status(&stack, &by_new).await == 200).then_some(())).await;
    assert_eq!(status(&stack, &by_old).await, 200);
}

#[tokio::test]
async fn a_slow_provider_holds_up_nobody_whose_key_is_known() {
    let known = Signer::ec("known");
    let provider = Provider::publishing(&[&known]).await;
    let Some(stack) = believing(&provider).await else { return };
    let good = known.token(&claims());
    assert_eq!(status(&stack, &good).await, 200);
    provider.takes(Duration::from_mins(10));
    let unknown = Signer::ec("unknown").token(&claims());
    wait_for("it is asked for the unknown key", SOON, async || {
        let told = status(&stack, &unknown);
        tokio::pin!(told);
        loop {
            tokio::select! {
                told = &mut told => {
                    assert!([401, 503].contains(&told), "{told}");
                    return (provider.asked() == 2).then_some(());
                }
                // While that one may wait for the provider, nobody else does.
                others = status(&stack, &good) => assert_eq!(others, 200),
            }
        }
    })
    .await;
    assert_eq!(status(&stack, &good).await, 200);
}

#[test]
fn a_secret_shows_nowhere() {
    let smartspace = |arguments: &[&str], secret: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_smartspace-under-test"))
            .args(arguments)
            .env_clear()
            .envs([("SMARTSPACE_JWT_SECRET", secret), ("SMARTSPACE_ADMIN_KEY", "an-admin-key-of-ours")])
            .output()
            .unwrap();
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    };
    let help = smartspace(&["--help"], SECRET);
    assert!(help.contains("SMARTSPACE_JWT_SECRET") && !help.contains(SECRET) && !help.contains("an-admin-key"), "{help}");
    let short = smartspace(&["--data", ":memory:"], "short-but-secret");
    assert!(short.contains("--jwt-secret: expected at least 32 bytes, got 16") && !short.contains("short-but-secret"), "{short}");
    let both = smartspace(&["--data", ":memory:", "--jwks-url", "https://login.example.com/keys"], SECRET);
    assert!(both.contains("expected one of them") && !both.contains(SECRET), "{both}");
}
