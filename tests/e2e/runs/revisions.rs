//! Revisions of agents: what they keep, how one is restored, and which one a run names.

use serde_json::{Value, json};

use crate::{
    auth::signing_in::refused,
    support::{
        client::Client,
        model::{Gate, answer, say_held, stop},
        routes::triggered_run,
        stack::Stack,
        waiting::SOON,
    },
};

impl Client {
    /// The revisions of an agent, newest first.
    async fn revisions(&self, agent: &str) -> Vec<Value> {
        let page = self.get(&format!("/v1/agents/{agent}/revisions")).await.must_be(200);
        page["items"].as_array().unwrap().clone()
    }

    async fn instruct(&self, agent: &str, text: &str) -> Value {
        let change = json!({"agent": {"instructions": text}});
        self.patch(&format!("/v1/entities/{agent}"), change).await.must_be(200)
    }
}

fn numbers(revisions: &[Value]) -> Vec<u64> {
    revisions.iter().map(|revision| revision["revision"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn a_change_makes_one_revision_and_what_changes_nothing_makes_none() {
    let stack = Stack::start().await;
    let agent = stack.agent("Ada", "x").await;
    let path = format!("/v1/entities/{agent}");
    assert_eq!(stack.get(&path).await.must_be(200)["revision"], 1);
    let long = "é".repeat(300);
    assert_eq!(stack.instruct(&agent, &long).await["revision"], 2);
    assert_eq!(stack.instruct(&agent, &long).await["revision"], 2);
    let renamed = json!({"name": "Ada L.", "agent": {"model": {"name": "y"}, "paused": true}});
    let now = stack.patch(&path, renamed).await.must_be(200);
    assert_eq!(now["revision"], 3);
    let revisions = stack.revisions(&agent).await;
    assert_eq!(numbers(&revisions), [3, 2, 1]);
    for revision in &revisions {
        assert_eq!(revision["by"], json!({"kind": "admin_key"}));
        assert_eq!(revision["source"], json!({"kind": "api"}));
        assert!(revision.get("agent").is_none(), "{revision}");
    }
    let mut changes = revisions[0]["changes"].as_array().unwrap().clone();
    changes.sort_by_key(|change| change["pointer"].to_string());
    assert_eq!(
        changes,
        [
            json!({"pointer": "/model/name", "from": "x", "to": "y"}),
            json!({"pointer": "/name", "from": "Ada", "to": "Ada L."}),
            json!({"pointer": "/paused", "from": false, "to": true}),
        ]
    );
    let cut = format!("{}…", "é".repeat(200));
    let expected = json!([{"pointer": "/instructions", "from": "", "to": cut}]);
    assert_eq!(revisions[1]["changes"], expected);
    assert_eq!(revisions[2]["changes"], json!([]));
    let shown = stack.get(&format!("/v1/agents/{agent}/revisions/3")).await.must_be(200);
    assert_eq!((&shown["name"], &shown["agent"]), (&now["name"], &now["agent"]));
    let shown = stack.get(&format!("/v1/agents/{agent}/revisions/2")).await.must_be(200);
    assert_eq!((&shown["name"], &shown["agent"]["instructions"]), (&json!("Ada"), &json!(long)));
}

#[tokio::test]
async fn sixty_changes_leave_fifty_revisions_and_each_can_be_restored() {
    let stack = Stack::start().await;
    let agent = stack.agent("Ada", "x").await;
    let mut were = Vec::new();
    for number in 2..=61 {
        let now = stack.instruct(&agent, &format!("Rule {number}.")).await;
        assert_eq!(now["revision"], number);
        were.push(now["agent"].clone());
    }
    let expected: Vec<u64> = (12..=61).rev().collect();
    assert_eq!(numbers(&stack.revisions(&agent).await), expected);
    for gone in ["11", "62", "0", "x"] {
        stack.get(&format!("/v1/agents/{agent}/revisions/{gone}")).await.must_be(404);
        let restore = format!("/v1/agents/{agent}/revisions/{gone}/restore");
        stack.create(&restore, json!({})).await.must_be(404);
    }
    let path = format!("/v1/agents/{agent}/revisions/30/restore");
    let restored = stack.create(&path, json!({})).await.must_be(200);
    assert_eq!((&restored["revision"], &restored["agent"]), (&json!(62), &were[28]));
    let again = stack.create(&path, json!({})).await.must_be(200);
    assert_eq!(again["revision"], 62);
    let newest = stack.revisions(&agent).await[0].clone();
    assert_eq!(newest["source"], json!({"kind": "restore", "restoredFrom": 30}));
    assert_eq!(newest["changes"][0]["to"], "Rule 30.");
}

#[tokio::test]
async fn a_revision_whose_name_is_taken_is_not_restored() {
    let stack = Stack::start().await;
    let (_, agent, space) = stack.pair().await;
    let path = format!("/v1/entities/{agent}");
    stack.patch(&path, json!({"name": "Bob"})).await.must_be(200);
    let other = stack.agent("Ada", "x").await;
    let member = format!("/v1/spaces/{space}/members/{other}");
    assert!([200, 201, 204].contains(&stack.put(&member, json!({})).await.status));
    let restore = format!("/v1/agents/{agent}/revisions/1/restore");
    let refused = stack.create(&restore, json!({})).await.must_be(409);
    assert!(refused["detail"].as_str().unwrap().contains("Ada"), "{refused}");
    assert_eq!(stack.get(&path).await.must_be(200)["revision"], 2);
}

#[tokio::test]
async fn a_run_and_its_steps_name_the_revision_with_which_the_model_was_asked() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    stack.model.plays("ada", [answer([say_held("Wait", &gate, ", please.")]), stop(), stop()]);
    let (person, agent, space) = stack.pair().await;
    let first = stack.get(&format!("/v1/entities/{agent}")).await.must_be(200)["revision"].clone();
    let message = stack.post(&space, &person, "Begin.").await;
    gate.reached(1).await;
    stack.instruct(&agent, "Be brief.").await;
    gate.open();
    let run = stack.ended(&triggered_run(&message, &agent).unwrap(), SOON).await;
    let steps = run["steps"].as_array().unwrap();
    // The run goes on with the configuration that it began with.
    assert!(steps.iter().all(|step| step["configRevision"] == first), "{run}");
    assert_eq!(run["configRevision"], first);
    let message = stack.post(&space, &person, "Again.").await;
    let next = stack.ended(&triggered_run(&message, &agent).unwrap(), SOON).await;
    assert_eq!(next["configRevision"], first.as_u64().unwrap() + 1);
}

#[tokio::test]
async fn only_the_operator_sees_revisions_and_only_signed_in_agents_are_named_by_tokens() {
    let Some(stack) = Stack::with_secret(&[]).await else { return };
    let (person, agent, _) = stack.pair().await;
    let path = format!("/v1/entities/{agent}");
    let seen = stack.as_subject(&person, 600).get(&path).await.must_be(200);
    assert!(seen.get("revision").is_none(), "{seen}");
    let change = json!({"externalId": "ada"});
    stack.patch(&path, change).await.must_be(200);
    let ada = stack.as_subject("ada", 600);
    refused(&ada.get("/v1/me").await, "signIn is false");
    stack.patch(&path, json!({"agent": {"signIn": true}})).await.must_be(200);
    assert_eq!(ada.get("/v1/me").await.must_be(200)["entity"]["id"], json!(agent));
    stack.patch(&path, json!({"agent": {"signIn": null}})).await.must_be(200);
    ada.get("/v1/me").await.must_be(401);
    // Its id is no name that somebody guesses.
    stack.as_subject(&agent, 600).get("/v1/me").await.must_be(200);
}
