//! `run.step`: the step that a run works on, as the operator and as members see it.

use serde_json::{Value, json};

use crate::{
    support::{
        model::{Gate, Part, answer, call, say, stop},
        routes::triggered_run,
        socket::Socket,
        stack::{Stack, Team},
        waiting::SOON,
    },
    tools::cards::{tool, with_tools},
};

fn steps_of(socket: &Socket, run: &str) -> Vec<Value> {
    let frames = socket.frames().into_iter();
    let steps = frames.filter(|frame| frame.kind == "run.step" && frame.body["runId"] == run);
    let mut steps: Vec<_> = steps.map(|frame| frame.body["step"].clone()).collect();
    assert!(steps.is_sorted_by_key(|step| step["rev"].as_u64()), "{steps:?}");
    for step in &mut steps {
        assert!(step.as_object_mut().unwrap().remove("rev").is_some());
    }
    steps
}

/// An answer that calls a hidden and a visible tool. The input of the second one is held.
fn two_calls(gate: &Gate) -> [Part; 2] {
    let shown = Part::Call {
        name: "fetchWeather".into(),
        input: json!({"city": "Oslo"}).to_string(),
        hold: Some((5, gate.clone())),
    };
    [call("secretWeather", json!({"city": "Bergen"})), shown]
}

async fn scene(stack: &Stack) -> Team {
    let output = json!({"type": "static", "output": {"rain": true}});
    let tools =
        json!([tool("fetchWeather", output.clone(), true), tool("secretWeather", output, false)]);
    with_tools(stack, tools).await
}

#[tokio::test]
async fn the_operator_sees_each_state_of_a_step_and_members_only_visible_tools() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    stack.model.plays("ada", [answer(two_calls(&gate)), say("Rain.").into(), stop()]);
    let Team { person, agent, space } = scene(&stack).await;
    let (operator, member) = (stack.socket().await, stack.socket_of(&person).await);
    operator.subscribe(&space, None).await;
    member.subscribe(&space, None).await;
    let run = triggered_run(&stack.post(&space, &person, "Weather?").await, &agent).unwrap();

    let begun = operator.frame("run.step", SOON, |frame| frame["runId"] == run.as_str()).await.body;
    assert_eq!(begun["spaceId"], space.as_str());
    let step = &begun["step"];
    assert_eq!((&step["index"], &step["calls"]), (&json!(0), &json!([])));
    assert_eq!((&step["finishedAt"], &step["finishReason"]), (&Value::Null, &Value::Null));
    assert!(step["startedAt"].is_string() && step["model"].is_string(), "{step}");
    member.frame("run.step", SOON, |frame| frame["step"]["calls"] == json!([])).await;
    gate.open();
    let shown = stack.ended(&run, SOON).await;
    let ended =
        |frame: &Value| frame["step"]["index"] == 2 && !frame["step"]["finishedAt"].is_null();
    operator.frame("run.step", SOON, ended).await;
    member.frame("run.step", SOON, |frame| frame["step"]["index"] == 2).await;

    let seen = steps_of(&operator, &run);
    for step in shown["steps"].as_array().unwrap() {
        let last = seen.iter().rfind(|seen| seen["index"] == step["index"]).unwrap();
        for field in ["model", "startedAt", "firstTokenAt", "finishedAt", "finishReason", "usage"] {
            assert_eq!(last[field], step[field], "{field} of {last}");
        }
        let calls = last["calls"].as_array().unwrap();
        assert_eq!(calls.len(), step["calls"].as_array().unwrap().len(), "{last}");
        for (last, call) in calls.iter().zip(step["calls"].as_array().unwrap()) {
            for field in ["callId", "name", "status", "startedAt"] {
                assert_eq!(last[field], call[field], "{field} of {last}");
            }
        }
    }
    let under_way = seen.iter().any(|step| {
        step["index"] == 0
            && step["calls"][0]["status"] == "completed"
            && step["calls"][1]["status"] == "pending"
    });
    assert!(under_way, "the second call began after the first one: {seen:?}");
    assert_eq!(
        steps_of(&member, &run),
        [
            json!({"index": 0, "calls": []}),
            json!({"index": 0, "calls": [{"name": "fetchWeather"}]}),
            json!({"index": 1, "calls": []}),
            json!({"index": 2, "calls": []}),
        ]
    );
}

#[tokio::test]
async fn whoever_is_removed_sees_no_further_step() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    stack.model.plays("ada", [answer(two_calls(&gate)), say("Rain.").into(), stop()]);
    let Team { person, agent, space } = scene(&stack).await;
    let other = stack.person("Mona").await;
    let members = format!("/v1/spaces/{space}/members/{other}");
    stack.put(&members, json!({})).await.must_be(200);
    let (removed, staying) = (stack.socket_of(&other).await, stack.socket_of(&person).await);
    removed.subscribe(&space, None).await;
    staying.subscribe(&space, None).await;
    let run = triggered_run(&stack.post(&space, &person, "Weather?").await, &agent).unwrap();
    removed.frame("run.step", SOON, |frame| frame["runId"] == run.as_str()).await;
    stack.delete(&members).await.must_be(204);
    removed.frame("unsubscribed", SOON, |_| true).await;
    gate.open();
    staying.frame("run.step", SOON, |frame| frame["step"]["index"] == 2).await;
    let frames = removed.frames();
    let end = frames.iter().position(|frame| frame.kind == "unsubscribed").unwrap();
    let later: Vec<_> = frames[end..].iter().filter(|frame| frame.kind == "run.step").collect();
    assert!(later.is_empty(), "{later:?} of {frames:?}");
}

#[tokio::test]
async fn a_step_that_is_stopped_is_shown_as_ended() {
    let stack = Stack::start().await;
    let gate = Gate::closed();
    stack.model.plays("ada", [answer(two_calls(&gate))]);
    let Team { person, agent, space } = scene(&stack).await;
    let operator = stack.socket().await;
    operator.subscribe(&space, None).await;
    let run = triggered_run(&stack.post(&space, &person, "Weather?").await, &agent).unwrap();
    operator.frame("stream.delta", SOON * 2, |_| true).await;
    stack.cancel(&run).await.must_be(202);
    let is_over = |frame: &Value| !frame["step"]["finishedAt"].is_null();
    let step = operator.frame("run.step", SOON * 2, is_over).await.body["step"].clone();
    assert_eq!((&step["index"], &step["finishReason"]), (&json!(0), &Value::Null));
}
