//! Cards, the messages of visible calls: their input streams, their output follows, and they
//! trigger no agent.

use serde_json::{Value, json};

use crate::support::{
    model::{Gate, Part, answer, call, raw_call, say, stop, wait},
    routes::triggered_run,
    stack::{Stack, Team},
    tool_scene::card_part,
    waiting::SOON,
};

pub(crate) fn tool(name: &str, execution: Value, visible: bool) -> Value {
    json!({
        "name": name,
        "description": "Tells.",
        "inputSchema": {"type": "object"},
        "visible": visible,
        "execution": execution,
    })
}

/// Creates a person, an agent with these tools that asks the model `ada`, and their space.
pub(crate) async fn with_tools(stack: &Stack, tools: Value) -> Team {
    let person = stack.person("Husam").await;
    let model = json!({"provider": "openai", "name": stack.model.name("ada")});
    let agent = stack.agent_with("Ada", json!({"model": model, "tools": tools})).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    Team { person, agent, space }
}

/// Adds an agent with the model `bea` that only mentions trigger.
async fn add_other_agent(stack: &Stack, space: &str) {
    let other = stack.agent("Bea", &stack.model.name("bea")).await;
    let path = format!("/v1/spaces/{space}");
    stack.patch(&path, json!({"triggerPolicy": "mention"})).await.must_be(200);
    stack.put(&format!("{path}/members/{other}"), json!({})).await.must_be(200);
}

#[tokio::test]
async fn a_visible_call_streams_its_input_and_becomes_a_card() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    let weather = json!({"city": "Oslo", "days": [1, 2, 3]});
    let text = weather.to_string();
    let streamed = Part::Call {
        name: "fetchWeather".into(),
        input: text.clone(),
        hold: Some((9, gate.clone())),
    };
    let hidden = call("secretWeather", json!({"city": "Bergen"}));
    stack.model.plays("ada", [answer([hidden, streamed]), say("Rain.").into(), stop()]);
    let output = json!({"type": "static", "output": {"rain": true}});
    let tools =
        json!([tool("fetchWeather", output.clone(), true), tool("secretWeather", output, false)]);
    let team = with_tools(&stack, tools).await;
    let Team { person, agent, space } = &team;
    add_other_agent(&stack, space).await;
    let socket = stack.socket_of(person).await;
    socket.subscribe(space, None).await;
    let run = triggered_run(&stack.post(space, person, "@Ada weather?").await, agent).unwrap();
    let half: String = text.chars().take(9).collect();
    socket
        .shows(space, "half of the input", SOON, |view| {
            (view.live() == [half.clone()]).then_some(())
        })
        .await;
    let started =
        socket.frame("stream.started", SOON, |frame| frame["runId"] == run.as_str()).await.body;
    assert_eq!((&started["kind"], &started["toolName"]), (&json!("tool"), &json!("fetchWeather")));
    gate.open();
    let created = socket
        .frame("message.created", SOON, |frame| frame["message"]["parts"][0]["type"] == "tool")
        .await
        .body;
    let message = &created["message"];
    let rain = json!({"rain": true});
    let part = card_part(&started["callId"], "fetchWeather", &weather, &rain, "completed");
    assert_eq!(message["parts"], json!([part]));
    assert_eq!(
        (&message["streamId"], &message["dispatch"], &message["runId"]),
        (&started["streamId"], &json!([]), &json!(run))
    );
    stack.quiet(space).await;
    assert!(stack.model.requests("bea").is_empty());
    assert!(!socket.frames().iter().any(|frame| frame.kind == "tool.requested"));
    assert_eq!(stack.model.requests("ada")[1].results(), [rain.clone(), rain]);
    let messages = stack.messages(space).await;
    let types: Vec<_> = messages.iter().map(|message| &message["parts"][0]["type"]).collect();
    assert_eq!(types, ["text", "tool", "text"], "the hidden call has no card");
    assert_next_prompt_shows_the_card(&stack, &team, &text).await;
}

