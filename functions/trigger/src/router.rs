//! Asks the router of a space which agents a message triggers.
//!
//! It gets a few seconds, and one more try. If it does not answer then, the gate of the space
//! decides alone, and without a gate every agent is triggered: a message is never lost because of
//! its router.
//!
//! - [`question`], [`answer`]: what it reads, and how its calls are read
//! - [`pauses`]: routers that are not asked for a while, because they were too slow

mod answer;
mod pauses;
mod question;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures::StreamExt;
use smartspace_domain::{
    Error, Result,
    dispatch::{Choice, Decided, Routed, Routing},
    entities::EntityType,
    ids::{EntityId, SpaceId},
    prices::Prices,
    rates::{ROUTER_CALL_TOKENS, ROUTER_CALLS},
    runs::{FailureCode, Usage},
    spaces::{RouterConfig, RouterModel},
};
use smartspace_models::port::{Model, ModelError, Piece, Request};
use smartspace_pipeline::{
    Pipeline,
    spending::{OutputLimit, Spending},
};
use smartspace_store::{
    messages::{MessageRecord, Range},
    spaces::rosters::MemberRecord,
};
use tokio::time::{Instant, sleep, timeout};

use self::pauses::Pauses;

/// How long the router may take for an answer, if its space does not say it.
const LIMIT: Duration = Duration::from_secs(5);
/// The same for a model on a server of the deployment's own.
const LIMIT_OF_OWN_SERVER: Duration = Duration::from_secs(30);
/// The wait before the second try, if the model is busy and does not say how long.
const WAIT: Duration = Duration::from_millis(500);
/// If the model asks for a longer wait, the second try comes after this one.
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// The longest answer, in bytes.
const ANSWER_BYTES: usize = 64 * 1024;
/// How many messages it reads: the new one and those before it.
const MESSAGES: usize = 10;

/// Asks the routers of spaces.
#[derive(Clone)]
pub struct Routers {
    models: Arc<dyn Model>,
    prices: Arc<Prices>,
    /// The model of the deployment, for spaces without one of their own.
    model: Option<RouterModel>,
    pauses: Arc<Pauses>,
}

/// The choice of a router, and the record of the calls that asked for it.
pub(crate) struct RouterOutcome {
    answer: RouterAnswer,
    pub(crate) routed: Routed,
}

enum RouterAnswer {
    Chose(Choice),
    /// Two tries failed, or it was not asked for a while.
    Failed,
    /// It was not asked, because the messages of the sender have asked too often. The text says so.
    OverRate(String),
}

impl RouterOutcome {
    pub(crate) fn routing(&self) -> Routing<'_> {
        match &self.answer {
            RouterAnswer::Chose(choice) => Routing::Chose(choice),
            RouterAnswer::Failed => Routing::Failed,
            RouterAnswer::OverRate(text) => Routing::OverRate(text),
        }
    }
}

/// All that the router decides on.
struct Question<'a> {
    router: RouterConfig,
    model: RouterModel,
    /// The sender of the newest message, against whom the calls count.
    sender: EntityId,
    space_name: &'a str,
    /// The agents among which it chooses.
    agents: Vec<&'a MemberRecord>,
    /// The scores that the gate has given them, if the space has one.
    scores: BTreeMap<EntityId, f64>,
    /// How many of them it chooses at most.
    most: usize,
    /// The last messages, the newest last.
    messages: &'a [MessageRecord],
}

impl Routers {
    /// Asks `model` for spaces that have no router model of their own.
    pub fn new(models: Arc<dyn Model>, prices: Arc<Prices>, model: Option<RouterModel>) -> Self {
        Self { models, prices, model, pauses: Arc::default() }
    }

