//! One answer of a model, with what it says in `send_message` streamed while it writes it.

use futures::StreamExt;
use smartspace_domain::{
    Time,
    events::StreamEnd,
    ids::{CallId, EntityId, SpaceId, StreamId},
    runs::{FailureCode, Usage},
    steps::FinishReason,
};
use smartspace_models::{
    partial_json::TextScanner,
    port::{CachePoint, Message, ModelError, Piece, Request},
    retry::{Next, Tries},
};
use smartspace_store::{keys, steps::CallBegun};

use crate::{
    context::Prompt,
    stream::{About, Expected, LiveStream, expect_audience},
    tools,
    worker::Worker,
};

/// What of an answer can be kept in one item, in bytes.
const ANSWER_BYTES: usize = 256 * 1024;
/// What a call takes besides its name and input.
const CALL_BYTES: usize = 64;
/// Tries of one answer: streams of different tries must not be mixed up. At most 1 + 3 repeats + 4 fallbacks.
const TRIES: u32 = 8;

/// A complete answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) model: String,
    pub(crate) text: String,
    pub(crate) calls: Vec<CallBegun>,
    pub(crate) reason: FinishReason,
    pub(crate) usage: Usage,
    pub(crate) started_at: Time,
    pub(crate) first_token_at: Option<Time>,
    /// Which try it was; streams are named by it.
    pub(crate) attempt: u32,
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// The model gave none.
    Failed(ModelError),
    /// The invocation ends too soon to ask.
    NoTime,
}

/// What is asked.
pub(crate) struct Question<'a> {
    pub(crate) prompt: &'a Prompt,
    pub(crate) messages: &'a [Message],
    pub(crate) step: u32,
    pub(crate) active_space: Option<SpaceId>,
}

impl Worker {
    /// Asks the model, again where that may help, then its fallbacks.
    pub(crate) async fn answer(&self, question: &Question<'_>) -> Result<Answer, NoAnswer> {
        let mut tries = Tries::new(&self.config.model);
        // Streams of different workers must not be mixed up either, also where one handed the run over to the other.
        let mut attempt = self.run.claims.saturating_sub(1).saturating_mul(TRIES);
        loop {
            attempt += 1;
            let request = Request {
                model: tries.current().clone(),
                system: question.prompt.system.clone(),
                messages: question.messages.to_vec(),
                tools: tools::specs(),
                cache_key: cache_key(self.run.agent_id, self.run.space_id),
                cache_points: cache_points(question),
            };
            let error = match self.listen(&request, question, attempt).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            self.streams.end_all(Some(StreamEnd::Failed));
            match tries.after(&error, self.pipeline.ids.random()) {
                Next::Wait(time) if !self.has_time_for(time + self.models.longest_answer()) => return Err(NoAnswer::NoTime),
                Next::Wait(time) => {
                    tracing::info!(run = %self.run.id, code = ?error.code, wait = ?time, "the model did not answer; asking again");
                    tokio::time::sleep(time).await;
                }
                Next::GiveUp => return Err(NoAnswer::Failed(error)),
            }
        }
    }

    async fn listen(&self, request: &Request, question: &Question<'_>, attempt: u32) -> Result<Answer, ModelError> {
        // Who follows is read while the model is first asked, so that the first word waits for nothing. Later answers rarely speak.
        let mut expected = question.active_space.filter(|_| question.step == 0).map(|space| expect_audience(&self.air, space));
        let mut answer = Answer {
            model: request.model.full_name(),
            text: String::new(),
            calls: Vec::new(),
            reason: FinishReason::Stop,
            usage: Usage::default(),
            started_at: self.pipeline.now(),
            first_token_at: None,
            attempt,
        };
        let mut scanner = None;
        let mut bytes = 0;
        let mut pieces = self.models.ask(request).await?;
        while let Some(piece) = pieces.next().await {
            let piece = piece?;
            answer.first_token_at.get_or_insert_with(|| self.pipeline.now());
            match piece {
                Piece::Text(text) => {
                    bytes += text.len();
                    answer.text.push_str(&text);
                }
                Piece::CallStarted { index, name } => {
                    let call_id = CallId::of(self.run.id, question.step, index);
                    scanner = None;
                    if name == tools::send_message::NAME
                        && let Some((space, audience)) = self.may_stream(&answer, question.active_space, &mut expected)
                    {
                        self.start_stream(call_id, space, attempt, audience);
                        scanner = Some((call_id, TextScanner::new("text")));
                    }
                    bytes += name.len() + CALL_BYTES;
                    answer.calls.push(CallBegun { call_id, name, input: String::new() });
                }
                Piece::CallInput { index, json } => {
                    bytes += json.len();
                    let begun =
                        answer.calls.get_mut(index as usize).ok_or_else(|| broken("the answer continued a call that it had not begun"))?;
                    begun.input.push_str(&json);
                    if let Some((call_id, scanner)) = scanner.as_mut().filter(|(call_id, _)| *call_id == begun.call_id) {
                        let text = scanner.push(&json);
                        if !text.is_empty() {
                            self.streams.push(*call_id, text);
                        }
                    }
                }
                Piece::Finished { reason, usage } => {
                    answer.reason = reason;
                    answer.usage = Usage { cost: self.prices.cost(&answer.model, &usage), ..usage };
                    return Ok(answer);
                }
            }
            if bytes > ANSWER_BYTES {
                return Err(broken("the answer is longer than can be kept (256 KiB)"));
            }
        }
        Err(broken("the answer ended before it was complete"))
    }

    /// A stream begins only where no earlier call of the same answer can still change the space.
    fn may_stream(&self, answer: &Answer, space: Option<SpaceId>, expected: &mut Option<Expected>) -> Option<(SpaceId, Expected)> {
        let space = space?;
        if answer.calls.iter().any(|call| tools::changes_space(&call.name)) {
            return None;
        }
        Some((space, expected.take().unwrap_or_else(|| expect_audience(&self.air, space))))
    }

    fn start_stream(&self, call: CallId, space: SpaceId, attempt: u32, audience: Expected) {
        let stream = StreamId::of(call, attempt);
        let about = About { space, stream, run: self.run.id, call, attempt, agent: self.run.agent_id };
        self.streams.keep(call, LiveStream::start(self.air.clone(), about, audience));
    }
}

/// Requests of one agent in one space have one beginning. A hash, since providers take 64 characters at most.
fn cache_key(agent: EntityId, space: SpaceId) -> String {
    keys::hash(&[&agent.to_string(), &space.to_string()])
}

/// Up to where the conversation will come again: the settled part of the history, and from the second step on all that was said so far.
fn cache_points(question: &Question<'_>) -> Vec<CachePoint> {
    let end = CachePoint::end_of(question.messages).filter(|_| question.step > 0);
    question.prompt.rest.settled.into_iter().chain(end).collect()
}

fn broken(text: &str) -> ModelError {
    ModelError::new(FailureCode::BrokenStream, text)
}
