//! The steps of a run: ask the model, store its answer, run its calls and store their results,
//! until it makes no more calls.
//!
//! Each answer and each result is stored before the next action. An answer that ends the run by
//! posting a message is stored with that message.
//! A worker that takes over a run resumes after the last stored step.
//! It resends the stored prompt and repeats no tool call.
//! The watchers look between two steps.

mod calls;
mod last_message;
mod records;
mod rulings;
mod run_end;
mod waiting;
mod watching;

use std::time::Duration;

use smartspace_domain::{
    Result, Time,
    agents::Speaks,
    events::StreamEnd,
    runs::{EndReason, FailureCode},
    steps::{FinishReason, SystemMessage},
};
use smartspace_models::port::ModelError;
use smartspace_store::runs::{Tried, endings::Ended, steps::Progress};
use tokio::time::Instant;

use crate::{
    agent_loop::{
        model_answer::{ModelAnswer, ModelCaller, NoModelAnswer, Question},
        state::{State, has_asked, is_whole},
    },
    prompt::reading::PromptSources,
    run_context::RunContext,
    tools::{configured::mcp::McpProblems, toolbox::Toolbox},
    watchers::unposted,
};
use run_end::{LoopExit, RunEnd};
use watching::StepNotes;

/// The most answers of a model in one run that answers in JSON.
const JSON_STEPS: u32 = 3;
const NO_SPACE_FOR_JSON: &str = "a model that speaks json cannot enter a space: give the agent a \
    model that calls tools, or trigger it by a message in a space";

/// How the loop left its run.
pub(crate) enum LoopOutcome {
    /// The end of the run is stored.
    Ended(Box<Ended>),
    /// The invocation has no time left. Another one has to continue the run.
    HandedOver(Option<Tried>),
    /// The run waits for people, and the worker has given up its lease.
    Paused,
    /// Some of the run's stored steps have expired, so it can't go on.
    StepsExpired,
}

/// The loop of one run.
#[derive(Clone, Copy)]
pub(crate) struct AgentLoop<'a> {
    pub(crate) context: &'a RunContext,
    pub(crate) tools: &'a Toolbox,
    pub(crate) mcp_problems: &'a McpProblems,
}