    /// Asks which of the agents a message triggers about which `decided` asks. Fails only if the
    /// table can't be read.
    pub(crate) async fn ask(
        &self,
        pipeline: &Pipeline,
        space: SpaceId,
        message: &MessageRecord,
        decided: &Decided,
    ) -> Result<RouterOutcome> {
        let store = &pipeline.store;
        let (record, roster, messages) = futures::try_join!(
            store.spaces().record(space),
            store.members().roster(space),
            store.messages().records(space, Range::Before(message.seq + 1), MESSAGES)
        )?;
        let router = record.settings.router.clone().unwrap_or_default();
        let Some(model) = router.model.clone().or_else(|| self.model.clone()) else {
            return Ok(without_model());
        };
        let is_candidate = |member: &&MemberRecord| decided.asks_router.contains(&member.entity_id);
        let scores = message.gate.iter().flat_map(|gate| &gate.scores);
        let question = Question {
            router,
            model,
            sender: message.sender.id,
            space_name: &record.settings.name,
            agents: roster.members.iter().filter(is_candidate).collect(),
            scores: scores.map(|score| (score.agent_id, score.score)).collect(),
            most: decided.left_for_router,
            messages: &messages,
        };
        // An agent whose message asks pays for the question, unless it was removed meanwhile.
        let agent = match message.sender.kind {
            EntityType::Agent => match store.entities().agent(message.sender.id).await {
                Err(Error::NotFound(_)) => None,
                found => found?.agent,
            },
            EntityType::Human => None,
        };
        let agent = agent.as_ref().map(|config| (message.sender.id, &config.budget));
        let budgets = pipeline.budgets(agent, Some((space, &record.settings.budget)));
        let spending = Spending::new(pipeline, &self.prices, budgets, None);
        // A repeated job asks again, and pays again.
        let call = format!("{}_{}", message.id, pipeline.token().0);
        let asked = self.answer(pipeline, space, &question, &call, &spending).await;
        spending.close().await;
        Ok(asked)
    }

    async fn answer(
        &self,
        pipeline: &Pipeline,
        space: SpaceId,
        question: &Question<'_>,
        call: &str,
        spending: &Spending,
    ) -> RouterOutcome {
        let began = Instant::now();
        let mut request = question.request();
        let model = request.model.full_name();
        let mut usage = Usage::default();
        let mut answer = Err(wrong(pauses::REASON));
        for number in 1..=2 {
            if self.pauses.is_pausing(space) {
                break;
            }
            if let Err(wait) = count_call(pipeline, question.sender).await {
                if number == 1 {
                    return over_rate(model, wait);
                }
                break;
            }
            let call = format!("{call}_{number}");
            answer = self.ask_once(&request, question, spending, &call, &mut usage).await;
            let is_late = answer.as_ref().err() == Some(&too_slow(self.limit(question)));
            self.pauses.note(space, is_late);
            match &answer {
                Err(failed) if failed.is_transient() && number == 1 => {
                    tracing::info!(%space, model, error = %failed, "the router is asked again");
                    // Some servers take a schema and do not hold the model to it.
                    if let Some(forced) = &mut request.forced_tool {
                        forced.by_schema = is_late || failed.code != FailureCode::BrokenStream;
                    }
                    sleep(wait_after(failed)).await;
                }
                _ => break,
            }
        }
        let (answer, error) = match answer {
            Ok(choice) => (RouterAnswer::Chose(choice), None),
            Err(failed) => (RouterAnswer::Failed, Some(failed.message)),
        };
        let latency_ms = began.elapsed().as_millis() as u64;
        let Usage { input_tokens: input, output_tokens: output, cost, .. } = usage;
        tracing::info!(
            %space, model, input, output, cost, latency_ms, error, "a router was asked"
        );
        RouterOutcome {
            answer,
            routed: Routed { model: Some(model), usage: Some(usage), latency_ms, error },
        }
    }

    /// How long the router may take for an answer.
    fn limit(&self, question: &Question<'_>) -> Duration {
        let is_own = || self.models.is_on_own_server(&question.model.config(1));
        let default = || if is_own() { LIMIT_OF_OWN_SERVER } else { LIMIT };
        question.router.timeout_ms.map_or_else(default, Duration::from_millis)
    }

