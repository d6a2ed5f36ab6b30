//! The settings of the rate limits.

use std::process::Command;

use serde_json::json;

use crate::{
    auth::rates::calls,
    support::{stack::Stack, webhook_senders::signatures::Scheme},
};

#[tokio::test]
async fn the_rate_limit_can_be_switched_off() {
    let assert_no_limit = async |stack: Stack| {
        let husam = stack.person("Husam").await;
        let his = stack.as_entity(&husam);
        let (replies, _) = calls(150, 0.0, async |_| his.get("/v1/spaces").await).await;
        assert!(replies.iter().all(|reply| reply.status == 200));
        stack
    };
    if let Some(stack) = Stack::receiving(&[("SMARTSPACE_RATE", "0")]).await {
        let agent = stack.receiver(json!({ "paused": true })).await;
        for index in 0..100 {
            stack
                .hook(&agent, "github", &Scheme::Github.signed(&format!("evt_{index}")))
                .await
                .must_be(202);
        }
        assert_no_limit(stack).await;
    }
    if let Some(stack) = Stack::with_secret(&["--no-rate-limit"]).await {
        assert_no_limit(stack).await;
    }
    if let Some(stack) = Stack::receiving(&[("SMARTSPACE_RATE", "1")]).await {
        let husam = stack.person("Husam").await;
        let his = stack.as_entity(&husam);
        let (replies, _) = calls(150, 0.0, async |_| his.get("/v1/spaces").await).await;
        assert!(replies.iter().any(|reply| reply.status == 429), "1 is the default");
    }
}

#[test]
fn an_invalid_rate_setting_is_reported_at_the_start() {
    for value in ["x", "off", "20", "-1", "0 "] {
        let output = Command::new(env!("CARGO_BIN_EXE_smartspace-under-test"))
            .args(["--data", ":memory:", "--listen", "127.0.0.1:0"])
            .env_clear()
            .env("SMARTSPACE_RATE", value)
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let expected =
            "SMARTSPACE_RATE: expected 0, which lifts the limits of calls per second, or 1";
        assert!(!output.status.success() && stderr.contains(expected), "{stderr}");
    }
}
