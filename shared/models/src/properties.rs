//! Property tests of answers: parse them from bytes, without a connection.

use std::convert::Infallible;

use futures::{FutureExt, StreamExt, stream};

use crate::{
    anthropic, events, openai,
    port::{ModelError, Piece},
    reading,
    refusals::{Hidden, Refusals},
};

/// The API whose stream is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    /// Chat completions.
    OpenAi,
    /// Messages.
    Anthropic,
}

/// All pieces of an answer whose bytes arrive in these parts.
pub(crate) fn answer(api: Api, parts: Vec<Vec<u8>>) -> Vec<Result<Piece, ModelError>> {
    let events = events::read(stream::iter(parts.into_iter().map(Ok::<_, Infallible>)));
    let refusals = |mark| Refusals::new(Hidden::of(Some("sk-secret".to_owned())), mark);
    let all = match api {
        Api::OpenAi => {
            let reader = openai::answer::ResponseReader::new(10);
            reading::pieces(events, reader, refusals(openai::MARK)).collect().now_or_never()
        }
        Api::Anthropic => {
            let reader = anthropic::answer::ResponseReader::new(10);
            reading::pieces(events, reader, refusals(anthropic::MARK)).collect().now_or_never()
        }
    };
    all.unwrap_or_default()
}

/// Checks the rules that hold for the pieces of every answer, even if the provider sends garbage.
/// Fails with the broken rule and the position of the piece that breaks it.
pub(crate) fn check(pieces: &[Result<Piece, ModelError>]) -> Result<(), String> {
    let fault = |at: usize, rule: &str| Err(format!("{rule} at {at} of {pieces:?}"));
    let mut started = 0;
    for (at, piece) in pieces.iter().enumerate() {
        let last = at + 1 == pieces.len();
        match piece {
            Err(_) | Ok(Piece::Finished { .. }) if !last => {
                return fault(at, "a piece follows the end");
            }
            Err(error) if error.message.contains("sk-secret") => {
                return fault(at, "the error contains the key");
            }
            Err(_) | Ok(Piece::Finished { .. }) => return Ok(()),
            Ok(Piece::CallStarted { index, .. }) if *index == started => started += 1,
            Ok(Piece::CallStarted { .. }) => return fault(at, "a call has an unexpected index"),
            Ok(Piece::CallInput { index, .. }) if *index >= started => {
                return fault(at, "input of a call that has not started");
            }
            Ok(Piece::CallId { index, .. }) if *index >= started => {
                return fault(at, "id of a call that has not started");
            }
            Ok(Piece::Opaque(_)) if at + 2 != pieces.len() => {
                return fault(at, "an opaque mark that is not the last but one");
            }
            Ok(
                Piece::CallInput { .. }
                | Piece::CallId { .. }
                | Piece::Opaque(_)
                | Piece::Origin { .. }
                | Piece::Text(_),
            ) => {}
        }
    }
    fault(pieces.len(), "the end is missing")
}

#[cfg(test)]
mod tests;