    async fn ask_once(
        &self,
        request: &Request,
        question: &Question<'_>,
        spending: &Spending,
        call: &str,
        used: &mut Usage,
    ) -> Result<Choice, ModelError> {
        let model = request.model.full_name();
        let most = OutputLimit::text(request.model.max_output_tokens);
        let paid = spending.reserve(call, &model, || request.estimated_tokens(), most).await;
        paid.map_err(|unpaid| ModelError::new(FailureCode::Budget, unpaid.to_string()))?;
        let mut usage = None;
        let limit = self.limit(question);
        let listened = timeout(limit, self.listen(request, &mut usage)).await;
        if let Some(usage) = &mut usage {
            *usage = self.prices.priced(&model, *usage);
            *used += *usage;
        }
        // An answer that broke off, or came too late, was not counted by the provider.
        spending.settle(call, usage.as_ref()).await;
        let inputs = listened.unwrap_or_else(|_| Err(too_slow(limit)))?;
        question.read(&inputs).map_err(wrong)
    }

    /// The inputs of the calls by which the router answers.
    async fn listen(
        &self,
        request: &Request,
        used: &mut Option<Usage>,
    ) -> Result<Vec<String>, ModelError> {
        let model = &request.model.name;
        let mut pieces = self.models.ask(request).await.map_err(|error| {
            *used = error.is_refusal().then(Usage::default);
            without_words(model, error)
        })?;
        let mut inputs: Vec<String> = Vec::new();
        let mut bytes = 0;
        while let Some(piece) = pieces.next().await {
            match piece.map_err(|error| without_words(model, error))? {
                Piece::CallStarted { .. } => inputs.push(String::new()),
                Piece::CallInput { json, .. } => {
                    bytes += json.len();
                    if let Some(input) = inputs.last_mut() {
                        input.push_str(&json);
                    }
                }
                Piece::Finished { usage, .. } => {
                    *used = Some(usage);
                    return if inputs.is_empty() {
                        Err(wrong("it called no tool"))
                    } else {
                        Ok(inputs)
                    };
                }
                Piece::Text(text) => bytes += text.len(),
                Piece::CallId { .. } | Piece::Opaque(_) | Piece::Origin { .. } => {}
            }
            if bytes > ANSWER_BYTES {
                return Err(wrong("its answer is too long"));
            }
        }
        Err(wrong("its answer ended before it was complete"))
    }
}

/// How long to wait before the second try.
fn wait_after(failed: &ModelError) -> Duration {
    match failed.code {
        FailureCode::RateLimited | FailureCode::Overloaded => {
            failed.retry_after.unwrap_or(WAIT).min(LONGEST_WAIT)
        }
        _ => Duration::ZERO,
    }
}

/// The error of a provider for the members of a space. The log has the provider's own words.
fn without_words(model: &str, error: ModelError) -> ModelError {
    tracing::warn!(event = "router_failed", model, %error, "a router's provider refused");
    ModelError { message: error.code.words().into(), ..error }
}

fn too_slow(limit: Duration) -> ModelError {
    wrong(format!("it did not answer within {} s", limit.as_secs_f64()))
}

fn wrong(problem: impl Into<String>) -> ModelError {
    ModelError::new(FailureCode::BrokenStream, problem)
}

/// Counts a model call of a router against the entity whose message asks.
///
/// # Errors
/// How long to wait, if its messages have asked too often.
async fn count_call(pipeline: &Pipeline, sender: EntityId) -> Result<(), Duration> {
    let who = format!("router {sender}");
    let rates = pipeline.store.rates();
    rates.count_tokens(&who, ROUTER_CALLS, ROUTER_CALL_TOKENS, pipeline.now()).await
}

fn over_rate(model: String, wait: Duration) -> RouterOutcome {
    let text = format!(
        "the router was not asked: messages of one sender ask it at most 60 times a minute; it is \
         asked again in {} s",
        wait.as_secs_f64().ceil()
    );
    let error = Some(text.clone());
    let usage = Some(Usage::default());
    let routed = Routed { model: Some(model), usage, latency_ms: 0, error };
    RouterOutcome { answer: RouterAnswer::OverRate(text), routed }
}

/// The deployment's router model was taken away after the space had chosen the policy.
fn without_model() -> RouterOutcome {
    let error = "it was not asked: neither the space nor the deployment has a router model";
    let routed = Routed { model: None, usage: None, latency_ms: 0, error: Some(error.into()) };
    RouterOutcome { answer: RouterAnswer::Failed, routed }
}
