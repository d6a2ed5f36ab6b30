//! Writes a scripted answer as `OpenAI`'s chat completions do.

mod writer;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use self::writer::{Writer, event};
use crate::support::model::{
    request::ModelRequest,
    script::{Answer, Part},
    writing::{Beat, with_ending},
};

/// An error in the provider's words. Like the real provider, a 401 repeats the key; this one also
/// encodes it.
pub(crate) fn refusal(status: u16, request: &ModelRequest) -> Value {
    let (kind, message) = match status {
        401 => ("invalid_request_error", wrong_key(request.key())),
        429 => ("rate_limit_exceeded", "Rate limit reached for requests.".to_owned()),
        413 => ("context_length_exceeded", "This conversation is too long.".to_owned()),
        400 => ("invalid_request_error", "This request is not to our liking.".to_owned()),
        _ => ("server_error", "The server had an error while processing your request.".to_owned()),
    };
    json!({ "error": { "message": message, "type": kind, "param": null, "code": kind } })
}

fn wrong_key(key: &str) -> String {
    let encoded = STANDARD.encode(format!("user:{key}"));
    let percent = key.bytes().fold(String::new(), |text, byte| format!("{text}%{byte:02X}"));
    let html = key.replace('-', "&#45;");
    let upper = key.to_uppercase();
    format!("Incorrect API key provided: {key}, {encoded}, {percent}, {html}, {upper}.")
}

pub(crate) fn beats(answer: &Answer, request: &ModelRequest) -> Vec<Beat> {
    let calls_anything = answer.parts.iter().any(|part| matches!(part, Part::Call { .. }));
    let mut writer =
        Writer { beats: Vec::new(), model: request.full_name(), piece_chars: answer.piece_chars };
    writer.delta(json!({ "role": "assistant", "content": null }));
    let mut calls = 0;
    for part in answer.parts.iter().skip_while(|part| matches!(part, Part::Wait(_))) {
        match part {
            Part::Text(text) => writer.in_pieces(text, |piece| json!({ "content": piece })),
            Part::Wait(gate) => writer.beats.push(Beat::Wait(gate.clone())),
            Part::Call { name, input, hold } => {
                writer.call(calls, name, input, hold.as_ref());
                calls += 1;
            }
        }
    }
    let model = request.full_name();
    let reason = if calls_anything { "tool_calls" } else { "stop" };
    let mut end = vec![Beat::Event(event(
        &model,
        json!([{ "index": 0, "delta": {}, "finish_reason": reason }]),
        Value::Null,
    ))];
    if request.wants_usage() {
        let usage = json!({
            "prompt_tokens": request.characters() / 4,
            "completion_tokens": 12,
            "total_tokens": request.characters() / 4 + 12,
            "prompt_tokens_details": { "cached_tokens": 0 },
        });
        end.push(Beat::Event(event(&model, json!([]), usage)));
    }
    end.push(Beat::Event("data: [DONE]\n\n".into()));
    let error = json!({
        "message": "The server is overloaded.",
        "type": "server_error",
        "code": null,
    });
    let error = Beat::Event(format!("data: {}\n\n", json!({ "error": error })));
    with_ending(writer.beats, answer.ending, end, error)
}
