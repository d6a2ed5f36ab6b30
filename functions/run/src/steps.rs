//! The loop of a run: ask the model, keep its answer, run its calls and keep their results, until it calls nothing more.
//!
//! Each answer and each result is kept before the next thing is done, so that who takes the run over goes on from there: it sends what was
//! sent, as kept, and repeats nothing. Between two steps the watchers look.

use std::{collections::BTreeMap, ops::Range, time::Duration};

use futures::future::try_join_all;
use smartspace_domain::{
    Result, Time,
    agents::ContinueOn,
    events::StreamEnd,
    goals::{Goal, GoalStatus},
    ids::{SpaceId, StreamId},
    jobs::RunJob,
    runs::{EndReason, RunError, RunStatus, Usage},
    steps::SystemMessage,
};
use smartspace_models::port::{Message, ModelError, ToolCall, ToolResult};
use smartspace_store::{
    endings::Ending,
    prompts::PromptRecord,
    runs::RunRecord,
    steps::{CallBegun, CallRecord, Marks, StepRecord, Work},
};

use crate::{
    answer::{Answer, NoAnswer, Question},
    context::{
        Prompt, prompt,
        quoted::{Key, Span},
        reading::Gathered,
    },
    summary,
    tools::{self, Calling},
    watchers::{self, Look},
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
    /// What the last answer used alone.
    last_usage: Option<Usage>,
    tools_used: Vec<String>,
    /// How often each tool was called with each input.
    calls: BTreeMap<(String, String), u32>,
    /// What the system said in this run.
    said: Vec<SystemMessage>,
    /// What there is to say before the first step.
    start: Vec<String>,
    /// Nothing was kept in this invocation yet. What comes first is begun however little time is left: else nobody ever would.
    fresh: bool,
    /// A summary that is to be written, once the model has been asked.
    behind: Option<RunJob>,
}

struct Pending {
    calls: Vec<CallBegun>,
    done: Vec<CallRecord>,
    attempt: u32,
}

/// How the loop ends.
enum End {
    /// The run is over.
    Over(Box<Over>),
    /// The invocation has no time left for what comes next: another one goes on.
    HandOver,
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
    /// Runs from where the run stands to its end. None where it was not reached in this invocation.
    pub(crate) async fn drive(&self, gathered: &Gathered, work: Work) -> Result<Option<RunRecord>> {
        let mut state = self.state(gathered, work)?;
        let left = self.config.run_loop.time_limit.length().saturating_sub(self.used());
        // A tool is never cut off; a model is.
        let deadline = tokio::time::Instant::now() + left.max(Duration::from_millis(1));
        match Box::pin(self.steps(&mut state, deadline)).await? {
            End::Over(over) => self.finish(*over, state).await.map(Some),
            End::HandOver => Ok(None),
        }
    }

    /// How long the run has been at work, by whomever.
    fn used(&self) -> Duration {
        self.pipeline.now().since(self.run.started_at.unwrap_or(self.run.created_at))
    }

    async fn steps(&self, state: &mut State, deadline: tokio::time::Instant) -> Result<End> {
        loop {
            if let Some(end) = self.run_calls(state).await? {
                return Ok(end);
            }
            if state.steps >= self.config.run_loop.max_steps {
                return Ok(Over::completed(EndReason::MaxSteps).end());
            }
            if !state.fresh && !self.has_time_for(self.models.longest_answer()) {
                return Ok(End::HandOver);
            }
            let told = self.watch(state).await?;
            let question =
                Question { prompt: &state.prompt, messages: &state.messages, step: state.steps, active_space: state.active_space };
            // Browsers are told beside the question: the model waits for nobody.
            let behind = self.pipeline.queue_runs(state.behind.take().into_iter().collect());
            let asked = async { futures::join!(self.answer(&question), self.tell(state.steps, &told.messages), behind).0 };
            let answer = match tokio::time::timeout_at(deadline, asked).await {
                Ok(Ok(answer)) => answer,
                Ok(Err(NoAnswer::NoTime)) => return Ok(End::HandOver),
                Ok(Err(NoAnswer::Failed(ModelError { code, message, .. }))) => {
                    let error = Some(RunError { code, message });
                    return Ok(Over { status: RunStatus::Failed, reason: None, error, last_step: None }.end());
                }
                Err(_) => {
                    self.end_streams(Some(StreamEnd::Failed));
                    return Ok(Over::completed(EndReason::TimeLimit).end());
                }
            };
            state.took(&told.marks);
            let step = self.step_record(state.steps, &answer, told);
            state.usage += answer.usage;
            if answer.calls.is_empty() {
                return Ok(Over { last_step: Some(step), ..Over::completed(EndReason::Done) }.end());
            }
            {
                let _writing = self.writing.lock().await;
                self.pipeline.store.keep_step(&self.run, &step, state.unkept.as_ref(), state.usage, self.pipeline.now()).await?;
            }
            (state.unkept, state.fresh) = (None, false);
            state.answered(&step);
        }
    }

