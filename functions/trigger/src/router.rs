//! Asks the router of a space which agents a message triggers.
//!
//! It gets five seconds, and one more try. If it does not answer then, every agent is triggered:
//! a message is never lost because of its router.

mod answer;
mod question;

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use smartspace_domain::{
    Error, Result,
    dispatch::{Choice, Routed, Routing},
    ids::{EntityId, SpaceId},
    prices::Prices,
    runs::{FailureCode, Usage},
    spaces::router::RouterConfig,
};
use smartspace_models::port::{Model, ModelError, Piece, Request};
use smartspace_store::{
    Store,
    messages::{MessageRecord, Range},
    spaces::rosters::MemberRecord,
};
use tokio::time::{Instant, sleep, timeout};

/// How long the router may take for an answer.
const LIMIT: Duration = Duration::from_secs(5);
/// The wait before the second try, if the model is busy and does not say how long.
const WAIT: Duration = Duration::from_millis(500);
/// The longest such wait.
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// The longest answer, in bytes.
const ANSWER_BYTES: usize = 64 * 1024;
/// How often it is asked.
const TRIES: u32 = 2;
/// How many messages it reads: the new one and those before it.
const MESSAGES: usize = 10;

/// Asks the routers of spaces.
#[derive(Clone)]
pub struct Routers {
    /// The models.
    pub models: Arc<dyn Model>,
    /// The models' prices.
    pub prices: Arc<Prices>,
}

/// What a router was asked, and what it said.
pub(crate) struct Asked {
    /// `None` if it did not answer.
    choice: Option<Choice>,
    pub(crate) routed: Routed,
}

impl Asked {
    pub(crate) fn routing(&self) -> Routing<'_> {
        self.choice.as_ref().map_or(Routing::Failed, Routing::Chose)
    }
}

/// All that the router decides on.
struct Question<'a> {
    router: &'a RouterConfig,
    space_name: &'a str,
    /// The agents among which it chooses.
    agents: Vec<&'a MemberRecord>,
    /// The last messages, the newest last.
    messages: &'a [MessageRecord],
}

impl Routers {
    /// Asks which of `candidates` a message triggers. Fails only if the table can't be read.
    pub(crate) async fn ask(
        &self,
        store: &Store,
        space: SpaceId,
        message: &MessageRecord,
        candidates: &[EntityId],
    ) -> Result<Asked> {
        let (record, roster, messages) = futures::try_join!(
            store.spaces().record(space),
            store.members().roster(space),
            store.messages().records(space, Range::Before(message.seq + 1), MESSAGES)
        )?;
        let router = record.settings.router.as_ref().ok_or_else(no_router)?;
        let is_candidate = |member: &&MemberRecord| candidates.contains(&member.entity_id);
        let question = Question {
            router,
            space_name: &record.settings.name,
            agents: roster.members.iter().filter(is_candidate).collect(),
            messages: &messages,
        };
        Ok(self.answer(space, &question).await)
    }

    async fn answer(&self, space: SpaceId, question: &Question<'_>) -> Asked {
        let began = Instant::now();
        let request = question.request();
        let model = request.model.full_name();
        let mut usage = Usage::default();
        let mut error = None;
        let mut choice = None;
        for tries_left in (0..TRIES).rev() {
            let answered = timeout(LIMIT, self.listen(&request, &mut usage)).await;
            let failed = match answered.unwrap_or_else(|_| Err(too_slow())) {
                Ok(inputs) => match question.read(&inputs) {
                    Ok(read) => {
                        choice = Some(read);
                        break;
                    }
                    Err(problem) => wrong(problem),
                },
                Err(failed) => failed,
            };
            tracing::info!(%space, model, error = %failed, "the router did not answer");
            let is_final = matches!(
                failed.code,
                FailureCode::NotConfigured | FailureCode::Unauthorized | FailureCode::BadRequest
            );
            let wait = failed.retry_after.unwrap_or(WAIT).min(LONGEST_WAIT);
            error = Some(failed.message);
            if is_final {
                break;
            }
            let is_busy = matches!(failed.code, FailureCode::RateLimited | FailureCode::Overloaded);
            if is_busy && tries_left > 0 {
                sleep(wait).await;
            }
        }
        let error = error.filter(|_| choice.is_none());
        usage.cost = self.prices.cost(&model, &usage);
        let latency_ms = began.elapsed().as_millis() as u64;
        let Usage { input_tokens: input, output_tokens: output, cost, .. } = usage;
        tracing::info!(%space, model, input, output, cost, latency_ms, "a router was asked");
        Asked { choice, routed: Routed { model, usage, latency_ms, error } }
    }

    /// The inputs of the calls by which the router answers.
    async fn listen(&self, request: &Request, used: &mut Usage) -> Result<Vec<String>, ModelError> {
        let mut pieces = self.models.ask(request).await?;
        let mut inputs: Vec<String> = Vec::new();
        let mut bytes = 0;
        while let Some(piece) = pieces.next().await {
            match piece? {
                Piece::CallStarted { .. } => inputs.push(String::new()),
                Piece::CallInput { json, .. } => {
                    bytes += json.len();
                    if let Some(input) = inputs.last_mut() {
                        input.push_str(&json);
                    }
                }
                Piece::Finished { usage, .. } => {
                    *used += usage;
                    return if inputs.is_empty() {
                        Err(wrong("it called no tool"))
                    } else {
                        Ok(inputs)
                    };
                }
                Piece::Text(text) => bytes += text.len(),
            }
            if bytes > ANSWER_BYTES {
                return Err(wrong("its answer is too long"));
            }
        }
        Err(wrong("its answer ended before it was complete"))
    }
}

fn too_slow() -> ModelError {
    wrong(format!("it did not answer within {} s", LIMIT.as_secs()))
}

fn wrong(problem: impl Into<String>) -> ModelError {
    ModelError::new(FailureCode::BrokenStream, problem)
}

/// The space's policy has changed since the message was stored: the decision is made again.
fn no_router() -> Error {
    Error::Retry("the router of the space was removed at this moment".into())
}
