//! The state of a run between two steps: at its beginning, or after its last stored step.

mod compaction;
mod conversation;
mod decisions;
mod pauses;
mod pending;
mod replay;
mod scripted_cause;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::Value;
use smartspace_domain::{
    Result, Time,
    agents::Speaks,
    ids::SpaceId,
    jobs::RunJob,
    runs::{Usage, UsageByModel},
    steps::{FinishReason, SystemMessage},
    tools::EDIT_MESSAGE,
};
use smartspace_models::port::{Message, ScriptCause};
use smartspace_store::runs::{
    places::{Places, Reads},
    prompts::PromptRecord,
    steps::{CallRecord, CallUsage, Marks, Progress, ShownPage, StepRecord},
};
use tokio::time::Instant;

use crate::{
    dry_run::DryRun,
    prompt::{
        Prompt, PromptRun, changes::OwnChange, names::Names, placed::Placed,
        reading::PromptSources, run_activity::counts_as_used, window::Room, write_prompt,
    },
    run_context::RunContext,
    summaries,
    tools::{
        builtin::react::has_answered, calling::is_incomplete, configured::mcp::McpProblems,
        toolbox::Toolbox,
    },
    watchers::start,
};
use conversation::assistant;
pub(crate) use conversation::results;
pub(crate) use pending::{NextCall, Pending};
pub(crate) use replay::{has_asked, is_whole};
use scripted_cause::scripted_cause;

/// How often the history of a prompt is halved that the model finds too long.
const MAX_HALVINGS: u32 = 2;

/// The room for the history of a prompt of this run.
fn room(context: &RunContext, tools: &Toolbox, halvings: u32) -> Room {
    let speaks_json = context.model.speaks == Speaks::Json;
    Room {
        window: context.window(),
        answer: context.model.max_output_tokens,
        // Such a model gets no tools.
        tools: if speaks_json { 0 } else { tools.characters() },
        halvings,
    }
}

/// A run's state between two steps.
pub(crate) struct State {
    pub(crate) prompt: Prompt,
    /// How the run writes the names of senders.
    pub(crate) names: Names,
    /// The prompt is stored together with the first answer.
    pub(crate) prompt_is_stored: bool,
    /// The prompt of the run that a fork replays.
    replayed_prompt: Option<PromptRecord>,
    pub(crate) messages: Vec<Message>,
    /// Why the run was started, if one of its models plays a script.
    pub(crate) cause: Option<Arc<ScriptCause>>,
    pub(crate) steps: u32,
    /// The calls of the last answer, if not all of them are known to have a result.
    pub(crate) pending: Option<Pending>,
    pub(crate) active_space: Option<SpaceId>,
    pub(crate) marks: Marks,
    /// The messages that the run has read.
    pub(crate) reads: Reads,
    /// Up to which value of `HEAD.changed` the run knows the changes of each space's messages. 0 if
    /// it is not here.
    pub(crate) known_changes: Marks,
    /// Pages of messages that were shown, perhaps with a gap below them.
    pub(crate) pages: Vec<ShownPage>,
    /// The usage of the run so far.
    pub(crate) used: UsageByModel,
    /// The usage of the last answer alone.
    pub(crate) last_usage: Option<Usage>,
    pub(crate) first_token_at: Option<Time>,
    pub(crate) tools_used: Vec<String>,
    /// How many of the oldest results are cut. See [`compaction`].
    pub(crate) cut_results: u32,
    /// Of how many of the oldest answers the opaque marks are cut.
    pub(crate) cut_opaque: u32,
    /// The number of results at the last cut that shortened one.
    pub(crate) shortened: u32,
    /// As many of them as the model has been notified of.
    pub(crate) known_shortened: u32,
    /// The room that the present prompt was written for, if the model found an earlier one too
    /// long.
    rewritten_for: Option<Room>,
    /// The characters that the usage of the last answer counts, and that were cut since.
    pub(crate) saved_chars: u64,
    /// The run has posted a message or a card, or has reacted to a message.
    pub(crate) has_posted: bool,
    /// How many of the last answers in a row were cut at `maxOutputTokens`, in the middle of a
    /// call.
    pub(crate) cuts: u32,
    /// The last answer was text alone.
    pub(crate) ended_with_text: bool,
    /// How often each tool was called with each input since results were shortened.
    pub(crate) calls: BTreeMap<(String, String), u32>,
    /// All messages of the system in this run.
    pub(crate) system_messages: Vec<SystemMessage>,
    /// Texts for the model before its first step.
    pub(crate) start: Vec<String>,
    /// Notes about servers for the operator, to be stored with the next step.
    pub(crate) server_notes: Vec<String>,
    /// The next action is the first one of this invocation. It begins however little time is left;
    /// otherwise no invocation would ever begin it.
    pub(crate) is_first_action: bool,
    /// The spaces that the prompt names, with their names.
    pub(crate) spaces: Vec<(SpaceId, String)>,
    /// The spaces that the run has entered. If no space triggered it, they get its system messages.
    pub(crate) entered: BTreeSet<SpaceId>,
    /// The run has posted cards before their result: forms or external calls.
    pub(crate) had_cards: bool,
    pub(crate) caught_up: Option<CaughtUp>,
    /// When the run last did something. It may have waited since. See [`pauses`].
    last_action: Time,
    /// How the forms of the last answer ended.
    answers: Vec<Placed>,
    /// What changed in the agent's state since the prompt was stored.
    changed: Vec<String>,
    /// The calls of the run that changed that state, or messages.
    own_changes: Vec<OwnChange>,
    /// The tools and inputs of the calls that people have declined in this run.
    declined: Vec<(String, Value)>,
    /// A summary to write. It is queued when the model is asked.
    pub(crate) summary_job: Option<RunJob>,
}

