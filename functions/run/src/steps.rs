//! The loop of a run: ask the model, keep its answer, run its calls and keep their results, until it calls nothing more.
//!
//! Each answer and each result is kept before the next thing is done, so that who takes the run over goes on from there: it sends what was
//! sent, as kept, and repeats nothing.

use std::time::Duration;

use smartspace_domain::{
    Error, Result,
    agents::ContinueOn,
    events::StreamEnd,
    ids::{SpaceId, StreamId},
    runs::{EndReason, RunError, RunStatus, Usage},
};
use smartspace_models::port::{Message, ModelError, ToolCall, ToolResult};
use smartspace_store::{
    endings::Ending,
    runs::RunRecord,
    steps::{CallBegun, CallRecord, Marks, PromptRecord, StepRecord, Work},
};

use crate::{
    answer::{Answer, Question},
    context::{Prompt, prompt, reading::Gathered},
    tools::{self, Calling},
    worker::Worker,
};

/// A run's state between two steps.
struct State {
    prompt: Prompt,
    /// Kept with the first answer; none once it is.
    unkept: Option<PromptRecord>,
    messages: Vec<Message>,
    steps: u32,
    /// The last answer's calls that have no result yet, with the try that made them.
    pending: Option<Pending>,
    active_space: Option<SpaceId>,
    marks: Marks,
    usage: Usage,
    tools_used: Vec<String>,
}

struct Pending {
    calls: Vec<CallBegun>,
    done: Vec<CallRecord>,
    attempt: u32,
}

/// How the loop ends.
struct End {
    status: RunStatus,
    reason: Option<EndReason>,
    error: Option<RunError>,
    last_step: Option<StepRecord>,
}

impl End {
    fn completed(reason: EndReason) -> Self {
        Self { status: RunStatus::Completed, reason: Some(reason), error: None, last_step: None }
    }
}

impl Worker {
    /// Runs from where the run stands to its end.
    pub(crate) async fn drive(&self, gathered: &Gathered, work: Work) -> Result<RunRecord> {
        let mut state = self.state(gathered, work)?;
        let limit = self.config.run_loop.time_limit.length();
        let used = self.pipeline.now().since(self.run.started_at.unwrap_or(self.run.created_at));
        let left = limit.saturating_sub(used);
        // A tool is never cut off; a model is.
        let deadline = tokio::time::Instant::now() + left.max(Duration::from_millis(1));
        let end = Box::pin(self.steps(&mut state, deadline)).await?;
        self.finish(end, state).await
    }

    async fn steps(&self, state: &mut State, deadline: tokio::time::Instant) -> Result<End> {
        loop {
            if let Some(end) = self.run_calls(state).await? {
                return Ok(end);
            }
            if state.steps >= self.config.run_loop.max_steps {
                return Ok(End::completed(EndReason::MaxSteps));
            }
            let question =
                Question { prompt: &state.prompt, messages: &state.messages, step: state.steps, active_space: state.active_space };
            let answer = match tokio::time::timeout_at(deadline, self.answer(&question)).await {
                Ok(Ok(answer)) => answer,
                Ok(Err(ModelError { code, message, .. })) => {
                    let error = Some(RunError { code, message });
                    return Ok(End { status: RunStatus::Failed, reason: None, error, last_step: None });
                }
                Err(_) => {
                    self.end_streams(Some(StreamEnd::Failed));
                    return Ok(End::completed(EndReason::TimeLimit));
                }
            };
            let step = self.step_record(state.steps, &answer);
            state.usage += answer.usage;
            if answer.calls.is_empty() {
                return Ok(End { last_step: Some(step), ..End::completed(EndReason::Done) });
            }
            {
                let _writing = self.writing.lock().await;
                self.pipeline.store.keep_step(&self.run, &step, state.unkept.as_ref(), state.usage, self.pipeline.now()).await?;
            }
            state.unkept = None;
            state.steps += 1;
            state.messages.push(assistant(&step));
            state.pending = Some(Pending { calls: answer.calls, done: Vec::new(), attempt: answer.attempt });
        }
    }

    /// Runs the calls of the last answer that have no result yet, in their written order.
    async fn run_calls(&self, state: &mut State) -> Result<Option<End>> {
        let Some(mut pending) = state.pending.take() else { return Ok(None) };
        // Who did this had no time left to end the run.
        if let Some(reason) = pending.done.iter().find_map(|record| record.ends) {
            return Ok(Some(End::completed(reason)));
        }
        let step = state.steps - 1;
        for index in pending.done.len()..pending.calls.len() {
            let begun = &pending.calls[index];
            let calling = Calling {
                worker: self,
                begun,
                step,
                index: index as u32,
                active_space: state.active_space,
                stream: StreamId::of(begun.call_id, pending.attempt),
                tools_used: state.tools_used.clone(),
                marks: &state.marks,
                started_at: self.pipeline.now(),
            };
            let outcome = Box::pin(tools::run(&calling)).await?;
            let record = calling.finished(&outcome);
            if !outcome.kept {
                let _writing = self.writing.lock().await;
                self.pipeline.store.keep_call(&self.run, &self.lease, &record, self.pipeline.now()).await?;
            }
            self.end_stream(begun.call_id, outcome.message);
            state.take_in(&record);
            let ends = record.ends;
            pending.done.push(record);
            if let Some(reason) = ends {
                return Ok(Some(End::completed(reason)));
            }
        }
        state.messages.push(results(&pending.done));
        let wrote = pending.calls.iter().any(|call| !tools::is_read_only(&call.name));
        if self.config.run_loop.continue_on == ContinueOn::Writes && !wrote {
            return Ok(Some(End::completed(EndReason::Done)));
        }
        Ok(None)
    }

