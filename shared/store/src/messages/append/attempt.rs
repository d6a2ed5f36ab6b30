//! One attempt of an append: the transaction and its result.

use serde_json::Value;
use smartspace_domain::{
    Time,
    append_limits::AppendWindow,
    dispatch::Dispatch,
    entities::EntityType,
    gate::Gate,
    ids::{EntityId, SpaceId},
    jobs::RunJob,
    messages::Sender,
    quota::Bucket,
    runs::Run,
    spaces::Role,
    steps::CallStatus,
};

use crate::{
    Result, Store,
    attachments::{FileRecord, naming},
    messages::{
        append::{
            Appended, Authority, Content, MessageSource, NewMessage, RunSender, draft::Draft,
            space_as_read::SpaceAsRead, wakes::with_wakes,
        },
        in_thread,
        mentions::mention_writes,
        pages::page_write,
    },
    runs::{
        ActiveRecord, FirstPost, RunRecord,
        approvals::FormApproval,
        cards::{CardRef, OpenCall},
        forms::FormRecord,
        steps::{CallRecord, was_stopped, worker_keeps},
        triggers, with_first_post,
    },
    shared::{
        member::is_member,
        message::{LongDispatch, MessageRecord, Overflow},
    },
    table::{keys, write::Write},
};

/// The longest transaction, in writes. DynamoDB takes 100.
const WRITES: usize = 95;

pub(super) struct Attempt {
    pub(super) writes: Vec<Write>,
    pub(super) record: MessageRecord,
    /// The messages of this second, including this one.
    pub(super) second: Option<AppendWindow>,
    overflow: Overflow,
    /// Which agents the message triggers, unless that is decided later.
    dispatch: Option<Vec<Dispatch>>,
    /// What the gate said, if it is not in the message's own item.
    gate: Option<Gate>,
    by_owner: bool,
    changed: u64,
    /// The result of the call that posts the message.
    call_output: Option<Value>,
    triggered: Vec<RunJob>,
    queued: Vec<(Run, usize)>,
    never_started: Vec<Run>,
    superseded: Vec<RunRecord>,
    taken: Vec<(EntityId, Bucket)>,
    auto_since: Option<u64>,
    /// Whether the message moves its space in the list by activity.
    moves_space: bool,
}

impl Attempt {
    pub(super) fn new(
        store: &Store,
        new: &NewMessage,
        files: &[FileRecord],
        as_read: &SpaceAsRead,
        now: Time,
    ) -> Result<Self> {
        // The number of writes is known only after the runs are placed: a run in a lane writes its
        // slots, its lane and the runs that it replaces, too. A message that triggers too many then
        // counts its runs at once and leaves the rest to the trigger function.
        let draft = || Draft::new(new, as_read, store.append_limit, now);
        let attempt = Self::of(store, new, files, as_read, draft()?, now)?;
        if attempt.writes.len() <= WRITES {
            return Ok(attempt);
        }
        Self::of(store, new, files, as_read, draft()?.decided_later(), now)
    }

    fn of(
        store: &Store,
        new: &NewMessage,
        files: &[FileRecord],
        as_read: &SpaceAsRead,
        draft: Draft,
        now: Time,
    ) -> Result<Self> {
        let (record, overflow) = draft.record(new, now);
        let head = draft.head(new.space, record.chain_id(), as_read)?;
        let message =
            Write::put(keys::numbered(new.space, keys::MSG, record.seq), &record)?.if_absent();
        // Every transaction writes or checks the sender's item. Otherwise a member that leaves
        // between the read and the write would post into a space that it has left.
        let sender = match new.by.end() {
            Some(end) => end.member(new.space, record.seq)?,
            None => sender_write(new.space, &record.sender, record.seq)?,
        };
        let is_later = draft.is_decided_later;
        let has_gate = record.gate.is_some();
        let mut attempt = Self {
            writes: vec![head, message, sender],
            record,
            second: draft.second,
            overflow,
            triggered: Vec::with_capacity(draft.taken.len()),
            queued: Vec::new(),
            never_started: Vec::new(),
            superseded: Vec::new(),
            gate: draft.gated.map(|gated| gated.gate).filter(|_| !has_gate),
            dispatch: (!is_later).then_some(draft.dispatch),
            by_owner: as_read.sender()?.role == Role::Owner,
            changed: as_read.head.changed,
            call_output: None,
            taken: if is_later { Vec::new() } else { draft.taken },
            auto_since: draft.auto_since,
            moves_space: draft.listed.is_some(),
        };
        attempt.store_overflow(new.space)?;
        if let Some(page) = new.by.page() {
            attempt.writes.push(page_write(new.space, attempt.record.seq, page)?);
        }
        let thread = attempt.record.thread;
        let in_thread = thread.map(|first| in_thread(new.space, first, attempt.record.seq));
        attempt.writes.extend(in_thread.transpose()?);
        attempt.writes.extend(mention_writes(new.space, &attempt.record, &as_read.roster)?);
        attempt.store_source(new, as_read, now)?;
        let named = files.iter().map(|file| file.id);
        attempt.writes.extend(naming(new.space, attempt.record.seq, named)?);
        attempt.place_runs(store, new.space, as_read, now)?;
        Ok(attempt)
    }

