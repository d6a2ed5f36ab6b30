//! Webhook requests without a valid signature: they are refused, listed without secrets, and have
//! no other effect.

use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    api::bad_input::assert_problem,
    support::{
        stack::Stack,
        tokens::in_seconds,
        webhook_senders::{
            OTHER_SECRET, SECRET, sample_payload,
            signatures::{SCHEMES, Scheme, SignedRequest},
        },
    },
    webhooks::incoming::{counts, field},
};

/// The answer to every request without a valid signature.
const REFUSED: &str = "expected a request that is signed as a webhook of this agent configures it";
const MISSING: &str = "expected the header";
const WRONG: &str = "expected a signature of the unchanged body by a secret of this service";
const OLD: &str = "got an older one";
const IN_THE_FUTURE: &str = "got one in the future";

/// Requests that the service did not sign, each with words of its error.
fn forged_requests(scheme: Scheme, is_local: bool) -> Vec<(SignedRequest, &'static str)> {
    let now = in_seconds(0);
    let body = sample_payload("evt_1").to_string().into_bytes();
    let good = scheme.signed("evt_1");
    let signed = |secret: &str, at: i64| scheme.signed_with(secret, "evt_1", &body, at);
    let changed = |change: &dyn Fn(&mut SignedRequest)| {
        let mut sent = good.clone();
        change(&mut sent);
        sent
    };
    let mut cases = vec![
        (signed(OTHER_SECRET, now), WRONG),
        (changed(&|sent| sent.body.push(b' ')), WRONG),
        (changed(&|sent| sent.body = sample_payload("evt_2").to_string().into_bytes()), WRONG),
        (changed(&|sent| sent.body.clear()), WRONG),
        (changed(&|sent| sent.headers.clear()), MISSING),
    ];
    for index in 0..good.headers.len() {
        let (name, value) = good.headers[index].clone();
        cases.push((changed(&|sent| drop(sent.headers.remove(index))), MISSING));
        cases.push((changed(&|sent| sent.headers[index].1.clear()), MISSING));
        // API Gateway merges two headers of the same name.
        if is_local {
            cases.push((good.clone().with(name, &value), MISSING));
        }
    }
    if scheme == Scheme::Standard {
        cases.push((changed(&|sent| sent.headers[0].1 = "evt_2".into()), WRONG));
    }
    if scheme != Scheme::Github {
        cases
            .extend([(signed(SECRET, now - 302), OLD), (signed(SECRET, now + 400), IN_THE_FUTURE)]);
    }
    cases
}

#[tokio::test]
async fn a_forged_request_triggers_no_run_and_is_listed_without_secrets() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    for scheme in SCHEMES {
        let agent = stack.receiver(json!({})).await;
        let mut expected = Vec::new();
        for (sent, word) in forged_requests(scheme, stack.is_local()) {
            let refused = stack.hook(&agent, scheme.name(), &sent).await;
            assert_problem(&refused, &[401], REFUSED, &format!("{scheme:?} {:?}", sent.headers));
            expected.push((word.to_owned(), sent.body.len() as u64));
        }
        // A correct signature by the secret of another service.
        let by_another = Scheme::Github.signed_with(
            SECRET,
            "evt_1",
            sample_payload("evt_1").to_string().as_bytes(),
            0,
        );
        assert_problem(
            &stack.hook(&agent, "others", &by_another).await,
            &[401],
            REFUSED,
            "another service's secret",
        );

        assert!(stack.runs_by(&agent).await.is_empty(), "{scheme:?}");
        let listed = stack.deliveries(&agent, &format!("?service={}", scheme.name())).await;
        // Only the operator learns why.
        let shown = listed.iter().map(|one| {
            let reason = field(one, "reason");
            let word = [MISSING, WRONG, OLD, IN_THE_FUTURE].into_iter();
            let word = word.filter(|word| reason.contains(word)).collect();
            (word, one["bytes"].as_u64().unwrap())
        });
        assert_eq!(counts(shown), counts(expected), "{scheme:?}");
        for one in &listed {
            assert_eq!(
                (&one["status"], &one["key"], &one["runId"]),
                (&json!("rejected"), &Value::Null, &Value::Null)
            );
        }
        assert_shows_no_secret(scheme, &json!(listed).to_string());
        let made = stack.hook(&agent, scheme.name(), &scheme.signed("evt_1")).await.must_be(202);
        assert!(made["runId"].is_string(), "a rejected request used up its key: {made}");
    }
    let log = stack.log();
    assert!(!log.contains(&SECRET[6..]) && !log.contains(&OTHER_SECRET[6..]), "{log}");
}

/// Checks that a text contains no secret, no valid signature and nothing of the payload.
fn assert_shows_no_secret(scheme: Scheme, text: &str) {
    let signed = scheme.signed("evt_1");
    let signatures = signed.headers.iter().map(|(_, value)| value.as_str());
    let long = signatures.filter(|value| value.len() > 20);
    for secret in long.chain([SECRET, OTHER_SECRET, &SECRET[6..], "The build"]) {
        assert!(!text.contains(secret), "{text}");
    }
}

