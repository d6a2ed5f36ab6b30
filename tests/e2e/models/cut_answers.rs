//! Answers that are cut at `maxOutputTokens`, so that the run ends with `length`.

use serde_json::json;

use crate::models::dialects::{
    said::{Ending, ScriptedAnswer},
    scene::Scene,
    servers::vllm,
};

#[tokio::test]
async fn the_second_cut_answer_in_a_row_posts_what_it_has() {
    let Some(scene) = Scene::of(vllm::dialect()).await else { return };
    let first = ScriptedAnswer::message("A first message that is too long.").ends(Ending::Cut);
    let text = "A second message that is too long, as the first one was.";
    let second = ScriptedAnswer::message(text).ends(Ending::Cut);
    let outcome = scene.outcome("write", [first, second, ScriptedAnswer::message("Never.")]).await;
    assert_eq!(
        (outcome.run["status"].as_str(), outcome.run["endReason"].as_str()),
        (Some("completed"), Some("length")),
        "{:#}",
        outcome.run
    );
    assert_eq!((outcome.requests.len(), outcome.posted.len()), (2, 1));
    let posted = &outcome.posted[0];
    assert!(!posted.is_empty() && text.starts_with(posted.as_str()) && posted != text, "{posted}");
    let message = scene.stack.messages(&scene.space).await.pop().unwrap();
    assert_eq!(message["parts"][0]["partial"], json!(true), "{message}");
    let heard = outcome.requests[1].read().results().pop().unwrap();
    assert!(heard.to_string().contains("Your answer was cut at"), "{heard}");
}

#[tokio::test]
async fn a_text_without_a_call_that_is_cut_posts_nothing() {
    let Some(scene) = Scene::of(vllm::dialect()).await else { return };
    let text = ScriptedAnswer::text("I would say that, if I").ends(Ending::Cut);
    let outcome = scene.outcome("write", [text, ScriptedAnswer::message("Never.")]).await;
    assert_eq!(
        (outcome.run["status"].as_str(), outcome.run["endReason"].as_str()),
        (Some("completed"), Some("length")),
        "{:#}",
        outcome.run
    );
    assert_eq!((outcome.requests.len(), outcome.posted.len()), (1, 0));
}
