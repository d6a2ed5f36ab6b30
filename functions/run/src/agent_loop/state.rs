//! Where a run stands between two steps: at its beginning, or after its last stored step.

use std::collections::{BTreeMap, BTreeSet};

use smartspace_domain::{
    Result, Time,
    ids::SpaceId,
    jobs::RunJob,
    runs::Usage,
    steps::{CallStatus, SystemMessage},
};
use smartspace_models::port::{Message, ToolCall, ToolResult};
use smartspace_store::runs::{
    RunRecord,
    prompts::PromptRecord,
    steps::{CallBegun, CallRecord, Marks, Progress, ShownPage, StepRecord},
};
use tokio::time::Instant;

use crate::{
    prompt::{Prompt, prompt, reading::Gathered, run_activity::counts_as_used, summary},
    run_context::RunContext,
    tools::toolbox::Toolbox,
    watchers::start,
};

/// A run's state between two steps.
pub(crate) struct State {
    pub(crate) prompt: Prompt,
    /// The prompt is stored together with the first answer.
    pub(crate) prompt_is_stored: bool,
    pub(crate) messages: Vec<Message>,
    pub(crate) steps: u32,
    /// The calls of the last answer, if not all of them are known to have a result.
    pub(crate) pending: Option<Pending>,
    pub(crate) active_space: Option<SpaceId>,
    pub(crate) marks: Marks,
    /// Pages of messages that were shown, perhaps with a gap below them.
    pub(crate) pages: Vec<ShownPage>,
    pub(crate) usage: Usage,
    /// The usage of the last answer alone.
    pub(crate) last_usage: Option<Usage>,
    pub(crate) tools_used: Vec<String>,
    /// How often each tool was called with each input.
    pub(crate) calls: BTreeMap<(String, String), u32>,
    /// All messages of the system in this run.
    pub(crate) system_messages: Vec<SystemMessage>,
    /// Texts for the model before its first step.
    pub(crate) start: Vec<String>,
    /// This invocation has stored nothing yet. It begins its first action however little time is
    /// left; otherwise no invocation ever would.
    pub(crate) is_fresh: bool,
    /// The spaces that the run has entered. If no space triggered it, they are notified.
    pub(crate) entered: BTreeSet<SpaceId>,
    /// The run has posted cards before their result: forms or external calls.
    pub(crate) had_cards: bool,
    pub(crate) caught_up: Option<CaughtUp>,
    /// A summary to write. It is queued when the model is asked.
    pub(crate) summary_job: Option<RunJob>,
}

/// A moment at which the last message of a space was the run's own, and the run had read all before
/// it.
#[derive(Clone, Copy)]
pub(crate) struct CaughtUp {
    pub(crate) space: SpaceId,
    pub(crate) at: Instant,
}

/// Calls of which not all have a result yet.
pub(crate) struct Pending {
    pub(crate) calls: Vec<CallBegun>,
    /// The stored record of each call, if there is one.
    pub(crate) known: Vec<Option<CallRecord>>,
    pub(crate) attempt: u32,
}

impl Pending {
    fn new(step: &StepRecord) -> Self {
        Self {
            calls: step.calls.clone(),
            known: vec![None; step.calls.len()],
            attempt: step.stream_attempt,
        }
    }

    /// The first call to make.
    pub(crate) fn next(&self) -> Option<usize> {
        (0..self.known.len()).find(|index| self.is_to_be_made(*index))
    }

    /// Whether a call has to be made: it has not begun, or it is an external call whose end is
    /// unknown.
    pub(crate) fn is_to_be_made(&self, index: usize) -> bool {
        self.known[index].as_ref().is_none_or(CallRecord::is_under_way)
    }

    /// The calls that were made. Forms among them may have no result yet.
    pub(crate) fn made(&self) -> impl Iterator<Item = &CallRecord> {
        self.known.iter().flatten().filter(|call| !call.is_under_way())
    }

