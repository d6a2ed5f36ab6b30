//! A run that fills its model's window cuts its oldest results.

use serde_json::{Value, json};

use crate::support::{
    model::{Part, answer, call, http, say, stop},
    routes::triggered_run,
    stack::Stack,
    waiting::SOON,
};

const WINDOW: u64 = 64_000;

/// An agent with a tool whose results have 20 KiB, and its space. Returns the person, the agent and
/// the space.
async fn reader(stack: &Stack, model: Value) -> (String, String, String) {
    let person = stack.person("Husam").await;
    let page = json!({
        "name": "page",
        "description": "A page of the book.",
        "inputSchema": {"type": "object", "properties": {"number": {"type": "integer"}}},
        "execution": {"type": "static", "output": "x".repeat(20 * 1024)},
    });
    let config = json!({"model": model, "tools": [page], "loop": {"maxSteps": 150}});
    let agent = stack.agent_with("Ada", config).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    (person, agent, space)
}

#[tokio::test]
async fn a_run_of_a_hundred_long_results_stays_within_its_window() {
    let stack = Stack::start().await;
    let page = |number| json!({"calls": [{"tool": "page", "input": {"number": number}}]});
    let mut steps: Vec<Value> = (0..100).map(page).collect();
    steps.push(json!({"calls": [{"tool": "send_message", "input": {"text": "I have read it."}}]}));
    // A scripted model counts a token for four characters of a request.
    let model = json!({
        "provider": "scripted", "name": "reader", "contextWindow": WINDOW,
        "script": {"wordDelayMs": 0, "rules": [{"steps": steps}]},
    });
    let (person, agent, space) = reader(&stack, model).await;
    let message = stack.post(&space, &person, "Read the book.").await;
    let run = stack.ended(&triggered_run(&message, &agent).unwrap(), SOON).await;
    assert_eq!((&run["status"], &run["endReason"]), (&json!("completed"), &json!("done")));
    assert_eq!(stack.texts(&space).await, ["Read the book.", "I have read it."]);

    let steps = run["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 102);
    let most = steps.iter().map(|step| step["usage"]["inputTokens"].as_u64().unwrap()).max();
    assert!((1..WINDOW * 9 / 10).contains(&most.unwrap()), "{most:?}");
    let cut: Vec<u64> =
        steps.iter().map(|step| step["cutResults"].as_u64().unwrap_or_default()).collect();
    assert!(cut.is_sorted() && cut[0] == 0 && cut[100] > 80, "{cut:?}");
    assert_notices(&notices(steps), &cut);
}

/// What the watchers said before each step.
fn notices(steps: &[Value]) -> Vec<Vec<String>> {
    let texts = |step: &Value| {
        let messages = step["systemMessages"].as_array().unwrap().iter();
        messages.map(|message| message["text"].as_str().unwrap().to_owned()).collect()
    };
    steps.iter().map(texts).collect()
}

/// Checks that each cut was said once, and that the run was never asked to come to an end.
fn assert_notices(notices: &[Vec<String>], cut: &[u64]) {
    let before = [0].iter().chain(cut);
    for ((said, cut), before) in notices.iter().zip(cut).zip(before) {
        let text = format!("The first {cut} results were shortened; call again for what you need.");
        assert_eq!(said.contains(&text), cut > before, "{said:?}");
    }
    let all: Vec<&String> = notices.iter().flatten().collect();
    let warned = "When your context is full, old results are shortened. \
                  Note in your text what you still need.";
    assert_eq!(all.iter().filter(|text| **text == warned).count(), 1, "{all:?}");
    assert!(!all.iter().any(|text| text.contains("Come to an end")), "{all:?}");
}

#[tokio::test]
async fn a_result_that_was_shortened_may_be_called_again() {
    let stack = Stack::start().await;
    // Page 0 is needed again after each cut, and no cut is far from the next one.
    let page = |number| json!({"calls": [{"tool": "page", "input": {"number": number}}]});
    let mut steps: Vec<Value> = Vec::new();
    for round in 0..6 {
        steps.extend((0..9).map(|number| page(if number == 0 { 0 } else { round * 10 + number })));
    }
    steps.push(json!({"calls": [{"tool": "send_message", "input": {"text": "Read."}}]}));
    let model = json!({
        "provider": "scripted", "name": "reader", "contextWindow": WINDOW,
        "script": {"wordDelayMs": 0, "rules": [{"steps": steps}]},
    });
    let (person, agent, space) = reader(&stack, model).await;
    let message = stack.post(&space, &person, "Read the book.").await;
    let run = stack.ended(&triggered_run(&message, &agent).unwrap(), SOON).await;
    let notices = notices(run["steps"].as_array().unwrap());
    let repeated = |text: &String| text.contains("with the same input");
    assert!(!notices.iter().flatten().any(repeated), "{notices:?}");
}

#[tokio::test]
async fn a_model_that_finds_the_conversation_too_long_is_asked_with_fewer_results() {
    let stack = Stack::start().await;
    stack.model.answers("ada", |request| {
        let pages = request.body.to_string().matches("xxxxxxxxxx\\\"").count();
        match request.step() {
            0 => answer([page(0), page(1), page(2), page(3)]),
            1 if pages > 1 => http(413),
            1 => say("I have read it.").into(),
            _ => stop(),
        }
    });
    let model = json!({"provider": "openai", "name": stack.model.name("ada")});
    let (person, agent, space) = reader(&stack, model).await;
    let message = stack.post(&space, &person, "Read the book.").await;
    let run = stack.ended(&triggered_run(&message, &agent).unwrap(), SOON).await;
    assert_eq!((&run["status"], &run["error"]), (&json!("completed"), &Value::Null));
    assert_eq!(stack.texts(&space).await, ["Read the book.", "I have read it."]);
    assert_eq!(run["steps"][1]["cutResults"], 3);
    let cut = stack.model.requests("ada").last().unwrap().body.to_string();
    assert!(cut.contains("bytes; cut)"), "a page may have been ordered: {cut:.500}");
    let notices = notices(run["steps"].as_array().unwrap());
    let last = notices[1].last().unwrap();
    assert_eq!(last, "The first 3 results were shortened; call again for what you need.");
    assert!(cut.contains(last.as_str()), "the model reads it: {cut:.500}");
}

fn page(number: u32) -> Part {
    call("page", json!({"number": number}))
}
