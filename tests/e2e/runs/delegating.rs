//! `delegate`: the admin agent of a space passes the message that triggered it to another agent and
//! ends its own run.

use serde_json::{Value, json};

use crate::support::{
    model::{Answer, Gate, answer, call, say, stop, wait},
    stack::Stack,
    waiting::{SOON, wait_for},
};

/// A space with the policy `admin`, by the ids of its members.
struct Studio {
    person: String,
    /// The admin agent, which asks the model `router`.
    router: String,
    /// The agent `Designer`, which asks the model `bea`.
    designer: String,
    space: String,
}

async fn studio(stack: &Stack) -> Studio {
    let person = stack.person("Husam").await;
    let router = stack.agent("Router", &stack.model.name("router")).await;
    let designer = stack.agent("Designer", &stack.model.name("bea")).await;
    let settings = json!({"triggerPolicy": "admin", "adminAgentId": router});
    let space = stack.space_with("Studio", &[&person, &router, &designer], settings).await;
    Studio { person, router, designer, space }
}

/// The trigger of a run without its texts.
fn reference_to(message: &Value, delegated_by: &Value) -> Value {
    json!({
        "type": "space_message",
        "messageId": message["id"],
        "seq": message["seq"],
        "source": "delegated",
        "delegatedBy": delegated_by,
    })
}

#[tokio::test]
async fn a_delegated_run_gets_the_original_message_and_a_note() {
    let stack = Stack::start().await;
    let Studio { person, router, designer, space } = studio(&stack).await;
    let to = designer.clone();
    stack.model.answers("router", move |request| match request.step() {
        0 => answer([
            call("delegate", json!({"entityId": to, "note": "Use the brand's \"blue\"."})),
            say("Never said."),
        ]),
        _ => stop(),
    });
    stack.model.plays("bea", [say("Here is the logo.").into(), stop()]);
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, None).await;
    let question = stack.post(&space, &person, "We need a logo").await;
    stack.quiet(&space).await;
    wait_for("the designer's message", SOON, async || {
        (stack.texts(&space).await.len() == 2).then_some(())
    })
    .await;
    stack.quiet(&space).await;
    assert_eq!(
        stack.texts(&space).await,
        ["We need a logo", "Here is the logo."],
        "the admin agent posts nothing"
    );

    let runs = stack.runs_of(&space).await;
    let of = |agent: &str| runs.iter().find(|run| run["agentId"] == agent).unwrap();
    assert_eq!(
        (&of(&router)["status"], &of(&router)["endReason"]),
        (&json!("completed"), &json!("delegated"))
    );
    let reference = &of(&designer)["trigger"];
    let whole = stack.run(of(&designer)["id"].as_str().unwrap()).await;
    let trigger = &whole["trigger"];
    let without_texts = reference_to(&question, &trigger["delegatedBy"]);
    assert_eq!(reference, &without_texts);
    assert_eq!(
        (&trigger["source"], &trigger["messageId"], &trigger["text"]),
        (&json!("delegated"), &question["id"], &json!("We need a logo"))
    );
    assert_eq!(
        (&trigger["delegatedBy"]["name"], &trigger["note"]),
        (&json!("Router"), &json!("Use the brand's \"blue\"."))
    );
    assert_eq!(of(&designer)["chainDepth"], 0, "the message of a person starts a chain");
    assert_prompt_names_the_router(&stack);
    let calls = &stack.run(of(&router)["id"].as_str().unwrap()).await["steps"][0]["calls"];
    assert_eq!(
        (&calls[0]["status"], &calls[1]["status"]),
        (&json!("completed"), &json!("canceled")),
        "the calls after the delegation are not made"
    );
    let started = socket
        .frame("run.started", SOON, |frame| frame["run"]["agentId"] == designer.as_str())
        .await
        .body;
    assert_eq!(started["run"]["trigger"], without_texts);
}

fn assert_prompt_names_the_router(stack: &Stack) {
    let prompt = stack.model.requests("bea")[0].user();
    let lines: Vec<_> = prompt.block("TRIGGER").to_vec();
    assert_eq!(
        lines,
        [
            "TRIGGER: message #1 from Husam (human), handed to you by Router",
            r#""We need a logo""#,
            r#"note: "Use the brand's \"blue\".""#,
        ]
    );
}

