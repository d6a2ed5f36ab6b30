//! Puts what is known of a space into one sequence of events of a turn.
//!
//! Frames come in any order, repeat each other, and can be lost; a client needs an order. So
//! [`TurnSequencer`] stores the state of the space and emits each event once, when the events that
//! must precede it are out: a run starts before its texts, a text starts before its deltas, and a
//! run ends after its texts. [`TurnSequencer::on_event`] takes one frame, and
//! [`TurnSequencer::sync`] the result of reading the space, which fills in the lost frames.
//!
//! Before the turn is followed, the setup says what the client already shows:
//!
//! | call | the message | the result of its card |
//! |---|---|---|
//! | [`TurnSequencer::mark_shown`] | is not emitted | is emitted only if it comes later |
//! | [`TurnSequencer::suppress`] | is not emitted | is not emitted |
//! | `suppress`, then [`TurnSequencer::mark_card`] | is not emitted | is emitted |
//! | [`TurnSequencer::emit_late`] | is emitted, although later ones are shown | is emitted |

mod texts;

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
};

use smartspace_domain::{
    events::{AskedCall, EventKind, StreamEnd, StreamKind},
    ids::{CallId, EntityId, MessageId, RunId, StreamId},
    messages::{Message, ToolPart},
    runs::{EndReason, Run, RunStatus},
    spaces::Space,
    steps::CallStatus,
};

use self::texts::{Stream, StreamHead};
use crate::turn::{Asked, TurnEnd, TurnEvent, TurnTracker, card_of, waits_for_people};

/// The state of a space during a turn, and the events that are out.
#[derive(Debug)]
pub(crate) struct TurnSequencer {
    tracker: TurnTracker,
    asked: Asked,
    names: BTreeMap<EntityId, String>,
    runs: BTreeMap<RunId, Run>,
    /// The runs whose start was emitted, and whether their end was.
    started_runs: BTreeMap<RunId, bool>,
    streams: BTreeMap<StreamId, Stream>,
    /// The client has the messages up to this `seq`.
    after: u64,
    /// The `seq` of every message that was seen.
    seqs: BTreeSet<u64>,
    /// Messages that were emitted or suppressed.
    emitted: BTreeSet<MessageId>,
    /// Messages up to `after` that are emitted nevertheless.
    late: BTreeSet<MessageId>,
    /// The cards that the client has.
    cards: BTreeMap<CallId, Card>,
    /// The cards that wait for people, each with the `seq` of its message.
    forms: BTreeMap<CallId, (u64, AskedCall)>,
    out: Vec<TurnEvent>,
}

/// Whether the space was read since the last frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadState {
    /// It was: no message of a run that has ended is missing.
    Complete,
    /// Messages can be missing, because frames can be late or lost.
    Partial,
}

/// A card that the client has.
#[derive(Debug)]
struct Card {
    seq: u64,
    run: Option<RunId>,
    /// Whether the client has the result of its call.
    has_result: bool,
}

impl TurnSequencer {
    /// A sequencer for `caller`, whose client has the messages up to the `seq` `after`.
    pub(crate) fn new(caller: EntityId, space: &Space, tracker: TurnTracker, after: u64) -> Self {
        let names = space.members.iter().map(|member| (member.id, member.name.clone()));
        Self {
            tracker,
            asked: Asked::in_space(caller, space),
            names: names.collect(),
            runs: BTreeMap::new(),
            started_runs: BTreeMap::new(),
            streams: BTreeMap::new(),
            after,
            seqs: BTreeSet::new(),
            emitted: BTreeSet::new(),
            late: BTreeSet::new(),
            cards: BTreeMap::new(),
            forms: BTreeMap::new(),
            out: Vec::new(),
        }
    }

    /// Records that the client shows this message, and its card as it is.
    pub(crate) fn mark_shown(&mut self, message: &Message) {
        self.suppress(message);
        if let Some(card) = card_of(message) {
            self.mark_card(message, card.status != CallStatus::Pending);
        }
    }

    /// Emits nothing for this message. Its effects still count.
    pub(crate) fn suppress(&mut self, message: &Message) {
        self.emitted.insert(message.id);
        self.seqs.insert(message.seq);
        self.tracker.sync(std::slice::from_ref(message), &[]);
        self.see_form(message);
    }

    /// Emits this message although the client has later ones.
    pub(crate) fn emit_late(&mut self, message: &Message) {
        self.late.insert(message.id);
    }

    /// Records that the client has the card of this message. `has_result` says whether it also has
    /// the result of the call.
    pub(crate) fn mark_card(&mut self, message: &Message, has_result: bool) {
        if let Some(card) = card_of(message) {
            let seq = message.seq;
            let run = message.run_id;
            self.cards.insert(card.call_id, Card { seq, run, has_result });
        }
    }

    /// The runs of the turn whose status is unknown.
    pub(crate) fn unknown_runs(&self) -> Vec<RunId> {
        self.tracker.unknown_runs()
    }

    /// Records that a run is no longer stored.
    pub(crate) fn run_expired(&mut self, run: RunId) {
        self.tracker.run_expired(run);
    }

