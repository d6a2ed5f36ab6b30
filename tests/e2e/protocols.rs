//! The function `protocols` as Lambda runs it: its binary, with the events of a REST API. The
//! protocols themselves are tested with their own clients, in `tests/js/interop`.

use std::time::Duration;

use serde_json::{Value, json};
use smartspace_tests::{
    function::{Function, built},
    runtime::{Invocation, Outcome},
    samples::Sample,
};
use tokio::time::timeout;

use crate::support::{
    model::{Gate, answer, say_held, stop},
    stack::Stack,
    waiting::{SOON, patient},
};

/// The sample event of the AI SDK's route, for another caller and another body.
fn event(stack: &Stack, person: &str, body: &Value) -> String {
    let event = Sample::named("protocols/no-token").unwrap().event().unwrap();
    let mut event: Value = serde_json::from_str(&event).unwrap();
    let client = stack.as_entity(person);
    event["headers"]["authorization"] = json!(format!("Bearer {}", client.key));
    event["multiValueHeaders"]["authorization"] = json!([event["headers"]["authorization"]]);
    event["body"] = json!(body.to_string());
    event.to_string()
}

/// The text of all deltas.
fn text_of(events: &str) -> String {
    events
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok())
        .filter_map(|event| event["delta"].as_str().map(str::to_owned))
        .collect()
}

/// Reads the answer until its text is `expected`.
async fn until(invocation: &mut Invocation, expected: &str) -> String {
    let mut answer = String::new();
    while text_of(&answer) != expected {
        let part = timeout(patient(SOON), invocation.parts.recv()).await;
        let part = part.unwrap_or_else(|_| panic!("{expected:?} did not arrive: {answer}"));
        let part = part.unwrap_or_else(|| panic!("{expected:?} did not arrive: {answer}"));
        answer.push_str(std::str::from_utf8(&part).unwrap());
    }
    answer
}

#[tokio::test]
async fn a_turn_is_streamed_while_it_happens() {
    let Some(stack) = Stack::with_secret_alone("it runs the function's binary alone").await else {
        return;
    };
    let gate = Gate::closed();
    stack.model.plays("ada", [answer([say_held("Hello wor", &gate, "ld, at last.")]), stop()]);
    let (person, _, space) = stack.pair().await;
    let binary = built("protocols").unwrap_or_else(|error| panic!("{error}"));
    let protocols = Function::start_at("protocols", &binary, &stack.url).await.unwrap();
    let parts = json!([{"type": "text", "text": "Hello?"}]);
    let body = json!({
        "id": space,
        "messages": [{"id": "1", "role": "user", "parts": parts}],
        "trigger": "submit-message",
    });

    let mut turn = protocols.begin(&event(&stack, &person, &body)).unwrap();
    let begun = until(&mut turn, "Hello wor").await;
    assert!(begun.starts_with(r#"{"statusCode":200,"#), "{begun}");
    assert_eq!(stack.texts(&space).await, ["Hello?"], "nothing is stored before the model ends");
    gate.open();
    let outcome = turn.outcome(Duration::from_mins(1)).await.unwrap();
    let Outcome::Answered(answer) = outcome else { panic!("{outcome:?}: {}", protocols.log()) };
    assert_eq!(answer["headers"]["content-type"], "text/event-stream");
    assert_eq!(text_of(answer["body"].as_str().unwrap()), "Hello world, at last.");
}
