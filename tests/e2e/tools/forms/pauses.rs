//! Runs that wait for a form: new messages, the time limit and the last step.

use serde_json::json;

use crate::{
    support::{
        model::{answer, call, say, stop},
        routes::triggered_run,
        stack::Stack,
        waiting::{SOON, wait_for},
    },
    tools::forms::scene::{FormScene, amount, approval, approval_call},
};

#[tokio::test]
async fn messages_posted_during_a_pause_reach_the_model_when_the_run_resumes() {
    let scene = FormScene::new(json!([approval()]), [approval_call(), stop()]).await;
    let run = scene.trigger().await;
    let form = scene.requested("getApproval").await;
    scene.status(&run, "waiting_tool").await;
    // The run that this message triggers posts nothing.
    scene.stack.model.plays("ada", [stop()]);
    scene.stack.post(&scene.space, &scene.people[2], "Only the API, please").await;
    wait_for("the second run to ask the model", SOON, async || {
        (scene.stack.model.requests("ada").len() == 2).then_some(())
    })
    .await;
    scene.stack.model.plays("ada", [stop()]);
    scene.answers(1, &form, json!({"output": {"choice": "Approve"}})).await.must_be(202);
    scene.stack.ended(&run, SOON).await;
    let requests = scene.stack.model.requests("ada");
    let notes = requests.last().unwrap().system_notes().concat();
    assert!(notes.contains("Only the API, please"), "{notes}");
    let other = requests[1].user();
    let lines = other.block("ACTIVE RUNS");
    let waits = format!("{run} (waits for getApproval \"Deploy to prod?\" in \"Deployments\")");
    assert!(lines.iter().any(|line| line.contains(&waits)), "{lines:?}");
}

#[tokio::test]
async fn a_resumed_run_reads_who_answered_and_what_changed_meanwhile() {
    let scene = FormScene::new(json!([approval()]), [approval_call(), stop()]).await;
    let run = scene.trigger().await;
    let form = scene.requested("getApproval").await;
    scene.status(&run, "waiting_tool").await;
    let memory = format!("/v1/agents/{}/memories/freeze", scene.agent);
    let set = json!({"value": "No deploys today"});
    assert!(scene.stack.put(&memory, set).await.status < 300);
    scene.answers(1, &form, json!({"output": {"choice": "Approve"}})).await.must_be(202);
    let ended = scene.stack.ended(&run, SOON).await;
    let note = &ended["steps"][1]["systemMessages"][0];
    assert_eq!(note["watcher"], "resumed");
    let text = note["text"].as_str().unwrap();
    assert!(text.starts_with("Sarah answered getApproval. It is 20"), "{text}");
    assert!(text.contains(" UTC; you waited "), "{text}");
    assert!(
        text.ends_with(" Changed meanwhile:\nMEMORIES [freeze] \"No deploys today\""),
        "{text}"
    );
    let requests = scene.stack.model.requests("ada");
    assert_eq!(requests[1].system_notes()[0], text);
    assert_eq!(requests[1].user().block("NOW"), requests[0].user().block("NOW"));

    scene.stack.model.plays("ada", [stop()]);
    scene.stack.post(&scene.space, &scene.people[0], "Done?").await;
    scene.stack.quiet(&scene.space).await;
    let later = scene.stack.model.requests("ada").pop().unwrap().user();
    let history = later.block("SPACE HISTORY").join("\n");
    assert!(history.contains(r#"output={"choice":"Approve"} (completed by Sarah)"#), "{history}");
}

#[tokio::test]
async fn waiting_for_a_form_does_not_count_towards_the_time_limit() {
    let stack = Stack::start().await;
    stack.model.plays(
        "ada",
        [answer([call("getAmount", json!({"title": "?"}))]), say("Nobody said.").into(), stop()],
    );
    let person = stack.person("Husam").await;
    let model = json!({"provider": "openai", "name": stack.model.name("ada")});
    let settings = json!({
        "model": model,
        "tools": [amount("12 seconds")],
        "loop": {"timeLimit": "10 seconds", "continueOn": "writes"},
    });
    let agent = stack.agent_with("Ada", settings).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    stack.post(&space, &person, "The amount, please.").await;
    stack.quiet(&space).await;
    let run = &stack.runs_of(&space).await[0];
    assert_eq!(
        (&run["status"], &run["endReason"], &run["stepCount"]),
        (&json!("completed"), &json!("done"), &json!(3)),
        "{run}"
    );
}

#[tokio::test]
async fn a_form_in_the_last_step_is_refused() {
    let stack = Stack::start().await;
    stack.model.plays("ada", [answer([call("getAmount", json!({}))]), stop()]);
    let person = stack.person("Husam").await;
    let model = json!({"provider": "openai", "name": stack.model.name("ada")});
    let settings = json!({"model": model, "tools": [amount("1 day")], "loop": {"maxSteps": 1}});
    let agent = stack.agent_with("Ada", settings).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    let question = stack.post(&space, &person, "The amount, please.").await;
    let run = stack.ended(&triggered_run(&question, &agent).unwrap(), SOON).await;
    assert_eq!(
        (&run["endReason"], stack.messages(&space).await.len()),
        (&json!("max_steps"), 1),
        "{run}"
    );
    assert!(
        run["steps"][0]["calls"][0]["output"]["error"].as_str().unwrap().contains("last step"),
        "{run}"
    );
}
