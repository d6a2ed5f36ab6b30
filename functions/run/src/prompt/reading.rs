//! Reads the sources of a prompt in parallel. This can start before the run is claimed.

mod pages;
mod parents;
mod searching;
mod source_cache;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use smartspace_domain::{
    Error, Result,
    agents::SpacesShown,
    entities::Entity,
    goals::Goal,
    ids::{EntityId, RunId, SpaceId},
    jobs::{self, RunRef},
    limits::WINDOW_MESSAGES,
    memories::Memory,
    messages::{Reaction, Sender},
    plans::Plan,
    runs::RunStatus,
    spaces::TriggerPolicy,
};
use smartspace_store::{
    Store,
    messages::{MessageRecord, Range},
    runs::{ActiveCause, ActiveRecord, MessageTexts, RunMembership, RunRecord},
    spaces::{SpaceOverview, SpaceRecord, rosters::MemberRecord, summaries::SummaryRecord},
};
use tokio::sync::oneshot;

use crate::prompt::{
    names::{Names, mentioned},
    run_activity::RunActivity,
    why::causes,
    window,
};
pub(crate) use pages::SenderPage;
use pages::page_of;
use parents::parents_of_new;
pub(crate) use parents::{PARENTS_SHOWN, parent_of};
use searching::SpacesRead;
use source_cache::Guess;
pub(crate) use source_cache::SourceCache;

/// The most active runs that a prompt shows.
pub(crate) const ACTIVE_SHOWN: usize = 20;
/// The most spaces that a prompt shows.
pub(crate) const SPACES_SHOWN: usize = 30;
/// The most messages whose reactions a prompt shows.
const REACTIONS_SHOWN: usize = 10;
/// The most other runs of which a prompt shows the activity.
const ACTIVITIES_SHOWN: usize = 5;

/// The sources of a prompt.
#[derive(Clone, Debug)]
pub(crate) struct PromptSources {
    pub(crate) agent: Entity,
    /// The space that triggered the agent. `None` if a plan or a service did.
    pub(crate) trigger_space: Option<SpaceContext>,
    /// The spaces that the prompt may show.
    pub(crate) cards: BTreeMap<SpaceId, SpaceOverview>,
    /// The number of spaces that the agent is in.
    pub(crate) space_count: usize,
    /// Whether the agent has the tool that searches messages.
    pub(crate) searches: bool,
    /// The active runs of the agent that the prompt shows, this run first. An agent that is shown
    /// the active space only is not shown its runs in other spaces, because anybody may have added
    /// it to this one.
    pub(crate) active: Vec<ActiveRecord>,
    /// The number of active runs that were read, with those that are not shown. Some of them may
    /// have ended.
    pub(crate) active_count: usize,
    /// The states of the other runs in `active` that are still active.
    pub(crate) states: HashMap<RunId, RunStatus>,
    /// The work that the other runs in `active` have done.
    pub(crate) activities: HashMap<RunId, RunActivity>,
    pub(crate) memories: Vec<Memory>,
    pub(crate) goals: Vec<Goal>,
    pub(crate) plans: Vec<Plan>,
    /// How the prompt writes the names of senders and members.
    pub(crate) names: Names,
}

impl SpaceContext {
    /// Whether all messages that the run answers were deleted.
    pub(crate) fn is_deleted(&self) -> bool {
        let is_gone =
            |seq: &u64| self.messages.iter().any(|it| it.seq == *seq && it.deleted.is_some());
        self.trigger.deleted.is_some() && self.joined.iter().all(is_gone)
    }
}

impl PromptSources {
    /// Whether the agent is the admin agent of one of its spaces.
    pub(crate) fn is_admin(&self) -> bool {
        self.cards.values().any(|card| card.admin == Some(self.agent.id))
    }

    /// The same sources for a run that other messages have joined.
    pub(crate) fn with_joined(mut self, seqs: &[u64]) -> Self {
        if let Some(trigger_space) = &mut self.trigger_space {
            trigger_space.joined = seqs.to_vec();
            trigger_space.joined.sort_unstable();
        }
        self
    }

    /// Whether the agent is the admin agent of the space that triggered the run.
    pub(crate) fn is_admin_here(&self) -> bool {
        self.trigger_space.as_ref().is_some_and(|trigger_space| {
            let settings = &trigger_space.space.settings;
            settings.trigger_policy == TriggerPolicy::Admin
                && settings.admin_agent_id == Some(self.agent.id)
        })
    }
}

