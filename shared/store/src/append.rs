//! Append is dispatch: one transaction keeps the message at the space's next number, and with it the decision whom it wakes and a queued
//! run for each of them. Nobody decides again.
//!
//! What the transaction checks, and why:
//! - `HEAD` is still at n: the space has one order; and at this version of the roster: whoever joined is asked, whoever left is not
//! - there is no message at n + 1: the token of a first try whose answer was lost is found there
//! - the sender is still a member
//! - from a run: the lease is still the worker's, and the call is not done yet
//! - the idempotency key is new

use std::collections::BTreeMap;

use serde_json::Value;
use smartspace_domain::{
    Time,
    dispatch::{Decided, Dispatch, Gate, Listener, Reason, Said, decide},
    ids::{CallId, EntityId, LeaseId, MessageId, RunId, SpaceId, StreamId},
    jobs::RunJob,
    limits,
    messages::{Message, Origin, Sender, excerpt},
    shares::{Half, Minute},
    steps::CallStatus,
    tools::AnswerBy,
};
use tokio::time::{Duration, Instant};

use crate::{
    Error, Result, Store,
    cards::{CardPlace, OpenCall},
    forms::FormRecord,
    keys,
    messages::{Apart, Asks, CutJson, LongDispatch, MessageRecord, ToolCard},
    posted::{PostKey, Posted},
    rosters::{Head, MemberRecord, Roster, no_such_space},
    runs::{ActiveRecord, RunRecord},
    spaces::SpaceRecord,
    steps::{CallRecord, worker_keeps},
    table::WriteError,
    write::Write,
};

/// How long a lost race is tried again.
pub const RACED_FOR: Duration = Duration::from_secs(5);

/// A message that is to be kept.
#[derive(Clone, Debug)]
pub struct NewMessage {
    /// Its id, made before the first try: the token by which a lost answer is known.
    pub id: MessageId,
    /// Where.
    pub space: SpaceId,
    /// Who; must be a member.
    pub sender: EntityId,
    /// What; checked before.
    pub content: Content,
    /// By which way it came.
    pub by: By,
}

/// What a message is made of.
#[derive(Clone, Debug)]
pub enum Content {
    /// Something that was said.
    Text(String),
    /// A tool call. It wakes nobody.
    Card(Box<NewCard>),
}

/// A tool call that is to be shown.
#[derive(Clone, Debug)]
pub struct NewCard {
    /// The call.
    pub call_id: CallId,
    /// The tool.
    pub name: String,
    /// What it was called with.
    pub input: Value,
    /// What came of it, where that is known.
    pub output: Option<Value>,
    /// How it stands.
    pub status: CallStatus,
    /// What it asks people.
    pub asks: Option<NewForm>,
}

/// What a call is to ask people.
#[derive(Clone, Debug)]
pub struct NewForm {
    /// How it is shown.
    pub ui: String,
    /// What an answer must look like.
    pub result_schema: Option<Value>,
    /// Who may answer.
    pub answer_by: AnswerBy,
    /// Until when.
    pub until: Time,
}

impl NewCard {
    /// As it is kept, and what of it stands apart.
    fn split(&self) -> (ToolCard, Apart) {
        let (input, whole_input) = CutJson::of(&self.input);
        let output = self.output.as_ref().map(CutJson::of);
        let (output, whole_output) = output.map_or((None, None), |(output, whole)| (Some(output), whole));
        let asks = self.asks.as_ref().map(|form| Asks {
            ui: form.ui.clone(),
            has_schema: form.result_schema.is_some(),
            answer_by: form.answer_by.clone(),
            until: form.until,
            resolved_by: None,
        });
        let result_schema = self.asks.as_ref().and_then(|form| form.result_schema.as_ref()).map(Value::to_string);
        let (call_id, name, status) = (self.call_id, self.name.clone(), self.status);
        let apart = Apart { text: None, input: whole_input, output: whole_output, result_schema };
        (ToolCard { call_id, name, input, output, status, asks }, apart)
    }
}

