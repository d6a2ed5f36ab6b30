//! Steps in which people do something while the run works or waits.

use serde_json::json;

use crate::{
    models::dialects::{said::ScriptedAnswer, scene::Scene},
    support::{
        files::PIXEL,
        model::Gate,
        routes::triggered_run,
        waiting::{SOON, wait_for},
    },
};

/// 4: A person posts while the model writes. The next request has the news.
pub(super) async fn news(scene: &Scene) {
    let gate = Gate::closed();
    let seen = scene.server.accepted().len();
    let look = ScriptedAnswer::call("get_my_runs", json!({})).thinking("What do I do?");
    let done = ScriptedAnswer::message("Only the API, then.");
    scene.server.plays([look.held(&gate), done, ScriptedAnswer::nothing()]);
    let run = scene.ask("deploy").await;
    gate.reached(1).await;
    scene.stack.post(&scene.space, &scene.people[1], "Only the API, please").await;
    gate.open();
    let outcome = scene.end_of(&run, seen).await;
    outcome.assert_posted(&["Only the API, then."]);
    outcome.assert_usage(scene.server.dialect());
    let notes = outcome.requests[1].read().system_notes().concat();
    assert!(notes.contains("Only the API, please"), "{notes}");
}

/// 5: The run waits for a form, and resumes with the answer of a person.
pub(super) async fn form(scene: &Scene) {
    let socket = scene.stack.socket_of(&scene.people[0]).await;
    socket.subscribe(&scene.space, None).await;
    let seen = scene.server.accepted().len();
    let ask =
        ScriptedAnswer::call("getAmount", json!({ "title": "How much?" })).thinking("They know.");
    scene.server.plays([ask, ScriptedAnswer::message("Seven it is."), ScriptedAnswer::nothing()]);
    let run = scene.ask("how much?").await;
    let form = socket.frame("tool.requested", SOON, |frame| frame["runId"] == run.as_str()).await;
    wait_for("the run waits", SOON, async || {
        (scene.stack.run(&run).await["status"] == "waiting_tool").then_some(())
    })
    .await;
    let path = format!("/v1/runs/{run}/toolCalls/{}/result", form.body["callId"].as_str().unwrap());
    let person = scene.stack.as_entity(&scene.people[1]);
    person.create(&path, json!({ "output": { "amount": 7 } })).await.must_be(202);
    let outcome = scene.end_of(&run, seen).await;
    outcome.assert_posted(&["Seven it is."]);
    outcome.assert_usage(scene.server.dialect());
    let result = outcome.requests[1].read().results().pop().unwrap();
    assert!(result.to_string().contains("\"amount\":7"), "{result}");
}

/// 6: A picture in the timeline, which goes to a server that sees.
pub(super) async fn picture(scene: &Scene) {
    let seen = scene.server.accepted().len();
    let look = ScriptedAnswer::call("read_messages", json!({ "limit": 1 })).thinking("A pixel.");
    scene.server.plays([look, ScriptedAnswer::message("It is red."), ScriptedAnswer::nothing()]);
    let file = scene.stack.upload(&scene.space, "a.png", "image/png", PIXEL).await;
    let message =
        scene.stack.post_files(&scene.space, &scene.people[0], "@Ada look", &[&file]).await;
    let run = triggered_run(&message, &scene.agent).unwrap();
    let outcome = scene.end_of(&run, seen).await;
    outcome.assert_posted(&["It is red."]);
    outcome.assert_usage(scene.server.dialect());
    let picture = ("image/png".to_owned(), PIXEL.to_vec());
    let expected = Vec::from_iter(scene.server.dialect().can.sees.then_some(picture));
    for request in &outcome.requests {
        assert_eq!(request.read().files(), expected);
    }
}
