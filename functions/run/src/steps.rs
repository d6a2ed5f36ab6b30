//! The loop of a run: ask the model, keep its answer, run its calls and keep their results, until it calls nothing more.
//!
//! Each answer and each result is kept before the next thing is done, so that who takes the run over goes on from there: it sends what was
//! sent, as kept, and repeats nothing. Between two steps the watchers look.

use std::{ops::Range, time::Duration};

use smartspace_domain::{
    Result, Time,
    agents::ContinueOn,
    events::StreamEnd,
    ids::StreamId,
    runs::{EndReason, RunError, RunStatus, Usage},
    steps::{CallStatus, FinishReason, SystemMessage},
};
use smartspace_models::port::ModelError;
use smartspace_store::{
    endings::Ending,
    runs::{RunRecord, Tried},
    steps::{CallRecord, Marks, Progress, StepRecord},
};
use tokio::time::Instant;

use crate::{
    answer::{Answer, NoAnswer, Question},
    context::reading::Gathered,
    state::{Pending, State, is_whole, results},
    tools::{self, Calling, toolbox::Company},
    watchers::{self, Look},
    worker::Worker,
};

/// For so long what was read or posted counts as the newest: a model takes longer to answer than a message that came since would be late.
const JUST_NOW: Duration = Duration::from_millis(50);

/// How the loop ends.
enum End {
    /// The run is over.
    Over(Box<Over>),
    /// The invocation has no time left for what comes next: another one goes on, with an answer that was tried for where this one stopped.
    HandOver(Option<Tried>),
    /// The run waits for people, and nobody works on it until one of them answers.
    Pause,
}

/// What a worker has come to.
pub(crate) enum Driven {
    /// The run's end.
    Ended(Box<RunRecord>),
    /// The invocation's end; the run is to be given to another one.
    HandedOver(Option<Tried>),
    /// Forms that nobody has answered yet; the run is not the worker's any more.
    Paused,
    /// That what the run did is not kept any more.
    Forgotten,
}

struct Over {
    status: RunStatus,
    reason: Option<EndReason>,
    error: Option<RunError>,
    last_step: Option<StepRecord>,
}

impl Over {
    fn completed(reason: EndReason) -> Self {
        Self { status: RunStatus::Completed, reason: Some(reason), error: None, last_step: None }
    }

    fn end(self) -> End {
        End::Over(Box::new(self))
    }
}

/// What stands before a step.
#[derive(Default)]
struct Told {
    messages: Vec<SystemMessage>,
    marks: Marks,
}

impl Worker {
    /// Runs from where the run stands to its end, or as far as it goes in this invocation.
    pub(crate) async fn drive(&self, gathered: &Gathered, progress: Progress) -> Result<Driven> {
        if !is_whole(&progress, &self.run, self.pipeline.now()) {
            return Ok(Driven::Forgotten);
        }
        let mut state = self.state(gathered, progress)?;
        let left = self.config.run_loop.time_limit.length().saturating_sub(self.used());
        // A tool is never cut off; a model is.
        let deadline = Instant::now() + left.max(Duration::from_millis(1));
        match Box::pin(self.steps(&mut state, deadline)).await? {
            End::Over(over) => self.finish(*over, state).await.map(|run| Driven::Ended(Box::new(run))),
            End::HandOver(tried) => Ok(Driven::HandedOver(tried)),
            End::Pause => Ok(Driven::Paused),
        }
    }

    /// How long the run has been at work, by whomever. While it waits for people its time stands still.
    fn used(&self) -> Duration {
        let since = self.pipeline.now().since(self.run.started_at.unwrap_or(self.run.created_at));
        since.saturating_sub(Duration::from_millis(self.run.waited_ms))
    }

