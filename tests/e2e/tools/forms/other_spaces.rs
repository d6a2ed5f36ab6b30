//! Forms in a space other than the run's, and forms that cannot be shown.

use serde_json::json;

use crate::{
    support::{
        model::{Gate, answer, call, stop, wait},
        socket::Frame,
        waiting::SOON,
    },
    tools::forms::scene::{FormScene, answer_form, approval, part},
};

/// Starts a run that waits for a form in another space, the board, whose members are the first
/// person and the agent. Returns the scene, the board and the run.
async fn form_on_a_board() -> (FormScene, String, String) {
    let scene = FormScene::new(json!([approval()]), []).await;
    let board = scene.stack.space("Board", &[&scene.people[0], &scene.agent]).await;
    let input = json!({"targetSpaceId": board, "message": "Deploy?", "options": ["Yes"]});
    scene.stack.model.answers("ada", move |request| {
        if request.step() == 0 { answer([call("getApproval", input.clone())]) } else { stop() }
    });
    let run = scene.trigger().await;
    scene.status(&run, "waiting_tool").await;
    (scene, board, run)
}

#[tokio::test]
async fn a_form_without_options_or_without_its_space_is_refused() {
    let missing = "spc_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let bad = [
        call("getApproval", json!({"message": "?"})),
        call("getApproval", json!({"message": "?", "options": []})),
        call("getApproval", json!({"options": ["a"]})),
        call("getApproval", json!({"targetSpaceId": "nonsense", "message": "?", "options": ["a"]})),
        call("getApproval", json!({"targetSpaceId": missing, "message": "?", "options": ["a"]})),
    ];
    let scene = FormScene::new(json!([approval()]), [answer(bad), stop()]).await;
    let run = scene.trigger().await;
    scene.stack.ended(&run, SOON).await;
    let errors: Vec<_> = scene
        .results()
        .iter()
        .map(|result| result["error"].as_str().unwrap_or_default().to_owned())
        .collect();
    let expected = [
        "expected options",
        "expected options",
        "expected message",
        "expected an id like spc_",
        "you are not a member of",
    ];
    for (error, expected) in errors.iter().zip(expected) {
        assert!(error.contains(expected), "the error lacks {expected:?}: {error}");
    }
    assert_eq!(scene.stack.messages(&scene.space).await.len(), 1, "a refused form has a card");
}

#[tokio::test]
async fn a_form_fails_when_its_agent_leaves_the_space_that_shows_it() {
    let (scene, board, run) = form_on_a_board().await;
    scene.stack.delete(&format!("/v1/spaces/{board}/members/{}", scene.agent)).await.must_be(204);
    scene.stack.ended(&run, SOON).await;
    assert_eq!(
        scene.results(),
        [json!({"error": "you are not a member of the space that showed this any more"})]
    );
    let card = scene.stack.messages(&board).await.pop().unwrap();
    assert_eq!(part(&card)["status"], "failed");
}

#[tokio::test]
async fn a_form_fails_when_the_space_that_shows_it_is_deleted() {
    let (scene, board, run) = form_on_a_board().await;
    scene.stack.delete(&format!("/v1/spaces/{board}")).await.must_be(204);
    let ended = scene.stack.ended(&run, SOON).await;
    assert_eq!(ended["status"], "completed", "{ended}");
    assert_eq!(scene.results(), [json!({"error": "the space that showed this was deleted"})]);
}

#[tokio::test]
async fn target_space_id_shows_a_form_in_another_space_only() {
    let scene = FormScene::new(json!([approval()]), []).await;
    let boss = scene.stack.person("Boss").await;
    let board = scene.stack.space("Board", &[&boss, &scene.agent]).await;
    let gate = Gate::closed();
    let scripted = gate.clone();
    let input = json!({
        "targetSpaceId": board,
        "zmessage": 1,
        "message": "Deploy?",
        "options": ["Yes"],
    });
    scene.stack.model.answers("ada", move |request| {
        if request.step() > 0 || request.trigger_text() != "Deploy v2.1" {
            return stop();
        }
        answer([call("getApproval", input.clone()), wait(&scripted)])
    });
    let bosses = scene.stack.socket_of(&boss).await;
    bosses.subscribe(&board, None).await;
    let run = scene.trigger().await;
    gate.open();
    let form =
        bosses.frame("tool.requested", SOON, |frame| frame["name"] == "getApproval").await.body;
    assert_eq!((&form["spaceId"], &form["input"].get("targetSpaceId")), (&json!(board), &None));
    scene.status(&run, "waiting_tool").await;
    let yes = json!({"output": {"choice": "Yes"}});
    // The first person is not a member of the board.
    assert_eq!(scene.answers(0, &form, yes.clone()).await.status, 404);
    answer_form(&scene.stack.as_entity(&boss), &form, yes).await.must_be(202);
    scene.stack.ended(&run, SOON).await;
    assert_eq!(scene.stack.messages(&scene.space).await.len(), 1, "the run's space has a card");
    let is_of_form =
        |frame: &Frame| frame.kind.starts_with("stream.") || frame.kind.starts_with("tool.");
    assert!(!scene.socket.frames().iter().any(is_of_form), "the run's space received its frames");
    let active = scene.stack.run(&run).await["activeSpaceId"].clone();
    assert_eq!(active, scene.space.as_str(), "the card changed the active space of the run");
}