/// By which way a message came.
#[derive(Clone, Debug)]
pub enum By {
    /// HTTP or a socket.
    Door {
        /// The caller's idempotency key.
        key: Option<PostKey>,
        /// How deep in a chain of agents' doings the caller says that it is.
        depth: u32,
    },
    /// A tool of a run.
    Run(Box<ByRun>),
}

/// What a run's message brings along.
#[derive(Clone, Debug)]
pub struct ByRun {
    /// The run.
    pub run: RunId,
    /// The worker's lease.
    pub lease: LeaseId,
    /// The run's depth plus one.
    pub depth: u32,
    /// Why it speaks.
    pub origin: Origin,
    /// The stream that the message ends.
    pub stream: StreamId,
    /// The call, with its result: kept in the same transaction, so that it happens once.
    pub call: CallRecord,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Appended {
    /// The message, as kept.
    pub message: Message,
    /// Runs that it woke, to be queued.
    pub woken: Vec<RunJob>,
    /// Whose they are, and from which half of each agent's minute; to be counted.
    pub taken: Vec<(EntityId, Half)>,
    /// It was kept before, by the same key or call.
    pub repeated: bool,
    /// Where it is, where it shows a call that has no result yet.
    pub open_card: Option<CardPlace>,
}

/// A space, as a message finds it.
struct Room {
    space: SpaceRecord,
    head: Head,
    sender: Option<MemberRecord>,
    roster: std::sync::Arc<Roster>,
    gates: BTreeMap<EntityId, Gate>,
    /// The agents' runs of this minute.
    minutes: BTreeMap<EntityId, Minute>,
}

impl Store {
    /// Keeps a message and wakes whom it wakes. Loses races for up to five seconds, then [`Error::Retry`].
    pub async fn append(&self, new: &NewMessage, now: Time) -> Result<Appended> {
        let _turn = self.turns.wait(new.space).await;
        let key = if let By::Door { key, .. } = &new.by { key.as_ref() } else { None };
        let (mut room, posted) = self.room(new.space, new.sender, key, now).await?;
        // Also where the sender has left since: the answer is what was made.
        if let Some(made) = key.map(|key| key.made_before(posted, now)).transpose()?.flatten() {
            return self.posted_before(new.space, made).await;
        }
        let until = Instant::now() + RACED_FOR;
        let mut tries = 0;
        loop {
            let attempt = Attempt::new(new, &room, now)?;
            let refusal = match self.table.transact(&attempt.writes).await {
                Ok(()) => return Ok(attempt.kept(new.space)),
                Err(WriteError::Other(error)) => return Err(error),
                Err(WriteError::Refused(refusal)) => refusal,
            };
            // The first try took effect and its answer was lost.
            let place = keys::numbered(new.space, keys::MSG, attempt.record.seq);
            if refusal.there::<MessageRecord>(&place).is_some_and(|there| there.id == new.id) {
                return Ok(attempt.kept(new.space));
            }
            match &new.by {
                By::Door { key, .. } => {
                    if let Some(made) = PostKey::made(key.as_ref(), &refusal)? {
                        return self.posted_before(new.space, made).await;
                    }
                }
                By::Run(by) if refusal.names(&by.call.key(by.run)) => return Err(Error::Conflict("this call is done already".into())),
                By::Run(by) if refusal.names(&keys::run_meta(by.run)) => return Err(Error::LeaseLost),
                By::Run(_) => {}
            }
            if refusal.names(&keys::member(new.space, new.sender)) {
                return Err(not_a_member());
            }
            let head = keys::space_head(new.space);
            if !refusal.names(&head) {
                return Err(Error::Internal("a message could not be kept, and no condition says why".into()));
            }
            if Instant::now() >= until {
                return Err(Error::Retry("the space is too busy just now; repeat with the same key".into()));
            }
            self.table.pause(tries).await;
            tries += 1;
            // Whoever won has moved on meanwhile: what the failure showed is only good for learning that the roster changed.
            let roster = refusal.there::<Head>(&head).ok_or_else(no_such_space)?.roster;
            if roster == room.head.roster {
                room.head = self.table.get(&head).await?.ok_or_else(no_such_space)?;
            }
            if roster != room.head.roster || room.head.roster != room.roster.head.roster {
                (room, _) = self.room(new.space, new.sender, None, now).await?;
            }
        }
    }