    async fn steps(&self, state: &mut State, deadline: Instant) -> Result<End> {
        loop {
            if let Some(end) = self.run_calls(state).await? {
                return Ok(end);
            }
            if state.steps >= self.config.run_loop.max_steps {
                return Ok(Over::completed(EndReason::MaxSteps).end());
            }
            if !state.fresh && !self.has_time_for(self.models.longest_answer()) {
                return Ok(End::HandOver(None));
            }
            let told = self.watch(state).await?;
            let began = self.pipeline.now();
            let question =
                Question { prompt: &state.prompt, messages: &state.messages, step: state.steps, active_space: state.active_space };
            // Browsers are told beside the question: the model waits for nobody.
            let behind = self.pipeline.queue_runs(state.behind.take().into_iter().collect());
            let asked = async { futures::join!(self.answer(&question), self.tell(state.steps, &told.messages, &state.entered), behind).0 };
            let answer = match tokio::time::timeout_at(deadline, asked).await {
                Ok(Ok(answer)) => answer,
                Ok(Err(NoAnswer::NoTime(tried))) => return Ok(End::HandOver(Some(tried))),
                Ok(Err(NoAnswer::Failed(ModelError { code, message, .. }))) => {
                    let error = Some(RunError { code, message });
                    // What was asked in vain can be looked at.
                    let last_step = Some(self.unanswered(state.steps, told, began));
                    return Ok(Over { status: RunStatus::Failed, reason: None, error, last_step }.end());
                }
                Err(_) => {
                    self.streams.end_all(Some(StreamEnd::Failed));
                    return Ok(Over::completed(EndReason::TimeLimit).end());
                }
            };
            state.took(&told.marks);
            let step = self.step_record(state.steps, &answer, told);
            state.usage += answer.usage;
            if answer.calls.is_empty() {
                return Ok(Over { last_step: Some(step), ..Over::completed(EndReason::Done) }.end());
            }
            let prompt = state.prompt_to_keep()?;
            {
                let _writing = self.writing.lock().await;
                self.pipeline.store.keep_step(&self.run, &step, prompt.as_ref(), state.usage, self.pipeline.now()).await?;
            }
            (state.unkept, state.fresh) = (false, false);
            state.pending = Some(state.answered(&step, &self.tools));
        }
    }

    /// Lets the watchers look, and puts what they say before the next step.
    async fn watch(&self, state: &mut State) -> Result<Told> {
        let mut told = Told::default();
        let mut news = None;
        // Before the first step there is no news: the prompt was read just now. Neither right behind a message of one's own.
        let is_known = state.newest_at.is_some_and(|(space, at)| Some(space) == state.active_space && at.elapsed() < JUST_NOW);
        if let (Some(space), true) = (state.active_space, state.steps > 0 && !is_known) {
            let after = state.marks.get(&space).copied().unwrap_or(u64::MAX);
            let read = self.news(space, after).await?;
            told.marks.extend(read.last.map(|last| (space, last)));
            news = read.text;
        }
        let look = Look {
            step: state.steps,
            max_steps: self.config.run_loop.max_steps,
            used: self.used(),
            limit: self.config.run_loop.time_limit.length(),
            tokens: state.tokens(),
            window: u64::from(self.config.model.context_window),
            calls: Some(&state.calls),
            news,
            start: std::mem::take(&mut state.start),
        };
        told.messages = watchers::look(&look, &state.said);
        state.tell(&told.messages);
        Ok(told)
    }

    /// Runs the calls of the last answer that have no result yet, in their written order.
    async fn run_calls(&self, state: &mut State) -> Result<Option<End>> {
        let Some(mut pending) = state.pending.take() else { return Ok(None) };
        // Who did this had no time left to end the run.
        if let Some(reason) = pending.made().find_map(|record| record.ends) {
            return Ok(Some(Over::completed(reason).end()));
        }
        while let Some(next) = pending.next() {
            let company = self.tools.company(&pending.calls[next].name);
            let neighbours = pending.calls[next..].iter().take_while(|call| self.tools.company(&call.name) == company).count();
            let together = next..next + if company == Company::Alone { 1 } else { neighbours };
            let limit = pending.calls[together.clone()].iter().map(|call| self.tools.limit(&call.name)).max();
            if !state.fresh && !self.has_time_for(limit.unwrap_or(tools::TIME_LIMIT)) {
                return Ok(Some(End::HandOver(None)));
            }
            for (record, is_newest) in self.call(state, &pending, together, company).await? {
                let entered = record.active_space.filter(|space| !state.entered.contains(space));
                state.take_in(&record);
                if let (Some(space), None) = (entered, self.run.space_id()) {
                    self.show_in(space).await;
                }
                state.newest_at = if is_newest { record.active_space.map(|space| (space, Instant::now())) } else { state.newest_at };
                state.fresh = false;
                let (ends, index) = (record.ends, record.index as usize);
                pending.known[index] = Some(record);
                if let Some(reason) = ends {
                    return Ok(Some(Over::completed(reason).end()));
                }
            }
        }
        // All else is done: now it is the people's turn.
        while pending.open_forms() > 0 {
            if self.pause().await? {
                return Ok(Some(End::Pause));
            }
            let Some(step) = pending.made().next().map(|call| call.step) else { break };
            pending.known = self.pipeline.store.calls_of(self.run.id, step).await?.into_iter().map(Some).collect();
            pending.made().for_each(|record| state.take_in(record));
        }
        state.messages.push(results(pending.made()));
        // What people were asked is theirs to see taken up, whatever became of it.
        let asked = |call: &CallRecord| call.answered.is_some();
        // Of unknown outcome is what may have changed something: the model is to look.
        let is_done = |call: &CallRecord| matches!(call.status, CallStatus::Completed | CallStatus::Unknown);
        let changed = |call: &CallRecord| is_done(call) && !self.tools.is_read_only(&call.name);
        let wrote = pending.made().any(|call| asked(call) || changed(call));
        if self.config.run_loop.continue_on == ContinueOn::Writes && !wrote {
            return Ok(Some(Over::completed(EndReason::Done).end()));
        }
        Ok(None)
    }

