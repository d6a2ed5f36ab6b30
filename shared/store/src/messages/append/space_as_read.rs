//! A space as an append read it: its settings, its members, and the limits and lanes of its agents.
//! The decision which agents a message triggers follows from these values alone. The transaction
//! checks that none of them that matters has changed.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::Arc,
};

use smartspace_domain::{
    Time,
    agents::ConcurrencyMode,
    budgets::{BudgetScope, ScopeBudget, Spent},
    days::Day,
    dispatch::{
        Candidate, Decided, Dispatch, Earlier, Gating, IncomingMessage, Reason, Routing,
        WakeLimits, decide, partner,
    },
    entities::EntityType::{Agent, Human},
    ids::{ChainId, EntityId, MessageId, RunId, SpaceId},
    mentions::Mention,
    quota::RateWindow,
    spaces::TriggerPolicy,
    triggers::Trigger,
};

use crate::{
    Budgets, Error, Messages, Quota, Result, Store,
    idempotency::{PostKey, Posted},
    messages::{
        MessageRecord,
        append::{MessageSource, parent::Parent},
    },
    runs::{
        ActiveRecord, RunRecord,
        lanes::{LaneRuns, Lanes, NewRun, Placement},
    },
    shared::{
        member::MemberRecord,
        space::{SpaceRecord, no_such_space},
    },
    spaces::rosters::{Head, Roster},
    table::{Items, keys, refusal::Refusal},
};

pub(super) struct SpaceAsRead {
    pub(super) space: SpaceRecord,
    pub(super) head: Head,
    sender: Option<MemberRecord>,
    pub(super) roster: Arc<Roster>,
    /// The message to which the new one replies.
    pub(super) parent: Option<Parent>,
    wake_limits: BTreeMap<EntityId, WakeLimits>,
    /// The agents' runs of this minute.
    minutes: BTreeMap<EntityId, RateWindow>,
    /// The used budgets of the agents: their own first, then the space's, then the deployment's.
    used_budgets: BTreeMap<EntityId, BudgetScope>,
    day: Day,
    /// The slots and the lanes of the agents.
    lanes: BTreeMap<EntityId, Lanes>,
    /// The other runs of these agents that the placement of a new one may change.
    others: LaneRuns,
    /// The last messages before the one that is decided, oldest first. Empty unless the space
    /// decides by them.
    pub(super) talk: Vec<MessageRecord>,
    /// The mentions in the text of the message that is decided.
    pub(super) mentions: Vec<Mention>,
    /// Whether the space or the deployment has a router model.
    pub(super) has_router_model: bool,
}