#[tokio::test]
async fn a_delegation_survives_a_kill() {
    let Some(mut stack) = Stack::local().await else { return };
    let Studio { person, designer, space, .. } = studio(&stack).await;
    let gate = Gate::closed();
    let held = gate.clone();
    stack.model.plays(
        "router",
        [answer([call("delegate", json!({"entityId": designer, "note": "Soon."}))])],
    );
    stack.model.answers("bea", move |request| match request.step() {
        0 => answer([
            wait(&held),
            say(&format!("Note: {}", request.user().field("TRIGGER", "note").unwrap())),
        ]),
        _ => stop(),
    });
    stack.post(&space, &person, "We need a logo").await;
    gate.reached(1).await;
    stack.kill9();
    gate.open();
    stack.restart().await;
    wait_for("the designer's message", SOON, async || {
        (stack.texts(&space).await.len() == 2).then_some(())
    })
    .await;
    stack.quiet(&space).await;
    assert_eq!(stack.texts(&space).await, ["We need a logo", "Note: \"Soon.\""]);
    assert_eq!(stack.model.requests("router").len(), 1);
}

#[tokio::test]
async fn only_the_admin_agent_delegates_and_only_to_agents_that_can_run() {
    let stack = Stack::start().await;
    let Studio { person, router, designer, space } = studio(&stack).await;
    let stranger = stack.agent("Elsewhere", &stack.model.name("bea")).await;
    let model = json!({"provider": "openai", "name": stack.model.name("bea")});
    let sleeper = stack.agent_with("Sleeper", json!({"paused": true, "model": model})).await;
    stack.put(&format!("/v1/spaces/{space}/members/{sleeper}"), json!({})).await.must_be(200);
    let to = [person.clone(), router.clone(), stranger, sleeper, "nonsense".to_owned()];
    let tries: Vec<_> = to.iter().map(|to| call("delegate", json!({"entityId": to}))).collect();
    stack.model.plays("router", [Answer::of(tries), stop()]);
    stack.post(&space, &person, "We need a logo").await;
    stack.quiet(&space).await;
    let errors = |model: &str| -> Vec<String> {
        let results: Vec<Value> = stack.model.requests(model).last().unwrap().results();
        results
            .iter()
            .map(|result| result["error"].as_str().unwrap_or_default().to_owned())
            .collect()
    };
    let expected = [
        "is not an agent of this space",
        "that is you",
        "is not an agent of this space",
        "Sleeper is paused",
        "there is no agent of this space named \"nonsense\"",
    ];
    for (error, expected) in errors("router").iter().zip(expected) {
        assert!(error.contains(expected), "the error lacks {expected:?}: {error}");
    }
    assert!(stack.model.requests("bea").is_empty());

    stack.model.plays("bea", [answer([call("delegate", json!({"entityId": router}))]), stop()]);
    let plain = stack.space("Plain", &[&person, &designer, &router]).await;
    stack
        .patch(&format!("/v1/spaces/{plain}"), json!({"triggerPolicy": "mention"}))
        .await
        .must_be(200);
    stack.post(&plain, &person, "@Designer hello").await;
    stack.quiet(&plain).await;
    assert!(errors("bea")[0].contains("there is no tool \"delegate\""), "{:?}", errors("bea"));
}

/// The test's model knows the agents from its prompt only, as a real one does.
#[tokio::test]
async fn an_admin_agent_delegates_by_what_its_prompt_says_alone() {
    let stack = Stack::start().await;
    let person = stack.person("Husam").await;
    let router = stack.agent("Router", &stack.model.name("router")).await;
    let described = |model: &str, description: &str| {
        let model = json!({"provider": "openai", "name": stack.model.name(model)});
        json!({"model": model, "description": description})
    };
    let designer = stack.agent_with("Designer", described("bea", "Draws logos.")).await;
    let counter = stack.agent_with("Counter", described("carl", "Counts things.")).await;
    let settings = json!({"triggerPolicy": "admin", "adminAgentId": router});
    let members = [&person, &router, &counter, &designer];
    let space = stack.space_with("Studio", &members, settings).await;
    stack.model.answers("router", |request| {
        let system = request.system();
        let rule = "- Where you are the admin agent: answer, delegate, or skip.";
        assert_eq!(system.block("INSTRUCTIONS").last().unwrap(), rule);
        let roster = system.block("YOUR SPACES")[1].clone();
        let (before, _) = roster.split_once(" (agent: \"Draws logos.\")").unwrap();
        let name = before.rsplit([',', '—']).next().unwrap().trim();
        answer([call("delegate", json!({"agent": name}))])
    });
    stack.model.plays("bea", [say("Here is the logo.").into(), stop()]);
    let question = stack.post(&space, &person, "We need a logo").await;
    let woken: Vec<_> = question["dispatch"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["source"] == "admin")
        .map(|entry| entry["agentId"].clone())
        .collect();
    assert_eq!(woken, [json!(router)]);
    wait_for("the designer's message", SOON, async || {
        (stack.texts(&space).await.len() == 2).then_some(())
    })
    .await;
    stack.quiet(&space).await;
    let request = &stack.model.requests("router")[0];
    let trigger = request.user().block("TRIGGER")[0].clone();
    assert_eq!(trigger, "TRIGGER: message #1 from Husam (human), you are the admin");

    // A new description reaches the prompts of the space.
    let change = json!({"agent": {"description": "Paints."}});
    stack.patch(&format!("/v1/entities/{designer}"), change).await.must_be(200);
    stack.model.plays("router", [answer([call("skip_response", json!({"reason": "seen"}))])]);
    stack.post(&space, &person, "And now?").await;
    stack.quiet(&space).await;
    let roster =
        stack.model.requests("router").pop().unwrap().system().block("YOUR SPACES")[1].clone();
    assert!(roster.contains("Designer (agent: \"Paints.\")"), "{roster}");
}

