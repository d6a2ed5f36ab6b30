//! The calls of a model answer: made in their written order, then the run waits for people.

use std::{ops::Range, sync::Mutex};

use smartspace_domain::{
    Error, Result,
    agents::{ContinueOn, Speaks, ToolChoice},
    ids::{SpaceId, StreamId},
    runs::EndReason,
    steps::CallStatus,
    tools::SEND_MESSAGE,
};
use smartspace_store::runs::steps::CallRecord;
use tokio::time::Instant;

use crate::{
    agent_loop::{
        state::{CaughtUp, Pending, State, results},
        steps::{
            AgentLoop,
            rulings::edited,
            run_end::{LoopExit, RunEnd},
        },
    },
    tools::{
        builtin::{react::has_answered, send_message::goes_on},
        calling::Calling,
        execution::execute,
        ruling::Ruling,
        tool::{Concurrency, TIME_LIMIT},
    },
};

/// How many calls run at the same time. The answer to each may be megabytes.
const MAX_CALLS_AT_ONCE: usize = 8;

/// A call with its stored result.
struct FinishedCall {
    record: CallRecord,
    /// It posted the last message of the active space, and the run has read all before it.
    is_newest: bool,
    /// A note about the server of its tool, for the operator.
    server_note: Option<String>,
}