/// The space that triggered a run.
#[derive(Clone, Debug)]
pub(crate) struct SpaceContext {
    pub(crate) space: SpaceRecord,
    /// The agent as a member of the space.
    pub(crate) member: MemberRecord,
    /// The value of `HEAD.changed` up to which the messages show every edit and every deletion.
    pub(crate) changed: u64,
    /// The last messages, oldest first. They may be more than the window shows.
    pub(crate) messages: Vec<Arc<MessageRecord>>,
    /// The message that triggered the run.
    pub(crate) trigger: Arc<MessageRecord>,
    /// The numbers of other messages that the run answers, too.
    pub(crate) joined: Vec<u64>,
    /// The summary of older messages.
    pub(crate) summary: Option<SummaryRecord>,
    /// Senders of these messages who are members, but not among the first ones, which its card
    /// names.
    pub(crate) unlisted: Vec<Sender>,
    /// Senders of these messages who have left the space.
    pub(crate) left: Vec<Sender>,
    /// The messages before these that are pinned, or to which the trigger and new messages reply.
    pub(crate) older: Vec<MessageRecord>,
    /// The reactions to the last messages that have some, by their numbers.
    pub(crate) reactions: BTreeMap<u64, Vec<Reaction>>,
    /// What the pages of the senders of the messages that the run answers offer, the newest message
    /// first. It is the trigger.
    pub(crate) pages: Vec<SenderPage>,
}

impl SpaceContext {
    /// A message of the space, if it was read.
    pub(crate) fn message(&self, seq: u64) -> Option<&MessageRecord> {
        let all = self.messages.iter().chain([&self.trigger]).map(Arc::as_ref);
        all.chain(&self.older).find(|message| message.seq == seq)
    }
}

/// Reads what is not in the last messages: pinned messages, messages that others reply to,
/// reactions, and the page of the trigger's sender. Costs a read only if there is some.
async fn with_more(store: &Store, space: Option<SpaceContext>) -> Result<Option<SpaceContext>> {
    let Some(mut space) = space else { return Ok(None) };
    let pins = space.space.pins.iter().map(|pin| pin.seq);
    let parents = parents_of_new(&space.messages, &space.trigger, space.member.cursor);
    let older: BTreeSet<u64> = pins.chain(parents).collect();
    let older: Vec<_> = older.into_iter().filter(|seq| space.message(*seq).is_none()).collect();
    let reacted = space.messages.iter().rev().filter(|message| message.has_reactions());
    let reacted: Vec<u64> = reacted.take(REACTIONS_SHOWN).map(|message| message.seq).collect();
    let messages = store.messages();
    let page = page_of(store, space.space.id, &space.trigger);
    let read = messages.with_reactions(space.space.id, &older, &reacted);
    let ((older, reactions), page) = futures::try_join!(read, page)?;
    (space.older, space.reactions, space.pages) = (older, reactions, page.into_iter().collect());
    Ok(Some(space))
}

/// Reads the sources of the prompt of a run. If a message triggered the run, its record comes with
/// the same read, and goes to `run_tx` at once.
///
/// Returns `None` if the agent is retired or has left the space, or if the space was deleted.
pub(crate) async fn load_sources(
    store: &Store,
    seen: &SourceCache,
    run: RunRef,
    run_tx: Option<oneshot::Sender<Option<RunRecord>>>,
) -> Result<Option<PromptSources>> {
    let RunRef { run_id: run, agent_id, place: triggered_by, .. } = run;
    let home = triggered_by.map(|message| message.space_id);
    let (context, (trigger_space, spaces)) = futures::try_join!(
        store.agent_state().context(agent_id, run),
        read_spaces(store, seen, run, agent_id, triggered_by, run_tx)
    )?;
    let Some(agent) = context.agent else { return Ok(None) };
    let Some(config) = &agent.agent else { return Ok(None) };
    let trigger_space = match trigger_space {
        None => None,
        Some(space) => match space.into_context(store, config.context.window as usize).await? {
            Some(trigger_space) => Some(trigger_space),
            None => return Ok(None),
        },
    };
    let shown = spaces_to_show(&context.spaces, home);
    let (mut trigger_space, SpacesRead { cards, lengths, .. }) = futures::try_join!(
        with_more(store, trigger_space),
        spaces.complete(store, seen, &shown, config.context.window)
    )?;
    let searches = searching::has_search(config, &lengths, context.spaces.len());
    seen.remember_spaces(agent_id, &shown, config.context.window);
    let visible = visible_runs(&context.active, run, config.spaces_shown(), home);
    let active: Vec<_> = visible.iter().take(ACTIVE_SHOWN).map(|it| (*it).clone()).collect();
    let has_this_run = active.first().is_some_and(|it| it.run_id == run);
    let (OtherRuns { states, activities, causes }, texts, ()) = futures::try_join!(
        activities(store, &active[usize::from(has_this_run)..]),
        store.runs().texts_of(causes_elsewhere(trigger_space.as_ref(), agent_id)),
        find_unlisted(store, trigger_space.as_mut(), &cards)
    )?;
    let mut names = names(&agent, &cards, trigger_space.as_ref(), &active);
    names.add_texts(texts.into_iter().chain(causes).collect());
    Ok(Some(PromptSources {
        names,
        agent,
        trigger_space,
        cards,
        space_count: context.spaces.len(),
        searches,
        active,
        active_count: visible.len(),
        states,
        activities,
        memories: context.memories,
        goals: context.goals,
        plans: context.plans,
    }))
}