#[tokio::test]
async fn a_space_whose_admin_agent_left_acts_as_with_the_policy_mention() {
    let stack = Stack::start().await;
    let Studio { person, router, designer, space } = studio(&stack).await;
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, None).await;
    let path = format!("/v1/spaces/{space}");
    stack.delete(&format!("{path}/members/{router}")).await.must_be(204);
    let shown = stack.get(&path).await.must_be(200);
    assert_eq!((&shown["triggerPolicy"], &shown["adminAgentId"]), (&json!("admin"), &Value::Null));
    socket.frame("space.updated", SOON, |frame| frame["space"]["adminAgentId"].is_null()).await;
    stack.put(&format!("{path}/members/{router}"), json!({})).await.must_be(200);

    let dispatch = |message: &Value| -> Vec<(String, Value, Value)> {
        let of = |entry: &Value| {
            let name = if entry["agentId"] == designer.as_str() { "designer" } else { "router" };
            (name.to_owned(), entry["source"].clone(), entry["reason"].clone())
        };
        let mut all: Vec<_> = message["dispatch"].as_array().unwrap().iter().map(of).collect();
        all.sort_by(|one, other| one.0.cmp(&other.0));
        all
    };
    let null = || Value::Null;
    stack.model.plays("bea", [stop()]);
    let named = stack.post(&space, &person, "@Designer hello").await;
    assert_eq!(
        dispatch(&named),
        [
            ("designer".to_owned(), json!("mention"), null()),
            ("router".to_owned(), null(), json!("no_admin"))
        ]
    );
    let unnamed = stack.post(&space, &person, "hello").await;
    assert!(dispatch(&unnamed).iter().all(|(_, _, reason)| reason == "no_admin"), "{unnamed}");
    stack.quiet(&space).await;

    // Other settings can be changed, and a new admin agent can be set.
    stack.patch(&path, json!({"name": "Atelier"})).await.must_be(200);
    stack.patch(&path, json!({"adminAgentId": designer})).await.must_be(200);
    stack.patch(&path, json!({"adminAgentId": null})).await.must_be(422);
}

#[tokio::test]
async fn a_message_is_not_delegated_to_an_agent_without_budget() {
    let stack = Stack::start().await;
    let Studio { person, router, designer, space } = studio(&stack).await;
    let path = format!("/v1/entities/{designer}");
    stack.patch(&path, json!({"agent": {"budget": {"tokensPerDay": 0}}})).await.must_be(200);
    stack.model.plays(
        "router",
        [
            answer([call("delegate", json!({"agent": "Designer"}))]),
            say("Nobody can do it today.").into(),
            stop(),
        ],
    );
    stack.post(&space, &person, "We need a logo").await;
    stack.quiet(&space).await;
    let result = &stack.model.requests("router")[1].results()[0];
    let error = "the budget of Designer for today has no room for another call";
    assert_eq!(result["error"], error, "{result}");
    let runs = stack.runs_of(&space).await;
    assert_eq!((runs.len(), &runs[0]["agentId"]), (1, &json!(router)));
    assert_eq!(stack.texts(&space).await, ["We need a logo", "Nobody can do it today."]);
}