    /// What a message would do, without writing anything.
    pub async fn preview(&self, space: SpaceId, sender: EntityId, text: &str, now: Time) -> Result<Vec<Dispatch>> {
        let (room, _) = self.room(space, sender, None, now).await?;
        let sender = room.sender()?;
        let depth = room.depth_of(&By::Door { key: None, depth: 0 }, sender);
        let mut minute = Minute::now(room.head.minute.as_ref(), now);
        Ok(room.decide(MessageId::new(now, 0), &sender.sender(), (text, depth), &mut minute, now).dispatch)
    }

    /// Decides whom a message wakes that was kept without a decision. Its sender may have left meanwhile.
    pub async fn decide_late(&self, space: SpaceId, record: &MessageRecord, now: Time) -> Result<Decided> {
        let (mut room, _) = self.room(space, record.sender.id, None, now).await?;
        let whole = self.whole(space, vec![record.clone()]).await?;
        let text = whole.first().map_or("", Message::text);
        // Its runs were counted when it was kept: how many it may wake is known.
        room.space.settings.budget.runs_per_minute = u32::MAX;
        let mut decided = room.decide(record.id, &record.sender, (text, record.chain_depth), &mut Minute::default(), record.created_at);
        let over: Vec<EntityId> =
            decided.taken.drain(record.may_wake.unwrap_or(usize::MAX).min(decided.taken.len())..).map(|it| it.0).collect();
        for dispatch in decided.dispatch.iter_mut().filter(|dispatch| over.contains(&dispatch.agent_id)) {
            *dispatch = Dispatch { agent_id: dispatch.agent_id, run_id: None, source: None, reason: Some(Reason::Rate) };
        }
        Ok(decided)
    }

    /// One batch read. A process that has not seen the space yet reads the roster beside it, and then the agents' gates; where the roster has
    /// changed since, both follow.
    async fn room(&self, id: SpaceId, sender: EntityId, key: Option<&PostKey>, now: Time) -> Result<(Room, Option<Posted>)> {
        let seen = self.rosters.last_seen(id);
        let (meta, head_key, member) = (keys::space_meta(id), keys::space_head(id), keys::member(id, sender));
        let mut wanted = vec![meta.clone(), head_key.clone(), member.clone()];
        wanted.extend(key.map(PostKey::place));
        let of_agent = |agent: EntityId| [keys::gate(agent)].into_iter().chain(self.unseen_minute(agent, now));
        wanted.extend(seen.iter().flat_map(|roster| roster.agents()).flat_map(of_agent));
        let roster = async {
            match seen {
                Some(_) => Ok(None),
                None => self.roster(id).await.map(Some),
            }
        };
        let (mut items, first_seen) = futures::try_join!(self.table.get_all(&wanted), roster)?;
        let space: SpaceRecord = items.take(&meta)?.ok_or_else(no_such_space)?;
        let mut head: Head = items.take(&head_key)?.ok_or_else(no_such_space)?;
        let posted = match key {
            Some(key) => items.take(&key.place())?,
            None => None,
        };
        let sender: Option<MemberRecord> = items.take(&member)?;
        let sender = sender.filter(|sender| !sender.left);
        let roster = match seen.or(first_seen) {
            Some(seen) if seen.head.roster == head.roster => seen,
            _ => {
                let roster = self.roster(id).await?;
                head = roster.head.clone();
                roster
            }
        };
        let missing: Vec<_> = roster.agents().flat_map(of_agent).filter(|key| !wanted.contains(key)).collect();
        if !missing.is_empty() {
            items.extend(self.table.get_all(&missing).await?);
        }
        let (mut gates, mut minutes) = (BTreeMap::new(), BTreeMap::new());
        for agent in roster.agents() {
            // An agent without a gate is retired, and about to leave.
            if let Some(gate) = items.take(&keys::gate(agent))? {
                gates.insert(agent, gate);
                minutes.insert(agent, self.minute_of(agent, &mut items, now)?);
            }
        }
        Ok((Room { space, head, sender, roster, gates, minutes }, posted))
    }