#[tokio::test]
async fn a_bearer_token_is_not_a_signature() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let agent = stack.receiver(json!({})).await;
    let person = stack.person("Husam").await;
    for caller in [stack.with(&stack.key), stack.as_entity(&person), stack.with(SECRET)] {
        let path = format!("/v1/hooks/{agent}/github");
        assert_problem(
            &caller.create(&path, sample_payload("one")).await,
            &[401],
            REFUSED,
            "a bearer token",
        );
    }
    assert!(stack.runs_by(&agent).await.is_empty());
}

#[tokio::test]
async fn the_examples_of_the_signature_schemes_are_accepted() {
    let token = "It's a Secret to Everybody";
    let Some(stack) = Stack::receiving(&[("SMARTSPACE_SECRET_GITHUB", token)]).await else {
        return;
    };
    let webhooks = json!({
        "github": { "scheme": "github", "secrets": ["GITHUB"] },
        "standard": { "scheme": "standard", "secrets": ["HOOK"] },
    });
    let agent = stack.receiver(json!({ "webhooks": webhooks })).await;
    let github = SignedRequest {
        headers: vec![
            ("x-github-delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958".into()),
            (
                "x-hub-signature-256",
                "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17".into(),
            ),
        ],
        body: b"Hello, World!".to_vec(),
    };
    let made = stack.hook(&agent, "github", &github).await.must_be(202);
    assert_eq!(stack.run(&field(&made, "runId")).await["trigger"]["payload"], "Hello, World!");
    let standard = SignedRequest {
        headers: vec![
            ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek".into()),
            ("webhook-timestamp", "1614265330".into()),
            ("webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=".into()),
        ],
        body: br#"{"test": 2432232314}"#.to_vec(),
    };
    assert_problem(
        &stack.hook(&agent, "standard", &standard).await,
        &[401],
        REFUSED,
        "an example that was signed years ago",
    );
}

#[tokio::test]
async fn an_unknown_agent_or_service_looks_like_one_with_another_secret() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let agent = stack.receiver(json!({})).await;
    let retired = stack.receiver(json!({})).await;
    let person = stack.person("Husam").await;
    let plain = stack.agent("Bob", "any").await;
    stack.delete(&format!("/v1/entities/{retired}")).await.must_be(204);
    let cases = [
        ("ent_01ARZ3NDEKTSV4RRFFQ69G5FAV", "github"),
        (&person, "github"),
        (&plain, "github"),
        (&retired, "github"),
        (&agent, "jira"),
        (&agent, "GitHub"),
        (&agent, "github"),
    ];
    let body = sample_payload("one").to_string();
    let forged = Scheme::Github.signed_with(OTHER_SECRET, "one", body.as_bytes(), 0);
    let mut answers = Vec::new();
    for (agent, service) in cases {
        let refused = stack.hook(agent, service, &forged).await;
        assert_problem(&refused, &[401], REFUSED, &format!("{agent} {service}"));
        let mut body = refused.body.clone();
        body["instance"] = Value::Null;
        answers.push((refused.status, body));
        // Even who knows a secret does not learn who has it.
        if service != "github" || agent != cases[6].0 {
            let refused = stack.hook(agent, service, &Scheme::Github.signed("one")).await;
            assert_problem(&refused, &[401], REFUSED, &format!("signed, {agent} {service}"));
        }
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(stack.deliveries(&agent, "").await.len(), 1);
    for (agent, service) in [("nobody", "github"), (&agent, "git%20hub"), (&agent, &"x".repeat(65))]
    {
        let refused = stack.hook(agent, service, &forged).await;
        assert_problem(&refused, &[404], "", &format!("{agent} {service}"));
    }
    for method in [Method::GET, Method::PUT] {
        assert_eq!(
            stack.call(method, &format!("/v1/hooks/{agent}/github"), None).await.status,
            405
        );
    }
}

#[tokio::test]
async fn forged_requests_are_slowed_down_and_signed_ones_are_not() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let agent = stack.receiver(json!({})).await;
    let unsigned = SignedRequest { headers: Vec::new(), body: b"{}".to_vec() };
    for agent in [&agent, "ent_01ARZ3NDEKTSV4RRFFQ69G5FAV"] {
        let forged = join_all((0..220).map(|_| stack.hook(agent, "github", &unsigned))).await;
        assert!(forged.iter().all(|reply| [401, 429].contains(&reply.status)));
        let slowed = forged.iter().filter(|reply| reply.status == 429).count();
        assert!(slowed >= 50, "{slowed} of 220 forged requests were slowed down");
    }
    // The address and the agent have used all that they had for forged requests.
    for number in 0..5 {
        let signed = Scheme::Github.signed(&format!("right-{number}"));
        stack.hook(&agent, "github", &signed).await.must_be(202);
    }
}