    /// Lets the watchers look, and puts what they say before the next step.
    async fn watch(&self, state: &mut State) -> Result<Told> {
        let mut told = Told::default();
        let mut news = None;
        // Before the first step there is no news: the prompt was read just now.
        if let (Some(space), true) = (state.active_space, state.steps > 0) {
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
            start: state.start.clone(),
        };
        told.messages = watchers::look(&look, &state.said);
        state.tell(&told.messages);
        Ok(told)
    }

    /// Runs the calls of the last answer that have no result yet, in their written order.
    async fn run_calls(&self, state: &mut State) -> Result<Option<End>> {
        let Some(mut pending) = state.pending.take() else { return Ok(None) };
        // Who did this had no time left to end the run.
        if let Some(reason) = pending.done.iter().find_map(|record| record.ends) {
            return Ok(Some(Over::completed(reason).end()));
        }
        while let Some(next) = pending.calls.get(pending.done.len()) {
            if !state.fresh && !self.has_time_for(tools::TIME_LIMIT) {
                return Ok(Some(End::HandOver));
            }
            let begin = pending.done.len();
            let alike = pending.calls[begin..].iter().take_while(|call| tools::is_side_by_side(&call.name)).count();
            let count = if tools::is_side_by_side(&next.name) { alike } else { 1 };
            for record in self.call(state, &pending, begin..begin + count).await? {
                state.take_in(&record);
                state.fresh = false;
                let ends = record.ends;
                pending.done.push(record);
                if let Some(reason) = ends {
                    return Ok(Some(Over::completed(reason).end()));
                }
            }
        }
        state.messages.push(results(&pending.done));
        let wrote = pending.calls.iter().any(|call| !tools::is_read_only(&call.name));
        if self.config.run_loop.continue_on == ContinueOn::Writes && !wrote {
            return Ok(Some(Over::completed(EndReason::Done).end()));
        }
        Ok(None)
    }

    /// Makes one call, or some that may be made side by side, and keeps what came of them.
    async fn call(&self, state: &State, pending: &Pending, which: Range<usize>) -> Result<Vec<CallRecord>> {
        let calling = |index: usize| {
            let begun = &pending.calls[index];
            Calling {
                worker: self,
                begun,
                step: state.steps - 1,
                index: index as u32,
                active_space: state.active_space,
                stream: StreamId::of(begun.call_id, pending.attempt),
                tools_used: state.tools_used.clone(),
                marks: &state.marks,
                started_at: self.pipeline.now(),
            }
        };
        let callings: Vec<_> = which.map(calling).collect();
        let outcomes = try_join_all(callings.iter().map(|calling| Box::pin(tools::run(calling)))).await?;
        let mut records = Vec::with_capacity(outcomes.len());
        for (calling, outcome) in callings.iter().zip(outcomes) {
            let record = calling.finished(&outcome);
            if !outcome.kept {
                let _writing = self.writing.lock().await;
                self.pipeline.store.keep_call(&self.run, &self.lease, &record, self.pipeline.now()).await?;
            }
            self.end_stream(calling.begun.call_id, outcome.message);
            records.push(record);
        }
        Ok(records)
    }

