//! Asks a model for one answer: pays for it, repeats a request that failed, and then asks the
//! fallback models.
//!
//! [`growing_answer`] collects the answer. It streams the inputs of `send_message` and of visible
//! tools to the space while the model writes them. [`streamed_call`] decides which part of a call
//! is shown, and in which space.

mod growing_answer;
mod streamed_call;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use futures::StreamExt;
use smartspace_domain::{
    Error, Time,
    agents::ModelConfig,
    events::StreamEnd,
    ids::{EntityId, SpaceId},
    runs::{FailureCode, Usage},
    steps::{FinishReason, ResponseOrigin, SystemMessage},
};
use smartspace_models::{
    port::{CachePoint, Message, ModelError, Request, ScriptCause},
    retry::{MOST_RETRIES, Next, Tries},
};
use smartspace_pipeline::spending::{OutputLimit, Unpaid};
use smartspace_store::{
    runs::{
        Tried,
        places::Places,
        steps::{CallBegun, Marks, Opaque, StepRecord},
    },
    table::keys,
};

use crate::{
    agent_loop::model_answer::growing_answer::GrowingAnswer,
    model_files::LoadedFiles,
    prompt::Prompt,
    run_context::{RunContext, call_id},
    tools::toolbox::Toolbox,
};

/// The most tries of one answer in a round: the first, its repeats, 4 fallbacks, and 1 without
/// files.
const TRIES_OF_ROUND: u32 = MOST_RETRIES as u32 + 6;
/// The most tries of one answer. Each round halves the results that are not cut. A run has less
/// than 2^16 of them (200 steps of at most 256 KiB), so 17 rounds are enough. One more sends no
/// opaque marks, and in 3 more the prompt is written anew. Each worker numbers its tries from its
/// own multiple of this, so that the streams of different tries never mix.
const TRIES: u32 = 21 * TRIES_OF_ROUND;
/// The most opaque marks that are stored with a step, in bytes of JSON.
const MAX_OPAQUE_BYTES: usize = 256 * 1024;
/// The most that a step with opaque marks takes together with its text and the inputs of its calls,
/// in bytes. An item of the table has at most 400 KB, and news may take 80 KB of it.
const MAX_STEP_BYTES: usize = 288 * 1024;
/// If an earlier invocation began to wait before the next try, this one waits for the rest in any
/// case, if that is at most this long. It waits for a longer rest only if it then has time for the
/// answer; otherwise it hands the run over once more.
const MAX_REMAINING_WAIT: Duration = Duration::from_secs(2);

/// An answer of a model, as far as it is written.
#[derive(Clone, Debug)]
pub(crate) struct ModelAnswer {
    pub(crate) model: String,
    pub(crate) origin: ResponseOrigin,
    pub(crate) text: String,
    pub(crate) calls: Vec<CallBegun>,
    pub(crate) opaque: Option<Opaque>,
    pub(crate) reason: FinishReason,
    pub(crate) usage: Usage,
    pub(crate) started_at: Time,
    pub(crate) first_token_at: Option<Time>,
    /// The number of the try. It is part of the ids of its streams.
    pub(crate) attempt: u32,
    /// The usage of models that were asked before and refused.
    pub(crate) used_by_refusals: Vec<(String, Usage)>,
}

impl ModelAnswer {
    /// An answer of which nothing is written yet.
    pub(crate) fn begun(model: String, attempt: u32, now: Time) -> Self {
        Self {
            model,
            origin: ResponseOrigin::default(),
            text: String::new(),
            calls: Vec::new(),
            opaque: None,
            reason: FinishReason::Stop,
            usage: Usage::default(),
            started_at: now,
            first_token_at: None,
            attempt,
            used_by_refusals: Vec::new(),
        }
    }

    /// Whether the model refuses. It did not if it made a call.
    pub(crate) fn is_refusal(&self) -> bool {
        self.reason == FinishReason::Refusal && self.calls.is_empty()
    }

