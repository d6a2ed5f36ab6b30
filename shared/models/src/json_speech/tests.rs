use futures::{FutureExt, StreamExt, stream};
use smartspace_domain::runs::{FailureCode, Usage};

use super::*;
use crate::samples;

/// The call of an answer whose text arrives in pieces of `size` characters: its name, its input,
/// and why the answer ended. The text of an answer that is no call comes with an empty name.
fn call_of(answer: &str, size: usize, ended: FinishReason) -> (String, String, FinishReason) {
    let chars: Vec<char> = answer.chars().collect();
    let texts = chars.chunks(size).map(|piece| Piece::Text(piece.iter().collect()));
    let last = Piece::Finished { reason: ended, usage: Usage::default() };
    let pieces = stream::iter(texts.chain([last]).map(Ok).collect::<Vec<_>>()).boxed();
    let mut name = String::new();
    let mut input = String::new();
    let mut end = None;
    for piece in read(pieces).collect::<Vec<_>>().now_or_never().unwrap() {
        match piece.unwrap() {
            Piece::CallStarted { name: started, .. } => name = started,
            Piece::CallInput { json: more, .. } | Piece::Text(more) => input.push_str(&more),
            Piece::Finished { reason, .. } => end = Some(reason),
            other => panic!("{other:?}"),
        }
    }
    (name, input, end.unwrap())
}

#[test]
fn what_is_said_is_a_message() {
    let said = "Grüße, \"Ada\"\n\\o/ 😀";
    let answer = json!({"say": said, "reason": "asked"}).to_string();
    let fenced = format!("```json\n{answer}\n```");
    for written in [&answer, &fenced] {
        for size in [1, 2, 7, 1_000] {
            let (name, input, end) = call_of(written, size, FinishReason::Stop);
            assert_eq!((name.as_str(), end), (SEND_MESSAGE, FinishReason::ToolCalls));
            let input: Value = serde_json::from_str(&input).unwrap();
            assert_eq!(input, json!({"text": said}), "{size}");
        }
    }
}

#[test]
fn a_fault_of_the_json_does_not_cost_the_message() {
    for (answer, said) in [
        (r#"{"say": "a\ud83d b", "reason": "r"}"#, "a\u{fffd} b"),
        ("{\"say\": \"one\n\ttwo \\\"\n\\\"\", \"reason\": \"r\"}", "one\n\ttwo \"\n\""),
        (r#"{"say": "Hi", "reason": "r""#, "Hi"),
        (r#"{"say": "Hi", "reason": "r",}"#, "Hi"),
        (r#"{"say": "Hi", "reason": r}"#, "Hi"),
        (r#"<think>maybe {"say": "draft"}</think> {"say": "Final"}"#, "Final"),
    ] {
        for size in [1, 3, 1_000] {
            let (name, input, end) = call_of(answer, size, FinishReason::Stop);
            assert_eq!((name.as_str(), end), (SEND_MESSAGE, FinishReason::ToolCalls), "{answer}");
            let input: Value = serde_json::from_str(&input).unwrap();
            assert_eq!(input, json!({ "text": said }), "{answer}");
        }
    }
}

#[test]
fn text_in_another_form_is_no_silence() {
    for answer in [
        "Hello there!",
        r#"{"say": 42}"#,
        r#"{"answer": {"say": "Hi"}}"#,
        r#"{"name": "send_message", "arguments": {"text": "Hi"}}"#,
    ] {
        let expected = (String::new(), answer.to_owned(), FinishReason::Stop);
        assert_eq!(call_of(answer, 4, FinishReason::Stop), expected);
    }
}

#[test]
fn null_is_a_skip_with_its_reason() {
    for answer in [
        r#"{"say": null, "reason": "not for me"}"#,
        r#"{"reason": "not for me", "say": ""}"#,
        r#"{"reason": "not for me"}"#,
    ] {
        let (name, input, end) = call_of(answer, 3, FinishReason::Stop);
        assert_eq!((name.as_str(), end), (SKIP_RESPONSE, FinishReason::ToolCalls), "{answer}");
        let input: Value = serde_json::from_str(&input).unwrap();
        assert_eq!(input, json!({"reason": "not for me"}));
    }
}

#[test]
fn an_answer_that_is_cut_is_no_whole_call() {
    let (name, input, end) = call_of(r#"{"say": "one tw"#, 4, FinishReason::Length);
    assert_eq!((name.as_str(), end), (SEND_MESSAGE, FinishReason::Length));
    assert_eq!(input, r#"{"text":"one tw"#);
    let (name, input, end) = call_of(r#"{"reason": "#, 4, FinishReason::Length);
    assert_eq!((name.as_str(), input.as_str(), end), ("", r#"{"reason": "#, FinishReason::Length));
}

#[test]
fn an_error_is_passed_on() {
    let error = || Err(ModelError::new(FailureCode::BrokenStream, "no"));
    let pieces = vec![Ok(Piece::Text(r#"{"say": "a"#.to_owned())), error()];
    let read = read(stream::iter(pieces).boxed()).collect::<Vec<_>>().now_or_never().unwrap();
    assert_eq!(read.last(), Some(&error()));
}

#[test]
fn a_request_shows_earlier_calls_as_such_answers() {
    let mut request = samples::request();
    assert!(!is_asked(&request));
    request.model.speaks = Speaks::Json;
    assert!(is_asked(&request));
    request.messages.extend(samples::call_and_result(SEND_MESSAGE, json!({"error": "too long"})));
    if let Some(Message::Assistant { calls, .. }) = request.messages.get_mut(1) {
        calls[0].input = r#"{"text": "Hi"}"#.to_owned();
    }
    let rewritten = rewritten(&request);
    assert_eq!(rewritten.system, ["You are Ada.", RULES]);
    let Some(Message::Assistant { text, calls, .. }) = rewritten.messages.get(1) else {
        panic!("{:?}", rewritten.messages)
    };
    assert!(calls.is_empty());
    assert_eq!(text, r#"{"say":"Hi","reason":""}"#);
    assert_eq!(
        written(SEND_MESSAGE, r#"{"text": "Half a li"#),
        r#"{"say":"Half a li","reason":""}"#
    );
    assert_eq!(written(SKIP_RESPONSE, r#"{"reason": "no"}"#), r#"{"say":null,"reason":"no"}"#);
    let result = Message::User { blocks: vec![r#"RESULT: {"error":"too long"}"#.to_owned()] };
    assert_eq!(rewritten.messages[2], result);
}