fn prompt_run(context: &RunContext) -> PromptRun<'_> {
    let RunContext { run, trigger, .. } = context;
    PromptRun { id: run.id, trigger, chain_depth: run.chain_depth }
}

/// A moment at which the last message of a space was the run's own, and the run had read all before
/// it.
#[derive(Clone, Copy)]
pub(crate) struct CaughtUp {
    pub(crate) space: SpaceId,
    pub(crate) at: Instant,
}

impl State {
    /// The state at the beginning of the run, or after its last stored step.
    pub(crate) fn new(
        context: &RunContext,
        tools: &Toolbox,
        mcp_problems: &McpProblems,
        sources: &PromptSources,
        mut progress: Progress,
    ) -> Result<Self> {
        if let Some(dry_run) = &context.dry_run {
            progress.forget_other_models(dry_run.fork, &context.model.full_name());
        }
        let mut state = if let Some(stored) = &progress.prompt {
            let prompt = Prompt {
                system: stored.system.clone(),
                body: stored.rest()?,
                marks: stored.marks.clone(),
                changed: stored.changed.clone(),
                first_seq: 1,
                cuts: Vec::new(),
            };
            let state = Self::at_beginning(context, sources, prompt);
            match &context.dry_run {
                None => Self { prompt_is_stored: true, ..state },
                Some(dry_run) => state.replaying(dry_run, context, sources, tools, &progress),
            }
        } else {
            let now = context.now();
            let room = room(context, tools, 0);
            let prompt = write_prompt(sources, &context.config, prompt_run(context), now, room);
            let start = [start::facts(sources, now), mcp_problems.for_model.clone()].concat();
            let server_notes = mcp_problems.for_operator.clone();
            Self { start, server_notes, ..Self::at_beginning(context, sources, prompt) }
        };
        let own = context.dry_run.as_ref().map_or(0, |dry_run| dry_run.fork.step);
        if state.prompt_is_stored {
            state.last_action = context.run.started_at.unwrap_or(context.run.created_at);
        }
        state.replay(progress, own, tools);
        if state.prompt_is_stored && context.dry_run.is_none() {
            state.note_changes(context, sources);
        }
        Ok(state)
    }

    /// The same for a fork, whose prompt is that of the run that it replays, until it has stored an
    /// answer of its own. Where its instructions or its model differ, the first part is new.
    fn replaying(
        mut self,
        dry_run: &DryRun,
        context: &RunContext,
        sources: &PromptSources,
        tools: &Toolbox,
        progress: &Progress,
    ) -> Self {
        self.summary_job = None;
        self.prompt_is_stored = progress.steps.iter().any(|step| step.index >= dry_run.fork.step);
        if self.prompt_is_stored {
            return self;
        }
        if dry_run.has_own_rules {
            let run = PromptRun { id: dry_run.fork.run_id, ..prompt_run(context) };
            let room = room(context, tools, 0);
            let now = context.now();
            self.prompt.system = write_prompt(sources, &context.config, run, now, room).system;
        }
        self.replayed_prompt.clone_from(&progress.prompt);
        self
    }