impl Messages<'_> {
    /// Reads a space without its talk, the message with the number `parent`, and the earlier result
    /// of the idempotency key.
    ///
    /// One batch read is enough if this process has seen the current roster. Otherwise it reads the
    /// roster in parallel, or again if it has changed, and then the limits of the agents in it.
    pub(super) async fn read_space(
        self,
        id: SpaceId,
        sender: EntityId,
        key: Option<&PostKey>,
        parent: Option<u64>,
        now: Time,
    ) -> Result<(SpaceAsRead, Option<Posted>)> {
        let seen = self.store.rosters.last_seen(id);
        let meta_key = keys::space_meta(id);
        let head_key = keys::space_head(id);
        let member_key = keys::member(id, sender);
        let mut wanted = vec![meta_key.clone(), head_key.clone(), member_key.clone()];
        wanted.extend(key.map(PostKey::item_key));
        wanted.extend(parent.map(|seq| keys::numbered(id, keys::MSG, seq)));
        let ceiling = self.store.deployment_budget().map(|budget| Budgets::key(&budget, now));
        wanted.extend(ceiling.clone());
        let of_agent = |agent: EntityId| {
            [keys::gate(agent), keys::slots(agent), keys::lane(id, agent)]
                .into_iter()
                .chain(self.store.quota().unseen_minute(agent, now))
        };
        wanted.extend(seen.iter().flat_map(|roster| roster.agents()).flat_map(of_agent));
        let roster = async {
            match seen {
                Some(_) => Ok(None),
                None => self.store.members().roster(id).await.map(Some),
            }
        };
        let (mut items, first_seen) =
            futures::try_join!(self.store.table.get_all(&wanted), roster)?;
        let space: SpaceRecord = items.take(&meta_key)?.ok_or_else(no_such_space)?;
        let mut head: Head = items.take(&head_key)?.ok_or_else(no_such_space)?;
        let posted = match key {
            Some(key) => items.take(&key.item_key())?,
            None => None,
        };
        let sender: Option<MemberRecord> = items.take(&member_key)?;
        let roster = match seen.or(first_seen) {
            Some(seen) if seen.head.roster == head.roster => seen,
            _ => {
                let roster = self.store.members().roster(id).await?;
                head = roster.head.clone();
                roster
            }
        };
        let missing: Vec<_> =
            roster.agents().flat_map(of_agent).filter(|key| !wanted.contains(key)).collect();
        if !missing.is_empty() {
            items.extend(self.store.table.get_all(&missing).await?);
        }
        let mut as_read = SpaceAsRead::new(self.store, space, head, sender, roster);
        as_read.take_limits(self.store.quota(), &mut items, now)?;
        self.take_counters(&mut as_read, &mut items, ceiling.as_ref(), now).await?;
        as_read.parent = self.take_parent(id, parent, &mut items, as_read.head.seq).await?;
        self.take_lanes(id, &mut as_read, items).await?;
        Ok((as_read, posted))
    }

    /// Takes the counters of budgets out of `items`, and reads those that are missing. `ceiling` is
    /// the counter of the deployment, which is there if it has a budget.
    async fn take_counters(
        self,
        as_read: &mut SpaceAsRead,
        items: &mut Items,
        ceiling: Option<&keys::Key>,
        now: Time,
    ) -> Result<()> {
        let mut counters = as_read.counter_keys(self.store, now);
        counters.retain(|key| Some(key) != ceiling);
        if !counters.is_empty() {
            items.extend(self.store.table.get_all(&counters).await?);
        }
        as_read.take_budgets(self.store, items, now)
    }

    /// Takes the slots and the lanes of the agents out of `items`, and reads the runs that a
    /// message may change.
    async fn take_lanes(
        self,
        space: SpaceId,
        as_read: &mut SpaceAsRead,
        mut items: Items,
    ) -> Result<()> {
        let mut affected = Vec::new();
        for (agent, limits) in &as_read.wake_limits {
            let space = Some(space).filter(|_| limits.mode != ConcurrencyMode::Parallel);
            let lanes = Lanes::take(&mut items, *agent, space, limits.max_runs)?;
            affected.extend(lanes.affected(limits.mode));
            as_read.lanes.insert(*agent, lanes);
        }
        as_read.others = self.store.runs().lane_runs(affected).await?;
        Ok(())
    }
}

impl SpaceAsRead {
    fn new(
        store: &Store,
        space: SpaceRecord,
        head: Head,
        sender: Option<MemberRecord>,
        roster: Arc<Roster>,
    ) -> Self {
        Self {
            has_router_model: store.has_router_model || space.settings.has_router_model(),
            space,
            head,
            sender,
            roster,
            parent: None,
            wake_limits: BTreeMap::new(),
            minutes: BTreeMap::new(),
            used_budgets: BTreeMap::new(),
            day: Day::default(),
            lanes: BTreeMap::new(),
            others: LaneRuns::new(),
            talk: Vec::new(),
            mentions: Vec::new(),
        }
    }

    /// The mode, the slots and the lane of an agent that can be triggered.
    fn lanes_of(&self, agent: EntityId) -> Option<(ConcurrencyMode, &Lanes)> {
        Some((self.wake_limits.get(&agent)?.mode, self.lanes.get(&agent)?))
    }

    /// Places a run of an agent that the message triggers: its writes, and the runs that they
    /// change.
    pub(super) fn place(
        &self,
        store: &Store,
        run: RunRecord,
        active: ActiveRecord,
        auto_since: Option<u64>,
        now: Time,
    ) -> Result<Placement> {
        let (mode, lanes) = self
            .lanes_of(run.agent_id)
            .ok_or_else(|| Error::Internal("an agent without limits was triggered".into()))?;
        if mode == ConcurrencyMode::Parallel {
            return Placement::at_once(&run, &active);
        }
        let new = NewRun { run, active, mode, auto_since };
        Placement::in_lane(store, new, lanes.clone(), &self.others, now)
    }

