//! The operator's view of a run: the exact prompt, the answer and the cost of each step.

use std::{collections::BTreeMap, fs};

use serde_json::{Value, json};

use crate::support::{
    model::{Gate, answer, call, say, stop, think, wait},
    routes::triggered_run,
    stack::Stack,
    waiting::SOON,
};

/// The messages of the stored prompts, in the form in which a request has them. `ids` are the
/// provider's ids of the calls.
fn as_sent(stored: &[Value], ids: &mut SentIds) -> Vec<Value> {
    let mut sent: Vec<Value> = Vec::new();
    for message in stored {
        match message["role"].as_str().unwrap() {
            "user" => {
                let blocks = message["blocks"].as_array().unwrap().iter();
                let text: String = blocks.map(|block| block.as_str().unwrap()).collect();
                sent.push(json!({"role": "user", "content": text}));
            }
            "system" => {
                let last = sent.last_mut().unwrap();
                let before = last["content"].as_str().unwrap().trim_end_matches('\n');
                let text = message["text"].as_str().unwrap();
                last["content"] = format!("{before}\n\nSYSTEM NOTICE:\n{text}").into();
            }
            "assistant" => {
                let calls = message["calls"].as_array().unwrap().iter();
                let calls: Vec<_> = calls.map(|call| ids.call(call)).collect();
                let mut answer = json!({"role": "assistant"});
                if message["text"] != "" {
                    answer["content"] = message["text"].clone();
                }
                answer["tool_calls"] = calls.into();
                sent.push(answer);
            }
            "tool_results" => {
                for result in message["results"].as_array().unwrap() {
                    let id = &ids.0[result["callId"].as_str().unwrap()];
                    let output = result["output"].to_string();
                    sent.push(json!({"role": "tool", "tool_call_id": id, "content": output}));
                }
            }
            other => panic!("a message of the role {other}"),
        }
    }
    sent
}

/// The ids of calls that requests send, by our own: those of the provider, and the end of our own
/// where it repeats one.
#[derive(Default)]
struct SentIds(BTreeMap<String, String>);

impl SentIds {
    fn call(&mut self, call: &Value) -> Value {
        let own = call["callId"].as_str().unwrap().to_owned();
        let given = call["providerId"].as_str().unwrap().to_owned();
        let is_repeated = self.0.values().any(|id| *id == given);
        let id = if is_repeated { own[own.len() - 9..].to_owned() } else { given };
        self.0.insert(own, id.clone());
        let function = json!({"name": call["name"], "arguments": call["input"]});
        json!({"id": id, "type": "function", "function": function})
    }
}

const PRICES: &str = r#"{"openai/ada*":
    {"input": 500000, "cachedInput": 0, "cacheWrite": 0, "output": 1000000}}"#;

/// The cost of a step by [`PRICES`], and its input tokens.
fn cost_of(usage: &Value) -> (f64, u64) {
    let input = usage["inputTokens"].as_u64().unwrap();
    let output = usage["outputTokens"].as_u64().unwrap();
    assert_eq!(usage["cost"].as_f64(), Some(input as f64 / 2.0 + output as f64), "{usage}");
    (usage["cost"].as_f64().unwrap(), input)
}

#[tokio::test]
async fn a_run_shows_the_exact_prompt_of_each_step_and_what_it_cost() {
    let prices = std::env::temp_dir().join(format!("prices-{}.json", std::process::id()));
    fs::write(&prices, PRICES).unwrap();
    let flags = ["--prices", prices.to_str().unwrap(), "--budget-cost-per-day", "none"];
    let Some(stack) = Stack::with(&flags).await else { return };
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
        shown.extend(step["prompt"]["messages"].as_array().unwrap().iter().cloned());
        let (system, rest) = request.messages().split_first().unwrap();
        assert_eq!(as_sent(&shown, &mut SentIds::default()), rest, "step {}", step["index"]);
        // Step 0 shows the whole system prompt, later steps only additions.
        let added = if step["index"] == 0 { json!([system["content"]]) } else { json!([]) };
        assert_eq!(step["prompt"]["system"], added, "step {}", step["index"]);
        let (step_cost, input) = cost_of(&step["usage"]);
        cost += step_cost;
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
    assert_eq!(run["firstTokenAt"], steps[0]["firstTokenAt"]);
    let offered = |step: &Value| step["tools"].as_array().unwrap().contains(&json!("set_memories"));
    assert!(steps.iter().all(offered), "{}", steps[0]["tools"]);
}

