//! What is not known to come from a service: refused, noted without a secret, and otherwise without a trace.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::{Value, json};

use super::{
    super::{
        bad_input::assert_problem,
        services::{OTHER_SECRET, SCHEMES, SECRET, Scheme, Sent, said},
        stack::Stack,
        tokens::in_seconds,
    },
    counted, field,
};

const MISSING: &str = "expected the header";
const WRONG: &str = "expected a signature of the body as it was sent, by a secret of this service";
const OLD: &str = "got an older one";
const YET_TO_COME: &str = "got one that is yet to come";

/// Requests that are not the service's, each with what is said of it.
fn not_its_own(scheme: Scheme, is_local: bool) -> Vec<(Sent, &'static str)> {
    let (now, body) = (in_seconds(0), said("evt_1").to_string().into_bytes());
    let good = scheme.sends("evt_1");
    let signed = |secret: &str, at: i64| scheme.signs(secret, "evt_1", &body, at);
    let changed = |change: &dyn Fn(&mut Sent)| {
        let mut sent = good.clone();
        change(&mut sent);
        sent
    };
    let mut cases = vec![
        (signed(OTHER_SECRET, now), WRONG),
        (changed(&|sent| sent.body.push(b' ')), WRONG),
        (changed(&|sent| sent.body = said("evt_2").to_string().into_bytes()), WRONG),
        (changed(&|sent| sent.body.clear()), WRONG),
        (changed(&|sent| sent.headers.clear()), MISSING),
    ];
    for place in 0..good.headers.len() {
        let (name, value) = good.headers[place].clone();
        cases.push((changed(&|sent| drop(sent.headers.remove(place))), MISSING));
        cases.push((changed(&|sent| sent.headers[place].1.clear()), MISSING));
        // API Gateway makes one header of two.
        if is_local {
            cases.push((good.clone().with(name, &value), MISSING));
        }
    }
    if scheme == Scheme::Standard {
        cases.push((changed(&|sent| sent.headers[0].1 = "evt_2".into()), WRONG));
    }
    if scheme != Scheme::Github {
        cases.extend([(signed(SECRET, now - 302), OLD), (signed(SECRET, now + 400), YET_TO_COME)]);
    }
    cases
}

#[tokio::test]
async fn what_a_service_did_not_sign_wakes_nobody_and_is_listed_without_a_secret() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    for scheme in SCHEMES {
        let agent = stack.receiver(json!({})).await;
        let mut expected = Vec::new();
        for (sent, word) in not_its_own(scheme, stack.is_local()) {
            let refused = stack.hook(&agent, scheme.name(), &sent).await;
            assert_problem(&refused, &[401], word, &format!("{scheme:?} {:?}", sent.headers));
            expected.push((field(&refused.body, "detail"), sent.body.len() as u64));
        }
        // Another service's secret is nothing to this one, whatever this one's signature says.
        let by_another = Scheme::Github.signs(SECRET, "evt_1", said("evt_1").to_string().as_bytes(), 0);
        assert_problem(&stack.hook(&agent, "others", &by_another).await, &[401], WRONG, "another service's secret");

        assert!(stack.runs_by(&agent).await.is_empty(), "{scheme:?}");
        let listed = stack.deliveries(&agent, &format!("?service={}", scheme.name())).await;
        let shown = listed.iter().map(|one| (field(one, "reason"), one["bytes"].as_u64().unwrap()));
        assert_eq!(counted(shown), counted(expected), "{scheme:?}");
        for one in &listed {
            assert_eq!((&one["status"], &one["key"], &one["runId"]), (&json!("rejected"), &Value::Null, &Value::Null));
        }
        let shown = json!(listed).to_string();
        let right: Vec<String> =
            scheme.sends("evt_1").headers.into_iter().map(|(_, value)| value).filter(|value| value.len() > 20).collect();
        for secret in right.iter().map(String::as_str).chain([SECRET, OTHER_SECRET, &SECRET[6..], "The build"]) {
            assert!(!shown.contains(secret), "{shown}");
        }
        let made = stack.hook(&agent, scheme.name(), &scheme.sends("evt_1")).await.must_be(202);
        assert!(made["runId"].is_string(), "what was rejected used up no key: {made}");
    }
    let log = stack.log();
    assert!(!log.contains(&SECRET[6..]) && !log.contains(&OTHER_SECRET[6..]), "{log}");
}

#[tokio::test]
async fn a_key_of_any_other_kind_is_no_signature() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let agent = stack.receiver(json!({})).await;
    let person = stack.person("Husam").await;
    for caller in [stack.with(&stack.key), stack.as_entity(&person), stack.with(SECRET)] {
        let path = format!("/v1/hooks/{agent}/github");
        assert_problem(&caller.create(&path, said("one")).await, &[401], MISSING, "a bearer token");
    }
    assert!(stack.runs_by(&agent).await.is_empty());
}

#[tokio::test]
async fn the_services_own_examples() {
    let token = "It's a Secret to Everybody";
    let Some(stack) = Stack::receiving(&[("SMARTSPACE_SECRET_GITHUB", token)]).await else { return };
    let webhooks =
        json!({ "github": { "scheme": "github", "secrets": ["GITHUB"] }, "standard": { "scheme": "standard", "secrets": ["HOOK"] } });
    let agent = stack.receiver(json!({ "webhooks": webhooks })).await;
    let github = Sent {
        headers: vec![
            ("x-github-delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958".into()),
            ("x-hub-signature-256", "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17".into()),
        ],
        body: b"Hello, World!".to_vec(),
    };
    let made = stack.hook(&agent, "github", &github).await.must_be(202);
    assert_eq!(stack.run(&field(&made, "runId")).await["trigger"]["payload"], "Hello, World!");
    let standard = Sent {
        headers: vec![
            ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek".into()),
            ("webhook-timestamp", "1614265330".into()),
            ("webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=".into()),
        ],
        body: br#"{"test": 2432232314}"#.to_vec(),
    };
    assert_problem(&stack.hook(&agent, "standard", &standard).await, &[401], OLD, "signed years ago");
}

#[tokio::test]
async fn what_is_not_there_is_not_found() {
    let Some(stack) = Stack::receiving(&[]).await else { return };
    let (agent, retired) = (stack.receiver(json!({})).await, stack.receiver(json!({})).await);
    let (person, plain) = (stack.person("Husam").await, stack.agent("Bob", "any").await);
    stack.delete(&format!("/v1/entities/{retired}")).await.must_be(204);
    let cases = [
        ("ent_01ARZ3NDEKTSV4RRFFQ69G5FAV", "github"),
        ("nobody", "github"),
        (&person, "github"),
        (&plain, "github"),
        (&retired, "github"),
        (&agent, "jira"),
        (&agent, "GitHub"),
        (&agent, "git%20hub"),
        (&agent, &"x".repeat(65)),
    ];
    let mut details = Vec::new();
    for (agent, service) in cases {
        let refused = stack.hook(agent, service, &Scheme::Github.sends("one")).await;
        assert_problem(&refused, &[404], "", &format!("{agent} {service}"));
        details.push(field(&refused.body, "detail"));
    }
    // Whether there is an agent of this id is nobody's business who can't sign.
    let alike = BTreeMap::from([("there is no such agent, or it has no webhook of this name".to_owned(), 6)]);
    assert_eq!(counted(details.into_iter().filter(|detail| detail.contains("webhook"))), alike);
    assert!(stack.deliveries(&agent, "").await.is_empty());
    for method in [Method::GET, Method::PUT] {
        assert_eq!(stack.call(method, &format!("/v1/hooks/{agent}/github"), None).await.status, 405);
    }
}
