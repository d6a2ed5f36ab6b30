//! Models that answer at random. Each answer is unique, so the oracle notices what is repeated or
//! lost.
//!
//! `choices` draws the answers of agents, `router` those of routers, `summaries` summaries, and
//! `drawing` pictures.

mod choices;
mod drawing;
mod router;
mod summaries;

use std::{collections::VecDeque, sync::Arc, time::Duration};

use async_trait::async_trait;
use futures::{StreamExt, stream};
use smartspace_domain::{
    agents::ModelConfig, ids::EntityId, providers::ProviderApi, runs::FailureCode,
};
use smartspace_models::{
    limits::Limits,
    port::{Drawing, ImageRequest, Message, Model, ModelError, Piece, Pieces, Request},
};
use tokio::time::{Instant, sleep};

use crate::{
    env::Env,
    ledger::{Apart, Line, ModelRequest, active_space},
    locked, markers,
    process_life::ProcessLife,
    storage::Storage,
};

/// The model port of one process.
pub struct SimModel {
    pub(crate) env: Arc<Env>,
    pub(crate) life: Arc<ProcessLife>,
}

#[async_trait]
impl Model for SimModel {
    async fn ask(&self, request: &Request) -> Result<Pieces, ModelError> {
        match self.env.model.get() {
            Some(model) => MODEL_LIMITS.ask(&**model, request).await,
            None => MODEL_LIMITS.ask(&Provider(self), request).await,
        }
    }

    async fn draw(&self, request: &ImageRequest) -> Result<Drawing, ModelError> {
        self.picture(request).await
    }

    fn longest_answer(&self) -> Duration {
        MODEL_LIMITS.total
    }
}

/// Answers take at most two minutes, so that the shortest invocations end in the middle of a run.
const MODEL_LIMITS: Limits =
    Limits { silence: Duration::from_mins(1), total: Duration::from_mins(2) };

/// A provider, which has no time limits.
struct Provider<'a>(&'a SimModel);

#[async_trait]
impl Model for Provider<'_> {
    async fn ask(&self, request: &Request) -> Result<Pieces, ModelError> {
        let SimModel { env, life } = self.0;
        if request.forced_tool.is_some() {
            return self.0.route(request).await;
        }
        if request.tools.is_empty() {
            return self.0.summarise(request).await;
        }
        let sent = Instant::now();
        env.before_call(life, "ask").await;
        let ask = ModelRequest { sent, ..read(request, &life.name, &env.storage) };
        let place = format!("model/{}/{}/{}", ask.agent, ask.trigger, ask.step);
        env.history.note(&life.name, || {
            format!("asks for step {} of the run of {} on {}", ask.step, ask.agent, ask.trigger)
        });
        let number = {
            let mut ledger = locked(&env.ledger);
            ledger.model_requests.push(ask.clone());
            ledger.model_requests.len()
        };
        let fault = env
            .chance
            .strikes(&place, env.parameters.fault_rates.model)
            .then(|| env.chance.below(&place, 6));
        if let Some(fault) = fault {
            env.history.note("model", || format!("fails in way {fault}"));
        }
        if let Some(error) = fault.and_then(failure) {
            return Err(error);
        }
        if fault == Some(3) {
            std::future::pending::<()>().await;
        }
        let mut pieces = self.0.pieces(&ask, request, number, &place);
        if fault.is_some() {
            let sent = env.chance.below(&place, pieces.len() as u64) as usize;
            pieces.truncate(sent);
        }
        let hangs = fault == Some(4);
        Ok(paced(self.0, pieces, place, hangs))
    }
}

/// An answer whose pieces come one after the other, and that never ends if it hangs.
fn paced(
    model: &SimModel,
    pieces: VecDeque<(String, Piece)>,
    place: String,
    hangs: bool,
) -> Pieces {
    let env = Arc::clone(&model.env);
    let life = Arc::clone(&model.life);
    let pace = if env.chance.happens(&place, env.parameters.slow_answers) { 2_500 } else { 120 };
    let answer = stream::unfold(pieces, move |mut pieces| {
        let env = Arc::clone(&env);
        let life = Arc::clone(&life);
        let place = place.clone();
        async move {
            sleep(env.chance.time(&place, Duration::ZERO, Duration::from_millis(pace))).await;
            life.until_running().await;
            let Some((word, piece)) = pieces.pop_front() else {
                if hangs {
                    std::future::pending::<()>().await;
                }
                return None;
            };
            locked(&env.ledger).words.entry(word).or_insert_with(Instant::now);
            Some((Ok(piece), pieces))
        }
    });
    answer.boxed()
}

/// The error of a model that fails at once.
fn failure(fault: u64) -> Option<ModelError> {
    match fault {
        0 => {
            let error = ModelError::new(FailureCode::RateLimited, "later");
            Some(ModelError { retry_after: Some(Duration::from_secs(1)), ..error })
        }
        1 => Some(ModelError::new(FailureCode::Overloaded, "too much")),
        2 => Some(ModelError::new(FailureCode::ContextTooLong, "too long")),
        _ => None,
    }
}

