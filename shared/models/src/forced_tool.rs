//! Requests that force a tool.
//!
//! A server that is asked to force a tool often lets the model write text first, or ignores it. A
//! schema of the answer binds the model from its first token on. So chat completions ask for the
//! tool's input by its schema, and this module turns such an answer into the call of the tool.

use futures::{StreamExt, stream};
use serde_json::{Value, json};
use smartspace_domain::steps::FinishReason;

use crate::port::{ModelError, Piece, Pieces, Request, ToolSpec};

/// The tool whose input the request asks for by its schema.
pub(crate) fn by_schema(request: &Request) -> Option<&ToolSpec> {
    let forced = request.forced_tool.as_ref().filter(|forced| forced.by_schema)?;
    request.tools.iter().find(|tool| tool.name == forced.name)
}

/// The schema of the tool's input, as the field `response_format` of a chat completion. A schema
/// with a description is one of a tool, so the tool can be made of it again.
pub(crate) fn response_format(tool: &ToolSpec) -> Value {
    let json_schema = json!({
        "name": tool.name,
        "description": tool.description,
        "strict": true,
        "schema": tool.input_schema(),
    });
    json!({"type": "json_schema", "json_schema": json_schema})
}

/// Turns the text of an answer without a call into the call that was asked for.
pub(crate) fn read(pieces: Pieces, tool: String) -> Pieces {
    let mut text = String::new();
    let mut has_call = false;
    let read = pieces.flat_map(move |piece| {
        let ready = match piece {
            Ok(Piece::Text(more)) if !has_call => {
                text.push_str(&more);
                // An empty text is a sign of life.
                vec![Ok(Piece::Text(String::new()))]
            }
            Ok(Piece::Finished { reason, usage }) if !has_call && is_answer(reason) => {
                let call = object(&text).map(|json| {
                    let started = Piece::CallStarted { index: 0, name: tool.clone() };
                    [Ok(started), Ok(Piece::CallInput { index: 0, json: json.to_owned() })]
                });
                let reason = if call.is_some() { FinishReason::ToolCalls } else { reason };
                let finished = Ok::<_, ModelError>(Piece::Finished { reason, usage });
                call.into_iter().flatten().chain([finished]).collect()
            }
            other => {
                has_call |= matches!(other, Ok(Piece::CallStarted { .. }));
                vec![other]
            }
        };
        stream::iter(ready)
    });
    read.boxed()
}

fn is_answer(reason: FinishReason) -> bool {
    matches!(reason, FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Length)
}

/// The JSON object in a text. Some models put it between marks or after a sentence.
fn object(text: &str) -> Option<&str> {
    let begin = text.find('{')?;
    let end = text.rfind('}').map_or(text.len(), |at| at + 1);
    text.get(begin..end)
}

#[cfg(test)]
mod tests {
    use smartspace_domain::runs::Usage;

    use super::*;

    fn finished(reason: FinishReason) -> Piece {
        Piece::Finished { reason, usage: Usage::default() }
    }

    async fn answer(pieces: impl IntoIterator<Item = Piece>) -> Vec<Piece> {
        let pieces: Vec<_> = pieces.into_iter().map(Ok).collect();
        let pieces = read(stream::iter(pieces).boxed(), "choose".to_owned());
        let pieces = pieces.map(Result::unwrap).collect::<Vec<_>>().await;
        pieces.into_iter().filter(|piece| *piece != Piece::Text(String::new())).collect()
    }

    fn call(json: &str) -> Vec<Piece> {
        let json = json.to_owned();
        vec![
            Piece::CallStarted { index: 0, name: "choose".to_owned() },
            Piece::CallInput { index: 0, json },
            finished(FinishReason::ToolCalls),
        ]
    }

    #[tokio::test]
    async fn an_object_in_text_is_the_call() {
        for text in ["{\"agents\": []}", "```json\n{\"agents\": []}\n```", "Ada: {\"agents\": []}"]
        {
            let pieces = text.chars().map(|char| Piece::Text(char.to_string()));
            let pieces = pieces.chain([finished(FinishReason::Stop)]);
            assert_eq!(answer(pieces).await, call("{\"agents\": []}"), "{text}");
        }
        let cut = [Piece::Text("{\"agents\": [".to_owned()), finished(FinishReason::Length)];
        assert_eq!(answer(cut).await, call("{\"agents\": ["));
    }

    #[tokio::test]
    async fn a_call_passes_and_text_without_an_object_is_none() {
        let called = [vec![Piece::Text("Hm {".to_owned())], call("{}")].concat();
        assert_eq!(answer(called).await, call("{}"));
        let prose = [Piece::Text("Ada.".to_owned()), finished(FinishReason::Stop)];
        assert_eq!(answer(prose).await, [finished(FinishReason::Stop)]);
        let refused = [Piece::Text("{}".to_owned()), finished(FinishReason::Refusal)];
        assert_eq!(answer(refused).await, [finished(FinishReason::Refusal)]);
    }
}