impl AgentLoop<'_> {
    /// Runs the loop to the end of the run, or as far as this invocation gets.
    pub(crate) async fn drive(
        &self,
        sources: &PromptSources,
        mut progress: Progress,
    ) -> Result<LoopOutcome> {
        // A worker that stored no answer may have died between the parts of its prompt.
        if !has_asked(&self.context.run) {
            progress.prompt = None;
        }
        if !is_whole(&progress, &self.context.run, self.context.now()) {
            return Ok(LoopOutcome::StepsExpired);
        }
        let last = progress.steps.last().cloned();
        let mut state = State::new(self.context, self.tools, self.mcp_problems, sources, progress)?;
        // The worker before may have died before it showed this step.
        if let Some((step, pending)) = last.zip(state.pending.as_ref()) {
            self.show_answer(&step, &state.entered);
            pending.made().for_each(|record| self.show_call(record));
        }
        let left =
            self.context.config.run_loop.time_limit.length().saturating_sub(self.time_worked());
        // The deadline cuts off a model answer, but never a tool.
        let deadline = Instant::now() + left.max(Duration::from_millis(1));
        match Box::pin(self.steps(&mut state, sources, deadline)).await? {
            LoopExit::RunEnd(run_end) => {
                let ended = self.finish(*run_end, &state).await?;
                Ok(LoopOutcome::Ended(Box::new(ended)))
            }
            LoopExit::Ended(ended) => Ok(LoopOutcome::Ended(ended)),
            LoopExit::HandOver(tried) => Ok(LoopOutcome::HandedOver(tried)),
            LoopExit::Pause => Ok(LoopOutcome::Paused),
        }
    }

    /// How long all workers together have worked on the run. Time spent waiting for people does not
    /// count.
    fn time_worked(&self) -> Duration {
        let run = &self.context.run;
        let since = self.context.now().since(run.started_at.unwrap_or(run.created_at));
        since.saturating_sub(Duration::from_millis(run.waited_ms))
    }

    async fn steps(
        &self,
        state: &mut State,
        sources: &PromptSources,
        deadline: Instant,
    ) -> Result<LoopExit> {
        loop {
            if let Some(exit) = self.run_calls(state, deadline).await? {
                return Ok(exit);
            }
            if state.steps >= self.most_steps() {
                return Ok(RunEnd::completed(EndReason::MaxSteps).exit());
            }
            // In the last seconds of an invocation the model's answer would be cut off. A worker
            // that has stored nothing yet asks anyway: if invocations are shorter than the longest
            // answer, each would hand the run over without a step.
            if !state.is_first_action
                && !self.context.has_time_for(self.context.models.longest_answer())
            {
                return Ok(LoopExit::HandOver(None));
            }
            state.compact(u64::from(self.context.window()), self.tools);
            let mut notes = self.watch(state).await?;
            let began = self.context.now();
            if self.speaks_json() && state.active_space.is_none() {
                let error = ModelError::new(FailureCode::NotConfigured, NO_SPACE_FOR_JSON);
                return Ok(RunEnd::failed(error, self.unanswered(state, notes, began)).exit());
            }
            let answer = match self.ask_and_compact(state, sources, &mut notes, deadline).await {
                Some(Ok(answer)) => answer,
                Some(Err(why)) => return self.without_answer(why, state, notes, began).await,
                None => {
                    self.context.streams.end_all(Some(StreamEnd::Failed));
                    return Ok(RunEnd::completed(EndReason::TimeLimit).exit());
                }
            };
            state.add_marks(&notes.marks);
            state.add_known_changes(&notes.changed);
            let step = self.step_record(state, &answer, notes);
            state.used.add(&answer.model, answer.usage);
            answer.used_by_refusals.iter().for_each(|(model, used)| state.used.add(model, *used));
            if let Some(reason) = self.end_without_call(state, &answer) {
                return Ok(RunEnd { last_step: Some(step), ..RunEnd::completed(reason) }.exit());
            }
            // One transaction has the message and the end of the run, so that a process that dies
            // between the two, or a cancellation at that moment, leaves no run without its end.
            if let Some(ended) = self.end_with_message(state, &step).await? {
                return Ok(LoopExit::Ended(Box::new(ended)));
            }
            self.store_step(state, &step).await?;
            self.show_answer(&step, &state.entered);
            // Until here a cancellation would store the answer as a partial one.
            self.context.unstored_answer.set(None);
            state.prompt_is_stored = true;
            state.is_first_action = false;
            state.pending = Some(state.add_answer(&step, self.tools));
        }
    }

    fn speaks_json(&self) -> bool {
        self.context.model.speaks == Speaks::Json
    }

    /// A model that answers in JSON has one answer in a run, and two more if it was not accepted.
    fn most_steps(&self) -> u32 {
        let most = self.context.config.run_loop.max_steps;
        if self.speaks_json() { most.min(JSON_STEPS) } else { most }
    }

    /// How the loop ends if the model gives no answer.
    async fn without_answer(
        &self,
        why: NoModelAnswer,
        state: &State,
        notes: StepNotes,
        began: Time,
    ) -> Result<LoopExit> {
        match why {
            NoModelAnswer::NoTime(tried) => Ok(LoopExit::HandOver(Some(tried))),
            NoModelAnswer::Internal(error) => Err(error),
            NoModelAnswer::Failed(error) | NoModelAnswer::TooManyMarks(error) => {
                // The failed step is stored, so that people can look at it.
                let last_step = self.unanswered(state, notes, began);
                if state.ended_with_text {
                    // The model had finished; only its reminder went unanswered.
                    let done = RunEnd::completed(EndReason::Done);
                    return Ok(RunEnd { last_step: Some(last_step), ..done }.exit());
                }
                Ok(RunEnd::failed(self.without_secrets(error).await, last_step).exit())
            }
        }
    }

    /// An error without any known secret, since it may quote the request and the answer.
    async fn without_secrets(&self, error: ModelError) -> ModelError {
        let message = match self.context.egress.secrets().await {
            Ok(known) => known.redact(&error.message).into_owned(),
            Err(_) => error.code.words().to_owned(),
        };
        ModelError { message, ..error }
    }

    /// Why the run ends with this answer, if it does.
    fn end_without_call(&self, state: &State, answer: &ModelAnswer) -> Option<EndReason> {
        if answer.is_refusal() {
            return Some(EndReason::Refusal);
        }
        // The next step continues a turn that the provider has paused.
        let continues = !answer.calls.is_empty()
            || answer.reason == FinishReason::Pause
            || self.is_unposted(state, answer);
        let is_cut = answer.reason == FinishReason::Length;
        (!continues).then_some(if is_cut { EndReason::Length } else { EndReason::Done })
    }

    fn names_agent(&self) -> bool {
        let context = self.context;
        let of_run = || context.run.triggered_by.names_agent();
        context.dry_run.as_ref().map_or_else(of_run, |dry_run| dry_run.names_agent)
    }

    /// Whether the model was named, has posted nothing, and now answers with text that nobody sees.
    /// It is then reminded and asked again, once.
    fn is_unposted(&self, state: &State, answer: &ModelAnswer) -> bool {
        let limits = &self.context.config.run_loop;
        limits.remind_unsaid
            && self.names_agent()
            && answer.reason != FinishReason::Length
            && !answer.text.trim().is_empty()
            && !state.has_posted
            && !unposted::was_reminded(&state.system_messages)
            && state.steps + 1 < limits.max_steps
    }

    /// Asks the model for its next answer, and again with fewer results or a shorter history while
    /// the model says that the conversation is too long. Returns `None` at the deadline.
    async fn ask_and_compact(
        &self,
        state: &mut State,
        sources: &PromptSources,
        notes: &mut StepNotes,
        deadline: Instant,
    ) -> Option<Result<ModelAnswer, NoModelAnswer>> {
        let mut announced = 0;
        for round in 0.. {
            let new = &notes.messages[announced..];
            let answer = self.ask(state, notes, new, round, deadline).await?;
            announced = notes.messages.len();
            let is_too_long = matches!(
                &answer,
                Err(NoModelAnswer::Failed(error)) if error.code == FailureCode::ContextTooLong
            );
            let is_shorter = is_too_long
                && (state.compact_more(self.tools)
                    || state.shorten(self.context, sources, self.tools));
            if !is_shorter {
                return Some(answer);
            }
            notes.messages.extend(state.note_shortened());
            // Each round asks the model anew, so it needs the time of a whole answer.
            if !self.context.has_time_for(self.context.models.longest_answer()) {
                let again_at = self.context.now();
                let tried = Tried { step: state.steps, stage: 0, again_at };
                return Some(Err(NoModelAnswer::NoTime(tried)));
            }
        }
        None
    }

    /// Asks the model for its next answer, and announces those of its notes that are new. Returns
    /// `None` at the deadline.
    async fn ask(
        &self,
        state: &mut State,
        notes: &StepNotes,
        announced: &[SystemMessage],
        round: u32,
        deadline: Instant,
    ) -> Option<Result<ModelAnswer, NoModelAnswer>> {
        let question = Question {
            round,
            prompt: &state.prompt,
            messages: &state.messages,
            cause: state.cause.clone(),
            notes: &notes.messages,
            note_places: &notes.places,
            step: state.steps,
            active_space: state.active_space,
            entered: &state.entered,
        };
        // Notifications are sent while the model is asked, so that they do not delay the answer.
        let summary =
            self.context.pipeline.queue_runs(state.summary_job.take().into_iter().collect());
        let caller =
            ModelCaller { context: self.context, tools: self.tools, spaces: &state.spaces };
        let asking = async {
            futures::join!(
                caller.answer(&question),
                self.context.announce_system_messages(state.steps, announced, &state.entered),
                summary
            )
            .0
        };
        tokio::time::timeout_at(deadline, asking).await.ok()
    }
}