    /// Lets the run wait until somebody answers, or the time of a form is up. False where all were answered meanwhile.
    async fn pause(&self) -> Result<bool> {
        let Some(next) = self.pipeline.expire_forms(self.run.id).await? else { return Ok(false) };
        let _writing = self.writing.lock().await;
        self.pipeline.store.pause(self.run.id, &self.lease, next, self.pipeline.now()).await
    }

    /// Makes those of these calls that are still to be made, side by side as far as their company goes, and keeps what came of them.
    /// For each whether it posted what is then the last message of the active space, all before which was read.
    async fn call(&self, state: &State, pending: &Pending, which: Range<usize>, company: Company) -> Result<Vec<(CallRecord, bool)>> {
        let calling = |index: usize| {
            let known = pending.known[index].as_ref();
            let begun = &pending.calls[index];
            Calling {
                worker: self,
                begun,
                step: state.steps - 1,
                index: index as u32,
                active_space: state.active_space,
                stream: StreamId::of(begun.call_id, pending.attempt),
                tools_used: state.tools_used.clone(),
                under_way: known,
                open_forms: pending.open_forms(),
                marks: &state.marks,
                started_at: known.map_or_else(|| self.pipeline.now(), |known| known.started_at),
            }
        };
        let callings: Vec<_> = which.filter(|index| pending.is_to_be_made(*index)).map(calling).collect();
        let outcomes = Box::pin(tools::run(&callings, company)).await?;
        let mut records = Vec::with_capacity(outcomes.len());
        for (calling, outcome) in callings.iter().zip(outcomes) {
            let record = calling.finished(&outcome);
            self.streams.end(calling.begun.call_id, outcome.message);
            let is_newest = outcome.message.is_some() && outcome.mark.is_some_and(|(space, _)| Some(space) == record.active_space);
            records.push((record, is_newest));
        }
        Ok(records)
    }

    async fn finish(&self, over: Over, state: State) -> Result<RunRecord> {
        let prompt = state.prompt_to_keep()?;
        // What only a failed or canceled run had read stays new.
        let marks = if over.status == RunStatus::Completed { state.marks } else { Marks::new() };
        let ending = Ending {
            status: over.status,
            reason: over.reason,
            error: over.error,
            usage: state.usage,
            prompt,
            last_step: over.last_step,
            marks,
        };
        let mut run = self.run.clone();
        run.open_calls = run.open_calls.or_else(|| state.asked.then_some(0));
        run.step_count = state.steps;
        run.active_space_id = state.active_space;
        let _writing = self.writing.lock().await;
        self.pipeline.store.finish(&run, &self.lease, &ending, self.pipeline.now()).await
    }

    /// A question that no model answered.
    fn unanswered(&self, index: u32, told: Told, began: Time) -> StepRecord {
        let answer = Answer {
            model: self.config.model.full_name(),
            text: String::new(),
            calls: Vec::new(),
            reason: FinishReason::Error,
            usage: Usage::default(),
            started_at: began,
            first_token_at: None,
            attempt: 0,
        };
        self.step_record(index, &answer, told)
    }

    fn step_record(&self, index: u32, answer: &Answer, told: Told) -> StepRecord {
        StepRecord {
            index,
            attempt: self.run.attempt,
            stream_attempt: answer.attempt,
            lease: self.lease.clone(),
            model: answer.model.clone(),
            text: answer.text.clone(),
            calls: answer.calls.clone(),
            system_messages: told.messages,
            marks: told.marks,
            finish_reason: answer.reason,
            usage: answer.usage,
            started_at: answer.started_at,
            first_token_at: answer.first_token_at,
            finished_at: self.pipeline.now(),
            expires_at: None,
        }
    }
}
