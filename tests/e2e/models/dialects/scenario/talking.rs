//! Steps in which the model only talks.

use serde_json::json;

use crate::{
    models::dialects::{said::ScriptedAnswer, scene::Scene},
    support::{model::Gate, waiting::SOON},
};

/// 1: An answer whose message is read while it is written, where the server streams it.
pub(super) async fn plain_answer(scene: &Scene) {
    let text = "Hello from the model, in a message that is long enough for many pieces.";
    let gate = Gate::closed();
    let socket = scene.stack.socket_of(&scene.people[0]).await;
    socket.subscribe(&scene.space, None).await;
    let seen = scene.server.accepted().len();
    scene.server.plays([ScriptedAnswer::message(text).held(&gate), ScriptedAnswer::nothing()]);
    let run = scene.ask("hello?").await;
    gate.reached(1).await;
    if scene.server.dialect().can.streams_calls {
        let is_part = |shown: &String| !shown.is_empty() && text.starts_with(shown.as_str());
        socket
            .shows(&scene.space, "the text so far", SOON, |view| {
                view.live().iter().any(is_part).then_some(())
            })
            .await;
    }
    gate.open();
    let outcome = scene.end_of(&run, seen).await;
    outcome.assert_posted(&[text]);
    outcome.assert_usage(scene.server.dialect());
    let first = outcome.requests[0].read();
    assert_eq!(first.trigger_text(), "@Ada hello?");
    assert!(first.tools().contains(&"send_message"), "{:?}", first.tools());
}

/// 2: Thinking in two answers. The server checks that its marks come back, and nobody reads them.
pub(super) async fn thinking(scene: &Scene) {
    let read =
        ScriptedAnswer::call("read_messages", json!({ "limit": 2 })).thinking("I look first. Ω");
    let say = ScriptedAnswer::message("I have looked.").thinking("Now I know,\nand I \"say\" it.");
    let outcome = scene.outcome("what was said?", [read, say, ScriptedAnswer::nothing()]).await;
    outcome.assert_posted(&["I have looked."]);
    outcome.assert_usage(scene.server.dialect());
    let messages = scene.stack.messages(&scene.space).await;
    assert!(!json!(messages).to_string().contains("I look first"), "members read the thinking");
}

/// 3: Three calls in one answer, and their results in their order.
pub(super) async fn parallel_calls(scene: &Scene) {
    let three = ScriptedAnswer::message("One.")
        .and_call("read_messages", json!({ "limit": 1 }))
        .and_call("send_message", json!({ "text": "Two." }))
        .thinking("All at once.");
    let outcome = scene.outcome("count", [three, ScriptedAnswer::nothing()]).await;
    outcome.assert_posted(&["One.", "Two."]);
    outcome.assert_usage(scene.server.dialect());
    let results = outcome.requests[1].read().results();
    assert_eq!(results.len(), 3, "{results:?}");
    let sent = [&results[0], &results[2]].map(|result| &result["status"]);
    assert_eq!(sent, ["delivered", "delivered"], "{results:?}");
}