    async fn finish(&self, end: End, state: State) -> Result<RunRecord> {
        // What only a failed or canceled run had read stays new.
        let marks = if end.status == RunStatus::Completed { state.marks } else { Marks::new() };
        let ending = Ending {
            status: end.status,
            reason: end.reason,
            error: end.error,
            usage: state.usage,
            prompt: state.unkept,
            last_step: end.last_step,
            marks,
        };
        let mut run = self.run.clone();
        run.step_count = state.steps;
        run.active_space_id = state.active_space;
        let _writing = self.writing.lock().await;
        self.pipeline.store.finish(&run, &self.lease, &ending, self.pipeline.now()).await
    }

    /// Where the run stands: at its beginning, or behind what is kept of it.
    fn state(&self, gathered: &Gathered, work: Work) -> Result<State> {
        let mut state = State {
            prompt: Prompt { system: Vec::new(), messages: Vec::new() },
            unkept: None,
            messages: Vec::new(),
            steps: 0,
            pending: None,
            active_space: Some(self.run.space_id),
            marks: Marks::new(),
            usage: self.run.usage,
            tools_used: Vec::new(),
        };
        let Some(kept) = work.prompt else {
            let (prompt, marks) = prompt(gathered, &self.config, self.run.id, self.run.source, self.pipeline.now());
            let text =
                serde_json::to_string(&prompt).map_err(|error| Error::Internal(format!("a prompt could not be written: {error}")))?;
            state.unkept = Some(PromptRecord::new(&text, marks.clone())?);
            state.messages.clone_from(&prompt.messages);
            return Ok(State { prompt, marks, ..state });
        };
        state.prompt =
            serde_json::from_str(&kept.unpack()?).map_err(|error| Error::Internal(format!("a prompt could not be read: {error}")))?;
        state.messages.clone_from(&state.prompt.messages);
        state.marks = kept.marks;
        let mut calls = work.calls;
        for step in work.steps {
            state.messages.push(assistant(&step));
            state.steps = step.index + 1;
            let done: Vec<_> = (0..step.calls.len()).map_while(|index| calls.remove(&(step.index, index as u32))).collect();
            for record in &done {
                state.take_in(record);
            }
            let ended = done.iter().any(|record| record.ends.is_some());
            if done.len() == step.calls.len() && !ended {
                state.messages.push(results(&done));
            } else {
                // What was streamed before its message could be kept is replaced by that message: the stream is the same.
                state.pending = Some(Pending { calls: step.calls, done, attempt: step.stream_attempt });
            }
        }
        Ok(state)
    }

    fn step_record(&self, index: u32, answer: &Answer) -> StepRecord {
        StepRecord {
            index,
            attempt: self.run.attempt,
            stream_attempt: answer.attempt,
            lease: self.lease.clone(),
            model: answer.model.clone(),
            text: answer.text.clone(),
            calls: answer.calls.clone(),
            system_messages: Vec::new(),
            finish_reason: answer.reason,
            usage: answer.usage,
            started_at: answer.started_at,
            first_token_at: answer.first_token_at,
            finished_at: self.pipeline.now(),
            expires_at: None,
        }
    }
}

impl State {
    /// Takes in what a finished call changed.
    fn take_in(&mut self, record: &CallRecord) {
        self.active_space = record.active_space.or(self.active_space);
        for (space, mark) in &record.marks {
            let read = self.marks.entry(*space).or_default();
            *read = (*read).max(*mark);
        }
        // A name that a model made up is no tool, and stands in no prompt.
        let used = tools::is_known(&record.name) && record.name != tools::send_message::NAME;
        if used && !self.tools_used.contains(&record.name) {
            self.tools_used.push(record.name.clone());
        }
    }
}

fn assistant(step: &StepRecord) -> Message {
    let calls = step.calls.iter().map(|call| ToolCall { call_id: call.call_id, name: call.name.clone(), input: call.input.clone() });
    Message::Assistant { text: step.text.clone(), calls: calls.collect() }
}

fn results(done: &[CallRecord]) -> Message {
    let results = done.iter().map(|record| ToolResult { call_id: record.call_id, output: record.output.clone() });
    Message::ToolResults { results: results.collect() }
}
