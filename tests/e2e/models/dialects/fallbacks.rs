//! A run whose first model fails after an answer with thinking and a call, so that the model of
//! another server goes on. Nothing that the first server wrote for itself reaches the other one.

use serde_json::json;

use crate::{
    models::dialects::{
        dialect::{Dialect, signature},
        said::{Ending, ScriptedAnswer},
        scene::{model, product},
        server::DialectServer,
        servers::{anthropic, bedrock, deepseek, gemini, groq, mistral, openai},
    },
    support::{routes::triggered_run, waiting::SOON},
};

const THOUGHT: &str = "A thought that only its own model may read.";

/// Checks that the run goes on with the second server. `refused` are the rules by which that one
/// refuses the first request of the run.
async fn falls_back(first: Dialect, second: Dialect, refused: &[&str]) {
    let first = DialectServer::start(first).await;
    let second = DialectServer::start(second).await;
    let Some((stack, _folder)) = product(&[&first, &second]).await else { return };
    let mut settings = model(first.dialect(), first.dialect().model, &first.dialect().settings);
    let of_second = second.dialect();
    settings["fallback"] = json!([{ "provider": of_second.name, "name": of_second.model }]);
    let person = stack.person("Husam").await;
    let agent = stack.agent_with("Ada", json!({ "model": settings })).await;
    let space = stack.space("Team", &[&person, &agent]).await;
    let read = ScriptedAnswer::call("read_messages", json!({ "limit": 1 })).thinking(THOUGHT);
    let down = || ScriptedAnswer::nothing().ends(Ending::Unauthorized);
    first.plays([read, down(), down(), down()]);
    let other =
        ScriptedAnswer::call("read_messages", json!({ "limit": 1 })).thinking("Another thought.");
    second.plays([other, ScriptedAnswer::message("From the second."), ScriptedAnswer::nothing()]);
    let question = stack.post(&space, &person, "Hello there.").await;
    let run = stack.ended(&triggered_run(&question, &agent).unwrap(), SOON).await;
    assert_eq!(run["status"], "completed", "{run:#}\n{:#?}", second.refused());
    assert_eq!(stack.texts(&space).await, ["Hello there.", "From the second."]);
    let rules: Vec<&str> = second.refused().iter().map(|refusal| refusal.rule).collect();
    assert_eq!(rules, refused, "{:#?}", second.refused());
    assert_eq!((first.faults(), second.faults()), (vec![], vec![]));
    let accepted = second.accepted();
    assert_eq!(accepted.len(), 3);
    let id = (first.dialect().id)(0);
    let signature = signature(first.dialect().model, 0);
    for request in accepted {
        let body = request.body.to_string();
        for mark in [THOUGHT, &signature, &id] {
            assert!(!body.contains(mark), "{mark} is in {body}");
        }
        assert!(!request.read().results().is_empty());
    }
}

#[tokio::test]
async fn no_thinking_of_deepseek_reaches_mistral() {
    falls_back(deepseek::dialect(), mistral::dialect(), &["unknown field"]).await;
}

#[tokio::test]
async fn no_signature_of_anthropic_reaches_groq() {
    falls_back(anthropic::dialect(), groq::dialect(), &[]).await;
}

#[tokio::test]
async fn no_signature_of_gemini_reaches_openai() {
    falls_back(gemini::dialect(), openai::dialect(), &["max_tokens"]).await;
}

#[tokio::test]
async fn no_thinking_of_groq_reaches_anthropic() {
    falls_back(groq::dialect(), anthropic::dialect(), &[]).await;
}

#[tokio::test]
async fn no_signature_of_bedrock_reaches_anthropic() {
    falls_back(bedrock::dialect(), anthropic::dialect(), &[]).await;
}

/// `DeepSeek` demands thinking of every call, so those of the other model get an empty one.
#[tokio::test]
async fn deepseek_goes_on_after_calls_of_mistral() {
    falls_back(mistral::dialect(), deepseek::dialect(), &["mark beside calls"]).await;
}

/// Gemini demands a signature of every call, so those of the other model get the one that its
/// documentation names for them.
#[tokio::test]
async fn gemini_goes_on_after_calls_of_deepseek() {
    falls_back(deepseek::dialect(), gemini::dialect(), &["mark beside calls"]).await;
}