    /// Whether a refusal is about slots or lanes of agents, so that they have to be read again.
    pub(super) fn has_old_lanes(&self, refusal: &Refusal) -> bool {
        self.lanes.values().any(|lanes| lanes.have_changed(refusal))
            || refusal.keys().any(keys::is_run_meta)
    }

    /// Takes the limits and the minutes of the space's agents out of `items`.
    fn take_limits(&mut self, quota: Quota<'_>, items: &mut Items, now: Time) -> Result<()> {
        for agent in self.roster.agents() {
            // An agent without wake limits is retired and about to leave.
            if let Some(limits) = items.take(&keys::gate(agent))? {
                self.wake_limits.insert(agent, limits);
                self.minutes.insert(agent, quota.minute_of(agent, items, now)?);
            }
        }
        Ok(())
    }

    /// The counters of budgets, which only some agents and spaces have.
    fn counter_keys(&self, store: &Store, now: Time) -> Vec<keys::Key> {
        let budgets = self
            .wake_limits
            .iter()
            .flat_map(|(agent, limits)| store.budgets_of(*agent, limits, self.space_budget()));
        let counters: BTreeMap<_, _> =
            budgets.map(|budget| (budget.scope, Budgets::key(&budget, now))).collect();
        counters.into_values().collect()
    }

    /// The budget of the space, if it has one.
    fn space_budget(&self) -> Option<ScopeBudget> {
        let limit = self.space.settings.budget.per_day();
        ScopeBudget::of(BudgetScope::Space(self.space.id), limit)
    }

    /// Takes the counters of budgets out of `items`.
    fn take_budgets(&mut self, store: &Store, items: &mut Items, now: Time) -> Result<()> {
        self.day = Day::of(now);
        let mut spent: BTreeMap<BudgetScope, Spent> = BTreeMap::new();
        for (agent, limits) in &self.wake_limits {
            let mut used = None;
            for budget in store.budgets_of(*agent, limits, self.space_budget()) {
                let spent = match spent.entry(budget.scope) {
                    Entry::Occupied(known) => *known.get(),
                    Entry::Vacant(new) => *new.insert(Budgets::spent(&budget, items, now)?),
                };
                used = used.or(spent.is_used(budget.limit).then_some(budget.scope));
            }
            if let Some(scope) = used {
                self.used_budgets.insert(*agent, scope);
            }
        }
        Ok(())
    }

    /// Whether an entity is an agent of the space that a message can trigger.
    pub(super) fn can_be_triggered(&self, agent: EntityId) -> bool {
        self.wake_limits.contains_key(&agent)
    }

    fn is_busy(&self, agent: EntityId) -> bool {
        self.lanes_of(agent).is_some_and(|(mode, lanes)| lanes.are_busy(mode))
    }

    /// Whether a message joins a queued run of an agent. The lane in which it then does, or does
    /// not, is the one that its transaction checks.
    fn joins(&self, agent: EntityId) -> bool {
        self.lanes_of(agent).is_some_and(|(mode, lanes)| lanes.lane.takes_in(mode))
    }

    pub(super) fn sender(&self) -> Result<&MemberRecord> {
        self.sender.as_ref().ok_or(Error::NotAMember)
    }

    /// The chain depth of a message from `sender`.
    pub(super) fn depth_of(&self, by: &MessageSource, sender: &MemberRecord) -> u32 {
        match (by, sender.kind) {
            (MessageSource::Run(by), _) => by.depth,
            (MessageSource::External { depth, .. }, Human) => *depth,
            // A request in an agent's name does not say what it answers, so it counts as an answer
            // to the last message.
            (MessageSource::External { depth, .. }, Agent) => (self.head.depth + 1).max(*depth),
        }
    }