    /// Stores the parts that are too long for the message's own item.
    fn store_overflow(&mut self, space: SpaceId) -> Result<()> {
        let seq = self.record.seq;
        if self.record.has_overflow() {
            self.writes.push(Write::put(keys::numbered(space, keys::TEXT, seq), &self.overflow)?);
        }
        if let Some(dispatch) = self.dispatch.clone().filter(|_| self.record.dispatch_apart) {
            let key = keys::numbered(space, keys::WOKEN, seq);
            let gate = self.gate.clone();
            self.writes.push(Write::put(key, &LongDispatch { dispatch, gate })?);
        }
        Ok(())
    }

    /// Stores the items that make the message happen only once: the idempotency key of a request,
    /// and the call of a run.
    fn store_source(&mut self, new: &NewMessage, as_read: &SpaceAsRead, now: Time) -> Result<()> {
        if let Some(key) = new.by.key() {
            self.writes.push(key.write(&self.record.seq.to_string(), now)?);
        }
        match &new.by {
            MessageSource::External { .. } => Ok(()),
            MessageSource::Run(by) => {
                self.writes.extend(run_writes(by, new, self.record.seq)?);
                if let Authority::Stopped { call_position: (step, index), .. } = &by.authority {
                    // The worker may have stored the call and died before it saw the answer. The
                    // message is then posted, and must not be posted again as a partial one.
                    let call = Write::check(keys::call(by.run, *step, *index));
                    self.writes.push(call.if_absent());
                }
                // The call is stored with its message: a worker that takes over the run finds both
                // or neither, so it neither posts twice nor loses the message.
                let Some(call) = by.authority.call() else { return Ok(()) };
                let output = match new.content {
                    // A card triggers nobody.
                    Content::Card(_) => call.output.clone(),
                    Content::Text(_) | Content::Files => {
                        let members = &as_read.roster.members;
                        with_wakes(&call.output, self.dispatch.as_deref(), members)
                    }
                };
                self.call_output = Some(output.clone());
                // The card that showed the call to the people who have approved it.
                let shown = call.card;
                let card = self.open_card(new.space).or(shown);
                let sent_seq = call.sent_excerpt.as_ref().map(|_| self.record.seq);
                let call = CallRecord { output, sent_seq, card, ..call.clone() };
                match shown {
                    Some(shown) if call.status == CallStatus::Pending => {
                        self.writes.push(call.write_approved(by.run)?);
                        self.writes.extend(shown.asked(now)?);
                    }
                    _ => {
                        self.writes.push(call.write(by.run)?);
                        self.writes.extend(call.card_writes()?);
                    }
                }
                self.store_form(new, by, &call)
            }
        }
    }

    /// Stores the question of a form with its run, so that an answer needs no other item.
    fn store_form(&mut self, new: &NewMessage, by: &RunSender, stored: &CallRecord) -> Result<()> {
        let Content::Card(card) = &new.content else { return Ok(()) };
        let (Some(asks), Some(call)) = (&card.asks, OpenCall::of(by.run, stored)) else {
            return Ok(());
        };
        let form = FormRecord {
            call,
            result_schema: asks.result_schema.clone().unwrap_or_default(),
            answer_by: asks.answered_by(),
            until: asks.until,
            approval: asks.approval.as_ref().map(|new| FormApproval {
                rule: new.rule.clone(),
                input_schema: new.input_schema.clone(),
            }),
            expires_at: stored.expires_at,
        };
        self.writes.push(Write::put(keys::form(by.run, card.call_id), &form)?);
        Ok(())
    }