fn first_text(request: &Request) -> String {
    let Some(Message::User { blocks }) = request.messages.first() else { return String::new() };
    blocks.concat()
}

/// A webhook of a remote agent, as the prompt that it carries.
pub(crate) fn read_webhook(
    text: &str,
    run: &str,
    process: &str,
    storage: &Storage,
) -> ModelRequest {
    let request = Request {
        id: format!("{run}.0.1"),
        model: ModelConfig::named(ProviderApi::Openai, "remote"),
        system: vec![text.to_owned()],
        messages: vec![Message::User { blocks: vec![text.to_owned()] }],
        tools: Vec::new().into(),
        cache_key: String::new(),
        forced_tool: None,
        cache_points: Vec::new(),
        files: Arc::default(),
        cause: None,
    };
    read(&request, process, storage)
}

/// Reads a request: from its prompt alone, but for the runs of plans and services, which a prompt
/// does not name.
fn read(request: &Request, process: &str, storage: &Storage) -> ModelRequest {
    let text = first_text(request);
    let rules = request.system.concat();
    let identity = rules.lines().rfind(|line| line.starts_with("IDENTITY: "));
    let agent = identity
        .and_then(|line| between(line, "(", ")").pop())
        .and_then(|id| id.parse::<EntityId>().ok());
    let system = request.messages.iter().filter_map(|message| {
        if let Message::System { text } = message { Some(text.as_str()) } else { None }
    });
    let space = active_space(&text, &rules);
    let shown =
        [Line::all_in(&text, &space), system.flat_map(Line::all_in_news).collect()].concat();
    // System messages before this step are not stored yet: another worker may get others.
    let stored = request
        .messages
        .iter()
        .rposition(|message| !matches!(message, Message::System { .. }))
        .map_or(0, |last| last + 1);
    let before = request.messages[..stored]
        .iter()
        .skip(1)
        .filter_map(|message| serde_json::to_string(message).ok());
    let apart = Apart::in_prompt(&text, &space);
    let trigger = Trigger::of(request, &text, space, storage);
    let run = request.id.split('.').next().unwrap_or_default();
    let is_another_try = storage.run_writes(run).is_another_try;
    ModelRequest {
        sent: Instant::now(),
        at: Instant::now(),
        process: process.to_owned(),
        model: request.model.name.clone(),
        agent: agent.unwrap_or_else(|| EntityId::new(smartspace_domain::Time::default(), 0)),
        run_id: run.to_owned(),
        trigger: if is_another_try { run.to_owned() } else { trigger.id },
        trigger_line: trigger.line,
        joined_lines: trigger.joined,
        delegated: trigger.delegated,
        space: trigger.space,
        step: request
            .messages
            .iter()
            .filter(|message| matches!(message, Message::Assistant { .. }))
            .count(),
        lines: shown,
        apart,
        markers: markers::shown_in(&text),
        summary: summaries::shown_in(&text),
        before: before.collect(),
    }
}

/// What a prompt says of its trigger.
struct Trigger {
    /// The message, or the run if a plan or a service triggered it.
    id: String,
    /// The message as lines call it.
    line: String,
    /// The other messages that the run answers, as lines call them.
    joined: Vec<String>,
    delegated: bool,
    /// The space of the message.
    space: String,
}

impl Trigger {
    fn of(request: &Request, text: &str, space: String, storage: &Storage) -> Self {
        let trigger =
            text.lines().find_map(|line| line.strip_prefix("TRIGGER: ")).unwrap_or_default();
        // A trigger that was deleted is `#17 [deleted]`.
        let numbered = trigger.strip_prefix("message #").or(trigger.strip_prefix('#'));
        let number = numbered.and_then(|rest| {
            rest.split_once(' ').and_then(|(number, _)| number.parse::<u64>().ok())
        });
        let Some(number) = number else {
            let run = request.id.split('.').next().unwrap_or_default().to_owned();
            return Self {
                id: run,
                line: String::new(),
                joined: Vec::new(),
                delegated: false,
                space: String::new(),
            };
        };
        let joined =
            text.lines().find_map(|line| line.strip_prefix("Answer these messages, too: "));
        Self {
            id: storage.message_id(&space, number),
            line: format!("{space}#{number}"),
            joined: joined
                .into_iter()
                .flat_map(|numbers| numbers.split(", "))
                .map(|number| format!("{space}{number}"))
                .collect(),
            delegated: trigger.contains(", handed to you by "),
            space,
        }
    }
}

/// Every text between `from` and `to`.
fn between(text: &str, from: &str, to: &str) -> Vec<String> {
    text.split(from)
        .skip(1)
        .filter_map(|rest| rest.split_once(to))
        .map(|(found, _)| found.to_owned())
        .collect()
}
