//! Servers that find a prompt too long: it is written anew with less of the history.

use serde_json::{Value, json};

use crate::models::dialects::{
    dialect::Dialect,
    rules::Refusal,
    said::ScriptedAnswer,
    scene::{Scene, model},
    servers::llama_cpp::{self, SMALL},
};

/// A space whose history is longer than the window of its agent's server.
async fn full_space(dialect: Dialect) -> Option<Scene> {
    let scene = Scene::of(dialect).await?;
    let settings = model(scene.server.dialect(), SMALL, &json!({}));
    let path = format!("/v1/entities/{}", scene.agent);
    let agent = json!({ "name": "Ada", "agent": { "model": settings } });
    scene.stack.patch(&path, agent).await.must_be(200);
    for number in 0..16 {
        let text = format!("Story {number}: {}", "a line of the history ".repeat(140));
        scene.stack.post(&scene.space, &scene.people[1], &text).await;
    }
    Some(scene)
}

/// How often the server has found a prompt too long.
fn too_long(scene: &Scene) -> usize {
    let refused = scene.server.refused();
    assert!(refused.iter().all(|refusal| refusal.rule == "window"), "{refused:#?}");
    refused.len()
}

#[tokio::test]
async fn the_figure_of_the_server_is_used_and_remembered() {
    let Some(scene) = full_space(llama_cpp::dialect()).await else { return };
    let answers = || [ScriptedAnswer::message("It fits."), ScriptedAnswer::nothing()];
    scene.outcome("short, please", answers()).await.assert_posted(&["It fits."]);
    assert_eq!(too_long(&scene), 1);
    scene.outcome("once more", answers()).await.assert_posted(&["It fits."]);
    assert_eq!(too_long(&scene), 1, "the window is remembered");
}

#[tokio::test]
async fn a_refusal_without_a_figure_halves_the_history() {
    let refusal = |_: &Refusal| -> Value {
        json!({ "error": { "message": "prompt is too long", "type": "invalid_request_error" } })
    };
    let dialect = Dialect { refusal, ..llama_cpp::dialect() };
    let Some(scene) = full_space(dialect).await else { return };
    let outcome = scene
        .outcome("short, please", [ScriptedAnswer::message("It fits."), ScriptedAnswer::nothing()])
        .await;
    outcome.assert_posted(&["It fits."]);
    let times = too_long(&scene);
    assert!((1..=2).contains(&times), "{times}");
    let prompt = outcome.requests[0].body.to_string();
    assert!(prompt.contains("@Ada short, please") && !prompt.contains("Story 0:"), "{prompt}");
}
