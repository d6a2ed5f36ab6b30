//! Turns the answers and calls of a run into the step that its spaces show. A dry run shows none.

use std::collections::BTreeSet;

use smartspace_domain::{
    Time,
    ids::{CallId, SpaceId},
    steps::{CallStatus, LiveAnswer, LiveCall, LiveCallDetails, LiveStep},
};
use smartspace_store::runs::steps::StepRecord;

use crate::{
    run_context::RunContext,
    streaming::{PendingAudience, StepState},
};

impl RunContext {
    /// Shows that the model is asked, or waits for its turn. `entered` are the spaces that the run
    /// has entered: they show it if no space triggered it. `audience` are the followers of one of
    /// them.
    pub(crate) fn show_question(
        &self,
        index: u32,
        answer: LiveAnswer,
        entered: &BTreeSet<SpaceId>,
        audience: Option<(SpaceId, PendingAudience)>,
    ) {
        let started_at = answer.started_at;
        let step = LiveStep { index, rev: 0, answer: Some(answer), calls: Vec::new() };
        let state = self.step_state(step, entered, started_at);
        self.show_state(StepState { audience, ..state });
    }

    /// Shows that the request waits no longer.
    pub(crate) fn show_turn(&self) {
        self.live_steps.change(&self.stream_deps, &self.run, self.now(), |step| {
            if let Some(answer) = &mut step.answer {
                answer.waiting = false;
            }
        });
    }

    /// Shows an answer. If it has calls, that waits for the beginning of the first one.
    pub(crate) fn show_answer(
        &self,
        record: &StepRecord,
        entered: &BTreeSet<SpaceId>,
        is_visible: impl Fn(&str) -> bool,
    ) {
        let answer = LiveAnswer {
            model: record.model.clone(),
            waiting: false,
            started_at: record.started_at,
            first_token_at: record.first_token_at,
            finished_at: Some(record.finished_at),
            finish_reason: Some(record.finish_reason).filter(|_| !record.partial),
            usage: record.usage,
        };
        let call = |call_id: CallId, name: &str| LiveCall {
            name: name.to_owned(),
            details: Some(LiveCallDetails {
                call_id,
                status: CallStatus::Pending,
                started_at: None,
                visible: is_visible(name),
            }),
        };
        let calls = record.calls.iter().map(|begun| call(begun.call_id, &begun.name)).collect();
        let step = LiveStep { index: record.index, rev: 0, answer: Some(answer), calls };
        let state = self.step_state(step, entered, self.now());
        if record.calls.is_empty() || record.partial {
            self.show_state(state);
        } else if self.dry_run.is_none() {
            self.live_steps.prepare(state);
        }
    }

    /// Shows that calls have begun.
    pub(crate) fn show_calls_begun(&self, begun: &[CallId]) {
        let now = self.now();
        self.show_calls(|id, details| {
            if begun.contains(&id) {
                details.started_at.get_or_insert(now);
            }
        });
    }

    /// Shows that the run has ended, and with it the calls that have no result.
    pub(crate) fn show_end(&self) {
        self.show_calls(|_, details| {
            if details.status == CallStatus::Pending {
                details.status = CallStatus::Canceled;
            }
        });
    }

    /// Shows how far a call has come.
    pub(crate) fn show_call(&self, call: CallId, status: CallStatus, started_at: Time) {
        self.show_calls(|id, details| {
            if id == call {
                details.status = status;
                details.started_at = Some(started_at);
            }
        });
    }

    /// Shows that the answer that the model was writing was stopped.
    pub(crate) fn show_stopped(&self, partial: &StepRecord) {
        self.live_steps.change(&self.stream_deps, &self.run, self.now(), |step| {
            if let Some(answer) = step.answer.as_mut().filter(|_| step.index == partial.index) {
                answer.first_token_at = partial.first_token_at;
                answer.finished_at = Some(partial.finished_at);
                answer.usage = partial.usage;
            }
        });
    }

    fn show_calls(&self, change: impl Fn(CallId, &mut LiveCallDetails)) {
        self.live_steps.change(&self.stream_deps, &self.run, self.now(), |step| {
            for details in step.calls.iter_mut().filter_map(|call| call.details.as_mut()) {
                change(details.call_id, details);
            }
        });
    }

    fn step_state(&self, step: LiveStep, entered: &BTreeSet<SpaceId>, at: Time) -> StepState {
        let spaces = self
            .run
            .space_id()
            .map_or_else(|| entered.iter().copied().collect(), |space| vec![space]);
        StepState { step, spaces, audience: None, at }
    }

    fn show_state(&self, state: StepState) {
        if self.dry_run.is_none() {
            self.live_steps.show(&self.stream_deps, &self.run, state);
        }
    }
}
