//! One answer of a model, with what it says in `send_message` streamed while it writes it.

use std::time::Duration;

use futures::StreamExt;
use smartspace_domain::{
    Time,
    events::StreamEnd,
    ids::{CallId, EntityId, SpaceId, StreamId},
    runs::{FailureCode, Usage},
    steps::FinishReason,
};
use smartspace_models::{
    port::{CachePoint, Message, ModelError, Piece, Request},
    retry::{Next, Tries},
};
use smartspace_store::{keys, runs::Tried, steps::CallBegun};

use crate::{
    context::Prompt,
    stream::{About, Expected, LiveStream, expect_audience, written::Written},
    worker::Worker,
};

/// What of an answer can be kept in one item, in bytes.
const ANSWER_BYTES: usize = 256 * 1024;
/// What a call takes besides its name and input.
const CALL_BYTES: usize = 64;
/// Tries of one answer: streams of different tries must not be mixed up. At most 1 + 3 repeats + 4 fallbacks.
const TRIES: u32 = 8;
/// What is left of a wait that began in an earlier invocation is waited for in this one, where it is no longer; else the run is handed on again.
const WAITED_OUT: Duration = Duration::from_secs(2);

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
    /// The invocation ends too soon to ask again: who goes on with the run does, from here.
    NoTime(Tried),
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
        let mut tries = self.tries(question.step).await?;
        // Streams of different workers must not be mixed up either, also where one handed the run over to the other.
        let mut attempt = self.run.claims.saturating_sub(1).saturating_mul(TRIES);
        loop {
            attempt += 1;
            let request = Request {
                model: tries.current().clone(),
                system: question.prompt.system.clone(),
                messages: question.messages.to_vec(),
                tools: self.tools.specs(),
                cache_key: cache_key(self.run.agent_id, self.run.space_id()),
                cache_points: cache_points(question),
            };
            let error = match self.listen(&request, question, attempt).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            self.streams.end_all(Some(StreamEnd::Failed));
            match tries.after(&error, self.pipeline.ids.random()) {
                Next::Wait(time) if !self.has_time_for(time + self.models.longest_answer()) => {
                    tracing::info!(run = %self.run.id, code = ?error.code, wait = ?time, "the model did not answer; another invocation asks again");
                    let (stage, again_at) = (tries.stage() as u32, self.pipeline.now() + time);
                    return Err(NoAnswer::NoTime(Tried { step: question.step, stage, again_at }));
                }
                Next::Wait(time) => {
                    tracing::info!(run = %self.run.id, code = ?error.code, wait = ?time, "the model did not answer; asking again");
                    tokio::time::sleep(time).await;
                }
                Next::GiveUp => return Err(NoAnswer::Failed(error)),
            }
        }
    }

    /// The tries of a step's answer: from where an earlier invocation left them, when their time has come.
    async fn tries(&self, step: u32) -> Result<Tries, NoAnswer> {
        let Some(tried) = self.run.tried.filter(|tried| tried.step == step) else { return Ok(Tries::new(&self.config.model)) };
        let wait = tried.again_at.since(self.pipeline.now());
        // A short invocation would end within a long wait.
        if wait > WAITED_OUT && !self.has_time_for(wait + self.models.longest_answer()) {
            return Err(NoAnswer::NoTime(tried));
        }
        tokio::time::sleep(wait).await;
        Ok(Tries::resumed(&self.config.model, tried.stage as usize))
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
        let mut written: Option<Written> = None;
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
                    written = None;
                    // Only where no earlier call of the same answer can still change the space.
                    if !answer.calls.iter().any(|call| self.tools.changes_space(&call.name)) {
                        written = Written::of(call_id, &name, &self.tools, question.active_space, self.at_home);
                    }
                    if let Some(written) = &mut written {
                        self.begin_stream(written, "", question.active_space, attempt, &mut expected);
                    }
                    bytes += name.len() + CALL_BYTES;
                    answer.calls.push(CallBegun { call_id, name, input: String::new() });
                }
                Piece::CallInput { index, json } => {
                    bytes += json.len();
                    let begun =
                        answer.calls.get_mut(index as usize).ok_or_else(|| broken("the answer continued a call that it had not begun"))?;
                    begun.input.push_str(&json);
                    if let Some(written) = written.as_mut().filter(|written| written.call == begun.call_id) {
                        self.begin_stream(written, &begun.input, question.active_space, attempt, &mut expected);
                        let text = written.more(&begun.input, &json);
                        if !text.is_empty() {
                            self.streams.push(written.call, text);
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

    /// Begins the stream of a call as soon as it is known where it is shown, from the input so far.
    fn begin_stream(&self, written: &mut Written, input: &str, active: Option<SpaceId>, attempt: u32, expected: &mut Option<Expected>) {
        let Some(space) = written.begins(input) else { return };
        let audience = if Some(space) == active { expected.take() } else { None };
        let audience = audience.unwrap_or_else(|| expect_audience(&self.air, space));
        let stream = StreamId::of(written.call, attempt);
        let (run, agent, tool) = (self.run.id, self.run.agent_id, written.tool.clone());
        let about = About { space, stream, run, call: written.call, attempt, agent, tool };
        self.streams.keep(written.call, LiveStream::start(self.air.clone(), about, audience));
    }
}

/// Requests of one agent in one space have one beginning. A hash, since providers take 64 characters at most.
fn cache_key(agent: EntityId, space: Option<SpaceId>) -> String {
    keys::hash(&[&agent.to_string(), &space.map(|space| space.to_string()).unwrap_or_default()])
}

/// Up to where the conversation will come again: the settled part of the history, and from the second step on all that was said so far.
fn cache_points(question: &Question<'_>) -> Vec<CachePoint> {
    let end = CachePoint::end_of(question.messages).filter(|_| question.step > 0);
    question.prompt.rest.settled.into_iter().chain(end).collect()
}

fn broken(text: &str) -> ModelError {
    ModelError::new(FailureCode::BrokenStream, text)
}
