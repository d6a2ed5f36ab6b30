//! Tokens that are signed with the secret of the product.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::{
    client::{Client, Reply},
    routes::id,
    stack::Stack,
    tokens::{SECRET, Signer, in_seconds},
};

pub(crate) async fn with_external_id(stack: &Stack, external_id: &str) -> String {
    id(&stack
        .create(
            "/v1/entities",
            json!({ "type": "human", "name": "Sara", "externalId": external_id }),
        )
        .await
        .must_be(201))
}

#[track_caller]
pub(crate) fn refused(reply: &Reply, expected: &str) {
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
    // After a change of the external id, the old one matches no entity.
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
    // What nobody sees of a name is left out.
    let hidden = Signer::secret(SECRET)
        .token(&json!({ "sub": "hidden", "exp": in_seconds(600), "name": "\u{202e}No\u{200b}ra" }));
    Client::with(&stack, &hidden).get("/v1/spaces").await.must_be(200);
    assert!(stack.all("/v1/entities").await.iter().any(|entity| entity["name"] == "Nora"));
    // Without a name the subject becomes the name. A subject that looks like an entity id creates
    // no person.
    stack.as_subject("plain", 600).get("/v1/spaces").await.must_be(200);
    assert!(stack.all("/v1/entities").await.iter().any(|entity| entity["name"] == "plain"));
    refused(
        &stack.as_subject("ent_01ARZ3NDEKTSV4RRFFQ69G5FAV", 600).get("/v1/spaces").await,
        "no entity has",
    );
    // An unsigned token creates no person.
    let unsigned = Signer::none().token(&json!({ "sub": "eve", "exp": in_seconds(600) }));
    refused(&Client::with(&stack, &unsigned).get("/v1/spaces").await, "");
    assert_eq!(stack.all("/v1/entities").await.len(), 3);
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
