//! The loop of a run: ask the model, store its answer, run its calls and store their results, until
//! it makes no more calls.
//!
//! Each answer and each result is stored before the next action.
//! A worker that takes over a run resumes after the last stored step.
//! It resends the stored prompt and repeats no tool call.
//! The watchers look between two steps.

mod calls;

use std::time::Duration;

use smartspace_domain::{
    Result, Time,
    events::StreamEnd,
    runs::{EndReason, RunError, RunStatus, Usage},
    steps::{FinishReason, SystemMessage},
};
use smartspace_models::port::ModelError;
use smartspace_store::runs::{
    RunRecord, Tried,
    endings::Ending,
    steps::{Marks, Progress, StepRecord},
};
use tokio::time::Instant;

use crate::{
    agent_loop::{
        model_turn::{ModelCaller, ModelTurn, NoModelTurn, Question},
        news::read_news,
        state::{State, is_whole},
    },
    prompt::reading::Gathered,
    run_context::RunContext,
    tools::toolbox::Toolbox,
    watchers::{self, Look},
};

/// The news is not read again within this time after the run read or posted the newest message.
/// A message that arrives meanwhile is not late: the model takes longer to answer.
const JUST_NOW: Duration = Duration::from_millis(50);

/// Why the loop ends.
enum LoopExit {
    /// The run is over.
    Completion(Box<Completion>),
    /// The invocation has no time left for the next action, so another one continues.
    /// `Tried` says how far the tries of the current model answer got.
    HandOver(Option<Tried>),
    /// The run waits for people. Nobody works on it until one of them answers.
    Pause,
}

/// How the loop left its run.
pub(crate) enum LoopOutcome {
    /// The run has ended.
    Ended(Box<RunRecord>),
    /// The invocation has no time left. Another one has to continue the run.
    HandedOver(Option<Tried>),
    /// The run waits for people, and the worker has given up its lease.
    Paused,
    /// Some of the run's stored steps have expired, so it can't go on.
    StepsExpired,
}

struct Completion {
    status: RunStatus,
    reason: Option<EndReason>,
    error: Option<RunError>,
    last_step: Option<StepRecord>,
}

impl Completion {
    fn completed(reason: EndReason) -> Self {
        Self { status: RunStatus::Completed, reason: Some(reason), error: None, last_step: None }
    }

    fn failed(error: ModelError, last_step: StepRecord) -> Self {
        let ModelError { code, message, .. } = error;
        Self {
            status: RunStatus::Failed,
            reason: None,
            error: Some(RunError { code, message }),
            last_step: Some(last_step),
        }
    }

    fn end(self) -> LoopExit {
        LoopExit::Completion(Box::new(self))
    }
}

/// What the system adds before a step.
#[derive(Default)]
struct StepNotes {
    messages: Vec<SystemMessage>,
    marks: Marks,
}

/// The loop of one run.
#[derive(Clone, Copy)]
pub(crate) struct AgentLoop<'a> {
    pub(crate) context: &'a RunContext,
    pub(crate) tools: &'a Toolbox,
    pub(crate) trouble: &'a [String],
}

