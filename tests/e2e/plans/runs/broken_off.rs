//! Interrupted runs of plans: canceled, waiting for a form, without their space, or killed.

use serde_json::json;

use crate::{
    plans::runs::{
        enter,
        three_spaces::{Rounds, hidden, run_frame},
    },
    support::{
        model::{Gate, answer, call, say, stop, wait},
        routes::text,
        stack::Stack,
        waiting::{SOON, wait_for},
    },
    tools::forms::scene::{answer_form, approval_call, form_tool},
};

#[tokio::test]
async fn a_cancel_of_a_plans_run_is_sent_to_its_active_space() {
    let rounds = Rounds::with(json!([])).await;
    let gate = Gate::closed();
    let run = rounds
        .run([answer([enter(&rounds.spaces[0])]), answer([wait(&gate), say("Never said.")])])
        .await;
    gate.reached(1).await;
    assert_eq!(rounds.stack.cancel(&run).await.must_be(202)["status"], "canceled");
    let listeners = [(&rounds.sockets[0], hidden()), (&rounds.operator, rounds.reference())];
    for (socket, trigger) in listeners {
        let canceled = run_frame(socket, "run.canceled", &run).await;
        assert_eq!(
            (&canceled["spaceId"], &canceled["run"]["trigger"]),
            (&json!(rounds.spaces[0]), &trigger)
        );
    }
    gate.open();
    assert_eq!(rounds.stack.ended(&run, SOON).await["endReason"], "cancel");
    assert!(
        rounds.sockets[1].is_open().await
            && rounds.sockets[1].frames().iter().all(|frame| !frame.kind.starts_with("run."))
    );
    // A worker on AWS may hear of the cancellation after the model has gone on.
    let messages = rounds.stack.messages(&rounds.spaces[0]).await;
    assert!(messages.iter().all(|message| message["parts"][0]["partial"] == true), "{messages:?}");
}

#[tokio::test]
async fn a_plans_run_continues_after_its_agent_leaves_the_active_space() {
    let rounds = Rounds::with(json!([])).await;
    let Rounds { stack, agent, spaces, .. } = &rounds;
    let gate = Gate::closed();
    let first = answer([enter(&spaces[0]), say("Report 0")]);
    let after = answer([
        wait(&gate),
        say("Too late."),
        enter(&spaces[0]),
        enter(&spaces[1]),
        say("Report 1"),
    ]);
    let run = rounds.run([first, after, stop()]).await;
    gate.reached(1).await;
    stack.delete(&format!("/v1/spaces/{}/members/{agent}", spaces[0])).await.must_be(204);
    gate.open();
    let ended = stack.ended(&run, SOON).await;
    assert_eq!((&ended["status"], &ended["endReason"]), (&json!("completed"), &json!("done")));
    let results = stack.model.requests("ada").pop().unwrap().results();
    assert_eq!(results[2], json!({ "error": "you are no longer a member of the active space" }));
    assert!(results[3]["error"].as_str().unwrap().contains("not a member"), "{}", results[3]);
    assert_eq!(
        (stack.texts(&spaces[0]).await, stack.texts(&spaces[1]).await),
        (vec!["Report 0".to_owned()], vec!["Report 1".to_owned()])
    );
}

#[tokio::test]
async fn a_plans_run_continues_after_its_active_space_is_deleted() {
    let rounds = Rounds::with(json!([])).await;
    let Rounds { stack, spaces, .. } = &rounds;
    let gate = Gate::closed();
    let after = answer([wait(&gate), say("Too late."), enter(&spaces[1]), say("Report 1")]);
    let run = rounds.run([answer([enter(&spaces[0])]), after, stop()]).await;
    gate.reached(1).await;
    stack.delete(&format!("/v1/spaces/{}", spaces[0])).await.must_be(204);
    rounds.sockets[0].frame("space.deleted", SOON, |_| true).await;
    gate.open();
    assert_eq!(stack.ended(&run, SOON).await["status"], "completed");
    assert_eq!(stack.texts(&spaces[1]).await, ["Report 1"]);
}