    /// How many forms nobody has answered yet.
    pub(crate) fn open_forms(&self) -> u32 {
        self.made().filter(|call| call.status == CallStatus::Pending).count() as u32
    }
}

/// Whether the stored steps are all that the run did.
/// They expire after a time, even if the run still waits.
/// A worker that resumed from an incomplete record would repeat work.
pub(crate) fn is_whole(progress: &Progress, run: &RunRecord, now: Time) -> bool {
    // The table deletes expired items at any later time, in any order.
    let lasts = |expires_at: Option<i64>| expires_at.is_none_or(|at| at > now.as_seconds());
    // Every prompt has system texts. If there are none, a part of the prompt is gone.
    let prompt = progress
        .prompt
        .as_ref()
        .filter(|prompt| !prompt.system.is_empty() && lasts(prompt.expires_at));
    let steps = progress.steps.iter().filter(|step| lasts(step.expires_at));
    // A step and the step count are stored in one write, and the prompt with the first step.
    prompt.is_some() == (run.step_count > 0)
        && steps.map(|step| step.index).eq(0..run.step_count)
        && progress.calls.values().all(|call| lasts(call.expires_at))
}

impl State {
    /// The state at the beginning of the run, or after its last stored step.
    pub(crate) fn new(
        context: &RunContext,
        tools: &Toolbox,
        trouble: &[String],
        gathered: &Gathered,
        progress: Progress,
    ) -> Result<Self> {
        let mut state = if let Some(stored) = &progress.prompt {
            let prompt = Prompt {
                system: stored.system.clone(),
                rest: stored.rest()?,
                marks: stored.marks.clone(),
                first: 1,
                cuts: Vec::new(),
            };
            Self { prompt_is_stored: true, ..Self::at_beginning(context, gathered, prompt) }
        } else {
            let now = context.now();
            let prompt = prompt(gathered, &context.config, context.run.id, &context.trigger, now);
            let start = [start::facts(gathered, now), trouble.to_vec()].concat();
            Self { start, ..Self::at_beginning(context, gathered, prompt) }
        };
        state.replay(progress, tools);
        Ok(state)
    }

    fn at_beginning(context: &RunContext, gathered: &Gathered, prompt: Prompt) -> Self {
        let place = gathered.place.as_ref();
        State {
            messages: prompt.rest.messages.clone(),
            start: Vec::new(),
            summary_job: place.and_then(|place| {
                summary::behind(place, prompt.first, &context.config, context.run.agent_id)
            }),
            marks: prompt.marks.clone(),
            pages: Vec::new(),
            prompt,
            prompt_is_stored: false,
            steps: 0,
            pending: None,
            active_space: place.map(|place| place.space.id),
            usage: context.run.usage,
            last_usage: None,
            tools_used: Vec::new(),
            calls: BTreeMap::new(),
            system_messages: Vec::new(),
            is_fresh: true,
            entered: BTreeSet::new(),
            had_cards: false,
            caught_up: None,
        }
    }

    /// Adds the stored steps.
    fn replay(&mut self, progress: Progress, tools: &Toolbox) {
        let mut calls = progress.calls;
        let last = progress.steps.len();
        for (step, number) in progress.steps.into_iter().zip(1..) {
            self.add_system_messages(&step.system_messages);
            self.add_marks(&step.marks);
            let mut pending = self.add_answer(&step, tools);
            for (index, known) in pending.known.iter_mut().enumerate() {
                *known = calls.remove(&(step.index, index as u32));
                if let Some(record) = known {
                    self.add_result(record);
                }
            }
            if number < last {
                self.messages.push(results(pending.made()));
            } else {
                // Also if all its calls are done: the loop alone decides what follows from them.
                // A text that was streamed before its message was stored is replaced by that
                // message, since the stream keeps its id.
                self.pending = Some(pending);
            }
        }
    }