    /// The record of the answer, without what the step adds to it.
    pub(crate) fn record(self, context: &RunContext, index: u32) -> StepRecord {
        StepRecord {
            index,
            attempt: context.run.attempt,
            stream_attempt: self.attempt,
            lease: context.lease.clone(),
            config_revision: context.run.config_revision,
            model: self.model,
            origin: self.origin,
            text: self.text,
            calls: self.calls,
            system_messages: Vec::new(),
            places: Places::default(),
            marks: Marks::new(),
            changed: Marks::new(),
            cut_results: 0,
            cut_opaque: 0,
            opaque: self.opaque,
            partial: false,
            finish_reason: self.reason,
            usage: self.usage,
            started_at: self.started_at,
            first_token_at: self.first_token_at,
            finished_at: context.now(),
            expires_at: None,
        }
    }

    /// The record of an answer that was stopped. `notes` are the messages that the system had
    /// added before it.
    fn partial_record(self, context: &RunContext, index: u32, notes: Notes) -> StepRecord {
        StepRecord {
            system_messages: notes.messages,
            places: notes.places,
            partial: true,
            finish_reason: FinishReason::Error,
            ..self.record(context, index)
        }
    }
}

/// The messages that the system has added before a step.
#[derive(Clone, Debug, Default)]
struct Notes {
    messages: Vec<SystemMessage>,
    /// Where these have words of messages of spaces.
    places: Places,
}

/// Why there is no model answer.
#[derive(Debug)]
pub(crate) enum NoModelAnswer {
    Failed(ModelError),
    /// The answer has more opaque marks than can be stored. It is paid, and a shorter question
    /// would not help.
    TooManyMarks(ModelError),
    /// The invocation ends too soon to ask again. The next worker continues the tries from here.
    NoTime(Tried),
    /// Smartspace has failed: a budget or the files of the question could not be read.
    Internal(Error),
}

/// A question to the model.
pub(crate) struct Question<'a> {
    pub(crate) prompt: &'a Prompt,
    pub(crate) messages: &'a [Message],
    /// Why the run was started, if one of its models plays a script.
    pub(crate) cause: Option<Arc<ScriptCause>>,
    /// Those of the messages that the system has added before this step.
    pub(crate) notes: &'a [SystemMessage],
    /// Where these have words of messages of spaces.
    pub(crate) note_places: &'a Places,
    pub(crate) step: u32,
    /// How often the model has found this question too long.
    pub(crate) round: u32,
    pub(crate) active_space: Option<SpaceId>,
    /// The spaces that the run has entered.
    pub(crate) entered: &'a BTreeSet<SpaceId>,
}

/// Asks the model of one run.
#[derive(Clone, Copy)]
pub(crate) struct ModelCaller<'a> {
    pub(crate) context: &'a RunContext,
    pub(crate) tools: &'a Toolbox,
    /// The spaces that the prompt names, with their names.
    pub(crate) spaces: &'a [(SpaceId, String)],
}

