//! Calls that are shown as cards: their input streams, their output follows, and they wake nobody.

use serde_json::{Value, json};

use super::{
    model::{Gate, answer, call, raw_call, say, stop, wait},
    routes::woken,
    stack::Stack,
    waiting::SOON,
};

fn tool(name: &str, execution: Value, visible: bool) -> Value {
    json!({"name": name, "description": "Tells.", "inputSchema": {"type": "object"}, "visible": visible, "execution": execution})
}

async fn with_tools(stack: &Stack, tools: Value) -> (String, String, String) {
    let person = stack.person("Husam").await;
    let model = json!({"provider": "openai", "name": stack.model.name("ada")});
    let agent = stack.agent_with("Ada", json!({"model": model, "tools": tools})).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    (person, agent, space)
}

#[tokio::test]
async fn a_visible_call_streams_its_input_and_becomes_a_card_in_its_place() {
    let stack = Stack::start().await;
    let other = stack.agent("Bea", &stack.model.name("bea")).await;
    let gate = Gate::closed();
    let weather = json!({"city": "Oslo", "days": [1, 2, 3]});
    let text = weather.to_string();
    let streamed = super::model::Part::Call { name: "fetchWeather".into(), input: text.clone(), hold: Some((9, gate.clone())) };
    let hidden = call("secretWeather", json!({"city": "Bergen"}));
    stack.model.plays("ada", [answer([hidden, streamed]), say("Rain.").into(), stop()]);
    let output = json!({"type": "static", "output": {"rain": true}});
    let tools = json!([tool("fetchWeather", output.clone(), true), tool("secretWeather", output, false)]);
    let (person, agent, space) = with_tools(&stack, tools).await;
    stack.patch(&format!("/v1/spaces/{space}"), json!({"triggerPolicy": "mention"})).await.must_be(200);
    stack.put(&format!("/v1/spaces/{space}/members/{other}"), json!({})).await.must_be(200);
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, None).await;
    let run = woken(&stack.post(&space, &person, "@Ada weather?").await, &agent).unwrap();
    let half: String = text.chars().take(9).collect();
    socket.shows(&space, "half of the input", SOON, |view| (view.live() == [half.clone()]).then_some(())).await;
    let started = socket.frame("stream.started", SOON, |frame| frame["runId"] == run.as_str()).await.body;
    assert_eq!((&started["kind"], &started["toolName"]), (&json!("tool"), &json!("fetchWeather")));
    gate.open();
    let created = socket.frame("message.created", SOON, |frame| frame["message"]["parts"][0]["type"] == "tool").await.body;
    let message = &created["message"];
    let call_id = started["callId"].clone();
    let expected = json!({"type": "tool", "callId": call_id, "name": "fetchWeather", "input": weather, "output": {"rain": true}, "status": "completed",
        "ui": null, "resultSchema": null, "answerBy": null, "resolvedBy": null, "expiresAt": null});
    assert_eq!(message["parts"], json!([expected]));
    assert_eq!((&message["streamId"], &message["dispatch"], &message["runId"]), (&started["streamId"], &json!([]), &json!(run)));
    stack.quiet(&space).await;
    assert!(stack.model.asked("bea").is_empty() && !socket.frames().iter().any(|frame| frame.kind == "tool.requested"));
    assert_eq!(stack.model.asked("ada")[1].results(), [json!({"rain": true}), json!({"rain": true})]);
    let shown: Vec<_> = stack.messages(&space).await.iter().map(|message| message["parts"][0]["type"].clone()).collect();
    assert_eq!(shown, ["text", "tool", "text"], "the other call is not shown");

    stack.model.plays("ada", [stop()]);
    stack.post(&space, &person, "@Ada and tomorrow?").await;
    stack.quiet(&space).await;
    let timeline = stack.model.asked("ada").last().unwrap().user();
    let lines = timeline.block("SPACE HISTORY").join("\n");
    let line = format!(r#"Ada (agent, you): [tool fetchWeather] input={text} output={{"rain":true}} (completed)"#);
    assert!(lines.contains(&line), "{lines}");
    assert!(lines.contains("; used secretWeather, fetchWeather]"), "{lines}");
}

