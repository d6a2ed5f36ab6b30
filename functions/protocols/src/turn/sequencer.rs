//! What a door tells of a space while a turn lasts, in an order that clients can follow.
//!
//! Frames come in any order and some are lost; what [`Narration`] tells has an order: a run starts
//! before it writes, a text begins before it goes on, and all of it is told once.

mod told;

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
};

use smartspace_domain::{
    access::{Caller, Membership},
    events::{AskedCall, EventKind, StreamEnd, StreamKind},
    ids::{CallId, EntityId, MessageId, RunId, StreamId},
    messages::{Message, Sender, ToolPart},
    runs::{EndReason, Run, RunStatus},
    spaces::Space,
    steps::CallStatus,
    tools::AnswerBy,
};

pub(crate) use self::told::{Ending, Told, card_of};
use crate::{live_text::LiveText, turn::Turn};

/// The state of what is told.
#[derive(Debug)]
pub(crate) struct Narration {
    turn: Turn,
    me: EntityId,
    membership: Option<Membership>,
    names: BTreeMap<EntityId, String>,
    runs: BTreeMap<RunId, Run>,
    /// The runs that were told to have started, and whether they were told to have ended.
    told_runs: BTreeMap<RunId, bool>,
    streams: BTreeMap<StreamId, Stream>,
    /// Messages up to this `seq` are known to the client.
    after: u64,
    /// The messages that were told or are known to the client, by their `seq`.
    seqs: BTreeSet<u64>,
    told: BTreeSet<MessageId>,
    /// Messages up to `after` that are told nevertheless.
    late: BTreeSet<MessageId>,
    /// The cards that the client knows.
    cards: BTreeMap<CallId, Card>,
    forms: BTreeMap<CallId, AskedCall>,
    out: Vec<Told>,
}

/// Whether the space was read, so that no message is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Checked {
    Yes,
    No,
}

/// A card that the client knows.
#[derive(Debug)]
struct Card {
    seq: u64,
    run: Option<RunId>,
    /// Whether the client knows the result of its call.
    has_result: bool,
}

#[derive(Debug, Default)]
struct Stream {
    about: Option<About>,
    text: LiveText,
    is_told: bool,
    is_closed: bool,
}

/// What `stream.started` says.
#[derive(Debug)]
struct About {
    run: RunId,
    call: CallId,
    attempt: u32,
    sender: Sender,
}

impl Narration {
    /// What is told of `turn` to `me`, who knows the messages up to the number `after`.
    pub(crate) fn new(me: EntityId, space: &Space, turn: Turn, after: u64) -> Self {
        let member = space.members.iter().find(|member| member.id == me);
        let names = space.members.iter().map(|member| (member.id, member.name.clone()));
        Self {
            turn,
            me,
            membership: member.map(|member| Membership {
                role: member.role,
                kind: member.kind,
                guest: member.guest,
            }),
            names: names.collect(),
            runs: BTreeMap::new(),
            told_runs: BTreeMap::new(),
            streams: BTreeMap::new(),
            after,
            seqs: BTreeSet::new(),
            told: BTreeSet::new(),
            late: BTreeSet::new(),
            cards: BTreeMap::new(),
            forms: BTreeMap::new(),
            out: Vec::new(),
        }
    }

    /// The client knows this message.
    pub(crate) fn is_known(&mut self, message: &Message) {
        self.leaves_out(message);
        if let Some(card) = card_of(message) {
            self.knows_card(message, card.status != CallStatus::Pending);
        }
    }

    /// Nothing is told of this message.
    pub(crate) fn leaves_out(&mut self, message: &Message) {
        self.told.insert(message.id);
        self.seqs.insert(message.seq);
        self.turn.knows(std::slice::from_ref(message), &[]);
        self.saw_form(message);
    }

    /// This message is told, although the client knows later ones.
    pub(crate) fn tells_late(&mut self, message: &Message) {
        self.late.insert(message.id);
    }