impl AgentLoop<'_> {
    /// Runs the loop to the end of the run, or as far as this invocation gets.
    pub(crate) async fn drive(
        &self,
        gathered: &Gathered,
        progress: Progress,
    ) -> Result<LoopOutcome> {
        if !is_whole(&progress, &self.context.run, self.context.now()) {
            return Ok(LoopOutcome::StepsExpired);
        }
        let mut state = State::new(self.context, self.tools, self.trouble, gathered, progress)?;
        let left = self.context.config.run_loop.time_limit.length().saturating_sub(self.used());
        // The deadline cuts off a model answer, but never a tool.
        let deadline = Instant::now() + left.max(Duration::from_millis(1));
        match Box::pin(self.steps(&mut state, deadline)).await? {
            LoopExit::Completion(completion) => {
                self.finish(*completion, state).await.map(|run| LoopOutcome::Ended(Box::new(run)))
            }
            LoopExit::HandOver(tried) => Ok(LoopOutcome::HandedOver(tried)),
            LoopExit::Pause => Ok(LoopOutcome::Paused),
        }
    }

    /// How long all workers together have worked on the run. Time spent waiting for people does not
    /// count.
    fn used(&self) -> Duration {
        let run = &self.context.run;
        let since = self.context.now().since(run.started_at.unwrap_or(run.created_at));
        since.saturating_sub(Duration::from_millis(run.waited_ms))
    }

    async fn steps(&self, state: &mut State, deadline: Instant) -> Result<LoopExit> {
        loop {
            if let Some(exit) = self.run_calls(state).await? {
                return Ok(exit);
            }
            if state.steps >= self.context.config.run_loop.max_steps {
                return Ok(Completion::completed(EndReason::MaxSteps).end());
            }
            if !state.is_fresh && !self.context.has_time_for(self.context.models.longest_answer()) {
                return Ok(LoopExit::HandOver(None));
            }
            let notes = self.watch(state).await?;
            let began = self.context.now();
            let answer = match self.ask(state, &notes, deadline).await {
                Some(Ok(answer)) => answer,
                Some(Err(NoModelTurn::NoTime(tried))) => {
                    return Ok(LoopExit::HandOver(Some(tried)));
                }
                Some(Err(NoModelTurn::Failed(error))) => {
                    // The failed step is stored, so that people can look at it.
                    let last_step = self.unanswered(state.steps, notes, began);
                    return Ok(Completion::failed(error, last_step).end());
                }
                None => {
                    self.context.streams.end_all(Some(StreamEnd::Failed));
                    return Ok(Completion::completed(EndReason::TimeLimit).end());
                }
            };
            state.add_marks(&notes.marks);
            let step = self.step_record(state.steps, &answer, notes);
            state.usage += answer.usage;
            if answer.calls.is_empty() {
                return Ok(Completion {
                    last_step: Some(step),
                    ..Completion::completed(EndReason::Done)
                }
                .end());
            }
            self.store_step(state, &step).await?;
            state.prompt_is_stored = true;
            state.is_fresh = false;
            state.pending = Some(state.add_answer(&step, self.tools));
        }
    }

    /// Asks the model for its next answer. Returns `None` at the deadline.
    async fn ask(
        &self,
        state: &mut State,
        notes: &StepNotes,
        deadline: Instant,
    ) -> Option<Result<ModelTurn, NoModelTurn>> {
        let question = Question {
            prompt: &state.prompt,
            messages: &state.messages,
            step: state.steps,
            active_space: state.active_space,
        };
        // Notifications go out while the model is asked: the model waits for nobody.
        let summary =
            self.context.pipeline.queue_runs(state.summary_job.take().into_iter().collect());
        let caller = ModelCaller { context: self.context, tools: self.tools };
        let asked = async {
            futures::join!(
                caller.answer(&question),
                self.context.tell(state.steps, &notes.messages, &state.entered),
                summary
            )
            .0
        };
        tokio::time::timeout_at(deadline, asked).await.ok()
    }

    /// Stores a model answer, and the prompt with the first one.
    async fn store_step(&self, state: &State, step: &StepRecord) -> Result<()> {
        let context = self.context;
        let prompt = state.prompt_to_store()?;
        let _writing = context.writing.lock().await;
        let steps = context.store().steps();
        steps.store_step(&context.run, step, prompt.as_ref(), state.usage, context.now()).await
    }

    /// Lets the watchers look, and adds what they say before the next step.
    async fn watch(&self, state: &mut State) -> Result<StepNotes> {
        let mut notes = StepNotes::default();
        let mut news = None;
        // There is no news before the first step, since the prompt has just been read, and none
        // right after a message of the run itself.
        let is_known = state.caught_up.is_some_and(|caught_up| {
            Some(caught_up.space) == state.active_space && caught_up.at.elapsed() < JUST_NOW
        });
        if let Some(space) = state.active_space
            && state.steps > 0
            && !is_known
        {
            let after = state.marks.get(&space).copied().unwrap_or(u64::MAX);
            let read = read_news(self.context, space, after).await?;
            notes.marks.extend(read.last.map(|last| (space, last)));
            news = read.text;
        }
        let look = Look {
            step: state.steps,
            max_steps: self.context.config.run_loop.max_steps,
            used: self.used(),
            limit: self.context.config.run_loop.time_limit.length(),
            tokens: state.tokens(),
            window: u64::from(self.context.config.model.context_window),
            calls: Some(&state.calls),
            news,
            start: std::mem::take(&mut state.start),
        };
        notes.messages = watchers::look(&look, &state.system_messages);
        state.add_system_messages(&notes.messages);
        Ok(notes)
    }

    async fn finish(&self, completion: Completion, state: State) -> Result<RunRecord> {
        let context = self.context;
        let prompt = state.prompt_to_store()?;
        // Messages that only a failed or canceled run has read stay new.
        let is_completed = completion.status == RunStatus::Completed;
        let marks = if is_completed { state.marks } else { Marks::new() };
        let ending = Ending {
            status: completion.status,
            reason: completion.reason,
            error: completion.error,
            usage: state.usage,
            prompt,
            last_step: completion.last_step,
            marks,
        };
        let mut run = context.run.clone();
        run.open_calls = run.open_calls.or_else(|| state.had_cards.then_some(0));
        run.step_count = state.steps;
        run.active_space_id = state.active_space;
        let _writing = context.writing.lock().await;
        context.store().runs().finish(&run, &context.lease, &ending, context.now()).await
    }

    /// The record of a step in which the model gave no answer.
    fn unanswered(&self, index: u32, notes: StepNotes, began: Time) -> StepRecord {
        let answer = ModelTurn {
            model: self.context.config.model.full_name(),
            text: String::new(),
            calls: Vec::new(),
            reason: FinishReason::Error,
            usage: Usage::default(),
            started_at: began,
            first_token_at: None,
            attempt: 0,
        };
        self.step_record(index, &answer, notes)
    }

    fn step_record(&self, index: u32, answer: &ModelTurn, notes: StepNotes) -> StepRecord {
        StepRecord {
            index,
            attempt: self.context.run.attempt,
            stream_attempt: answer.attempt,
            lease: self.context.lease.clone(),
            model: answer.model.clone(),
            text: answer.text.clone(),
            calls: answer.calls.clone(),
            system_messages: notes.messages,
            marks: notes.marks,
            finish_reason: answer.reason,
            usage: answer.usage,
            started_at: answer.started_at,
            first_token_at: answer.first_token_at,
            finished_at: self.context.now(),
            expires_at: None,
        }
    }
}
