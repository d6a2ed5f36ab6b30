//! Where a run stands between two steps: at its beginning, or behind what is kept of it.

use std::collections::{BTreeMap, BTreeSet};

use smartspace_domain::{
    Result, Time,
    ids::SpaceId,
    jobs::RunJob,
    runs::Usage,
    steps::{CallStatus, SystemMessage},
};
use smartspace_models::port::{Message, ToolCall, ToolResult};
use smartspace_store::{
    prompts::PromptRecord,
    runs::RunRecord,
    steps::{CallBegun, CallRecord, Marks, Progress, ShownPage, StepRecord},
};
use tokio::time::Instant;

use crate::{
    context::{Prompt, prompt, reading::Gathered},
    summary,
    tools::{self, toolbox::Toolbox},
    watchers::start,
    worker::Worker,
};

/// A run's state between two steps.
pub(crate) struct State {
    pub(crate) prompt: Prompt,
    /// It is kept with the first answer, and was not yet.
    pub(crate) unkept: bool,
    pub(crate) messages: Vec<Message>,
    pub(crate) steps: u32,
    /// The last answer's calls that have no result yet, with the try that made them.
    pub(crate) pending: Option<Pending>,
    pub(crate) active_space: Option<SpaceId>,
    pub(crate) marks: Marks,
    /// What was shown besides, perhaps with a gap below it.
    pub(crate) pages: Vec<ShownPage>,
    pub(crate) usage: Usage,
    /// What the last answer used alone.
    pub(crate) last_usage: Option<Usage>,
    pub(crate) tools_used: Vec<String>,
    /// How often each tool was called with each input.
    pub(crate) calls: BTreeMap<(String, String), u32>,
    /// What the system said in this run.
    pub(crate) said: Vec<SystemMessage>,
    /// What there is to say before the first step.
    pub(crate) start: Vec<String>,
    /// Nothing was kept in this invocation yet. What comes first is begun however little time is left: else nobody ever would.
    pub(crate) fresh: bool,
    /// Spaces that it has entered; told of where no space woke it.
    pub(crate) entered: BTreeSet<SpaceId>,
    /// It has had cards without a result: forms, or calls outside.
    pub(crate) asked: bool,
    /// When it was known that the space's last message is the run's own, and all before it was read.
    pub(crate) newest_at: Option<(SpaceId, Instant)>,
    /// A summary that is to be written, once the model has been asked.
    pub(crate) behind: Option<RunJob>,
}

/// Calls of which not all have a result yet.
pub(crate) struct Pending {
    pub(crate) calls: Vec<CallBegun>,
    /// What is known of each.
    pub(crate) known: Vec<Option<CallRecord>>,
    pub(crate) attempt: u32,
}

impl Pending {
    fn new(step: &StepRecord) -> Self {
        Self { calls: step.calls.clone(), known: vec![None; step.calls.len()], attempt: step.stream_attempt }
    }

    /// The first call that is still to be made.
    pub(crate) fn next(&self) -> Option<usize> {
        (0..self.known.len()).find(|index| self.is_to_be_made(*index))
    }

    /// Whether a call is still to be made: it was not begun, or it began outside and nobody knows its end.
    pub(crate) fn is_to_be_made(&self, index: usize) -> bool {
        self.known[index].as_ref().is_none_or(CallRecord::is_under_way)
    }

    /// Calls that were made; of forms, perhaps without a result.
    pub(crate) fn made(&self) -> impl Iterator<Item = &CallRecord> {
        self.known.iter().flatten().filter(|call| !call.is_under_way())
    }

    /// Forms that nobody has answered yet.
    pub(crate) fn open_forms(&self) -> u32 {
        self.made().filter(|call| call.status == CallStatus::Pending).count() as u32
    }
}

/// Whether what is kept is all that the run did. It is dropped after a time, also where the run still waits; who went on from the rest would do the
/// first of it again.
pub(crate) fn is_whole(progress: &Progress, run: &RunRecord, now: Time) -> bool {
    // The table drops what has expired when it likes, and in no order.
    let lasts = |expires_at: Option<i64>| expires_at.is_none_or(|at| at > now.as_seconds());
    // Nobody has no rules: where they are empty a part of the prompt is gone.
    let prompt = progress.prompt.as_ref().filter(|prompt| !prompt.system.is_empty() && lasts(prompt.expires_at));
    let steps = progress.steps.iter().filter(|step| lasts(step.expires_at));
    // An answer and its number are kept in one write, and the prompt with the first.
    prompt.is_some() == (run.step_count > 0)
        && steps.map(|step| step.index).eq(0..run.step_count)
        && progress.calls.values().all(|call| lasts(call.expires_at))
}