    /// The chain of a message from `sender`; `None` if the message begins one. As for the depth, a
    /// request in an agent's name counts as an answer to the last message.
    pub(super) fn chain_of(&self, by: &MessageSource, sender: &MemberRecord) -> Option<ChainId> {
        match (by, sender.kind) {
            (MessageSource::Run(by), _) => Some(by.chain),
            (MessageSource::External { .. }, Human) => None,
            (MessageSource::External { .. }, Agent) => self.head.chain,
        }
    }

    /// Whether a chain was stopped here, so that its messages wake nobody.
    pub(super) fn is_stopped(&self, chain: Option<ChainId>, now: Time) -> bool {
        chain.is_some_and(|chain| self.space.has_stopped(chain, now))
    }

    /// For a message of an agent that is no outside cause: the last outside cause before it.
    pub(super) fn auto_since(&self, by: &MessageSource, sender: &MemberRecord) -> Option<u64> {
        let is_outside = sender.kind == Human || by.is_of_outside();
        (!is_outside).then_some(self.head.outside.unwrap_or(0))
    }

    /// How many auto replies an agent has given since `outside`. `None` if a new run is none.
    fn auto_replies(&self, agent: EntityId, outside: u64) -> Option<u32> {
        let (mode, lanes) = self.lanes_of(agent)?;
        let counts = mode != ConcurrencyMode::Parallel && !self.joins(agent);
        counts.then(|| lanes.lane.auto_replies(outside))
    }

    /// The agent with which the sender of a message talked last, if that matters here.
    fn partner_of(&self, message: &IncomingMessage<'_>) -> Option<EntityId> {
        let is_asked = self.space.settings.trigger_policy == TriggerPolicy::Partner
            && message.sender_kind == Human;
        let members = &self.roster.members;
        let sender = self.roster.member(message.sender).filter(|_| is_asked)?;
        let agents = members.iter().filter(|it| self.wake_limits.contains_key(&it.entity_id));
        let agents: Vec<_> = agents.map(|agent| agent.entity_id).collect();
        let newest_first = self.talk.iter().rev().map(|earlier| Earlier {
            sender: earlier.sender.id,
            text: if earlier.card.is_some() { "" } else { &earlier.text },
            mentions: &earlier.mentions,
            answers: earlier.origin.as_ref().and_then(|origin| match &origin.trigger {
                Trigger::SpaceMessage { sender, .. } => Some(sender.id),
                _ => None,
            }),
            reply_to: earlier.reply_to.and_then(|parent| parent.sender_id),
        });
        partner(message.sender, &sender.name, &agents, newest_first)
    }

    /// The members, as a decision about a message sees them.
    pub(super) fn candidates(&self, message: IncomingMessage<'_>) -> Vec<Candidate<'_>> {
        let auto_replies = |agent| self.auto_replies(agent, message.auto_since?);
        let mut candidates = Vec::with_capacity(self.roster.members.len());
        for MemberRecord { entity_id: id, name, .. } in &self.roster.members {
            candidates.push(Candidate {
                id: *id,
                name,
                wake_limits: self.wake_limits.get(id),
                window: self.minutes.get(id),
                is_busy: self.is_busy(*id),
                joins: self.joins(*id),
                auto_replies: auto_replies(*id),
                used_budget: self.used_budgets.get(id).map(|scope| (*scope, self.day)),
            });
        }
        candidates
    }

    /// Decides which agents a message triggers, and counts the space's runs in `minute`.
    pub(super) fn decide(
        &self,
        id: MessageId,
        message: IncomingMessage<'_>,
        routing: Routing<'_>,
        gating: Option<Gating<'_>>,
        minute: &mut RateWindow,
        created_at: Time,
    ) -> Decided {
        let message = IncomingMessage { partner: self.partner_of(&message), ..message };
        let left = self.left_agent(&message);
        let run_of = |agent| RunId::of_message(agent, id, created_at);
        let members = self.candidates(message);
        let settings = &self.space.settings;
        let mut decided = decide(settings, &members, message, routing, gating, minute, run_of);
        decided.dispatch.extend(left.map(|agent| Dispatch::refused(agent, Reason::Paused)));
        decided
    }
}