impl ModelCaller<'_> {
    /// Asks the model. If that fails, it repeats the request while that may help, then asks the
    /// fallback models. If they refuse or fail, too, the refusal of a model is the answer.
    pub(crate) async fn answer(
        &self,
        question: &Question<'_>,
    ) -> Result<ModelAnswer, NoModelAnswer> {
        let mut tries = self.tries(question.step).await?;
        // The streams of different workers must not mix either, even if one handed the run over to
        // the other.
        let mut attempt = self.context.run.claims.saturating_sub(1).saturating_mul(TRIES);
        attempt += question.round * TRIES_OF_ROUND;
        let mut refusals = Refusals::default();
        let mut failed = Vec::new();
        loop {
            attempt += 1;
            let request = Request {
                id: format!("{}.{}.{attempt}", self.context.run.id, question.step),
                model: tries.current().clone(),
                system: question.prompt.system.clone(),
                messages: question.messages.to_vec(),
                tools: self.tools.specs(),
                cache_key: cache_key(self.context.run.agent_id, self.context.run.paying_space()),
                forced_tool: None,
                cache_points: cache_points(question),
                files: self.files(question, tries.current()).await?,
                cause: question.cause.clone(),
            };
            let error = match self.ask(&request, question, attempt).await? {
                Ok(answer) if answer.is_refusal() => refusals.add(self.context, answer),
                Ok(answer) => return self.storable(refusals.before(answer)),
                Err(error) => error,
            };
            self.context.streams.end_all(Some(StreamEnd::Failed));
            // A provider refuses a whole request for one file, such as a PDF with too many pages.
            if error.code == FailureCode::BadRequest && !request.files.is_empty() {
                tracing::info!(run = %self.context.run.id, %error, "asking again without files");
                self.context.files.give_up();
                continue;
            }
            let asked = request.model.full_name();
            match tries.after(&error, self.context.pipeline.ids.random()) {
                Next::Wait(time) => {
                    if tries.current().full_name() != asked {
                        failed.push(format!("{asked}: {error}"));
                    }
                    self.wait(question.step, &tries, &error, time).await?;
                }
                Next::GiveUp => {
                    let error = with_earlier(failed, &asked, error);
                    return refusals.last().ok_or(NoModelAnswer::Failed(error));
                }
            }
        }
    }

    /// Waits before the next try, unless the invocation ends too soon for its answer.
    async fn wait(
        &self,
        step: u32,
        tries: &Tries,
        error: &ModelError,
        time: Duration,
    ) -> Result<(), NoModelAnswer> {
        let run = self.context.run.id;
        if self.context.has_time_for(time + self.context.models.longest_answer()) {
            tracing::info!(
                %run, code = ?error.code, wait = ?time,
                "the model did not answer; asking again"
            );
            tokio::time::sleep(time).await;
            return Ok(());
        }
        tracing::info!(
            %run, code = ?error.code, wait = ?time,
            "the model did not answer; another invocation asks again"
        );
        let again_at = self.context.now() + time;
        Err(NoModelAnswer::NoTime(Tried { step, stage: tries.stage() as u32, again_at }))
    }

    /// Fails for an answer whose opaque marks cannot be stored. Without them the provider would
    /// refuse the next request.
    fn storable(&self, answer: ModelAnswer) -> Result<ModelAnswer, NoModelAnswer> {
        let marks = answer.opaque.as_ref().map_or(0, |Opaque(marks)| marks.to_string().len());
        let rest =
            answer.text.len() + answer.calls.iter().map(|call| call.input.len()).sum::<usize>();
        if marks <= MAX_OPAQUE_BYTES && (marks == 0 || marks + rest <= MAX_STEP_BYTES) {
            return Ok(answer);
        }
        self.context.unstored_answer.set(None);
        self.context.streams.end_all(Some(StreamEnd::Failed));
        let text = format!(
            "the thinking of the model has {marks} bytes; at most {MAX_OPAQUE_BYTES} of a step are \
             stored, fewer beside a long answer"
        );
        Err(NoModelAnswer::TooManyMarks(ModelError::new(FailureCode::ContextTooLong, text)))
    }

    /// The bytes of the files of a question, as far as this model takes them.
    async fn files(
        &self,
        question: &Question<'_>,
        model: &ModelConfig,
    ) -> Result<LoadedFiles, NoModelAnswer> {
        let files = question.messages.iter().filter_map(|message| match message {
            Message::Files { files } => Some(files),
            _ => None,
        });
        let files: Vec<_> = files.flatten().collect();
        if files.is_empty() {
            return Ok(LoadedFiles::default());
        }
        let context = self.context;
        let loaded = context.files.load(&*context.pipeline.files, files, model).await;
        loaded.map_err(NoModelAnswer::Internal)
    }

    /// The tries of a step's answer. If an earlier invocation began them, this waits until the next
    /// one is due and continues there.
    async fn tries(&self, step: u32) -> Result<Tries, NoModelAnswer> {
        let Some(tried) = self.context.run.tried.filter(|tried| tried.step == step) else {
            return Ok(Tries::new(&self.context.model));
        };
        let wait = tried.again_at.since(self.context.now());
        // The invocation might end during a long wait.
        if wait > MAX_REMAINING_WAIT
            && !self.context.has_time_for(wait + self.context.models.longest_answer())
        {
            return Err(NoModelAnswer::NoTime(tried));
        }
        tokio::time::sleep(wait).await;
        Ok(Tries::resumed(&self.context.model, tried.stage as usize))
    }

    /// Asks the model once, and pays for that from the run's budgets.
    async fn ask(
        &self,
        request: &Request,
        question: &Question<'_>,
        attempt: u32,
    ) -> Result<Result<ModelAnswer, ModelError>, NoModelAnswer> {
        let spending = &self.context.spending;
        let call = call_id(self.context.run.id, question.step, attempt);
        let model = request.model.full_name();
        let most = OutputLimit::text(request.model.max_output_tokens);
        match spending.reserve(&call, &model, || request.estimated_tokens(), most).await {
            Ok(()) => {}
            Err(Unpaid::StoreFailed(error)) => return Err(NoModelAnswer::Internal(error)),
            Err(Unpaid::Refused(text)) => {
                let error = ModelError::new(FailureCode::Budget, text);
                return Err(NoModelAnswer::Failed(error));
            }
        }
        let mut has_begun = false;
        let answer = self.listen(request, question, attempt, &mut has_begun).await;
        if answer.is_err() {
            // The streams of a try that failed have ended. The next try begins anew.
            self.context.unstored_answer.set(None);
        }
        let used = match &answer {
            Ok(answer) => Some(answer.usage),
            // The provider has not counted an answer that broke off.
            Err(error) => (!has_begun && error.is_refusal()).then(Usage::default),
        };
        spending.settle(&call, used.as_ref()).await;
        Ok(answer)
    }

    /// Reads one answer of the model.
    async fn listen(
        &self,
        request: &Request,
        question: &Question<'_>,
        attempt: u32,
        has_begun: &mut bool,
    ) -> Result<ModelAnswer, ModelError> {
        let mut answer = GrowingAnswer::new(*self, question, &request.model, attempt);
        let mut pieces = self.context.models.ask(request).await?;
        *has_begun = true;
        answer.begin();
        while let Some(piece) = pieces.next().await {
            if answer.add(piece?)? {
                return Ok(answer.into_answer());
            }
        }
        Err(broken_stream("the answer ended before it was complete"))
    }
}