    async fn posted_before(&self, space: SpaceId, seq: u64) -> Result<Appended> {
        let record = self.message_record(space, seq).await?;
        let record = record.ok_or_else(|| Error::NotFound("what this Idempotency-Key made is gone".into()))?;
        let message = self.whole(space, vec![record]).await?.pop();
        let message = message.ok_or_else(|| Error::Internal("a message is nothing whole".into()))?;
        Ok(Appended { message, woken: Vec::new(), taken: Vec::new(), repeated: true, open_card: None })
    }
}

impl Room {
    fn sender(&self) -> Result<&MemberRecord> {
        self.sender.as_ref().ok_or_else(not_a_member)
    }

    fn depth_of(&self, by: &By, sender: &MemberRecord) -> u32 {
        use smartspace_domain::entities::EntityType::{Agent, Human};
        match (by, sender.kind) {
            (By::Run(by), _) => by.depth,
            (By::Door { depth, .. }, Human) => *depth,
            // Posted in an agent's name: nobody knows what it answers to, so it counts as an answer to the last message.
            (By::Door { depth, .. }, Agent) => (self.head.depth + 1).max(*depth),
        }
    }

    /// Decides whom a text of some depth wakes, and counts the space's runs in `minute`.
    fn decide(&self, id: MessageId, sender: &Sender, (text, chain_depth): (&str, u32), minute: &mut Minute, created_at: Time) -> Decided {
        let mut listeners = Vec::with_capacity(self.roster.members.len());
        for MemberRecord { entity_id: id, name, .. } in &self.roster.members {
            listeners.push(Listener { id: *id, name, gate: self.gates.get(id), minute: self.minutes.get(id) });
        }
        let said = Said { sender: sender.id, sender_kind: sender.kind, text, chain_depth };
        decide(&self.space.settings, &listeners, said, minute, |agent| RunId::of_message(agent, id, created_at))
    }
}

/// One try.
struct Attempt {
    writes: Vec<Write>,
    record: MessageRecord,
    apart: Apart,
    dispatch: Option<Vec<Dispatch>>,
    woken: Vec<RunJob>,
    taken: Vec<(EntityId, Half)>,
}

impl Attempt {
    fn new(new: &NewMessage, room: &Room, now: Time) -> Result<Self> {
        let member = room.sender()?;
        let (seq, depth, from) = (room.head.seq + 1, room.depth_of(&new.by, member), member.sender());
        let mut minute = Minute::now(room.head.minute.as_ref(), now);
        let Decided { dispatch: decided, taken } = match &new.content {
            Content::Text(text) => room.decide(new.id, &from, (text, depth), &mut minute, now),
            Content::Card(_) => Decided::default(),
        };
        let woken = taken.len();
        let later = woken > limits::WOKEN_AT_ONCE;
        let dispatch = (!later).then_some(decided);
        let apart = dispatch.as_ref().is_some_and(|dispatch| dispatch.len() > limits::DISPATCH_INLINE);
        let (card, text, more_chars, long) = match &new.content {
            Content::Text(text) => {
                let (text, more_chars, long) = MessageRecord::split(text);
                (None, text, more_chars, long)
            }
            Content::Card(card) => {
                let (card, long) = card.split();
                (Some(card), String::new(), 0, long)
            }
        };
        let by_run = if let By::Run(by) = &new.by { Some(by) } else { None };
        let record = MessageRecord {
            id: new.id,
            seq,
            rev: 1,
            sender: from,
            text,
            card,
            more_chars,
            run_id: by_run.map(|by| by.run),
            stream_id: by_run.map(|by| by.stream),
            chain_depth: depth,
            origin: by_run.map(|by| by.origin.clone()),
            created_at: now,
            updated_at: now,
            dispatch: dispatch.clone().filter(|_| !apart),
            dispatch_apart: apart,
            may_wake: later.then_some(woken),
            due: later.then(|| keys::due(new.id.part_of(keys::DUE_PARTS))),
            due_at: later.then(|| now + limits::lease::QUEUED_DUE),
        };
        let counts = if woken > 0 { ", #minute = :minute" } else { "" };
        let head = Write::update(keys::space_head(new.space), format!("SET #seq = :next, #depth = :depth{counts}"))
            .when("#seq = :seq AND #roster = :roster")
            .value(":seq", room.head.seq)?
            .value(":next", seq)?
            .value(":depth", depth)?
            .value(":roster", room.roster.head.roster)?;
        let head = if woken > 0 { head.value(":minute", &minute)? } else { head };
        let sender = Write::check(keys::member(new.space, new.sender)).when("attribute_exists(PK) AND attribute_not_exists(#left)");
        let mut attempt = Self {
            writes: vec![head, Write::put(keys::numbered(new.space, keys::MSG, seq), &record)?.if_absent(), sender],
            record,
            apart: long,
            dispatch,
            woken: Vec::with_capacity(woken),
            taken: if later { Vec::new() } else { taken },
        };
        if attempt.record.is_apart() {
            attempt.writes.push(Write::put(keys::numbered(new.space, keys::TEXT, seq), &attempt.apart)?);
        }
        if let Some(dispatch) = attempt.dispatch.clone().filter(|_| apart) {
            attempt.writes.push(Write::put(keys::numbered(new.space, keys::WOKEN, seq), &LongDispatch { dispatch })?);
        }
        match &new.by {
            By::Door { key: Some(key), .. } => attempt.writes.push(key.write(&seq.to_string(), now)?),
            By::Door { key: None, .. } => {}
            By::Run(by) => {
                let keeps = |also: &str| worker_keeps(by.run, &by.lease, also);
                let holds = match &new.content {
                    Content::Text(_) => keeps("#activeSpaceId = :space, ")?.value(":space", new.space)?,
                    Content::Card(card) if card.status == CallStatus::Pending => {
                        keeps("#openCalls = if_not_exists(#openCalls, :none) + :one, ")?.value(":none", 0)?.value(":one", 1)?
                    }
                    Content::Card(_) => keeps("")?,
                };
                attempt.writes.push(holds);
                let call = CallRecord { card: attempt.open_card(new.space), ..by.call.clone() };
                attempt.writes.push(call.write(by.run)?);
                attempt.form(new, by, &call)?;
            }
        }
        for (agent, run, source) in
            attempt.dispatch.iter().flatten().filter_map(|it| Some((it.agent_id, it.run_id?, it.source?))).collect::<Vec<_>>()
        {
            let queued = RunRecord::woken(run, agent, new.space, &attempt.record, source, now);
            let active = ActiveRecord::woken(&queued, new.space, &room.space.settings.name, &attempt.record);
            attempt.writes.push(Write::put(keys::run_meta(run), &queued)?.if_absent());
            attempt.writes.push(Write::put(keys::active_run(agent, run), &active)?);
            attempt.woken.push(queued.job());
        }
        Ok(attempt)
    }