    /// The prompt, if it is not stored yet. It is packed only now, so that the first question to
    /// the model does not wait for that.
    pub(crate) fn prompt_to_store(&self) -> Result<Option<PromptRecord>> {
        if self.prompt_is_stored {
            return Ok(None);
        }
        let Prompt { system, rest, marks, cuts, .. } = &self.prompt;
        let (history, rest) = rest.cut(cuts);
        let record = PromptRecord::new(system, &rest, marks.clone())?;
        Ok(Some(record.with_history(history)))
    }

    /// Adds what the system says before the next step.
    pub(crate) fn add_system_messages(&mut self, messages: &[SystemMessage]) {
        let texts = messages.iter().map(|message| message.text.clone());
        self.messages.extend(texts.map(|text| Message::System { text }));
        self.system_messages.extend_from_slice(messages);
    }

    /// Adds a stored model answer. Returns its calls, which have to be made.
    pub(crate) fn add_answer(&mut self, step: &StepRecord, tools: &Toolbox) -> Pending {
        self.steps = step.index + 1;
        self.last_usage = Some(step.usage);
        self.messages.push(assistant(step));
        // If the model invented a tool, the result tells it so; repetitions are not counted.
        for call in step.calls.iter().filter(|call| tools.find(&call.name).is_some()) {
            *self.calls.entry((call.name.clone(), call.input.clone())).or_default() += 1;
        }
        Pending::new(step)
    }

    /// Adds what a call changed.
    pub(crate) fn add_result(&mut self, record: &CallRecord) {
        // A call without a card may be under way, but the run does not count it as open.
        self.had_cards |= record.card.is_some();
        self.active_space = record.active_space.or(self.active_space);
        self.entered.extend(record.active_space);
        self.add_marks(&record.marks);
        self.pages.extend(record.page);
        self.close_gaps();
        if counts_as_used(record) && !self.tools_used.contains(&record.name) {
            self.tools_used.push(record.name.clone());
        }
    }

    /// Adds how far the run has read.
    pub(crate) fn add_marks(&mut self, marks: &Marks) {
        for (space, mark) in marks {
            let read = self.marks.entry(*space).or_default();
            *read = (*read).max(*mark);
        }
    }

    /// Only messages read without a gap above the cursor count as read.
    /// A page may close the gap of another one, in any order.
    fn close_gaps(&mut self) {
        let extends = |page: &ShownPage, marks: &Marks| {
            let read = marks.get(&page.space).copied().unwrap_or(0).max(page.cursor);
            page.first <= read + 1 && page.last > read
        };
        while let Some(page) = self.pages.iter().find(|page| extends(page, &self.marks)) {
            self.marks.insert(page.space, page.last);
        }
    }

    /// An estimate of the tokens in the conversation. `None` before the first answer.
    pub(crate) fn tokens(&self) -> Option<u64> {
        let last = self.last_usage?;
        let added = self
            .messages
            .iter()
            .rev()
            .take_while(|message| !matches!(message, Message::Assistant { .. }))
            .map(characters);
        Some(
            last.input_tokens
                .saturating_add(last.output_tokens)
                .saturating_add(added.sum::<u64>() / 4),
        )
    }
}

fn characters(message: &Message) -> u64 {
    let texts = |texts: &[String]| texts.iter().map(|text| text.chars().count()).sum::<usize>();
    let count = match message {
        Message::User { blocks } => texts(blocks),
        Message::Assistant { text, .. } | Message::System { text } => text.chars().count(),
        Message::ToolResults { results } => {
            results.iter().map(|result| result.output.to_string().chars().count()).sum()
        }
    };
    count as u64
}

fn assistant(step: &StepRecord) -> Message {
    let calls = step.calls.iter().map(|call| ToolCall {
        call_id: call.call_id,
        name: call.name.clone(),
        input: call.input.clone(),
    });
    Message::Assistant { text: step.text.clone(), calls: calls.collect() }
}

/// The results of an answer's calls, as a message to the model.
pub(crate) fn results<'a>(made: impl Iterator<Item = &'a CallRecord>) -> Message {
    let results =
        made.map(|record| ToolResult { call_id: record.call_id, output: record.output.clone() });
    Message::ToolResults { results: results.collect() }
}