#[tokio::test]
async fn calls_of_one_answer_take_effect_in_their_order() {
    let stack = Stack::start().await;
    let shown = tool("note", json!({"type": "static", "output": "noted"}), true);
    let calls = answer([say("one"), call("note", json!({"n": 2})), say("three"), call("note", json!({"n": 4})), say("five")]);
    stack.model.plays("ada", [calls, stop()]);
    let (person, _, space) = with_tools(&stack, json!([shown])).await;
    stack.post(&space, &person, "zero").await;
    stack.quiet(&space).await;
    let messages = stack.messages(&space).await;
    let order: Vec<_> = messages
        .iter()
        .map(|message| message["parts"][0].get("text").or(message["parts"][0].pointer("/input/n")).unwrap().to_string())
        .collect();
    assert_eq!(order, ["\"zero\"", "\"one\"", "2", "\"three\"", "4", "\"five\""]);
}

#[tokio::test]
async fn what_is_too_long_for_a_frame_is_fetched() {
    let stack = Stack::start().await;
    let (long, longer) = ("x".repeat(20_000), "y".repeat(70_000));
    let shown = tool("note", json!({"type": "static", "output": {"long": long}}), true);
    let calls = answer([call("note", json!({"text": long})), call("note", json!({"text": longer}))]);
    stack.model.plays("ada", [calls, stop()]);
    let (person, _, space) = with_tools(&stack, json!([shown])).await;
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, None).await;
    stack.post(&space, &person, "go").await;
    stack.quiet(&space).await;
    let created = socket.frame("message.created", SOON, |frame| frame["message"]["seq"] == 2).await.body;
    assert_eq!((&created["message"]["truncated"], &created["message"]["parts"][0]["name"]), (&json!(true), &json!("note")));
    let messages = stack.messages(&space).await;
    assert_eq!((&messages[1]["parts"][0]["input"]["text"], &messages[1]["parts"][0]["output"]["long"]), (&json!(long), &json!(long)));
    let results = stack.model.asked("ada")[1].results();
    assert!(results[1]["error"].as_str().unwrap().contains("expected at most 65536"), "{results:?}");
    assert_eq!(messages.len(), 2);
    stack.model.plays("ada", [answer([call("read_messages", json!({"limit": 2}))]), stop()]);
    stack.post(&space, &person, "and?").await;
    stack.quiet(&space).await;
    let asked = stack.model.asked("ada");
    let lines = asked.last().unwrap().user().block("SPACE HISTORY").join("\n");
    assert!(lines.contains("more characters; read_messages shows all)"), "{lines:.300}");
}

#[tokio::test]
async fn a_tool_computes() {
    let stack = Stack::start().await;
    let compute = |name: &str, expression: &str, visible: bool| tool(name, json!({"type": "compute", "expression": expression}), visible);
    let tools = json!([
        compute("gross", "{'gross': double(input.net) * 1.5, 'items': input.items.map(item, item.upper)}", true),
        compute("fails", "input.a / input.b", false),
        compute("endless", "input.l.map(a, input.l.map(b, input.l.map(c, a + b + c)))", false),
    ]);
    let list: Vec<u32> = (0..1_000).collect();
    let calls = answer([
        call("gross", json!({"net": 100, "items": [{"upper": "A"}]})),
        call("fails", json!({"a": 1, "b": 0})),
        call("fails", json!({"a": 7, "b": 2})),
        call("endless", json!({"l": list})),
        call("gross", json!({"items": []})),
    ]);
    stack.model.plays("ada", [calls, stop()]);
    let (person, _, space) = with_tools(&stack, tools).await;
    stack.post(&space, &person, "go").await;
    stack.quiet(&space).await;
    let results = stack.model.asked("ada")[1].results();
    assert_eq!((&results[0], &results[2]), (&json!({"gross": 150.0, "items": ["A"]}), &json!(3)));
    let error = |index: usize| results[index]["error"].as_str().unwrap_or_default().to_owned();
    assert!(error(1).contains("zero") && error(3).contains("takes too") && error(4).contains("net"), "{results:?}");
    let cards: Vec<_> = stack.messages(&space).await.iter().skip(1).map(|card| card["parts"][0]["status"].clone()).collect();
    assert_eq!(cards, ["completed", "failed"], "what is visible is shown, also where it fails");

    let model = json!({"provider": "openai", "name": "m"});
    let bad = json!({"type": "agent", "name": "Bad", "agent": {"model": model, "tools": [compute("x", "input.a +", false)]}});
    let problem = stack.create("/v1/entities", bad).await.must_be(422);
    assert_eq!(problem["errors"][0]["pointer"], "/agent/tools/0/execution/expression", "{problem}");
}