#[tokio::test]
async fn a_plans_run_waits_for_a_form_and_resumes() {
    let settings = json!({ "ui": "buttons", "expiresAfter": "10 minutes" });
    let rounds = Rounds::with(json!([form_tool("getApproval", settings)])).await;
    let Rounds { stack, spaces, people, sockets, .. } = &rounds;
    let asks = json!({ "message": "Deploy?", "options": ["Approve"] });
    let nowhere = answer([call("getApproval", asks)]);
    let run = rounds
        .run([
            nowhere,
            answer([enter(&spaces[0])]),
            approval_call(),
            say("Thank you.").into(),
            stop(),
        ])
        .await;
    let form =
        sockets[0].frame("tool.requested", SOON, |frame| frame["runId"] == run.as_str()).await.body;
    let waits = run_frame(&sockets[0], "run.waiting_tool", &run).await;
    assert_eq!(
        (&waits["run"]["trigger"], &waits["run"]["status"]),
        (&hidden(), &json!("waiting_tool"))
    );
    let by = |number: usize| stack.as_entity(&people[number]);
    assert_eq!(
        answer_form(&by(1), &form, json!({ "output": { "choice": "Approve" } })).await.status,
        404,
        "the form is in another space"
    );
    let late = stack.socket_of(&people[0]).await;
    let subscribed = late.subscribe(&spaces[0], None).await;
    assert_eq!(
        subscribed["active"],
        json!([{ "runId": run, "agentId": rounds.agent, "status": "waiting_tool" }])
    );
    answer_form(&by(0), &form, json!({ "output": { "choice": "Approve" } })).await.must_be(202);
    run_frame(&sockets[0], "run.resumed", &run).await;
    run_frame(&sockets[0], "run.completed", &run).await;
    let ended = stack.ended(&run, SOON).await;
    assert_eq!((&ended["status"], &ended["attempt"]), (&json!("completed"), &json!(1)));
    let results = stack.model.requests("ada").pop().unwrap().results();
    assert!(
        results[0]["error"].as_str().unwrap().contains("enter_space"),
        "a form needs a space: {}",
        results[0]
    );
    assert_eq!(results[2], json!({ "choice": "Approve" }));
    assert_eq!(text(&stack.messages(&spaces[0]).await[1]), "Thank you.");
}

#[tokio::test]
async fn a_plans_run_resumes_in_its_active_space_after_a_kill() {
    let Some(stack) = Stack::local().await else { return };
    let rounds = Rounds::on(stack, json!([])).await;
    let gate = Gate::closed();
    let first = answer([enter(&rounds.spaces[0]), say("Report 0")]);
    let held = answer([wait(&gate), say("Never heard.")]);
    let second = answer([wait(&gate), say("More."), enter(&rounds.spaces[1]), say("Report 1")]);
    let run = rounds.run([first, held, second, stop()]).await;
    gate.reached(1).await;
    let Rounds { mut stack, agent, people, spaces, sockets, .. } = rounds;
    drop(sockets);
    stack.kill9();
    stack.restart().await;
    gate.reached(2).await;
    let socket = stack.socket_of(&people[0]).await;
    let subscribed = socket.subscribe(&spaces[0], None).await;
    assert_eq!(
        subscribed["active"],
        json!([{ "runId": run, "agentId": agent, "status": "running" }])
    );
    gate.open();
    let ended = stack.ended(&run, SOON).await;
    assert_eq!(
        (&ended["status"], &ended["attempt"], &ended["agentId"]),
        (&json!("completed"), &json!(2), &json!(agent))
    );
    wait_for("both reports", SOON, async || {
        (!stack.texts(&spaces[1]).await.is_empty()).then_some(())
    })
    .await;
    assert_eq!(
        (stack.texts(&spaces[0]).await, stack.texts(&spaces[1]).await),
        (vec!["Report 0".into(), "More.".to_owned()], vec!["Report 1".to_owned()])
    );
    run_frame(&socket, "run.completed", &run).await;
}
