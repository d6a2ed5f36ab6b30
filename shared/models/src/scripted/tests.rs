use std::sync::Arc;

use serde_json::{Value, json};
use smartspace_domain::agents::ModelConfig;
use tokio::time::Instant;

use super::*;
use crate::{
    partial_json::TextScanner,
    port::{Message, ScriptCause},
    samples,
};

fn mention() -> ScriptCause {
    ScriptCause {
        kind: "space_message".to_owned(),
        source: "mention".to_owned(),
        space: "Alpha".to_owned(),
        sender: "Husam".to_owned(),
        sender_kind: "human".to_owned(),
        message: "What is the Weather?".to_owned(),
        now: "2026-02-18T15:07:00Z".to_owned(),
        prompt_messages: 1,
        ..ScriptCause::default()
    }
}

fn request(script: Value, messages: Vec<Message>) -> Request {
    let model: ModelConfig =
        serde_json::from_value(json!({"provider": "scripted", "name": "demo", "script": script}))
            .unwrap();
    let cause = Some(Arc::new(mention()));
    let system = vec!["You are Demo.".to_owned()];
    Request { model, system, messages, cause, ..samples::request() }
}

fn user(blocks: &[&str]) -> Message {
    Message::User { blocks: blocks.iter().map(|&block| block.to_owned()).collect() }
}

async fn play(request: &Request) -> Result<Vec<Result<Piece, ModelError>>, ModelError> {
    Ok(Scripted::default().ask(request).await?.collect().await)
}

/// The answer without its last piece.
async fn answer(request: &Request) -> Vec<Piece> {
    let mut pieces: Vec<Piece> =
        play(request).await.unwrap().into_iter().map(Result::unwrap).collect();
    assert!(matches!(pieces.pop(), Some(Piece::Finished { .. })));
    pieces
}

fn text(text: &str) -> Piece {
    Piece::Text(text.to_owned())
}

/// A script in which each rule answers with its own index.
fn numbered(rules: &[Value]) -> Value {
    let rule = |(index, when): (usize, &Value)| {
        let text = index.to_string();
        json!({"when": when, "steps": [{"text": text}]})
    };
    json!({"rules": rules.iter().enumerate().map(rule).collect::<Vec<_>>()})
}

