//! A model that must get its thinking back, even if it has not thought.

use serde_json::json;

use crate::models::dialects::{
    dialect::Dialect,
    said::ScriptedAnswer,
    scene::Scene,
    servers::deepseek::{self, BRIEF},
};

#[tokio::test]
async fn empty_thinking_beside_a_call_goes_back_to_deepseek() {
    let dialect = Dialect { model: BRIEF, ..deepseek::dialect() };
    let Some(scene) = Scene::of(dialect).await else { return };
    let read = ScriptedAnswer::call("read_messages", json!({ "limit": 1 }));
    let outcome = scene
        .outcome("quick", [read, ScriptedAnswer::message("Done."), ScriptedAnswer::nothing()])
        .await;
    outcome.assert_posted(&["Done."]);
    assert_eq!((scene.server.refused(), scene.server.faults()), (vec![], vec![]));
}
