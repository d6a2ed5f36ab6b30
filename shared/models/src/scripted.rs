//! A model that plays a script out of the agent's configuration: for demos and tests, without a key.
//!
//! `trigger` reads why the agent woke up, `blanks` fills that into the script's texts, `played` writes a step word by word.

mod blanks;
mod played;
mod trigger;

use std::time::Duration;

use async_trait::async_trait;
use futures::{StreamExt, stream};
use smartspace_domain::{
    runs::{FailureCode, Usage},
    scripts::{Script, ScriptError, ScriptStep, When},
    steps::FinishReason,
};
use tokio::time::sleep;

use self::{blanks::Blanks, played::Word, trigger::Woken};
use crate::{
    estimate,
    port::{Message, Model, ModelError, Piece, Pieces, Request},
};

/// Plays `model.script`. Where no rule fits, or the script is over, it says nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scripted;

#[async_trait]
impl Model for Scripted {
    async fn ask(&self, request: &Request) -> Result<Pieces, ModelError> {
        let delay = Duration::from_millis(request.model.script.as_ref().map_or(0, |script| script.word_delay_ms));
        let words = answer(request)?;
        let pieces = stream::iter(words).then(move |word| async move {
            if word.takes_time && !delay.is_zero() {
                sleep(delay).await;
            }
            word.piece
        });
        Ok(pieces.boxed())
    }
}

fn answer(request: &Request) -> Result<Vec<Word>, ModelError> {
    let Some((step, blanks)) = step_of(request) else { return Ok(finished(request, Vec::new(), FinishReason::Stop)) };
    let words = played::words(step, &blanks);
    let Some(error) = step.error else {
        let reason = if step.calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
        return Ok(finished(request, words, reason));
    };
    let error = failure(error);
    if error.code == FailureCode::BrokenStream { Ok(broken_off(words, error)) } else { Err(error) }
}

/// The step that is played now, and what its blanks stand for.
fn step_of(request: &Request) -> Option<(&ScriptStep, Blanks<'_>)> {
    let script = request.model.script.as_ref()?;
    let (at, woken) = request.messages.iter().enumerate().rev().find_map(|(at, message)| match message {
        Message::User { blocks } => Some((at, Woken::read(blocks)?)),
        _ => None,
    })?;
    // A history in roles also holds answers, but before the trigger: they are no steps of this run.
    let since = &request.messages[at..];
    let index = since.iter().filter(|message| matches!(message, Message::Assistant { .. })).count();
    let result = since.iter().rev().find_map(|message| match message {
        Message::ToolResults { results } => results.last().map(|result| &result.output),
        _ => None,
    });
    let step = steps_for(script, &woken)?.get(index)?;
    Some((step, Blanks { woken, result }))
}

fn steps_for<'a>(script: &'a Script, woken: &Woken) -> Option<&'a [ScriptStep]> {
    script.rules.iter().find(|rule| fits(&rule.when, woken)).map(|rule| rule.steps.as_slice())
}

fn fits(when: &When, woken: &Woken) -> bool {
    let said = [&woken.message, &woken.instruction, &woken.payload].map(|text| text.to_lowercase());
    when.trigger.as_ref().is_none_or(|trigger| *trigger == woken.kind)
        && when.sender.is_none_or(|sender| sender.as_str() == woken.sender_kind)
        && when.source.as_ref().is_none_or(|source| *source == woken.source)
        && when.contains.as_ref().is_none_or(|part| said.iter().any(|text| text.contains(&part.to_lowercase())))
}

fn finished(request: &Request, mut words: Vec<Word>, reason: FinishReason) -> Vec<Word> {
    let written = words.iter().map(Word::characters).sum();
    let usage = Usage {
        input_tokens: estimate::tokens(estimate::characters(request)),
        output_tokens: estimate::tokens(written),
        ..Usage::default()
    };
    words.push(Word::at_once(Ok(Piece::Finished { reason, usage })));
    words
}

/// Half of an answer, and at least one piece of it.
fn broken_off(mut words: Vec<Word>, error: ModelError) -> Vec<Word> {
    words.truncate(words.len().div_ceil(2));
    if words.is_empty() {
        words.push(Word::at_once(Ok(Piece::Text("…".to_owned()))));
    }
    words.push(Word::at_once(Err(error)));
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
