//! The stored records of steps.

use smartspace_domain::{Result, Time, runs::Usage, steps::FinishReason};
use smartspace_store::runs::steps::StepRecord;

use crate::agent_loop::{
    model_turn::ModelTurn,
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

    /// The record of a step in which the model gave no answer.
    pub(super) fn unanswered(&self, state: &State, notes: StepNotes, began: Time) -> StepRecord {
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
        self.step_record(state, &answer, notes)
    }

    pub(super) fn step_record(
        &self,
        state: &State,
        answer: &ModelTurn,
        notes: StepNotes,
    ) -> StepRecord {
        StepRecord {
            index: state.steps,
            attempt: self.context.run.attempt,
            stream_attempt: answer.attempt,
            lease: self.context.lease.clone(),
            model: answer.model.clone(),
            text: answer.text.clone(),
            calls: answer.calls.clone(),
            system_messages: notes.messages,
            marks: notes.marks,
            cut_results: state.cut_results,
            partial: false,
            finish_reason: answer.reason,
            usage: answer.usage,
            started_at: answer.started_at,
            first_token_at: answer.first_token_at,
            finished_at: self.context.now(),
            expires_at: None,
        }
    }
}