/// Reads the space that triggered a run, and the cards of the spaces that the agent was in last
/// time. Cards that are missing are read afterwards.
async fn read_spaces(
    store: &Store,
    seen: &SourceCache,
    run: RunId,
    agent: EntityId,
    triggered_by: Option<jobs::MessageRef>,
    run_tx: Option<oneshot::Sender<Option<RunRecord>>>,
) -> Result<(Option<TriggerSpace>, SpacesRead)> {
    let home = triggered_by.map(|message| message.space_id);
    let guess = seen
        .last_of(agent)
        .unwrap_or_else(|| Guess { spaces: home.into_iter().collect(), window: WINDOW_MESSAGES });
    match triggered_by {
        Some(message) => TriggerSpace::read(store, seen, run, agent, message, &guess, run_tx).await,
        None => Ok((None, SpacesRead::of(store, seen, &guess).await?)),
    }
}

/// The messages of other spaces that the lines of the history repeat. Each text is stored once,
/// with its message.
fn causes_elsewhere(trigger_space: Option<&SpaceContext>, me: EntityId) -> Vec<jobs::MessageRef> {
    trigger_space
        .map_or_else(Vec::new, |it| causes(it.space.id, me, it.messages.iter().map(Arc::as_ref)))
}

/// Finds the senders that the card of the space does not name. They have left the space, or the
/// card lacks them because it names only the first members.
async fn find_unlisted(
    store: &Store,
    trigger_space: Option<&mut SpaceContext>,
    cards: &BTreeMap<SpaceId, SpaceOverview>,
) -> Result<()> {
    let Some(trigger_space) = trigger_space else { return Ok(()) };
    let Some(card) = cards.get(&trigger_space.space.id) else { return Ok(()) };
    let mut others = BTreeMap::new();
    let messages = trigger_space.messages.iter().chain([&trigger_space.trigger]);
    for message in messages.map(Arc::as_ref).chain(&trigger_space.older) {
        let sender = &message.sender;
        if !card.members.iter().any(|member| member.sender.id == sender.id) {
            others.insert(sender.id, sender.clone());
        }
    }
    let members = if card.count > card.members.len() && !others.is_empty() {
        let ids: Vec<_> = others.keys().copied().collect();
        store.members().present(trigger_space.space.id, &ids).await?
    } else {
        BTreeSet::new()
    };
    (trigger_space.unlisted, trigger_space.left) =
        others.into_values().partition(|sender| members.contains(&sender.id));
    Ok(())
}

/// The names of all senders and members that the prompt mentions.
fn names(
    agent: &Entity,
    cards: &BTreeMap<SpaceId, SpaceOverview>,
    trigger_space: Option<&SpaceContext>,
    active: &[ActiveRecord],
) -> Names {
    let mut names = Names::new(agent.id, &[]);
    let me = Sender { id: agent.id, name: agent.name.clone(), kind: agent.kind, guest: false };
    names.add([&me]);
    // A prompt that lists one space must not reveal namesakes in others.
    let only_home = agent.agent.as_ref().is_some_and(|it| it.spaces_shown() == SpacesShown::Active);
    let home = trigger_space.map(|it| it.space.id);
    let listed = cards.iter().filter(|(id, _)| !only_home || Some(**id) == home);
    names.add(listed.flat_map(|(_, card)| &card.members).map(|member| &member.sender));
    names.add(active.iter().filter_map(|active| match &active.cause {
        ActiveCause::Message { sender, .. } => Some(sender),
        _ => None,
    }));
    if let Some(trigger_space) = trigger_space {
        let messages = trigger_space.messages.iter().map(Arc::as_ref).chain(&trigger_space.older);
        names.add(&mentioned(messages).collect::<Vec<_>>());
        names.add([&trigger_space.trigger.sender]);
    }
    names
}

/// Returns the spaces that a prompt shows. The space that triggered the run is always among them.
fn spaces_to_show(spaces: &[SpaceId], home: Option<SpaceId>) -> Vec<SpaceId> {
    let others = spaces.iter().copied().filter(|other| Some(*other) != home);
    home.into_iter().chain(others).take(SPACES_SHOWN).collect()
}

