//! Azure's filter of prompts refuses a request before the model reads it.

use crate::models::dialects::{
    said::ScriptedAnswer,
    scene::Scene,
    servers::azure::{self, FILTERED},
};

#[tokio::test]
async fn a_prompt_that_azure_filters_is_a_refusal() {
    let Some(scene) = Scene::of(azure::dialect()).await else { return };
    let outcome = scene.outcome(FILTERED, [ScriptedAnswer::message("Never.")]).await;
    assert_eq!(
        (outcome.run["status"].as_str(), outcome.run["endReason"].as_str()),
        (Some("completed"), Some("refusal")),
        "{:#}",
        outcome.run
    );
    let rules: Vec<&str> = scene.server.refused().iter().map(|refusal| refusal.rule).collect();
    assert_eq!((rules, outcome.posted.len()), (vec!["content_filter"], 0));
}