#[tokio::test]
async fn an_output_over_32_kib_is_cut_for_the_model_with_a_note() {
    let stack = Stack::start().await;
    let hidden = tool("book", json!({"type": "static", "output": "z".repeat(40_000)}), false);
    stack.model.plays("ada", [answer([call("book", json!({}))]), stop()]);
    let (person, _, space) = with_tools(&stack, json!([hidden])).await;
    stack.post(&space, &person, "go").await;
    stack.quiet(&space).await;
    let result = stack.model.asked("ada")[1].results()[0].as_str().unwrap().to_owned();
    assert!(result.len() < 33_000 && result.ends_with(" … (7234 more bytes)"), "{}", &result[result.len() - 60..]);
}

#[tokio::test]
async fn a_configured_tools_bad_input_comes_back_with_what_was_expected() {
    let stack = Stack::start().await;
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": false});
    let mut shown = tool("fetchWeather", json!({"type": "static", "output": 1}), true);
    shown["inputSchema"] = schema;
    let bad = [
        call("fetchWeather", json!({})),
        call("fetchWeather", json!({"city": 1})),
        raw_call("fetchWeather", "{\"city\": "),
        call("fetchWeather", json!({"city": "Oslo", "x": 1})),
    ];
    stack.model.plays("ada", [answer(bad), stop()]);
    let (person, _, space) = with_tools(&stack, json!([shown])).await;
    let socket = stack.socket_of(&person).await;
    socket.subscribe(&space, None).await;
    stack.post(&space, &person, "go").await;
    stack.quiet(&space).await;
    let results = stack.model.asked("ada")[1].results();
    assert!(results.iter().all(|result| result["error"].as_str().unwrap().contains("expected {")), "{results:?}");
    assert_eq!(stack.messages(&space).await.len(), 1);
    let view = socket.view(&space);
    assert!(view.live().is_empty(), "what was streamed of them is over: {:?}", view.live());
}

#[tokio::test]
async fn without_a_second_space_nothing_else_is_awaited_and_with_one_nothing_is_shown_too_early() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    let shown = tool("note", json!({"type": "static", "output": 1}), true);
    let (person, agent, space) = with_tools(&stack, json!([shown])).await;
    let other = stack.space("Other", &[&agent]).await;
    let secret = format!(r#"{{"text": "for the others only", "targetSpaceId": "{other}"}}"#);
    let first = format!(r#"{{"targetSpaceId": "{other}", "text": "for the others only"}}"#);
    stack.model.plays("ada", [answer([raw_call("note", &secret), raw_call("note", &first), wait(&gate)]), stop()]);
    let (here, there) = (stack.socket_of(&person).await, stack.socket().await);
    here.subscribe(&space, None).await;
    there.subscribe(&other, None).await;
    stack.post(&space, &person, "go").await;
    there.shows(&other, "the second one", SOON, |view| (view.live() == [first.clone()]).then_some(())).await;
    gate.open();
    stack.quiet(&space).await;
    assert!(!here.frames().iter().any(|frame| frame.kind.starts_with("stream.")), "nothing of it was seen here");
    let inputs: Vec<_> = stack.messages(&other).await.iter().map(|message| message["parts"][0]["input"].clone()).collect();
    assert_eq!(inputs, [json!({"text": "for the others only"}), json!({"text": "for the others only"})]);
}