    async fn finish(&self, over: Over, state: State) -> Result<RunRecord> {
        // What only a failed or canceled run had read stays new.
        let marks = if over.status == RunStatus::Completed { state.marks } else { Marks::new() };
        let ending = Ending {
            status: over.status,
            reason: over.reason,
            error: over.error,
            usage: state.usage,
            prompt: state.unkept,
            last_step: over.last_step,
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
        let now = self.pipeline.now();
        let (prompt, unkept) = if let Some(kept) = &work.prompt {
            (Prompt { system: kept.system.clone(), rest: kept.rest()?, marks: kept.marks.clone(), first: 1 }, None)
        } else {
            let prompt = prompt(gathered, &self.config, self.run.id, &self.trigger, now);
            let unkept = PromptRecord::new(&prompt.system, &prompt.rest, prompt.marks.clone())?;
            (prompt, Some(unkept))
        };
        let place = gathered.place.as_ref();
        let mut state = State {
            messages: prompt.rest.messages.clone(),
            start: if unkept.is_some() { start(gathered, now) } else { Vec::new() },
            behind: place.and_then(|place| summary::behind(place, prompt.first, &self.config, self.run.agent_id)),
            marks: prompt.marks.clone(),
            prompt,
            unkept,
            steps: 0,
            pending: None,
            active_space: place.map(|place| place.space.id),
            usage: self.run.usage,
            last_usage: None,
            tools_used: Vec::new(),
            calls: BTreeMap::new(),
            said: Vec::new(),
            fresh: true,
        };
        let mut calls = work.calls;
        for step in work.steps {
            state.tell(&step.system_messages);
            state.took(&step.marks);
            let done: Vec<_> = (0..step.calls.len()).map_while(|index| calls.remove(&(step.index, index as u32))).collect();
            state.answered(&step);
            for record in &done {
                state.take_in(record);
            }
            let ended = done.iter().any(|record| record.ends.is_some());
            if done.len() == step.calls.len() && !ended {
                state.messages.push(results(&done));
                state.pending = None;
            } else if let Some(pending) = &mut state.pending {
                // What was streamed before its message could be kept is replaced by that message: the stream is the same.
                pending.done = done;
            }
        }
        Ok(state)
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

impl State {
    /// Puts what the system says before the next step.
    fn tell(&mut self, said: &[SystemMessage]) {
        self.messages.extend(said.iter().map(|said| Message::System { text: said.text.clone() }));
        self.said.extend_from_slice(said);
    }

    /// Takes in an answer that was kept.
    fn answered(&mut self, step: &StepRecord) {
        self.steps = step.index + 1;
        self.last_usage = Some(step.usage);
        self.messages.push(assistant(step));
        for call in &step.calls {
            *self.calls.entry((call.name.clone(), call.input.clone())).or_default() += 1;
        }
        self.pending = Some(Pending { calls: step.calls.clone(), done: Vec::new(), attempt: step.stream_attempt });
    }

    /// Takes in what a finished call changed.
    fn take_in(&mut self, record: &CallRecord) {
        self.active_space = record.active_space.or(self.active_space);
        self.took(&record.marks);
        if tools::counts_as_used(&record.name) && !self.tools_used.contains(&record.name) {
            self.tools_used.push(record.name.clone());
        }
    }

    /// Takes in how far something read.
    fn took(&mut self, marks: &Marks) {
        for (space, mark) in marks {
            let read = self.marks.entry(*space).or_default();
            *read = (*read).max(*mark);
        }
    }

    /// Tokens that stand in the conversation; none before the first answer.
    fn tokens(&self) -> Option<u64> {
        let last = self.last_usage?;
        let added = self.messages.iter().rev().take_while(|message| !matches!(message, Message::Assistant { .. })).map(characters);
        Some(last.input_tokens.saturating_add(last.output_tokens).saturating_add(added.sum::<u64>() / 4))
    }
}

/// What an agent should know before it begins, besides its prompt.
fn start(gathered: &Gathered, now: Time) -> Vec<String> {
    let mut start = Vec::new();
    if let Some(place) = &gathered.place {
        let last = place.member.last_run_at;
        let ago = last.map(|last| now.since(last)).filter(|ago| *ago >= WORTH_SAYING);
        start.extend(ago.map(|ago| format!("Your last run here was {} ago.", Span(ago))));
        if place.summary.as_ref().is_some_and(|summary| last.is_some_and(|last| summary.updated_at > last)) {
            start.push("EARLIER has been written anew since.".to_owned());
        }
    }
    let overdue = |goal: &&Goal| goal.status == GoalStatus::Active && goal.due_at.is_some_and(|due| due < now);
    let overdue: Vec<_> = gathered.goals.iter().filter(overdue).map(|goal| Key(&goal.id).to_string()).collect();
    if !overdue.is_empty() {
        start.push(format!("Overdue goals: {}.", overdue.join(", ")));
    }
    start
}

/// A shorter time since the last run is not worth a word.
const WORTH_SAYING: Duration = Duration::from_hours(1);

fn characters(message: &Message) -> u64 {
    let texts = |texts: &[String]| texts.iter().map(|text| text.chars().count()).sum::<usize>();
    let count = match message {
        Message::User { blocks } => texts(blocks),
        Message::Assistant { text, .. } | Message::System { text } => text.chars().count(),
        Message::ToolResults { results } => results.iter().map(|result| result.output.to_string().chars().count()).sum(),
    };
    count as u64
}

fn assistant(step: &StepRecord) -> Message {
    let calls = step.calls.iter().map(|call| ToolCall { call_id: call.call_id, name: call.name.clone(), input: call.input.clone() });
    Message::Assistant { text: step.text.clone(), calls: calls.collect() }
}

fn results(done: &[CallRecord]) -> Message {
    let results = done.iter().map(|record| ToolResult { call_id: record.call_id, output: record.output.clone() });
    Message::ToolResults { results: results.collect() }
}