    fn at_beginning(context: &RunContext, sources: &PromptSources, prompt: Prompt) -> Self {
        let trigger_space = sources.trigger_space.as_ref();
        State {
            messages: prompt.body.messages.clone(),
            cause: scripted_cause(context, sources, prompt.body.messages.len()),
            start: Vec::new(),
            server_notes: Vec::new(),
            summary_job: trigger_space.and_then(|trigger_space| {
                summaries::due_job(
                    trigger_space,
                    prompt.first_seq,
                    &context.config,
                    context.run.agent_id,
                )
            }),
            marks: prompt.marks.clone(),
            reads: Reads::new(),
            known_changes: prompt.changed.clone(),
            pages: Vec::new(),
            prompt,
            names: sources.names.clone(),
            prompt_is_stored: false,
            replayed_prompt: None,
            steps: 0,
            pending: None,
            active_space: trigger_space.map(|it| it.space.id),
            used: UsageByModel::default(),
            last_usage: None,
            first_token_at: None,
            cut_results: 0,
            cut_opaque: 0,
            shortened: 0,
            known_shortened: 0,
            rewritten_for: None,
            saved_chars: 0,
            tools_used: Vec::new(),
            has_posted: false,
            cuts: 0,
            ended_with_text: false,
            calls: BTreeMap::new(),
            system_messages: Vec::new(),
            is_first_action: true,
            spaces: sources.cards.iter().map(|(space, card)| (*space, card.name.clone())).collect(),
            entered: BTreeSet::new(),
            had_cards: false,
            caught_up: None,
            last_action: context.now(),
            answers: Vec::new(),
            changed: Vec::new(),
            own_changes: Vec::new(),
            declined: Vec::new(),
        }
    }

    /// Writes the prompt anew, since the model says that it is too long: for the window that the
    /// model's server has named, else with half the history, twice. Returns false if it is stored,
    /// or can't be shorter.
    pub(crate) fn shorten(
        &mut self,
        context: &RunContext,
        sources: &PromptSources,
        tools: &Toolbox,
    ) -> bool {
        let before = self.rewritten_for;
        let is_named = before.is_none() && context.models.window(&context.model).is_some();
        let halvings = if is_named { 0 } else { before.map_or(0, |room| room.halvings) + 1 };
        if self.prompt_is_stored || self.replayed_prompt.is_some() || halvings > MAX_HALVINGS {
            return false;
        }
        let room = room(context, tools, halvings);
        let now = context.now();
        let prompt = write_prompt(sources, &context.config, prompt_run(context), now, room);
        // The notices of this step stay behind the prompt.
        let notices = self.messages.split_off(self.prompt.body.messages.len());
        self.messages = prompt.body.messages.iter().cloned().chain(notices).collect();
        self.cause = scripted_cause(context, sources, prompt.body.messages.len());
        self.marks = prompt.marks.clone();
        self.prompt = prompt;
        self.rewritten_for = Some(room);
        true
    }

    /// The prompt, if it is not stored yet. It is packed only now, so that the first question to
    /// the model does not wait for that.
    pub(crate) fn prompt_to_store(&self, tools: &Toolbox) -> Result<Option<PromptRecord>> {
        if self.prompt_is_stored {
            return Ok(None);
        }
        let Prompt { system, body, marks, changed, cuts, .. } = &self.prompt;
        if let Some(replayed) = &self.replayed_prompt {
            return replayed.with_rules(system, &tools.names()).map(Some);
        }
        let places = body.places_of_parts(cuts);
        let (history, mut body) = body.cut(cuts);
        body.tools = tools.names().into_iter().map(str::to_owned).collect();
        let mut record = PromptRecord::new(system, &body, marks.clone())?;
        record.changed.clone_from(changed);
        Ok(Some(record.with_history(history).with_places(places)))
    }

    /// Adds the messages of the system before the next step.
    pub(crate) fn add_system_messages(&mut self, messages: &[SystemMessage]) {
        let for_model = messages.iter().filter(|message| message.is_for_model());
        let texts = for_model.map(|message| message.text.clone());
        self.messages.extend(texts.map(|text| Message::System { text }));
        self.system_messages.extend_from_slice(messages);
    }