    /// What a form asks stands in its run, so that its answer needs nothing else.
    fn form(&mut self, new: &NewMessage, by: &ByRun, call: &CallRecord) -> Result<()> {
        let Content::Card(card) = &new.content else { return Ok(()) };
        let (Some(asks), Some(call)) = (&card.asks, OpenCall::of(by.run, call)) else { return Ok(()) };
        let form = FormRecord {
            call,
            result_schema: asks.result_schema.clone().unwrap_or_default(),
            answer_by: asks.answer_by.clone(),
            until: asks.until,
            expires_at: by.call.expires_at,
        };
        self.writes.push(Write::put(keys::form(by.run, card.call_id), &form)?);
        Ok(())
    }

    fn open_card(&self, space: SpaceId) -> Option<CardPlace> {
        self.record.is_open().then(|| CardPlace { space, seq: self.record.seq, is_apart: self.record.is_apart() })
    }

    fn kept(self, space: SpaceId) -> Appended {
        let open_card = self.open_card(space);
        let message = self.record.view(space, self.apart, self.dispatch);
        Appended { message, woken: self.woken, taken: self.taken, repeated: false, open_card }
    }
}

/// What an active run shows of its trigger's text.
pub(crate) fn short(text: &str) -> String {
    excerpt(text, 200).0.to_owned()
}

fn not_a_member() -> Error {
    Error::invalid("/senderId", "expected a member of the space")
}
