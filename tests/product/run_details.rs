//! What the operator sees of a run: what its model was asked, step by step, what it answered, and what that cost.

use std::fs;

use serde_json::{Value, json};

use super::{
    model::{answer, call, say, stop, think},
    routes::woken,
    stack::Stack,
    waiting::SOON,
};

/// A message of a prompt as it is shown, in the provider's words.
fn as_asked(message: &Value) -> Vec<Value> {
    match message["role"].as_str().unwrap() {
        "user" => vec![json!({"role": "user", "content": message["blocks"]})],
        "system" => vec![json!({"role": "system", "content": message["text"]})],
        "assistant" => {
            let calls: Vec<Value> =
                message["calls"].as_array().unwrap().iter().map(|call| json!([call["callId"], call["name"], call["input"]])).collect();
            vec![json!({"role": "assistant", "content": message["text"], "calls": calls})]
        }
        "tool_results" => message["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|result| json!({"role": "tool", "of": result["callId"], "content": result["output"]}))
            .collect(),
        other => panic!("{other}"),
    }
}

/// What the provider was sent, in the same form.
fn as_sent(message: &Value) -> Value {
    match message["role"].as_str().unwrap() {
        "user" => {
            let blocks: Vec<Value> = message["content"].as_array().unwrap().iter().map(|block| block["text"].clone()).collect();
            json!({"role": "user", "content": blocks})
        }
        "assistant" => {
            let call = |call: &Value| json!([call["id"], call["function"]["name"], call["function"]["arguments"]]);
            let calls: Vec<Value> = message["tool_calls"].as_array().into_iter().flatten().map(call).collect();
            json!({"role": "assistant", "content": message["content"].as_str().unwrap_or_default(), "calls": calls})
        }
        "tool" => {
            let content: Value = serde_json::from_str(message["content"].as_str().unwrap()).unwrap();
            json!({"role": "tool", "of": message["tool_call_id"], "content": content})
        }
        _ => message.clone(),
    }
}

#[tokio::test]
async fn a_run_shows_the_exact_prompt_of_each_step_and_what_it_cost() {
    let prices = std::env::temp_dir().join(format!("prices-{}.json", std::process::id()));
    fs::write(&prices, r#"{"openai/ada*": {"input": 500000, "cachedInput": 0, "cacheWrite": 0, "output": 1000000}}"#).unwrap();
    let Some(stack) = Stack::with(&["--prices", prices.to_str().unwrap()]).await else { return };
    let kept = json!({"memories": [{"key": "a", "value": "b"}]});
    stack.model.answers("ada", move |asked| match asked.step() {
        0 => answer([think("Let me see."), call("set_memories", kept.clone()), call("read_messages", json!({"limit": 101}))]),
        1 => say("Done.").into(),
        _ => stop(),
    });
    let person = stack.person("Husam").await;
    let model = json!({"provider": "openai", "name": stack.model.name("ada")});
    let agent = stack.agent_with("Ada", json!({"model": model, "loop": {"maxSteps": 3}})).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    let message = stack.post(&space, &person, "Begin.").await;
    let run = stack.ended(&woken(&message, &agent).unwrap(), SOON).await;
    fs::remove_file(prices).unwrap();

    let steps = run["steps"].as_array().unwrap();
    assert_eq!((steps.len(), run["stepCount"].as_u64()), (3, Some(3)));
    let mut shown: Vec<Value> = Vec::new();
    let (mut cost, mut tokens) = (0.0, 0);
    for (step, asked) in steps.iter().zip(stack.model.asked("ada")) {
        shown.extend(step["prompt"]["messages"].as_array().unwrap().iter().flat_map(as_asked));
        let (system, rest) = asked.messages().split_first().unwrap();
        assert_eq!(shown, rest.iter().map(as_sent).collect::<Vec<_>>(), "step {}", step["index"]);
        let whole = if step["index"] == 0 { json!([system["content"]]) } else { json!([]) };
        assert_eq!(step["prompt"]["system"], whole, "whole in step 0, later only what was added");
        let usage = &step["usage"];
        let (read, written) = (usage["inputTokens"].as_u64().unwrap(), usage["outputTokens"].as_u64().unwrap());
        assert_eq!(usage["cost"].as_f64(), Some(read as f64 / 2.0 + written as f64), "{usage}");
        cost += usage["cost"].as_f64().unwrap();
        tokens += read;
        assert!(step["startedAt"].as_str() <= step["finishedAt"].as_str());
    }
    assert_eq!((run["usage"]["cost"].as_f64(), run["usage"]["inputTokens"].as_u64()), (Some(cost), Some(tokens)));
    assert_eq!((&steps[0]["text"], &steps[0]["finishReason"]), (&json!("Let me see."), &json!("tool_calls")));
    let calls = steps[0]["calls"].as_array().unwrap();
    assert_eq!((&calls[0]["output"], &calls[0]["status"]), (&json!({"saved": ["a"]}), &json!("completed")));
    assert_eq!(calls[1]["status"], "failed", "a limit of 101 is too high");
    assert_eq!(steps[2]["systemMessages"][0]["watcher"], "steps");
}

#[tokio::test]
async fn a_model_without_a_price_costs_null() {
    let stack = Stack::start().await;
    let (person, agent, space) = stack.pair().await;
    let message = stack.post(&space, &person, "Begin.").await;
    let run = stack.ended(&woken(&message, &agent).unwrap(), SOON).await;
    assert_eq!((&run["usage"]["cost"], &run["steps"][0]["usage"]["cost"]), (&Value::Null, &Value::Null));
}