    /// The runs of the turn about which nothing is known.
    pub(crate) fn unknown_runs(&self) -> Vec<RunId> {
        self.turn.unknown_runs()
    }

    /// The API does not know the run any longer.
    pub(crate) fn forgets(&mut self, run: RunId) {
        self.turn.forgets(run);
    }

    /// The client knows the card that the message shows.
    pub(crate) fn knows_card(&mut self, message: &Message, has_result: bool) {
        if let Some(card) = card_of(message) {
            let (seq, run) = (message.seq, message.run_id);
            self.cards.insert(card.call_id, Card { seq, run, has_result });
        }
    }

    /// The `seq` of the cards of the turn that may have a result that the client does not know,
    /// because a frame was lost.
    pub(crate) fn open_cards(&self) -> Vec<u64> {
        let of_turn = self.turn.runs();
        let may_have_result = |card: &&Card| {
            let run = card.run.filter(|run| of_turn.contains(run));
            let run = run.and_then(|run| self.runs.get(&run));
            !card.has_result && run.is_some_and(|run| run.status != RunStatus::WaitingTool)
        };
        self.cards.values().filter(may_have_result).map(|card| card.seq).collect()
    }

    /// Takes note of what the API says about the messages and runs of the space. The messages were
    /// read after the runs, so that none of a run that has ended is missing.
    pub(crate) fn knows(&mut self, messages: &[Message], runs: &[Run]) -> Vec<Told> {
        self.learn(messages, runs);
        self.drop_texts_of_remote_runs();
        self.go_on(Checked::Yes)
    }

    /// The same, if the messages were read before the runs: some of them may be missing.
    pub(crate) fn begins_with(&mut self, messages: &[Message], runs: &[Run]) -> Vec<Told> {
        self.learn(messages, runs);
        self.go_on(Checked::No)
    }

    /// What a remote agent has shown and not posted by the end of its run, it never posts, and
    /// nobody says so.
    fn drop_texts_of_remote_runs(&mut self) {
        let has_ended = |stream: &Stream| {
            let run = stream.about.as_ref().and_then(|about| self.runs.get(&about.run));
            run.is_some_and(|run| run.remote && !run.status.is_active())
        };
        let left = self.streams.iter().filter(|(_, stream)| has_ended(stream));
        let left: Vec<_> = left.map(|(id, _)| *id).collect();
        for stream in left {
            self.drop_stream(stream);
        }
    }

    fn learn(&mut self, messages: &[Message], runs: &[Run]) {
        self.turn.knows(messages, runs);
        for run in runs {
            self.saw_run(run);
        }
        self.start_runs();
        for message in messages {
            self.saw_message(message);
        }
    }