    /// The notes about servers that the run does not have yet.
    pub(crate) fn take_server_notes(&mut self) -> Vec<SystemMessage> {
        let mut notes = Vec::new();
        for text in std::mem::take(&mut self.server_notes) {
            let note = SystemMessage::about_server(text);
            if !self.system_messages.contains(&note) && !notes.contains(&note) {
                notes.push(note);
            }
        }
        notes
    }

    /// Adds a stored model answer. Returns its calls, which have to be made.
    pub(crate) fn add_answer(&mut self, step: &StepRecord, tools: &Toolbox) -> Pending {
        self.steps = step.index + 1;
        self.last_usage = Some(step.usage);
        self.first_token_at = self.first_token_at.or(step.first_token_at);
        self.saved_chars = 0;
        self.last_action = step.finished_at;
        self.answers.clear();
        self.messages.push(assistant(step));
        self.ended_with_text = step.calls.is_empty() && step.finish_reason != FinishReason::Pause;
        let is_cut =
            step.finish_reason == FinishReason::Length && step.calls.iter().any(is_incomplete);
        self.cuts = if is_cut { self.cuts + 1 } else { 0 };
        // Calls of a tool that does not exist are not counted: their results say so.
        for call in step.calls.iter().filter(|call| tools.find(&call.name).is_some()) {
            *self.calls.entry((call.name.clone(), call.input.clone())).or_default() += 1;
        }
        Pending::new(step)
    }

    /// Adds the effects of a call.
    pub(crate) fn add_result(&mut self, record: &CallRecord) {
        self.note_call(record);
        // A call without a card may be under way, but the run does not count it as open.
        self.had_cards |= record.card.is_some();
        self.has_posted |= record.card.is_some() || has_answered(record);
        self.active_space = record.active_space.or(self.active_space);
        self.entered.extend(record.active_space);
        self.add_marks(&record.marks);
        self.add_places(&record.places);
        if let (Some(space), Some(changed)) = (record.active_space, record.changed) {
            self.known_changes.entry(space).or_insert(changed);
        }
        self.pages.extend(record.page);
        self.close_gaps();
        if counts_as_used(record) && !self.tools_used.contains(&record.name) {
            self.tools_used.push(record.name.clone());
        }
    }

    /// Adds the usage of a call. It is called once for each call.
    pub(crate) fn add_usage(&mut self, record: &CallRecord) {
        if let Some(CallUsage { model, usage }) = &record.used {
            self.used.add(model, *usage);
        }
    }

    /// Adds the messages at these places to those that the run has read.
    pub(crate) fn add_places(&mut self, places: &Places) {
        places.add_to(&mut self.reads);
    }

    /// The messages that the run has read, with those of its prompt.
    pub(crate) fn all_reads(&self) -> Reads {
        let mut reads = self.reads.clone();
        self.prompt.body.places.add_to(&mut reads);
        reads
    }

    /// Adds how far the run has read.
    pub(crate) fn add_marks(&mut self, marks: &Marks) {
        for (space, mark) in marks {
            let read = self.marks.entry(*space).or_default();
            *read = (*read).max(*mark);
        }
    }

    /// Up to which value of `HEAD.changed` the run knows the changes of the messages of a space.
    pub(crate) fn known_changes_of(&self, space: SpaceId) -> u64 {
        self.known_changes.get(&space).copied().unwrap_or(0)
    }

    /// Adds up to which changes of messages the run knows.
    pub(crate) fn add_known_changes(&mut self, changed: &Marks) {
        for (space, at) in changed {
            let known = self.known_changes.entry(*space).or_default();
            *known = (*known).max(*at);
        }
    }

    /// Whether the run may have been shown a message: by its prompt, as news, or on a page. A
    /// resumed run no longer knows where its prompt began.
    pub(crate) fn has_shown(&self, space: SpaceId, seq: u64) -> bool {
        let of_prompt = self.prompt.marks.contains_key(&space);
        let first = if of_prompt { self.prompt.first_seq } else { 1 };
        let is_on =
            |page: &ShownPage| page.space == space && (page.first..=page.last).contains(&seq);
        let read = self.marks.get(&space).copied().unwrap_or(0);
        (first..=read).contains(&seq) || self.pages.iter().any(is_on)
    }

    /// The messages of a space that calls of the run have edited or deleted.
    pub(crate) fn own_edits(&self) -> Vec<u64> {
        let edits = self.own_changes.iter().filter(|own| own.tool == EDIT_MESSAGE);
        edits.filter_map(|own| own.input["seq"].as_u64()).collect()
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
}
