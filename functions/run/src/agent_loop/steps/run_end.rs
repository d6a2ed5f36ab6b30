//! How the loop ends, and the end of the run that it stores.

use smartspace_domain::{
    Result,
    runs::{EndReason, RunError, RunStatus},
};
use smartspace_models::port::ModelError;
use smartspace_store::runs::{
    RunRecord, Tried,
    endings::{Ended, Ending},
    steps::{CallBegun, Marks, StepRecord},
};

use crate::{
    agent_loop::{state::State, steps::AgentLoop},
    tools::builtin::skip_response,
};

/// Why the loop ends.
pub(super) enum LoopExit {
    /// The caller has to store this end of the run.
    RunEnd(Box<RunEnd>),
    /// The end of the run was stored with its last message.
    Ended(Box<Ended>),
    /// The invocation has no time left for the next action, so another one continues.
    /// `Tried` says how far the tries of the current model answer got.
    HandOver(Option<Tried>),
    /// The run waits for people. Nobody works on it until one of them answers.
    Pause,
}

/// How a run ends.
pub(super) struct RunEnd {
    pub(super) status: RunStatus,
    pub(super) reason: Option<EndReason>,
    pub(super) skip_reason: Option<String>,
    pub(super) error: Option<RunError>,
    pub(super) last_step: Option<StepRecord>,
}

impl RunEnd {
    pub(super) fn completed(reason: EndReason) -> Self {
        Self {
            status: RunStatus::Completed,
            reason: Some(reason),
            skip_reason: None,
            error: None,
            last_step: None,
        }
    }

    /// The end by a call of a tool that ends runs, or by the people who decided a call. A run that
    /// has posted something is not silent, so its `skip_response` is a plain end.
    pub(super) fn by_call(reason: EndReason, call: &CallBegun, has_posted: bool) -> Self {
        if reason == EndReason::Declined {
            return Self { status: RunStatus::Canceled, ..Self::completed(reason) };
        }
        if reason != EndReason::Skipped {
            return Self::completed(reason);
        }
        if has_posted {
            return Self::completed(EndReason::Done);
        }
        Self { skip_reason: skip_response::reason(&call.input), ..Self::completed(reason) }
    }

    pub(super) fn failed(error: ModelError, last_step: StepRecord) -> Self {
        let ModelError { code, message, .. } = error;
        Self {
            status: RunStatus::Failed,
            reason: None,
            skip_reason: None,
            error: Some(RunError { code, message }),
            last_step: Some(last_step),
        }
    }

    pub(super) fn exit(self) -> LoopExit {
        LoopExit::RunEnd(Box::new(self))
    }
}

impl AgentLoop<'_> {
    /// The run before its end, and how it ends.
    pub(super) fn ending(&self, run_end: RunEnd, state: &State) -> Result<(RunRecord, Ending)> {
        let context = self.context;
        // Messages that only a failed or canceled run has read stay new.
        let moves_cursors = run_end.status == RunStatus::Completed && context.dry_run.is_none();
        let ending = Ending {
            status: run_end.status,
            reason: run_end.reason,
            is_silent: run_end.status == RunStatus::Completed && !state.has_posted,
            skip_reason: run_end.skip_reason,
            error: run_end.error,
            used: state.used.clone(),
            prompt: state.prompt_to_store(self.tools)?,
            last_step: run_end.last_step,
            marks: if moves_cursors { state.marks.clone() } else { Marks::new() },
            reads: Some(state.all_reads()),
        };
        let mut run = context.run.clone();
        run.open_calls = run.open_calls.or_else(|| state.had_cards.then_some(0));
        run.step_count = state.steps;
        run.first_token_at = state.first_token_at;
        run.active_space_id = state.active_space.filter(|_| context.dry_run.is_none());
        Ok((run, ending))
    }

    /// Stores the end of the run.
    pub(super) async fn finish(&self, run_end: RunEnd, state: &State) -> Result<Ended> {
        let context = self.context;
        let (run, ending) = self.ending(run_end, state)?;
        let mut ended = {
            let _writing = context.writing.lock().await;
            context.store().runs().finish(&run, &context.lease, &ending, context.now()).await?
        };
        if let Some(step) = &ending.last_step {
            self.show_answer(step, &state.entered);
        } else {
            context.show_end();
        }
        context.pipeline.queue_runs(std::mem::take(&mut ended.next)).await;
        Ok(ended)
    }
}