    /// The `seq` of the cards that must be read again.
    ///
    /// A card's result comes as `message.updated`, which repeats the `seq` of the card. If that
    /// frame is lost, no gap in the `seq`s shows it. But a run continues only after its calls have
    /// results: so a card without one, of a run that no longer waits, has missed its frame.
    pub(crate) fn seqs_to_reread(&self) -> Vec<u64> {
        let of_turn = self.tracker.runs();
        let may_have_result = |card: &&Card| {
            let run = card.run.filter(|run| of_turn.contains(run));
            let run = run.and_then(|run| self.runs.get(&run));
            !card.has_result && run.is_some_and(|run| run.status != RunStatus::WaitingTool)
        };
        self.cards.values().filter(may_have_result).map(|card| card.seq).collect()
    }

    /// Takes messages and runs that were read over HTTP, the runs first. In this order no message
    /// is missing of a run that has ended: a run posts before it ends.
    pub(crate) fn sync(&mut self, messages: &[Message], runs: &[Run]) -> Vec<TurnEvent> {
        self.apply(messages, runs);
        self.drop_texts_of_remote_runs();
        self.flush(ReadState::Complete)
    }

    /// Takes messages and runs that were read before the turn is followed. The messages were read
    /// first, so the last ones of a run that has ended since can be missing.
    pub(crate) fn preload(&mut self, messages: &[Message], runs: &[Run]) -> Vec<TurnEvent> {
        self.apply(messages, runs);
        self.flush(ReadState::Partial)
    }

    fn apply(&mut self, messages: &[Message], runs: &[Run]) {
        // First all members, then the runs, then their messages: a message is emitted only after
        // the start of its run, which must be known as one of the turn by then.
        self.tracker.sync(messages, runs);
        for run in runs {
            self.see_run(run);
        }
        self.start_runs();
        for message in messages {
            self.see_message(message);
        }
    }

    /// Takes an event of the space.
    pub(crate) fn on_event(&mut self, event: EventKind) -> Vec<TurnEvent> {
        self.tracker.on_event(&event);
        if let Some(run) = event.run() {
            self.see_run(run);
        }
        match event {
            EventKind::MessageCreated { message } | EventKind::MessageUpdated { message } => {
                self.start_runs();
                self.see_message(&message);
            }
            EventKind::StreamStarted {
                stream_id: stream,
                run_id: run,
                call_id: call,
                attempt,
                sender,
                kind: StreamKind::Message,
                ..
            } => self.start_stream(stream, StreamHead { run, call, attempt, sender }),
            // A delta can come before the start of its stream, so it creates the stream, too.
            EventKind::StreamDelta { stream_id, offset, text } => {
                self.streams.entry(stream_id).or_default().text.add(offset, &text);
            }
            EventKind::StreamSnapshot { stream_id, offset, text } => {
                let stream = self.streams.entry(stream_id).or_default();
                stream.text.add(offset.unwrap_or(0), &text);
            }
            // Not for `StreamEnd::Canceled`: the text of a canceled run is posted a moment later.
            EventKind::StreamEnded {
                stream_id,
                message_id: None,
                reason: Some(StreamEnd::Absorbed | StreamEnd::Failed),
            } => self.drop_stream(stream_id),
            EventKind::MemberJoined { member } => {
                self.names.insert(member.id, member.name);
            }
            _ => {}
        }
        self.flush(ReadState::Partial)
    }

    /// Whether a run of the turn has sent the message.
    pub(crate) fn is_of_turn(&self, message: &Message) -> bool {
        message.run_id.is_some_and(|run| self.tracker.runs().contains(&run))
    }

    /// Whether the turn is over, as far as is known.
    pub(crate) fn is_over(&self) -> bool {
        self.tracker.is_over()
    }

    /// The last `seq` before the first gap. Messages are read from there on.
    pub(crate) fn complete_to(&self) -> u64 {
        let mut last = self.after;
        while self.seqs.contains(&(last + 1)) {
            last += 1;
        }
        last
    }

    /// Ends the turn with everything that is still open. Returns the last events.
    pub(crate) fn end(&mut self) -> (Vec<TurnEvent>, TurnEnd) {
        let streams: Vec<_> = self.streams.keys().copied().collect();
        for stream in streams {
            self.drop_stream(stream);
        }
        let events = self.flush(ReadState::Complete);
        let of_turn = self.tracker.runs();
        let mut forms: Vec<_> = self.forms.values().collect();
        forms.retain(|(_, form)| of_turn.contains(&form.run_id) && self.asked.by(form));
        forms.sort_by_key(|(seq, _)| *seq);
        let forms = forms.into_iter().map(|(_, form)| form.clone()).collect();
        let runs: Vec<_> = of_turn.iter().filter_map(|id| self.runs.get(id)).collect();
        let has_failed = |run: &&Run| run.status == RunStatus::Failed;
        let failure = runs.iter().all(has_failed).then(|| runs.first()?.error.clone()).flatten();
        let open_runs = self.started_runs.iter().filter(|(_, has_ended)| !**has_ended);
        let open_runs = open_runs.map(|(run, _)| {
            let known = self.runs.get(run);
            (*run, known.map_or(RunStatus::Running, |run| run.status))
        });
        let open_runs = open_runs.collect();
        (events, TurnEnd { open_runs, forms, failure })
    }

