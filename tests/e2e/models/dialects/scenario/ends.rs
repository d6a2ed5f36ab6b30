//! Steps in which the answer does not come as it should.

use serde_json::json;

use crate::{
    models::dialects::{
        dialect::Refusing,
        said::{Ending, ScriptedAnswer},
        scene::{Scene, form, model},
    },
    support::{model::Gate, routes::triggered_run, waiting::SOON},
};

/// 7: An answer that is cut at its limit: within a call, so that the model hears of it, or, where a
/// call comes whole, before it.
pub(super) async fn cut(scene: &Scene) {
    let long =
        ScriptedAnswer::message("A message that is too long to be written.").ends(Ending::Cut);
    let short = ScriptedAnswer::message("A short one.");
    let outcome = scene.outcome("write", [long, short, ScriptedAnswer::nothing()]).await;
    outcome.assert_usage(scene.server.dialect());
    if !scene.server.dialect().can.streams_calls {
        assert_eq!(
            (outcome.run["status"].as_str(), outcome.run["endReason"].as_str()),
            (Some("completed"), Some("length")),
            "{:#}",
            outcome.run
        );
        assert!(outcome.posted.is_empty());
        return;
    }
    outcome.assert_posted(&["A short one."]);
    let result = outcome.requests[1].read().results().pop().unwrap();
    assert!(result.to_string().contains("Your answer was cut at"), "{result}");
}

/// 8: The model refuses. Nothing is posted, and the run says why.
pub(super) async fn refusal(scene: &Scene) {
    if !scene.server.dialect().can.refuses {
        return;
    }
    let outcome =
        scene.outcome("something bad", [ScriptedAnswer::nothing().ends(Ending::Refused)]).await;
    assert_eq!(
        (outcome.run["status"].as_str(), outcome.run["endReason"].as_str()),
        (Some("completed"), Some("refusal")),
        "{:#}",
        outcome.run
    );
    assert_eq!((outcome.posted.len(), outcome.requests.len()), (0, 1));
}

/// 9: Another model of the server refuses a field. That is obeyed at once, and remembered.
pub(super) async fn refused_field(scene: &Scene) {
    let Some(Refusing { model: name, settings, .. }) = &scene.server.dialect().refusing else {
        return;
    };
    let settings = model(scene.server.dialect(), name, settings);
    let agent = json!({ "model": settings, "tools": [form()] });
    let agent = scene.stack.agent_with("Bea", agent).await;
    let path = format!("/v1/spaces/{}/members/{agent}", scene.space);
    scene.stack.put(&path, json!({})).await.must_be(200);
    for text in ["First.", "Second."] {
        let seen = scene.server.accepted().len();
        scene.server.plays([ScriptedAnswer::message(text), ScriptedAnswer::nothing()]);
        let message = scene.stack.post(&scene.space, &scene.people[0], "@Bea go").await;
        let run = triggered_run(&message, &agent).unwrap();
        scene.end_of(&run, seen).await.assert_posted(&[text]);
    }
}

/// 10: The connection breaks in the middle of an answer, which is asked for again.
pub(super) async fn broken_connection(scene: &Scene) {
    let broken =
        ScriptedAnswer::message("It is here, after a while.").thinking("Hm.").ends(Ending::Broken);
    let whole = ScriptedAnswer::message("It is here.");
    let outcome = scene.outcome("where?", [broken, whole, ScriptedAnswer::nothing()]).await;
    outcome.assert_posted(&["It is here."]);
}

/// 10: The product is killed in the middle of the second answer of a run, which then resumes.
pub(super) async fn kill(scene: &mut Scene) {
    let gate = Gate::closed();
    let seen = scene.server.accepted().len();
    let read = ScriptedAnswer::call("read_messages", json!({ "limit": 1 })).thinking("Slowly.");
    let half = ScriptedAnswer::message("Never read to its end.").held(&gate);
    scene.server.plays([
        read,
        half,
        ScriptedAnswer::message("Here again."),
        ScriptedAnswer::nothing(),
    ]);
    let run = scene.ask("still there?").await;
    gate.reached(1).await;
    scene.stack.kill9();
    scene.stack.restart().await;
    scene.starts += 1;
    let outcome = scene.end_of(&run, seen).await;
    outcome.assert_posted(&["Here again."]);
    assert_eq!(outcome.run["attempt"], 2, "{:#}", outcome.run);
    assert_eq!(scene.stack.run(&run).await["steps"].as_array().map(Vec::len), Some(3));
    scene.stack.quiet_within(&scene.space, SOON).await;
}