    /// Takes note of an event of the space.
    pub(crate) fn saw(&mut self, event: EventKind) -> Vec<Told> {
        self.turn.saw(&event);
        if let Some(run) = event.run() {
            self.saw_run(run);
        }
        match event {
            EventKind::MessageCreated { message } | EventKind::MessageUpdated { message } => {
                self.start_runs();
                self.saw_message(&message);
            }
            EventKind::StreamStarted {
                stream_id: stream,
                run_id: run,
                call_id: call,
                attempt,
                sender,
                kind: StreamKind::Message,
                ..
            } => self.saw_stream(stream, About { run, call, attempt, sender }),
            EventKind::StreamDelta { stream_id, offset, text } => {
                self.streams.entry(stream_id).or_default().text.add(offset, &text);
            }
            EventKind::StreamSnapshot { stream_id, offset, text } => {
                let stream = self.streams.entry(stream_id).or_default();
                stream.text.add(offset.unwrap_or(0), &text);
            }
            // What a canceled run has written is posted a moment later.
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
        self.go_on(Checked::No)
    }

    /// Whether a run of the turn sent the message.
    pub(crate) fn is_of_turn(&self, message: &Message) -> bool {
        message.run_id.is_some_and(|run| self.turn.runs().contains(&run))
    }

    /// Whether the turn is over.
    pub(crate) fn is_over(&self) -> bool {
        self.turn.is_over()
    }

    /// Whether a text that was told is neither posted nor dropped.
    pub(crate) fn has_open_text(&self) -> bool {
        self.streams.values().any(|stream| stream.is_told && !stream.is_closed)
    }

    /// The last `seq` up to which no message is missing.
    pub(crate) fn complete_to(&self) -> u64 {
        let mut last = self.after;
        while self.seqs.contains(&(last + 1)) {
            last += 1;
        }
        last
    }

    /// Ends the turn, whatever is still open. Returns what is told last.
    pub(crate) fn end(&mut self) -> (Vec<Told>, Ending) {
        let open: Vec<_> = self.streams.keys().copied().collect();
        for stream in open {
            self.drop_stream(stream);
        }
        let told = self.go_on(Checked::Yes);
        let is_of_turn = self.turn.runs();
        let forms = self.forms.values().filter(|form| is_of_turn.contains(&form.run_id));
        let forms = forms.filter(|form| self.may_answer(form.answer_by.as_ref()));
        let runs: Vec<_> = is_of_turn.iter().filter_map(|id| self.runs.get(id)).collect();
        let has_failed = |run: &&Run| run.status == RunStatus::Failed;
        let failure = runs.iter().all(has_failed).then(|| runs.first()?.error.clone()).flatten();
        let open = self.told_runs.iter().filter(|(_, has_ended)| !**has_ended);
        let open = open.map(|(run, _)| {
            let known = self.runs.get(run);
            (*run, known.map_or(RunStatus::Running, |run| run.status))
        });
        let open = open.collect();
        (told, Ending { open, forms: forms.cloned().collect(), failure })
    }

    /// Whether the reader may answer a form with this `answerBy`.
    pub(crate) fn may_answer(&self, by: Option<&AnswerBy>) -> bool {
        let caller = Caller::Entity(self.me);
        by.is_some_and(|by| caller.may_answer(by, self.membership).is_ok())
    }

    fn go_on(&mut self, checked: Checked) -> Vec<Told> {
        self.start_runs();
        self.tell_texts();
        // The last run ends after its messages, whose frames may come later.
        if checked == Checked::Yes || !self.is_over() {
            self.end_runs();
        }
        mem::take(&mut self.out)
    }

    fn saw_run(&mut self, run: &Run) {
        let known = self.runs.get(&run.id);
        if known.is_none_or(|known| known.status.is_active()) {
            self.runs.insert(run.id, run.clone());
        }
        // Another run answers instead, so nothing is posted of what it has written.
        let is_replaced = [EndReason::Absorbed, EndReason::Superseded, EndReason::Coalesced];
        if run.end_reason.is_some_and(|reason| is_replaced.contains(&reason)) {
            let is_its = |stream: &Stream| stream.about.as_ref().is_some_and(|it| it.run == run.id);
            let its = self.streams.iter().filter(|(_, stream)| is_its(stream));
            let its: Vec<_> = its.map(|(id, _)| *id).collect();
            for stream in its {
                self.drop_stream(stream);
            }
        }
    }

    fn saw_form(&mut self, message: &Message) {
        let Some(form) = AskedCall::of(message) else { return };
        if form.status == CallStatus::Pending {
            self.forms.insert(form.call_id, form);
        } else {
            self.forms.remove(&form.call_id);
        }
    }

    fn saw_stream(&mut self, id: StreamId, about: About) {
        let others = self.streams.iter().filter_map(|(id, stream)| {
            let other = stream.about.as_ref().filter(|other| other.call == about.call)?;
            Some((*id, other.attempt))
        });
        let others: Vec<_> = others.filter(|(other, _)| *other != id).collect();
        for (other, attempt) in &others {
            if *attempt < about.attempt {
                self.drop_stream(*other);
            }
        }
        let is_old = others.iter().any(|(_, attempt)| *attempt > about.attempt);
        let stream = self.streams.entry(id).or_default();
        stream.is_closed |= is_old;
        stream.about.get_or_insert(about);
    }

    fn saw_message(&mut self, message: &Message) {
        self.seqs.insert(message.seq);
        let is_wanted = message.seq > self.after || self.late.contains(&message.id);
        let is_new = is_wanted && self.told.insert(message.id);
        self.saw_form(message);
        if is_new
            && let Some(run) = message.run_id
            && self.turn.runs().contains(&run)
        {
            self.start_run(run, message.sender.name.clone());
        }
        if let Some(card) = card_of(message) {
            self.saw_card(message, card, is_new);
        } else if is_new {
            self.saw_text(message);
        }
    }

    fn saw_card(&mut self, message: &Message, card: &ToolPart, is_new: bool) {
        if is_new && !self.cards.contains_key(&card.call_id) {
            self.knows_card(message, false);
            self.out.push(Told::Card(message.clone().into()));
        }
        if card.status != CallStatus::Pending
            && let Some(Card { has_result: has_result @ false, .. }) =
                self.cards.get_mut(&card.call_id)
        {
            *has_result = true;
            self.out.push(Told::CardEnded(message.clone().into()));
        }
    }

    fn saw_text(&mut self, message: &Message) {
        let message: Box<Message> = message.clone().into();
        let Some(id) = message.stream_id else { return self.out.push(Told::Message(message)) };
        let stream = self.streams.entry(id).or_default();
        let was_open = stream.is_told && !stream.is_closed;
        stream.is_closed = true;
        if was_open {
            let rest = stream.text.rest_of(message.text()).map(str::to_owned);
            self.out.push(Told::TextEnded { stream: id, rest, message });
        } else {
            self.out.push(Told::Message(message));
        }
    }

    fn drop_stream(&mut self, id: StreamId) {
        let stream = self.streams.entry(id).or_default();
        if stream.is_told && !stream.is_closed {
            self.out.push(Told::TextDropped { stream: id });
        }
        stream.is_closed = true;
    }

    /// Tells of the runs of the turn that have started.
    fn start_runs(&mut self) {
        for id in self.turn.runs() {
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

    fn start_run(&mut self, run: RunId, agent: String) {
        if self.told_runs.contains_key(&run) {
            return;
        }
        self.told_runs.insert(run, false);
        self.out.push(Told::RunStarted { run, agent });
    }

    /// Tells what the runs of the turn have written.
    fn tell_texts(&mut self) {
        let of_turn = self.turn.runs();
        let mut streams = mem::take(&mut self.streams);
        for (id, stream) in &mut streams {
            let about = stream.about.as_ref().filter(|about| of_turn.contains(&about.run));
            let Some(about) = about.filter(|_| !stream.is_closed) else { continue };
            let text = stream.text.take();
            if text.is_empty() {
                continue;
            }
            if !stream.is_told {
                stream.is_told = true;
                self.start_run(about.run, about.sender.name.clone());
                let (run, sender) = (about.run, about.sender.clone());
                self.out.push(Told::TextStarted { stream: *id, run, sender });
            }
            self.out.push(Told::Text { stream: *id, text });
        }
        self.streams = streams;
    }

    /// Tells of the runs that have ended, once their texts have, too.
    fn end_runs(&mut self) {
        for (id, has_ended) in &mut self.told_runs {
            let ended = self.runs.get(id).filter(|run| !run.status.is_active());
            let Some(run) = ended.filter(|_| !*has_ended) else { continue };
            let writes = self.streams.values().any(|stream| {
                let is_its = stream.about.as_ref().is_some_and(|about| about.run == *id);
                is_its && stream.is_told && !stream.is_closed
            });
            if !writes {
                *has_ended = true;
                let (status, error) = (run.status, run.error.clone());
                self.out.push(Told::RunEnded { run: *id, status, error });
            }
        }
    }
}

#[cfg(test)]
mod tests;
