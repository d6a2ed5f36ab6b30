//! A model that plays a script from the agent's configuration, for demos and tests. It needs no
//! key.
//!
//! - `current_step`: finds the step to play
//! - `blanks`: fills the blanks in the script's texts
//! - `played`: turns a step into an answer, word by word
//! - `images`: draws the words of a prompt
//! - `prefix_cache`: counts the tokens that an earlier request had, too

mod blanks;
mod current_step;
mod images;
mod played;
mod prefix_cache;

use std::time::Duration;

use async_trait::async_trait;
use futures::{StreamExt, stream};
use smartspace_domain::{
    runs::{FailureCode, Usage},
    scripts::ScriptError,
    steps::FinishReason,
};
use tokio::time::sleep;

use self::{current_step::current_step, played::Word, prefix_cache::PrefixCache};
use crate::port::{Drawing, ImageRequest, Model, ModelError, Piece, Pieces, Request, estimate};

/// Plays `model.script`. If no rule matches, or the script has ended, the answer is empty.
#[derive(Debug, Default)]
pub struct Scripted {
    cache: PrefixCache,
}

#[async_trait]
impl Model for Scripted {
    async fn ask(&self, request: &Request) -> Result<Pieces, ModelError> {
        let delay = Duration::from_millis(
            request.model.script.as_ref().map_or(0, |script| script.word_delay_ms),
        );
        let words = words(request, self.cache.tokens(request))?;
        let pieces = stream::iter(words).then(move |word| async move {
            if word.is_delayed && !delay.is_zero() {
                sleep(delay).await;
            }
            word.piece
        });
        Ok(pieces.boxed())
    }

    async fn draw(&self, request: &ImageRequest) -> Result<Drawing, ModelError> {
        images::draw(request)
    }
}

/// `cached` is how many of the tokens read are cached.
fn words(request: &Request, cached: u64) -> Result<Vec<Word>, ModelError> {
    let Some((step, blanks)) = current_step(request) else {
        return Ok(finished(request, cached, Vec::new(), FinishReason::Stop));
    };
    let words = played::words(step, &blanks);
    let Some(error) = step.error else {
        let reason =
            if step.calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
        return Ok(finished(request, cached, words, reason));
    };
    let error = failure(error);
    if error.code == FailureCode::BrokenStream { Ok(broken_off(words, error)) } else { Err(error) }
}

fn finished(
    request: &Request,
    cached: u64,
    mut words: Vec<Word>,
    reason: FinishReason,
) -> Vec<Word> {
    let written = words.iter().map(Word::characters).sum();
    let usage = Usage {
        input_tokens: estimate::request_tokens(request),
        cached_tokens: cached,
        output_tokens: estimate::tokens(written),
        ..Usage::default()
    };
    words.push(Word::without_delay(Ok(Piece::Finished { reason, usage })));
    words
}

/// The first half of an answer, at least one piece.
fn broken_off(mut words: Vec<Word>, error: ModelError) -> Vec<Word> {
    words.truncate(words.len().div_ceil(2));
    if words.is_empty() {
        words.push(Word::without_delay(Ok(Piece::Text("…".to_owned()))));
    }
    words.push(Word::without_delay(Err(error)));
    words
}

fn failure(error: ScriptError) -> ModelError {
    let (code, name) = match error {
        ScriptError::RateLimited => (FailureCode::RateLimited, "rate_limited"),
        ScriptError::Overloaded => (FailureCode::Overloaded, "overloaded"),
        ScriptError::ContextTooLong => (FailureCode::ContextTooLong, "context_too_long"),
        ScriptError::BadRequest => (FailureCode::BadRequest, "bad_request"),
        ScriptError::BrokenStream => (FailureCode::BrokenStream, "broken_stream"),
    };
    ModelError::new(code, format!("the script fails here with {name}"))
}

#[cfg(test)]
mod tests;