#[tokio::test]
async fn a_step_is_shown_from_its_start_and_members_see_hints() {
    let stack = Stack::with_secret(&[]).await.expect("a product that accepts tokens");
    let (person, agent, space) = stack.pair().await;
    let path = format!("/v1/entities/{agent}");
    stack.patch(&path, json!({"agent": {"loop": {"maxSteps": 2}}})).await.must_be(200);
    let gates = [Gate::closed(), Gate::closed()];
    let [first, second] = gates.clone();
    let reads = call("read_messages", json!({}));
    stack.model.plays("ada", [answer([wait(&first), reads]), answer([wait(&second), say("Hi.")])]);
    let message = stack.post(&space, &person, "Begin.").await;
    let id = triggered_run(&message, &agent).unwrap();

    for (step, gate) in gates.iter().enumerate() {
        gate.reached(1).await;
        let run = stack.run(&id).await;
        let steps = run["steps"].as_array().unwrap();
        assert_eq!((steps.len(), run["stepCount"].as_u64()), (step + 1, Some(step as u64)));
        let last = &steps[step];
        let model = format!("openai/{}", stack.model.name("ada"));
        assert_eq!((&last["index"], &last["model"]), (&json!(step), &json!(model)));
        assert_eq!((&last["finishReason"], &last["finishedAt"]), (&Value::Null, &Value::Null));
        assert!(last["startedAt"].as_str() >= run["startedAt"].as_str(), "{run}");
        gate.open();
    }
    let run = stack.ended(&id, SOON).await;
    let finished = |step: &Value| step["finishedAt"].is_string();
    assert!(run["steps"].as_array().unwrap().iter().all(finished), "{run}");

    // The watcher `start` is for the operator alone.
    let seen = stack.as_entity(&person).get(&format!("/v1/runs/{id}")).await.must_be(200);
    let [hint] = &seen["hints"].as_array().unwrap()[..] else { panic!("{seen}") };
    assert_eq!((&hint["watcher"], &seen["steps"]), (&json!("steps"), &Value::Null));
    assert!(hint["text"].as_str().unwrap().starts_with("This is the last step"), "{hint}");
    assert_eq!(hint["at"], run["steps"][1]["startedAt"]);
    assert_eq!(run["hints"], seen["hints"]);
    // Lists have them, too, and the trigger without its texts.
    let reference = json!({
        "type": "space_message",
        "messageId": message["id"],
        "seq": message["seq"],
        "source": "auto",
    });
    let lists = ["/v1/runs".to_owned(), format!("/v1/agents/{agent}/runs")];
    for path in lists.into_iter().chain([format!("/v1/spaces/{space}/runs")]) {
        let listed = stack.all(&path).await.into_iter().find(|each| each["id"] == id).unwrap();
        assert_eq!((&listed["hints"], &listed["trigger"]), (&seen["hints"], &reference), "{path}");
    }
}

#[tokio::test]
async fn step_0_says_how_much_of_its_prompt_the_run_before_had() {
    let stack = Stack::start().await;
    let (person, agent, space) = stack.pair().await;
    stack.model.replies("ada", |_| stop());
    let mut shared = Vec::new();
    for text in ["one", "two", "three"] {
        let message = stack.post(&space, &person, text).await;
        let run = stack.ended(&triggered_run(&message, &agent).unwrap(), SOON).await;
        let prompt = &run["steps"][0]["prompt"];
        let texts = prompt["system"].as_array().unwrap().iter().chain(
            prompt["messages"]
                .as_array()
                .unwrap()
                .iter()
                .flat_map(|it| it["blocks"].as_array().unwrap()),
        );
        let text: String = texts.map(|text| text.as_str().unwrap()).collect();
        let units: Vec<u16> = text.encode_utf16().collect();
        shared.push((run["steps"][0]["sharedPrefix"].as_u64(), units));
    }
    assert_eq!(shared[0].0, None);
    for pair in shared.windows(2) {
        let [(_, before), (prefix, now)] = pair else { panic!("two runs") };
        let prefix = prefix.unwrap() as usize;
        assert!(prefix > 500, "{prefix}");
        assert_eq!(before[..prefix], now[..prefix]);
        assert_ne!(before.get(prefix), now.get(prefix));
    }
}

#[tokio::test]
async fn a_model_without_a_price_counts_with_the_highest_price_of_its_provider() {
    let stack = Stack::start().await;
    let (person, agent, space) = stack.pair().await;
    let message = stack.post(&space, &person, "Begin.").await;
    let run = stack.ended(&triggered_run(&message, &agent).unwrap(), SOON).await;
    let usage = &run["usage"];
    let tokens = |name: &str| usage[name].as_f64().unwrap();
    // In dollars: OpenAI's highest built-in prices of a million tokens.
    let cost = (tokens("inputTokens") * 5.0 + tokens("outputTokens") * 40.0) / 1e6;
    assert!((usage["cost"].as_f64().unwrap() - cost).abs() < 1e-9, "{usage}");
    assert_eq!(usage["priceUnknown"], true);
    assert!(run["steps"][0]["usage"]["cost"].as_f64().unwrap() > 0.0, "{run}");
}
