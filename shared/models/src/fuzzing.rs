//! What property tests and fuzz targets reach: the pieces of an answer out of bytes, without a connection.

use std::convert::Infallible;

use futures::{FutureExt, StreamExt, stream};

use crate::{
    anthropic, events, openai,
    port::{ModelError, Piece},
    reading,
    refusals::Refusals,
};

/// Whose language bytes are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaks {
    /// Chat completions.
    OpenAi,
    /// Messages.
    Anthropic,
}

/// Everything that comes of an answer whose bytes came in these parts.
pub fn answer(speaks: Speaks, parts: Vec<Vec<u8>>) -> Vec<Result<Piece, ModelError>> {
    let events = events::read(stream::iter(parts.into_iter().map(Ok::<_, Infallible>)));
    let refusals = |mark| Refusals::new(Some("sk-secret".to_owned()), mark);
    let all = match speaks {
        Speaks::OpenAi => reading::pieces(events, openai::answer::Answer::new(40), refusals(openai::MARK)).collect().now_or_never(),
        Speaks::Anthropic => {
            reading::pieces(events, anthropic::answer::Answer::new(40), refusals(anthropic::MARK)).collect().now_or_never()
        }
    };
    all.unwrap_or_default()
}

/// What must hold of the pieces of every answer, whatever a provider sends.
pub fn check(pieces: &[Result<Piece, ModelError>]) -> Result<(), String> {
    let fault = |at: usize, what: &str| Err(format!("{what} at {at} of {pieces:?}"));
    let mut started = 0;
    for (at, piece) in pieces.iter().enumerate() {
        let last = at + 1 == pieces.len();
        match piece {
            Err(_) | Ok(Piece::Finished { .. }) if !last => return fault(at, "something follows the end"),
            Err(error) if error.message.contains("sk-secret") => return fault(at, "the key is told"),
            Err(_) | Ok(Piece::Finished { .. }) => return Ok(()),
            Ok(Piece::CallStarted { index, .. }) if *index == started => started += 1,
            Ok(Piece::CallStarted { .. }) => return fault(at, "a gap in the calls"),
            Ok(Piece::CallInput { index, .. }) if *index >= started => return fault(at, "input of a call that has not begun"),
            Ok(Piece::CallInput { .. } | Piece::Text(_)) => {}
        }
    }
    fault(pieces.len(), "no end")
}

#[cfg(test)]
mod tests;