impl Worker {
    /// Where the run stands: at its beginning, or behind what is kept of it.
    pub(crate) fn state(&self, gathered: &Gathered, progress: Progress) -> Result<State> {
        let now = self.pipeline.now();
        let unkept = progress.prompt.is_none();
        let prompt = if let Some(kept) = &progress.prompt {
            Prompt { system: kept.system.clone(), rest: kept.rest()?, marks: kept.marks.clone(), first: 1, cuts: Vec::new() }
        } else {
            prompt(gathered, &self.config, self.run.id, &self.trigger, now)
        };
        let place = gathered.place.as_ref();
        let mut state = State {
            messages: prompt.rest.messages.clone(),
            start: if unkept { [start::facts(gathered, now), self.trouble.clone()].concat() } else { Vec::new() },
            behind: place.and_then(|place| summary::behind(place, prompt.first, &self.config, self.run.agent_id)),
            marks: prompt.marks.clone(),
            pages: Vec::new(),
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
            entered: BTreeSet::new(),
            asked: false,
            newest_at: None,
        };
        let (mut calls, last) = (progress.calls, progress.steps.len());
        for (step, number) in progress.steps.into_iter().zip(1..) {
            state.tell(&step.system_messages);
            state.took(&step.marks);
            let mut pending = state.answered(&step, &self.tools);
            for (index, known) in pending.known.iter_mut().enumerate() {
                *known = calls.remove(&(step.index, index as u32));
                if let Some(record) = known {
                    state.take_in(record);
                }
            }
            if number < last {
                state.messages.push(results(pending.made()));
            } else {
                // Also where all are done: what follows from them is decided once. What was streamed before its message could be kept is replaced
                // by that message: the stream is the same.
                state.pending = Some(pending);
            }
        }
        Ok(state)
    }
}

impl State {
    /// The prompt as it is to be kept; none where it is. Packed only then: the first question waits for nothing.
    pub(crate) fn prompt_to_keep(&self) -> Result<Option<PromptRecord>> {
        let Prompt { system, rest, marks, cuts, .. } = &self.prompt;
        let kept = || {
            let (history, rest) = rest.cut(cuts);
            PromptRecord::new(system, &rest, marks.clone()).map(|prompt| prompt.behind(history))
        };
        self.unkept.then(kept).transpose()
    }

    /// Puts what the system says before the next step.
    pub(crate) fn tell(&mut self, said: &[SystemMessage]) {
        self.messages.extend(said.iter().map(|said| Message::System { text: said.text.clone() }));
        self.said.extend_from_slice(said);
    }

    /// Takes in an answer that was kept: its calls are to be made.
    pub(crate) fn answered(&mut self, step: &StepRecord, tools: &Toolbox) -> Pending {
        self.steps = step.index + 1;
        self.last_usage = Some(step.usage);
        self.messages.push(assistant(step));
        // A tool that the model made up has a result that says so.
        for call in step.calls.iter().filter(|call| tools.find(&call.name).is_some()) {
            *self.calls.entry((call.name.clone(), call.input.clone())).or_default() += 1;
        }
        Pending::new(step)
    }

    /// Takes in what a finished call changed.
    pub(crate) fn take_in(&mut self, record: &CallRecord) {
        // One that is not shown may be under way, and does not count on the run.
        self.asked |= record.card.is_some();
        self.active_space = record.active_space.or(self.active_space);
        self.entered.extend(record.active_space);
        self.took(&record.marks);
        self.pages.extend(record.page);
        self.close_gaps();
        if tools::counts_as_used(record) && !self.tools_used.contains(&record.name) {
            self.tools_used.push(record.name.clone());
        }
    }

    /// Takes in how far something read.
    pub(crate) fn took(&mut self, marks: &Marks) {
        for (space, mark) in marks {
            let read = self.marks.entry(*space).or_default();
            *read = (*read).max(*mark);
        }
    }

    /// Only what is read without a gap above the cursor counts; pages may close the gaps of others, whichever was read first.
    fn close_gaps(&mut self) {
        let extends = |page: &ShownPage, marks: &Marks| {
            let read = marks.get(&page.space).copied().unwrap_or(0).max(page.cursor);
            page.first <= read + 1 && page.last > read
        };
        while let Some(page) = self.pages.iter().find(|page| extends(page, &self.marks)) {
            self.marks.insert(page.space, page.last);
        }
    }

    /// Tokens that stand in the conversation; none before the first answer.
    pub(crate) fn tokens(&self) -> Option<u64> {
        let last = self.last_usage?;
        let added = self.messages.iter().rev().take_while(|message| !matches!(message, Message::Assistant { .. })).map(characters);
        Some(last.input_tokens.saturating_add(last.output_tokens).saturating_add(added.sum::<u64>() / 4))
    }
}

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

/// What came of the calls of an answer.
pub(crate) fn results<'a>(made: impl Iterator<Item = &'a CallRecord>) -> Message {
    let results = made.map(|record| ToolResult { call_id: record.call_id, output: record.output.clone() });
    Message::ToolResults { results: results.collect() }
}