#[tokio::test]
async fn each_request_plays_the_next_step_until_the_script_ends() {
    let when = json!({
        "trigger": "space_message",
        "sender": "human",
        "source": "mention",
        "contains": "weather",
    });
    let steps = json!([
        {"text": "I look.", "calls": [{"tool": "fetchWeather", "input": {"city": "Oslo"}}]},
        {"calls": [
            {"tool": "send_message", "input": {"text": "{{sender}}, it is {{result}}"}},
            {"tool": "skip_response"},
        ]},
    ]);
    let script = json!({"rules": [{"when": when, "steps": steps}]});
    let mut messages = vec![user(&["EARLIER: \"…\"", "What is the Weather?"])];
    let first = play(&request(script.clone(), messages.clone())).await.unwrap();
    let input = |index, json: &str| Ok(Piece::CallInput { index, json: json.to_owned() });
    let started = |index, name: &str| Ok(Piece::CallStarted { index, name: name.to_owned() });
    let finished = |reason, input_tokens, output_tokens| {
        Ok(Piece::Finished {
            reason,
            usage: Usage { input_tokens, output_tokens, ..Usage::default() },
        })
    };
    let asked = request(script.clone(), messages.clone());
    let tokens = |request: &Request| estimate::characters(request).div_ceil(4) as u64;
    let expected = [
        Ok(text("I")),
        Ok(text(" look.")),
        started(0, "fetchWeather"),
        input(0, r#"{"city":"Oslo"#),
        input(0, "\"}"),
        finished(FinishReason::ToolCalls, tokens(&asked), 9),
    ];
    assert_eq!(first, expected);

    messages.extend(samples::call_and_result("fetchWeather", json!("grey, {{sender}}")));
    let asked = request(script.clone(), messages.clone());
    let expected = [
        started(0, "send_message"),
        input(0, r#"{"text":"Husam,"#),
        input(0, " it"),
        input(0, " is"),
        input(0, " grey,"),
        input(0, " {{sender}}"),
        input(0, "\"}"),
        started(1, "skip_response"),
        input(1, "{}"),
        finished(FinishReason::ToolCalls, tokens(&asked), 17),
    ];
    assert_eq!(play(&asked).await.unwrap(), expected);

    messages.extend(samples::call_and_result("send_message", json!({"success": true})));
    let asked = request(script, messages);
    assert_eq!(play(&asked).await.unwrap(), [finished(FinishReason::Stop, tokens(&asked), 0)]);
}

#[tokio::test]
async fn the_first_rule_with_all_conditions_met_is_played() {
    let rules = [
        json!({"trigger": "plan"}),
        json!({"sender": "agent"}),
        json!({"source": "auto"}),
        json!({"contains": "rain"}),
        json!({"sender": "human", "contains": "WEATHER"}),
        json!({}),
    ];
    let asked = |rules: &[Value], cause: ScriptCause| Request {
        cause: Some(Arc::new(cause)),
        ..request(numbered(rules), vec![user(&["a prompt"])])
    };
    assert_eq!(answer(&asked(&rules, mention())).await, [text("4")]);
    let plan = ScriptCause {
        kind: "plan".to_owned(),
        instruction: "Speak of rain".to_owned(),
        prompt_messages: 1,
        ..ScriptCause::default()
    };
    assert_eq!(answer(&asked(&rules, plan.clone())).await, [text("0")]);
    assert_eq!(answer(&asked(&rules[3..], plan.clone())).await, [text("0")]);
    let payload = "{\"is\":\"Rain\"}".to_owned();
    let service =
        ScriptCause { kind: "service".to_owned(), payload, instruction: String::new(), ..plan };
    assert_eq!(answer(&asked(&rules, service.clone())).await, [text("3")]);
    assert_eq!(answer(&asked(&rules[..3], service)).await, []);
}

#[tokio::test]
async fn without_a_script_or_a_cause_the_answer_is_empty() {
    assert_eq!(answer(&request(Value::Null, vec![user(&["a prompt"])])).await, []);
    let prompt = vec![user(&["a prompt"])];
    let no_cause = Request { cause: None, ..request(numbered(&[json!({})]), prompt) };
    assert_eq!(answer(&no_cause).await, []);
}

#[tokio::test]
async fn answers_in_the_prompt_do_not_count_as_steps() {
    let earlier = Message::Assistant { text: "\"On it.\"".to_owned(), calls: vec![], own: None };
    let prompt = vec![user(&["Husam (human): \"Hi\""]), earlier, user(&["TRIGGER: message #3"])];
    let cause = ScriptCause { prompt_messages: 3, ..mention() };
    let request =
        Request { cause: Some(Arc::new(cause)), ..request(numbered(&[json!({})]), prompt) };
    assert_eq!(answer(&request).await, [text("0")]);
}

#[tokio::test]
async fn files_change_no_step() {
    let script = json!({"rules": [{"when": {"contains": "weather"}, "steps": [
        {"text": "{{sender}}", "calls": [{"tool": "f"}]},
        {"text": "{{result}}"},
    ]}]});
    let mut messages = vec![user(&["What is the Weather?"]), samples::files()];
    let first = answer(&request(script.clone(), messages.clone())).await;
    let started = Piece::CallStarted { index: 0, name: "f".to_owned() };
    let input = Piece::CallInput { index: 0, json: "{}".to_owned() };
    assert_eq!(first, [text("Husam"), started, input]);
    messages.extend(samples::call_and_result("f", "grey".into()));
    messages.push(samples::files());
    assert_eq!(answer(&request(script, messages)).await, [text("grey")]);
}

#[tokio::test]
async fn a_scripted_error_comes_before_the_answer_or_in_its_middle() {
    let script =
        |step: Value| request(json!({"rules": [{"steps": [step]}]}), vec![user(&["a prompt"])]);
    let codes = [
        ("rate_limited", FailureCode::RateLimited),
        ("overloaded", FailureCode::Overloaded),
        ("context_too_long", FailureCode::ContextTooLong),
        ("bad_request", FailureCode::BadRequest),
    ];
    for (name, code) in codes {
        let error = ModelError::new(code, format!("the script fails here with {name}"));
        assert_eq!(play(&script(json!({"text": "a b", "error": name}))).await, Err(error));
    }
    let error =
        ModelError::new(FailureCode::BrokenStream, "the script fails here with broken_stream");
    let half = play(&script(json!({"text": "a b c d", "error": "broken_stream"}))).await.unwrap();
    assert_eq!(half, [Ok(text("a")), Ok(text(" b")), Err(error.clone())]);
    assert_eq!(
        play(&script(json!({"error": "broken_stream"}))).await.unwrap(),
        [Ok(text("…")), Err(error)]
    );
}

#[tokio::test(start_paused = true)]
async fn a_message_is_streamed_word_by_word() {
    let call = json!({"tool": "send_message", "input": {"text": "It is \"grey\"."}});
    let script =
        json!({"wordDelayMs": 40, "rules": [{"steps": [{"text": "Well", "calls": [call]}]}]});
    let began = Instant::now();
    let mut pieces =
        Scripted::default().ask(&request(script, vec![user(&["a prompt"])])).await.unwrap();
    let mut scanner = TextScanner::new("text");
    let mut grown = Vec::new();
    while let Some(piece) = pieces.next().await {
        if let Ok(Piece::CallInput { json, .. }) = piece {
            grown.push((scanner.push(&json), began.elapsed().as_millis()));
        }
    }
    let expected = [("It", 40), (" is", 80), (" \"grey\".", 120), ("", 120)];
    assert_eq!(grown, expected.map(|(text, millis)| (text.to_owned(), millis)));
}
