//! The admin agent of a space hands what woke it to another agent, and stays silent.

use serde_json::{Value, json};

use super::{
    model::{answer, call, say, stop},
    stack::Stack,
    waiting::SOON,
    waiting::wait_for,
};

/// A space with the policy `admin` whose admin agent asks the model `router`, beside the agent `Designer` (`bea`).
async fn governed(stack: &Stack) -> (String, String, String, String) {
    let person = stack.person("Husam").await;
    let router = stack.agent("Router", &stack.model.name("router")).await;
    let designer = stack.agent("Designer", &stack.model.name("bea")).await;
    let settings = json!({"triggerPolicy": "admin", "adminAgentId": router});
    let space = stack.space_with("Studio", &[&person, &router, &designer], settings).await;
    (person, router, designer, space)
}

#[tokio::test]
async fn the_other_agent_gets_the_original_message_and_a_note() {
    let stack = Stack::start().await;
    let (person, router, designer, space) = governed(&stack).await;
    let to = designer.clone();
    stack.model.answers("router", move |asked| match asked.step() {
        0 => answer([call("delegate", json!({"entityId": to, "note": "Use the brand's \"blue\"."})), say("Never said.")]),
        _ => stop(),
    });
    stack.model.plays("bea", [say("Here is the logo.").into(), stop()]);
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, None).await;
    let question = stack.post(&space, &person, "We need a logo").await;
    stack.quiet(&space).await;
    wait_for("the designer's message", SOON, async || (stack.texts(&space).await.len() == 2).then_some(())).await;
    stack.quiet(&space).await;
    assert_eq!(stack.texts(&space).await, ["We need a logo", "Here is the logo."], "the admin agent says nothing");

    let runs = stack.runs_of(&space).await;
    let of = |agent: &str| runs.iter().find(|run| run["agentId"] == agent).unwrap();
    assert_eq!((&of(&router)["status"], &of(&router)["endReason"]), (&json!("completed"), &json!("delegated")));
    let trigger = &of(&designer)["trigger"];
    assert_eq!(
        (&trigger["source"], &trigger["messageId"], &trigger["text"]),
        (&json!("delegated"), &question["id"], &json!("We need a logo"))
    );
    assert_eq!((&trigger["delegatedBy"]["name"], &trigger["note"]), (&json!("Router"), &json!("Use the brand's \"blue\".")));
    assert_eq!(of(&designer)["chainDepth"], 0, "it answers a person");
    let prompt = stack.model.asked("bea")[0].user();
    let lines: Vec<_> = prompt.block("TRIGGER").to_vec();
    assert_eq!(lines[2], "  source: delegated");
    assert_eq!(lines[3], format!("  delegatedBy: Router (agent, id: {router})"));
    assert_eq!(lines[4], r#"  note: "Use the brand's \"blue\".""#);
    assert!(lines.contains(&r#"  message: "We need a logo""#.to_owned()), "{lines:?}");
    let calls = &stack.run(of(&router)["id"].as_str().unwrap()).await["steps"][0]["calls"];
    assert_eq!((&calls[0]["status"], &calls[1]["status"]), (&json!("completed"), &json!("canceled")), "what follows is not done");
    let told = socket.frame("run.started", SOON, |frame| frame["run"]["agentId"] == designer.as_str()).await.body;
    assert_eq!(told["run"]["trigger"]["source"], "delegated");
}

#[tokio::test]
async fn what_was_handed_on_outlasts_a_kill() {
    let Some(mut stack) = Stack::local().await else { return };
    let (person, _, designer, space) = governed(&stack).await;
    let gate = super::model::Gate::closed();
    let held = gate.clone();
    stack.model.plays("router", [answer([call("delegate", json!({"entityId": designer, "note": "Soon."}))])]);
    stack.model.answers("bea", move |asked| match asked.step() {
        0 => answer([super::model::wait(&held), say(&format!("Note: {}", asked.user().field("TRIGGER", "note").unwrap()))]),
        _ => stop(),
    });
    stack.post(&space, &person, "We need a logo").await;
    gate.reached(1).await;
    stack.kill9();
    gate.open();
    stack.restart().await;
    wait_for("the designer's message", SOON, async || (stack.texts(&space).await.len() == 2).then_some(())).await;
    stack.quiet(&space).await;
    assert_eq!(stack.texts(&space).await, ["We need a logo", "Note: \"Soon.\""]);
    assert_eq!(stack.model.asked("router").len(), 1);
}

#[tokio::test]
async fn only_the_admin_agent_delegates_and_only_to_agents_who_can_take_it() {
    let stack = Stack::start().await;
    let (person, router, designer, space) = governed(&stack).await;
    let stranger = stack.agent("Elsewhere", &stack.model.name("bea")).await;
    let sleeper =
        stack.agent_with("Sleeper", json!({"paused": true, "model": {"provider": "openai", "name": stack.model.name("bea")}})).await;
    stack.put(&format!("/v1/spaces/{space}/members/{sleeper}"), json!({})).await.must_be(200);
    let to = [person.clone(), router.clone(), stranger, sleeper, "nonsense".to_owned()];
    let tries: Vec<_> = to.iter().map(|to| call("delegate", json!({"entityId": to}))).collect();
    stack.model.plays("router", [super::model::Answer::of(tries), stop()]);
    stack.post(&space, &person, "We need a logo").await;
    stack.quiet(&space).await;
    let errors = |model: &str| -> Vec<String> {
        let results: Vec<Value> = stack.model.asked(model).last().unwrap().results();
        results.iter().map(|result| result["error"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let expected =
        ["is not an agent of this space", "that is you", "is not an agent of this space", "Sleeper is paused", "expected an id like ent_"];
    for (error, expected) in errors("router").iter().zip(expected) {
        assert!(error.contains(expected), "{error} does not say {expected}");
    }
    assert!(stack.model.asked("bea").is_empty());

    stack.model.plays("bea", [answer([call("delegate", json!({"entityId": router}))]), stop()]);
    let plain = stack.space("Plain", &[&person, &designer, &router]).await;
    stack.patch(&format!("/v1/spaces/{plain}"), json!({"triggerPolicy": "mention"})).await.must_be(200);
    stack.post(&plain, &person, "@Designer hello").await;
    stack.quiet(&plain).await;
    assert!(errors("bea")[0].contains("only the admin agent"), "{:?}", errors("bea"));
}