    /// Adds a run for each agent that the message triggers.
    fn place_runs(
        &mut self,
        store: &Store,
        space: SpaceId,
        as_read: &SpaceAsRead,
        now: Time,
    ) -> Result<()> {
        let name = &as_read.space.settings.name;
        for dispatch in self.dispatch.iter().flatten() {
            let (Some(run), Some(source)) = (dispatch.run_id, dispatch.source) else { continue };
            let agent = dispatch.agent_id;
            let new = RunRecord::triggered(run, agent, space, &self.record, source, now);
            let new = new.traced(store);
            let active = ActiveRecord::triggered(&new, space, name, &self.record);
            let view = |run: &RunRecord| {
                run.view(triggers::of_message(run, name, &self.record, None), None)
            };
            let placement = as_read.place(store, new, active, self.auto_since, now)?;
            self.writes.extend(placement.writes);
            self.triggered.extend(placement.jobs);
            self.queued.extend(placement.queued.map(|(run, position)| (view(&run), position)));
            self.never_started.extend(placement.never_started.as_ref().map(view));
            self.superseded.extend(placement.superseded);
        }
        Ok(())
    }

    fn open_card(&self, space: SpaceId) -> Option<CardRef> {
        self.record.is_open().then(|| CardRef {
            space,
            seq: self.record.seq,
            is_apart: self.record.has_overflow(),
        })
    }

    /// The result, once the transaction has taken effect.
    pub(super) fn appended(self, space: SpaceId) -> Appended {
        let open_card = self.open_card(space);
        let gate = self.gate;
        let apart = self.dispatch.map(|dispatch| LongDispatch { dispatch, gate });
        let message = self.record.view(space, self.overflow, apart);
        Appended {
            message,
            call_output: self.call_output,
            triggered: self.triggered,
            queued: self.queued,
            never_started: self.never_started,
            superseded: self.superseded,
            taken: self.taken,
            repeated: false,
            by_owner: self.by_owner,
            changed: Some(self.changed),
            moves_space: self.moves_space,
            open_card,
        }
    }
}

/// Checks that the sender is a member. People have read what they post; the cursor of an agent
/// moves when its run completes.
fn sender_write(space: SpaceId, sender: &Sender, seq: u64) -> Result<Write> {
    if sender.kind == EntityType::Agent {
        return Ok(is_member(space, sender.id));
    }
    Write::update(keys::member(space, sender.id), "SET #readSeq = :seq").value(":seq", seq)
}

/// The writes of the sending run's state: they check the lease, or that this worker was the last
/// one.
fn run_writes(by: &RunSender, new: &NewMessage, seq: u64) -> Result<Vec<Write>> {
    let post = |write: Write| {
        let home = by.origin.trigger.space_id();
        with_first_post(write, FirstPost::of(new.space, seq, home))
    };
    let lease = match &by.authority {
        Authority::Lease { lease, .. } => lease,
        Authority::Last { end, .. } => return end.writes_with(new.space, seq),
        Authority::Remote { lease, call, marks, .. } => {
            let mut marks = marks.clone();
            // A message right after the last one that the agent has read counts as read.
            if let Some(read) = marks.get_mut(&new.space).filter(|read| **read + 1 == seq) {
                *read = seq;
            }
            let also = "#activeSpaceId = :space, #stepCount = :next, #marks = :marks, ";
            let write = worker_keeps(by.run, lease, also)?
                // The number of posted messages is the step of the call. Of two messages at the
                // same moment one is refused here, so that both do not get the same call.
                .when("#stepCount = :posted")
                .value(":space", new.space)?
                .value(":marks", marks)?
                .value(":posted", call.step)?
                .value(":next", call.step + 1)?;
            return Ok(vec![post(write)?]);
        }
        Authority::Stopped { claims, .. } => return Ok(vec![was_stopped(by.run, *claims)?]),
    };
    let keeps = |also: &str| worker_keeps(by.run, lease, also);
    let write = match &new.content {
        Content::Text(_) | Content::Files => {
            post(keeps("#activeSpaceId = :space, ")?.value(":space", new.space)?)
        }
        Content::Card(card) if card.status == CallStatus::Pending => {
            keeps("#openCalls = if_not_exists(#openCalls, :none) + :one, ")?
                .value(":none", 0)?
                .value(":one", 1)
        }
        Content::Card(_) => keeps(""),
    };
    Ok(vec![write?])
}
