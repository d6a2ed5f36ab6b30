//! An answer whose only call posts a message to the space of the trigger ends the run, unless the
//! agent is configured otherwise. Then the answer, the message, the result of the call and the end
//! of the run are one transaction.

use std::sync::Mutex;

use smartspace_domain::{
    Error, Result, ids::StreamId, runs::EndReason, steps::CallStatus, tools::SEND_MESSAGE,
};
use smartspace_store::runs::{
    endings::{Ended, Ending},
    steps::{CallBegun, StepRecord},
};

use crate::{
    agent_loop::{
        state::State,
        steps::{AgentLoop, run_end::RunEnd},
    },
    tools::{builtin::send_message, calling::Calling, execution::tool_and_input, ruling::Ruling},
};

impl AgentLoop<'_> {
    /// Stores an answer with which the run ends, and returns the run as it is then. Otherwise
    /// nothing is stored, and the answer, its call and the end follow one by one: if the run has
    /// to wait for something, if others get its turn, or if the call fails.
    pub(super) async fn end_with_message(
        &self,
        state: &State,
        step: &StepRecord,
    ) -> Result<Option<Ended>> {
        let context = self.context;
        let Some((begun, space)) = self.only_message(step).zip(state.active_space) else {
            return Ok(None);
        };
        let has_cards = context.run.open_calls.is_some() || state.had_cards;
        if has_cards || !self.may_end_in(space) || state.marks.keys().any(|read| *read != space) {
            return Ok(None);
        }
        let Ok((_, input)) = tool_and_input(self.tools, begun) else { return Ok(None) };
        let spent = Mutex::default();
        let calling = Calling {
            context,
            begun,
            step: step.index,
            index: 0,
            active_space: Some(space),
            stream: StreamId::of(begun.call_id, step.stream_attempt),
            tools_used: state.tools_used.clone(),
            under_way: None,
            input_form: None,
            ruling: &Ruling::Make,
            approved: None,
            open_forms: 0,
            names: &state.names,
            marks: &state.marks,
            started_at: context.now(),
            spent: &spent,
            is_repeatable: false,
            cuts: 0,
        };
        let Ok((post, record)) = send_message::message(&calling, space, &input).await? else {
            return Ok(None);
        };
        let done = RunEnd::completed(EndReason::Done);
        let (run, ending) = self.ending(RunEnd { last_step: Some(step.clone()), ..done }, state)?;
        let ending = Ending { is_silent: false, ..ending };
        let started_at = record.started_at;
        let posted = calling.post_last(space, post, record, &run, &ending).await;
        let (message, ended) = match posted {
            Ok(posted) => posted,
            Err(
                Error::TooMany { .. }
                | Error::Conflict(_)
                | Error::NotAMember
                | Error::NotFound(_)
                | Error::Invalid(_),
            ) => return Ok(None),
            Err(error) => return Err(error),
        };
        self.show_answer(step, &state.entered);
        context.unstored_answer.set(None);
        context.streams.end(begun.call_id, Some(message));
        context.show_call(begun.call_id, CallStatus::Completed, started_at);
        Ok(Some(ended))
    }

    /// The call of an answer that ends the run by posting a message.
    fn only_message<'a>(&self, step: &'a StepRecord) -> Option<&'a CallBegun> {
        let context = self.context;
        match &step.calls[..] {
            [only] if only.name == SEND_MESSAGE => {
                let ends = self.ends_after_send() || self.must_call();
                let may_end = ends && context.dry_run.is_none() && !self.tools.is_ruled(&only.name);
                Some(only).filter(|only| may_end && !send_message::goes_on(&only.input))
            }
            _ => None,
        }
    }
}