/// Returns the active runs that the prompt may show, this run first.
fn visible_runs(
    active: &[ActiveRecord],
    run: RunId,
    shown: SpacesShown,
    home: Option<SpaceId>,
) -> Vec<&ActiveRecord> {
    let this = active.iter().find(|active| active.run_id == run);
    let others = active.iter().filter(|other| {
        other.run_id != run && (shown == SpacesShown::All || other.cause.space_id() == home)
    });
    this.into_iter().chain(others).collect()
}

/// The space of the message that triggered a run, read before the size of the agent's window is
/// known.
struct TriggerSpace {
    triggered_by: jobs::MessageRef,
    /// The space, the agent as its member, and the summary. `None` if the agent is not in it.
    membership: Option<(SpaceRecord, MemberRecord, Option<SummaryRecord>)>,
    changed: u64,
    messages: Vec<Arc<MessageRecord>>,
}

impl TriggerSpace {
    /// Also reads the cards of the spaces that the prompt probably shows, and how long these are.
    async fn read(
        store: &Store,
        seen: &SourceCache,
        run: RunId,
        agent: EntityId,
        triggered_by: jobs::MessageRef,
        guess: &Guess,
        run_tx: Option<oneshot::Sender<Option<RunRecord>>>,
    ) -> Result<(Option<Self>, SpacesRead)> {
        let space = triggered_by.space_id;
        let of_run = async {
            let shown = &guess.spaces;
            let (known, measured) = seen.lengths(shown, guess.window);
            let RunMembership { run, place: membership, changed, overviews: cards, lengths } =
                store.runs().with_membership(space, agent, run, shown, &measured).await?;
            let lengths = seen.with_lengths(known, lengths);
            if let Some(run_tx) = run_tx {
                // Nobody waits for the record if the claim has already failed.
                let _ = run_tx.send(run);
            }
            Ok((membership, changed, SpacesRead { cards, lengths, measured }))
        };
        let ((membership, changed, spaces), read) =
            futures::try_join!(of_run, seen.last_messages(store, space))?;
        let messages = seen.up_to_date(store, space, read, changed).await?;
        Ok((Some(Self { triggered_by, membership, changed, messages }), spaces))
    }

    /// Reads more messages if the window may show more than the default one.
    /// Returns `None` if the agent has left the space, or if the space or the message was deleted.
    async fn into_context(self, store: &Store, window: usize) -> Result<Option<SpaceContext>> {
        let Self { triggered_by, membership, changed, mut messages } = self;
        let jobs::MessageRef { space_id, seq } = triggered_by;
        let Some((space, member, summary)) = membership else { return Ok(None) };
        let max = window::max_messages(window);
        if max > window::max_messages(window::DEFAULT_SIZE) {
            let more = store.messages().records(space_id, Range::Before(u64::MAX), max).await?;
            messages = more.into_iter().map(Arc::new).collect();
        }
        let trigger = match messages.iter().find(|message| message.seq == seq) {
            Some(message) => Some(Arc::clone(message)),
            None => store.messages().record(space_id, seq).await?.map(Arc::new),
        };
        let Some(trigger) = trigger else { return Ok(None) };
        Ok(Some(SpaceContext {
            space,
            member,
            changed,
            messages,
            trigger,
            joined: Vec::new(),
            summary,
            unlisted: Vec::new(),
            left: Vec::new(),
            older: Vec::new(),
            reactions: BTreeMap::new(),
            pages: Vec::new(),
        }))
    }
}

/// The agent's other active runs.
#[derive(Default)]
struct OtherRuns {
    states: HashMap<RunId, RunStatus>,
    activities: HashMap<RunId, RunActivity>,
    /// The beginnings of the messages that triggered them.
    causes: MessageTexts,
}

/// Reads the states and the causes of the agent's other active runs, and what the first few of them
/// have done.
async fn activities(store: &Store, others: &[ActiveRecord]) -> Result<OtherRuns> {
    if others.is_empty() {
        return Ok(OtherRuns::default());
    }
    let (runs, causes) = store.runs().still_active_with_causes(others).await?;
    // A run without a step has done nothing yet. The number is limited, because each activity is a
    // read of its own.
    let working = runs.iter().filter(|run| run.step_count > 0).take(ACTIVITIES_SHOWN);
    let reads = working
        .map(|run| async { Ok::<_, Error>((run.id, RunActivity::of(store, run.id).await?)) });
    let activities = futures::future::try_join_all(reads).await?.into_iter().collect();
    let states = runs.iter().map(|run| (run.id, run.status)).collect();
    Ok(OtherRuns { states, activities, causes })
}