    /// Takes the events that are ready.
    fn flush(&mut self, read_state: ReadState) -> Vec<TurnEvent> {
        self.start_runs();
        self.emit_texts();
        // The frame of a run's end can overtake those of its messages. While the turn goes on, a
        // late message of a run that has ended does no harm. But clients expect no message after
        // the end of the last run, so that end waits until the space is read.
        if read_state == ReadState::Complete || !self.is_over() {
            self.end_runs();
        }
        mem::take(&mut self.out)
    }

    fn see_run(&mut self, run: &Run) {
        // A run that has ended stays so: a frame of an earlier status can come later. A frame from
        // before a question counts fewer steps.
        let known = self.runs.get(&run.id);
        let is_late = known.is_some_and(|known| {
            !known.status.is_active() || run.status.is_active() && run.step_count < known.step_count
        });
        if !is_late {
            let waited = known.is_some_and(|known| known.status == RunStatus::WaitingTool);
            if waited && run.status == RunStatus::Running && self.has_started(run.id) {
                self.out.push(TurnEvent::RunResumed { run: run.id });
            }
            self.runs.insert(run.id, run.clone());
        }
        // Another run answers instead, so the texts of this one are never posted.
        let is_replaced = [EndReason::Absorbed, EndReason::Superseded, EndReason::Coalesced];
        if run.end_reason.is_some_and(|reason| is_replaced.contains(&reason)) {
            self.drop_texts_of(run.id);
        }
    }

    fn see_form(&mut self, message: &Message) {
        let Some(form) = AskedCall::of(message) else { return };
        if waits_for_people(form.status, form.approval.as_ref()) {
            self.forms.insert(form.call_id, (message.seq, form));
        } else {
            self.forms.remove(&form.call_id);
        }
    }

    fn see_message(&mut self, message: &Message) {
        self.seqs.insert(message.seq);
        let is_wanted = message.seq > self.after || self.late.contains(&message.id);
        let is_new = is_wanted && self.emitted.insert(message.id);
        self.see_form(message);
        // The frame of the message can overtake `run.started`.
        if is_new
            && let Some(run) = message.run_id
            && self.tracker.runs().contains(&run)
        {
            self.start_run(run, message.sender.name.clone());
        }
        if let Some(card) = card_of(message) {
            self.see_card(message, card, is_new);
        } else if is_new {
            self.end_text(message);
        }
    }

    fn see_card(&mut self, message: &Message, card: &ToolPart, is_new: bool) {
        // A call that was approved before its page gets it has two cards.
        let is_first = card.page_of.is_some() || !self.cards.contains_key(&card.call_id);
        if is_new && is_first {
            self.mark_card(message, false);
            let may_answer = AskedCall::of(message).is_some_and(|form| self.asked.by(&form));
            self.out.push(TurnEvent::Card { message: message.clone().into(), may_answer });
        }
        // The frame with the result can be the first one of the card. Then both events are emitted
        // now, and the late frame of the pending card changes nothing.
        if card.status != CallStatus::Pending
            && let Some(Card { has_result: has_result @ false, seq, .. }) =
                self.cards.get_mut(&card.call_id)
            && *seq == message.seq
        {
            *has_result = true;
            self.out.push(TurnEvent::CardEnded(message.clone().into()));
        }
    }

    /// Emits the start of the runs of the turn that have started.
    fn start_runs(&mut self) {
        for id in self.tracker.runs() {
            let Some(run) = self.runs.get(&id) else { continue };
            let has_started = match run.status {
                RunStatus::Queued => false,
                RunStatus::Canceled => run.started_at.is_some(),
                _ => true,
            };
            if has_started {
                let name = self.names.get(&run.agent_id).cloned();
                let name = name.unwrap_or_else(|| run.agent_id.to_string());
                self.start_run(id, name);
            }
        }
    }

    fn has_started(&self, run: RunId) -> bool {
        self.started_runs.contains_key(&run)
    }

    fn start_run(&mut self, run: RunId, agent: String) {
        if self.has_started(run) {
            return;
        }
        self.started_runs.insert(run, false);
        self.out.push(TurnEvent::RunStarted { run, agent });
    }

    /// Emits the end of the runs that have ended and have no open text. A text stays open until its
    /// message arrives, which can be after the end of the run.
    fn end_runs(&mut self) {
        for (id, has_ended) in &mut self.started_runs {
            let ended = self.runs.get(id).filter(|run| !run.status.is_active());
            let Some(run) = ended.filter(|_| !*has_ended) else { continue };
            let mut streams = self.streams.values();
            if !streams.any(|stream| stream.is_of(*id) && stream.is_open()) {
                *has_ended = true;
                let status = run.status;
                let error = run.error.clone();
                self.out.push(TurnEvent::RunEnded { run: *id, status, error });
            }
        }
    }
}

#[cfg(test)]
mod tests;
