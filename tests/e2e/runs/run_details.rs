//! The operator's view of a run: the exact prompt, the answer and the cost of each step.

use std::fs;

use serde_json::{Value, json};

use crate::support::{
    model::{answer, call, say, stop, think},
    routes::triggered_run,
    stack::Stack,
    waiting::SOON,
};

/// Converts a message of a stored prompt to the common form that both functions return.
fn from_stored(message: &Value) -> Vec<Value> {
    match message["role"].as_str().unwrap() {
        "user" => vec![json!({"role": "user", "content": message["blocks"]})],
        "system" => vec![json!({"role": "system", "content": message["text"]})],
        "assistant" => {
            let call = |call: &Value| json!([call["callId"], call["name"], call["input"]]);
            let calls: Vec<Value> =
                message["calls"].as_array().unwrap().iter().map(call).collect();
            vec![json!({"role": "assistant", "content": message["text"], "calls": calls})]
        }
        "tool_results" => message["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|result| {
                json!({"role": "tool", "of": result["callId"], "content": result["output"]})
            })
            .collect(),
        other => panic!("a message of the role {other}"),
    }
}

/// Converts a message of a request to the provider to the common form.
fn from_request(message: &Value) -> Value {
    match message["role"].as_str().unwrap() {
        "user" => {
            let blocks: Vec<Value> = message["content"]
                .as_array()
                .unwrap()
                .iter()
                .map(|block| block["text"].clone())
                .collect();
            json!({"role": "user", "content": blocks})
        }
        "assistant" => {
            let call = |call: &Value| {
                json!([call["id"], call["function"]["name"], call["function"]["arguments"]])
            };
            let calls: Vec<Value> =
                message["tool_calls"].as_array().into_iter().flatten().map(call).collect();
            let content = message["content"].as_str().unwrap_or_default();
            json!({"role": "assistant", "content": content, "calls": calls})
        }
        "tool" => {
            let content: Value =
                serde_json::from_str(message["content"].as_str().unwrap()).unwrap();
            json!({"role": "tool", "of": message["tool_call_id"], "content": content})
        }
        _ => message.clone(),
    }
}

const PRICES: &str = r#"{"openai/ada*":
    {"input": 500000, "cachedInput": 0, "cacheWrite": 0, "output": 1000000}}"#;

#[tokio::test]
async fn a_run_shows_the_exact_prompt_of_each_step_and_what_it_cost() {
    let prices = std::env::temp_dir().join(format!("prices-{}.json", std::process::id()));
    fs::write(&prices, PRICES).unwrap();
    let Some(stack) = Stack::with(&["--prices", prices.to_str().unwrap()]).await else { return };
    let memories = json!({"memories": [{"key": "a", "value": "b"}]});
    stack.model.answers("ada", move |request| match request.step() {
        0 => answer([
            think("Let me see."),
            call("set_memories", memories.clone()),
            call("read_messages", json!({"limit": 101})),
        ]),
        1 => say("Done.").into(),
        _ => stop(),
    });
    let (person, agent, space) = stack.pair().await;
    let path = format!("/v1/entities/{agent}");
    stack.patch(&path, json!({"agent": {"loop": {"maxSteps": 3}}})).await.must_be(200);
    let message = stack.post(&space, &person, "Begin.").await;
    let run = stack.ended(&triggered_run(&message, &agent).unwrap(), SOON).await;
    fs::remove_file(prices).unwrap();

    let steps = run["steps"].as_array().unwrap();
    assert_eq!((steps.len(), run["stepCount"].as_u64()), (3, Some(3)));
    let mut shown: Vec<Value> = Vec::new();
    let mut cost = 0.0;
    let mut tokens = 0;
    for (step, request) in steps.iter().zip(stack.model.requests("ada")) {
        shown.extend(step["prompt"]["messages"].as_array().unwrap().iter().flat_map(from_stored));
        let (system, rest) = request.messages().split_first().unwrap();
        let sent: Vec<_> = rest.iter().map(from_request).collect();
        assert_eq!(shown, sent, "step {}", step["index"]);
        // Step 0 shows the whole system prompt, later steps only additions.
        let added = if step["index"] == 0 { json!([system["content"]]) } else { json!([]) };
        assert_eq!(step["prompt"]["system"], added, "step {}", step["index"]);
        let usage = &step["usage"];
        let input = usage["inputTokens"].as_u64().unwrap();
        let output = usage["outputTokens"].as_u64().unwrap();
        assert_eq!(usage["cost"].as_f64(), Some(input as f64 / 2.0 + output as f64), "{usage}");
        cost += usage["cost"].as_f64().unwrap();
        tokens += input;
        assert!(step["startedAt"].as_str() <= step["finishedAt"].as_str());
    }
    assert_eq!(
        (run["usage"]["cost"].as_f64(), run["usage"]["inputTokens"].as_u64()),
        (Some(cost), Some(tokens))
    );
    assert_eq!(
        (&steps[0]["text"], &steps[0]["finishReason"]),
        (&json!("Let me see."), &json!("tool_calls"))
    );
    let calls = steps[0]["calls"].as_array().unwrap();
    assert_eq!(
        (&calls[0]["output"], &calls[0]["status"]),
        (&json!({"saved": ["a"]}), &json!("completed"))
    );
    assert_eq!(calls[1]["status"], "failed", "a limit of 101 is too high");
    assert_eq!(steps[2]["systemMessages"][0]["watcher"], "steps");
}

#[tokio::test]
async fn a_model_without_a_price_costs_null() {
    let stack = Stack::start().await;
    let (person, agent, space) = stack.pair().await;
    let message = stack.post(&space, &person, "Begin.").await;
    let run = stack.ended(&triggered_run(&message, &agent).unwrap(), SOON).await;
    assert_eq!(
        (&run["usage"]["cost"], &run["steps"][0]["usage"]["cost"]),
        (&Value::Null, &Value::Null)
    );
}