impl AgentLoop<'_> {
    /// Runs the calls of the last answer that have no result yet.
    pub(super) async fn run_calls(
        &self,
        state: &mut State,
        deadline: Instant,
    ) -> Result<Option<LoopExit>> {
        let Some(mut pending) = state.pending.take() else { return Ok(None) };
        if pending.calls.is_empty() {
            return Ok(None);
        }
        // The worker that made this call stopped before it ended the run.
        if let Some(exit) = ended_by_call(state, &pending) {
            return Ok(Some(exit));
        }
        let mut has_waited = false;
        loop {
            if let Some(exit) = self.make_calls(state, &mut pending, deadline).await? {
                return Ok(Some(exit));
            }
            if pending.open_forms() == 0 {
                break;
            }
            has_waited = true;
            if let Some(exit) = self.wait_for_people(state, &mut pending).await? {
                return Ok(Some(exit));
            }
        }
        // People may still answer a form of a cut answer.
        if state.cuts > 1 && !has_waited {
            return Ok(Some(RunEnd::completed(EndReason::Length).exit()));
        }
        state.note_answers(&pending);
        state.messages.extend(results(pending.made()));
        let continues = state.cuts > 0 || self.continues(&pending);
        Ok((!continues).then(|| RunEnd::completed(EndReason::Done).exit()))
    }

    /// Makes the calls in their written order. Neighbours that may run at the same time do. A call
    /// whose message is too much for its space in this second is made again later.
    async fn make_calls(
        &self,
        state: &mut State,
        pending: &mut Pending,
        deadline: Instant,
    ) -> Result<Option<LoopExit>> {
        let mut waits = 0;
        while let Some(next) = pending.next() {
            let ruling = self.ruling(state, pending, &next).await?;
            let must_wait = !next.behind.is_empty() && !matches!(ruling, Ruling::Ask(_));
            if must_wait || self.may_change_space(pending, &next.behind) {
                break;
            }
            let next = next.index;
            let concurrency = self.tools.concurrency(&pending.calls[next].name);
            let group = self.group_from(next, concurrency, pending);
            let limit = pending.calls[group.clone()]
                .iter()
                .map(|call| self.tools.time_limit(&call.name))
                .max();
            if !state.is_first_action && !self.context.has_time_for(limit.unwrap_or(TIME_LIMIT)) {
                return Ok(Some(LoopExit::HandOver(None)));
            }
            let made = match self.call(state, pending, group, &ruling).await {
                Err(Error::TooMany { wait, .. }) => {
                    if let Some(exit) = self.wait_for_next_second(wait, waits, deadline).await {
                        return Ok(Some(exit));
                    }
                    waits += 1;
                    state.is_first_action = false;
                    continue;
                }
                made => made?,
            };
            waits = 0;
            let mut has_asked = false;
            for finished in made {
                let index = finished.record.index as usize;
                let ends = finished.record.ends;
                state.note_own_change(&pending.calls[index], &finished.record);
                state.note_declined(&pending.calls[index], &finished.record);
                self.apply(state, &finished).await;
                has_asked |= finished.record.awaits.is_some();
                pending.records[index] = Some(finished.record);
                if let Some(reason) = ends {
                    let end = RunEnd::by_call(reason, &pending.calls[index], state.has_posted);
                    return Ok(Some(end.exit()));
                }
            }
            if has_asked {
                // The forms have records of their own.
                pending.reload(self.stored_calls(state).await?);
            }
        }
        Ok(None)
    }

    /// The calls that may be made together, from `next` on. A call that a rule names is alone, and
    /// so is one that people have decided.
    fn group_from(&self, next: usize, concurrency: Concurrency, pending: &Pending) -> Range<usize> {
        let calls = pending.calls.iter().zip(&pending.records).skip(next).take(MAX_CALLS_AT_ONCE);
        let neighbours = calls.take_while(|(call, record)| {
            concurrency != Concurrency::Alone
                && self.tools.concurrency(&call.name) == concurrency
                && !self.tools.is_ruled(&call.name)
                && record.as_ref().is_none_or(|record| record.approval.is_none())
        });
        next..next + neighbours.count().max(1)
    }

    async fn apply(&self, state: &mut State, finished: &FinishedCall) {
        let record = &finished.record;
        state.add_result(record);
        state.add_usage(record);
        state.server_notes.extend(finished.server_note.clone());
        if let Some(space) = record.active_space {
            self.context.show_in(space, Some(space)).await;
        }
        if finished.is_newest {
            state.caught_up =
                record.active_space.map(|space| CaughtUp { space, at: Instant::now() });
        }
        state.is_first_action = false;
    }

    /// Waits until people have answered all forms and decided all calls that are shown to them.
    async fn wait_for_people(
        &self,
        state: &mut State,
        pending: &mut Pending,
    ) -> Result<Option<LoopExit>> {
        while pending.open_forms() > 0 {
            if self.pause().await? {
                return Ok(Some(LoopExit::Pause));
            }
            pending.reload(self.stored_calls(state).await?);
            for record in pending.made() {
                state.note_declined(&pending.calls[record.index as usize], record);
                state.add_result(record);
                self.show_call(record);
            }
        }
        Ok(ended_by_call(state, pending))
    }

    /// The stored calls of the last answer.
    async fn stored_calls(&self, state: &State) -> Result<Vec<CallRecord>> {
        self.context.store().steps().calls_of(self.context.run.id, state.steps - 1).await
    }

    /// Whether the model is asked again.
    fn continues(&self, pending: &Pending) -> bool {
        let is_last = |call: &CallRecord| {
            let begun = &pending.calls[call.index as usize];
            let edited = edited(begun, call);
            has_answered(call)
                && !goes_on(&edited.as_ref().unwrap_or(begun).input)
                && call.active_space.is_some_and(|space| self.may_end_in(space))
        };
        if self.ends_after_send() && pending.made().all(is_last) {
            return false;
        }
        // Such a model can't end the run with an answer without a call. A reaction beside other
        // calls does not end it: the model has not seen their results.
        let is_last_message = |call: &CallRecord| call.name == SEND_MESSAGE && is_last(call);
        if self.must_call() && (pending.made().all(is_last) || pending.made().any(is_last_message))
        {
            return false;
        }
        match self.context.config.run_loop.continue_on {
            ContinueOn::Writes => self.has_written(pending),
            ContinueOn::ToolCalls => true,
        }
    }

    /// Whether the run ends with a message. A run of a plan or a service does not: it often posts
    /// in several spaces.
    pub(super) fn ends_after_send(&self) -> bool {
        self.context.config.run_loop.end_after_send && self.context.run.home().is_some()
    }

    /// Whether the run may end with a message to this space. A message to another space than that
    /// of the trigger does not answer it.
    pub(super) fn may_end_in(&self, space: SpaceId) -> bool {
        self.context.run.home().is_none_or(|home| home == space)
    }

    /// Whether each answer of the model is a call.
    pub(super) fn must_call(&self) -> bool {
        let model = &self.context.model;
        model.tool_choice == ToolChoice::Required || model.speaks == Speaks::Json
    }

    /// Whether a call changed something or was answered by people.
    fn has_written(&self, pending: &Pending) -> bool {
        // People expect a reaction to their answer, even if they refused.
        let answered = |call: &CallRecord| call.answer.is_some();
        // A call whose outcome is unknown may have changed something, and the model has to check.
        let is_done =
            |call: &CallRecord| matches!(call.status, CallStatus::Completed | CallStatus::Unknown);
        let changed = |call: &CallRecord| is_done(call) && !self.tools.is_read_only(&call.name);
        pending.made().any(|call| answered(call) || changed(call))
    }

    /// Stores that the run waits until somebody answers or a form expires.
    /// Returns false if all forms have been answered already.
    async fn pause(&self) -> Result<bool> {
        let context = self.context;
        let Some(next) = context.pipeline.expire_forms(context.run.id).await? else {
            return Ok(false);
        };
        context.store().steps().extend_expiry(&context.run, context.now()).await?;
        let paused = {
            let _writing = context.writing.lock().await;
            let runs = context.store().runs();
            runs.pause(&context.run, &context.lease, next, context.now()).await?
        };
        let is_paused = paused.is_some();
        context.pipeline.queue_runs(paused.unwrap_or_default()).await;
        Ok(is_paused)
    }

    /// Makes the calls of a group that are still to be made, and stores their results. The last
    /// ones may be left for later.
    async fn call(
        &self,
        state: &State,
        pending: &Pending,
        group: Range<usize>,
        ruling: &Ruling,
    ) -> Result<Vec<FinishedCall>> {
        let concurrency = self.tools.concurrency(&pending.calls[group.start].name);
        let first = pending.records[group.start].as_ref();
        let edited = first.and_then(|call| edited(&pending.calls[group.start], call));
        let approved = self.with_card(first.filter(|call| call.is_approved())).await?;
        let spent = Mutex::new(state.used.clone());
        let was_asked = |index: usize| {
            pending.records[index].as_ref().is_some_and(|record| record.approval.is_some())
        };
        let calling = |index: usize| {
            let record = pending.records[index].as_ref().filter(|call| call.is_under_way());
            let begun = edited.as_ref().unwrap_or(&pending.calls[index]);
            Calling {
                context: self.context,
                begun,
                step: state.steps - 1,
                index: index as u32,
                active_space: state.active_space,
                stream: StreamId::of(begun.call_id, pending.attempt),
                tools_used: state.tools_used.clone(),
                under_way: record,
                input_form: record.and_then(|record| pending.input_form(record)),
                ruling,
                approved: approved.as_ref(),
                open_forms: pending.open_forms(),
                names: &state.names,
                marks: &state.marks,
                started_at: record.map_or_else(|| self.context.now(), |record| record.started_at),
                spent: &spent,
                // A call that people have approved is sent at most once.
                is_repeatable: self.tools.is_repeatable(&begun.name) && !was_asked(index),
                cuts: state.cuts,
            }
        };
        let callings: Vec<_> =
            group.filter(|index| pending.is_to_be_made(*index)).map(calling).collect();
        let begun: Vec<_> = callings.iter().map(|calling| calling.begun.call_id).collect();
        self.context.show_calls_begun(&begun);
        let outcomes = Box::pin(execute(self.tools, &callings, concurrency)).await?;
        let mut finished = Vec::with_capacity(outcomes.len());
        for (calling, outcome) in callings.iter().zip(outcomes) {
            let record = calling.finished(&outcome);
            self.context.streams.end(calling.begun.call_id, outcome.message);
            let is_newest = outcome.message.is_some()
                && outcome.read_up_to.is_some_and(|(space, _)| {
                    Some(space) == record.active_space
                        && outcome.changed == Some(state.known_changes_of(space))
                });
            finished.push(FinishedCall { record, is_newest, server_note: outcome.server_note });
        }
        Ok(finished)
    }
}

/// How the loop ends if a call or a decision of people has ended the run.
fn ended_by_call(state: &State, pending: &Pending) -> Option<LoopExit> {
    let ends = |record: &CallRecord| Some((record.ends?, record.index as usize));
    let (reason, call) = pending.made().find_map(ends)?;
    Some(RunEnd::by_call(reason, &pending.calls[call], state.has_posted).exit())
}
