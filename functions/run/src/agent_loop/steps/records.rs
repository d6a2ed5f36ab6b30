//! The stored records of steps.

use std::collections::BTreeSet;

use smartspace_domain::{Result, Time, ids::SpaceId, steps::FinishReason};
use smartspace_store::runs::steps::{CallRecord, StepRecord};

use crate::agent_loop::{
    model_answer::ModelAnswer,
    state::State,
    steps::{AgentLoop, watching::StepNotes},
};

impl AgentLoop<'_> {
    /// Stores a model answer, and the prompt with the first one.
    pub(super) async fn store_step(&self, state: &State, step: &StepRecord) -> Result<()> {
        let context = self.context;
        let prompt = state.prompt_to_store(self.tools)?;
        let _writing = context.writing.lock().await;
        let steps = context.store().steps();
        steps.store_step(&context.run, step, prompt.as_ref(), &state.used, context.now()).await
    }

    /// Shows a stored answer to the followers of the run.
    pub(super) fn show_answer(&self, step: &StepRecord, entered: &BTreeSet<SpaceId>) {
        self.context.show_answer(step, entered, |name| self.tools.card(name).is_some());
    }

    /// Shows the followers of the run how far a call has come.
    pub(super) fn show_call(&self, call: &CallRecord) {
        self.context.show_call(call.call_id, call.status, call.started_at);
    }

    /// The record of a step in which the model gave no answer.
    pub(super) fn unanswered(&self, state: &State, notes: StepNotes, began: Time) -> StepRecord {
        let model = self.context.model.full_name();
        let answer =
            ModelAnswer { reason: FinishReason::Error, ..ModelAnswer::begun(model, 0, began) };
        self.step_record(state, &answer, notes)
    }

    pub(super) fn step_record(
        &self,
        state: &State,
        answer: &ModelAnswer,
        notes: StepNotes,
    ) -> StepRecord {
        StepRecord {
            system_messages: notes.messages,
            places: notes.places,
            marks: notes.marks,
            changed: notes.changed,
            cut_results: state.cut_results,
            cut_opaque: state.cut_opaque,
            ..answer.clone().record(self.context, state.steps)
        }
    }
}