async fn assert_next_prompt_shows_the_card(stack: &Stack, team: &Team, text: &str) {
    stack.model.plays("ada", [stop()]);
    stack.post(&team.space, &team.person, "@Ada and tomorrow?").await;
    stack.quiet(&team.space).await;
    let timeline = stack.model.requests("ada").last().unwrap().user();
    let lines = timeline.block("SPACE HISTORY").join("\n");
    let line =
        format!(r#" You: [tool fetchWeather] input={text} output={{"rain":true}} (completed)"#);
    assert!(lines.contains(&line), "{lines}");
    assert!(lines.contains("; used secretWeather, fetchWeather]"), "{lines}");
}

#[tokio::test]
async fn calls_and_messages_of_one_answer_keep_their_order() {
    let stack = Stack::start().await;
    let shown = tool("note", json!({"type": "static", "output": "noted"}), true);
    let calls = answer([
        say("one"),
        call("note", json!({"n": 2})),
        say("three"),
        call("note", json!({"n": 4})),
        say("five"),
    ]);
    stack.model.plays("ada", [calls, stop()]);
    let Team { person, space, .. } = with_tools(&stack, json!([shown])).await;
    stack.post(&space, &person, "zero").await;
    stack.quiet(&space).await;
    let messages = stack.messages(&space).await;
    let order: Vec<_> = messages
        .iter()
        .map(|message| {
            message["parts"][0]
                .get("text")
                .or(message["parts"][0].pointer("/input/n"))
                .unwrap()
                .to_string()
        })
        .collect();
    assert_eq!(order, ["\"zero\"", "\"one\"", "2", "\"three\"", "4", "\"five\""]);
}

#[tokio::test]
async fn a_card_too_long_for_a_frame_is_truncated_in_frames_only() {
    let stack = Stack::start().await;
    let long = "x".repeat(20_000);
    let longer = "y".repeat(70_000);
    let shown = tool("note", json!({"type": "static", "output": {"long": long}}), true);
    let calls =
        answer([call("note", json!({"text": long})), call("note", json!({"text": longer}))]);
    stack.model.plays("ada", [calls, stop()]);
    let Team { person, space, .. } = with_tools(&stack, json!([shown])).await;
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, None).await;
    stack.post(&space, &person, "go").await;
    stack.quiet(&space).await;
    let created =
        socket.frame("message.created", SOON, |frame| frame["message"]["seq"] == 2).await.body;
    assert_eq!(
        (&created["message"]["truncated"], &created["message"]["parts"][0]["name"]),
        (&json!(true), &json!("note"))
    );
    let messages = stack.messages(&space).await;
    assert_eq!(
        (&messages[1]["parts"][0]["input"]["text"], &messages[1]["parts"][0]["output"]["long"]),
        (&json!(long), &json!(long))
    );
    let results = stack.model.requests("ada")[1].results();
    assert!(
        results[1]["error"].as_str().unwrap().contains("expected at most 65536"),
        "{results:?}"
    );
    assert_eq!(messages.len(), 2);
    stack.model.plays("ada", [answer([call("read_messages", json!({"limit": 2}))]), stop()]);
    stack.post(&space, &person, "and?").await;
    stack.quiet(&space).await;
    let requests = stack.model.requests("ada");
    let lines = requests.last().unwrap().user().block("SPACE HISTORY").join("\n");
    assert!(lines.contains("more characters; read_messages shows all)"), "{lines:.300}");
}

#[tokio::test]
async fn a_card_for_another_space_streams_only_there() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    let shown = tool("note", json!({"type": "static", "output": 1}), true);
    let Team { person, agent, space } = with_tools(&stack, json!([shown])).await;
    let other = stack.space("Other", &[&agent]).await;
    let secret = format!(r#"{{"text": "for the others only", "targetSpaceId": "{other}"}}"#);
    let first = format!(r#"{{"targetSpaceId": "{other}", "text": "for the others only"}}"#);
    stack.model.plays(
        "ada",
        [answer([raw_call("note", &secret), raw_call("note", &first), wait(&gate)]), stop()],
    );
    let here = stack.socket_of(&person).await;
    let there = stack.socket().await;
    here.subscribe(&space, None).await;
    there.subscribe(&other, None).await;
    stack.post(&space, &person, "go").await;
    there
        .shows(&other, "the second one", SOON, |view| {
            (view.live() == [first.clone()]).then_some(())
        })
        .await;
    gate.open();
    stack.quiet(&space).await;
    assert!(
        !here.frames().iter().any(|frame| frame.kind.starts_with("stream.")),
        "the input was streamed to the wrong space"
    );
    let inputs: Vec<_> = stack
        .messages(&other)
        .await
        .iter()
        .map(|message| message["parts"][0]["input"].clone())
        .collect();
    assert_eq!(
        inputs,
        [json!({"text": "for the others only"}), json!({"text": "for the others only"})]
    );
}