/// The answers of models that refused, in the order in which they were asked.
#[derive(Default)]
struct Refusals(Vec<ModelAnswer>);

impl Refusals {
    /// Adds a refusal, and returns it as the error of its try.
    fn add(&mut self, context: &RunContext, answer: ModelAnswer) -> ModelError {
        tracing::warn!(
            event = "model_refused", run = %context.run.id, agent = %context.run.agent_id,
            model = answer.model, "the model refused to answer"
        );
        self.0.push(answer);
        ModelError::refused()
    }

    /// An answer that follows the refusals.
    fn before(self, answer: ModelAnswer) -> ModelAnswer {
        let used = self.0.into_iter().map(|refusal| (refusal.model, refusal.usage));
        ModelAnswer { used_by_refusals: used.collect(), ..answer }
    }

    /// The last refusal, if any model refused.
    fn last(mut self) -> Option<ModelAnswer> {
        let last = self.0.pop()?;
        Some(self.before(last))
    }
}

/// The error of the last model, with what models before it have answered.
fn with_earlier(failed: Vec<String>, last: &str, error: ModelError) -> ModelError {
    if failed.is_empty() {
        return error;
    }
    let all: Vec<_> = failed.into_iter().chain([format!("{last}: {error}")]).collect();
    ModelError { message: all.join("; "), ..error }
}

/// All requests of one agent in one space have the same beginning, so they share a key. It is a
/// hash, since providers accept at most 64 characters.
fn cache_key(agent: EntityId, space: Option<SpaceId>) -> String {
    keys::hash(&[&agent.to_string(), &space.map(|space| space.to_string()).unwrap_or_default()])
}

/// The ends of the parts that later requests repeat: the settled part of the history, and from the
/// second step on the whole conversation so far.
fn cache_points(question: &Question<'_>) -> Vec<CachePoint> {
    let end = CachePoint::end_of(question.messages).filter(|_| question.step > 0);
    question.prompt.body.settled.into_iter().chain(end).collect()
}

fn broken_stream(text: &str) -> ModelError {
    ModelError::new(FailureCode::BrokenStream, text)
}
