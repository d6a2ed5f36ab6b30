//! Reads the sources of a prompt in parallel. This can start before the run is claimed.

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
    memories::Memory,
    messages::Sender,
    plans::Plan,
    runs::RunStatus,
    spaces::TriggerPolicy,
};
use smartspace_store::{
    Store,
    messages::{MessageRecord, Range},
    runs::{ActiveCause, ActiveRecord, RunMembership, RunRecord},
    spaces::{SpaceOverview, SpaceRecord, rosters::MemberRecord, summaries::SummaryRecord},
};
use tokio::sync::oneshot;

use crate::prompt::{
    names::{Names, mentioned},
    run_activity::RunActivity,
    window,
};
pub(crate) use source_cache::SourceCache;

/// The most active runs that a prompt shows.
pub(crate) const ACTIVE_SHOWN: usize = 20;
/// The most spaces that a prompt shows.
pub(crate) const SPACES_SHOWN: usize = 30;
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
    // The spaces that the agent was in last time. Cards that are missing are read afterwards.
    let guessed = seen.spaces_of(agent_id).unwrap_or_else(|| home.into_iter().collect());
    let spaces = async {
        match triggered_by {
            Some(message) => {
                TriggerSpace::read(store, seen, run, agent_id, message, &guessed, run_tx).await
            }
            None => Ok((None, store.spaces().overviews(&guessed).await?)),
        }
    };
    let (context, (trigger_space, cards)) =
        futures::try_join!(store.agent_state().context(agent_id, run), spaces)?;
    let Some(agent) = context.agent else { return Ok(None) };
    let Some(config) = &agent.agent else { return Ok(None) };
    let mut trigger_space = match trigger_space {
        None => None,
        Some(space) => match space.into_context(store, config.context.window as usize).await? {
            Some(trigger_space) => Some(trigger_space),
            None => return Ok(None),
        },
    };
    let shown = spaces_to_show(&context.spaces, home);
    let cards = complete_cards(store, cards, &shown).await?;
    seen.remember_spaces(agent_id, &shown);

    let visible = visible_runs(&context.active, run, config.spaces_shown(), home);
    let active_count = visible.len();
    let active: Vec<ActiveRecord> = visible.into_iter().take(ACTIVE_SHOWN).cloned().collect();
    let has_this_run = active.first().is_some_and(|first| first.run_id == run);
    let (activities, ()) = futures::try_join!(
        activities(store, &active[usize::from(has_this_run)..]),
        find_unlisted(store, trigger_space.as_mut(), &cards)
    )?;
    let (states, activities) = activities;
    let names = names(&agent, &cards, trigger_space.as_ref(), &active);
    Ok(Some(PromptSources {
        names,
        agent,
        trigger_space,
        cards,
        space_count: context.spaces.len(),
        active,
        active_count,
        states,
        activities,
        memories: context.memories,
        goals: context.goals,
        plans: context.plans,
    }))
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
    for message in trigger_space.messages.iter().chain([&trigger_space.trigger]) {
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
        let messages = trigger_space.messages.iter().map(Arc::as_ref);
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

/// Reads the cards that are missing from `cards`, and drops those that are not shown.
async fn complete_cards(
    store: &Store,
    mut cards: BTreeMap<SpaceId, SpaceOverview>,
    shown: &[SpaceId],
) -> Result<BTreeMap<SpaceId, SpaceOverview>> {
    let missing: Vec<SpaceId> =
        shown.iter().copied().filter(|space| !cards.contains_key(space)).collect();
    if !missing.is_empty() {
        cards.extend(store.spaces().overviews(&missing).await?);
    }
    cards.retain(|space, _| shown.contains(space));
    Ok(cards)
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
    messages: Vec<Arc<MessageRecord>>,
}

impl TriggerSpace {
    /// Also reads the cards of the spaces in `shown`.
    async fn read(
        store: &Store,
        seen: &SourceCache,
        run: RunId,
        agent: EntityId,
        triggered_by: jobs::MessageRef,
        shown: &[SpaceId],
        run_tx: Option<oneshot::Sender<Option<RunRecord>>>,
    ) -> Result<(Option<Self>, BTreeMap<SpaceId, SpaceOverview>)> {
        let space = triggered_by.space_id;
        let of_run = async {
            let RunMembership { run, place: membership, overviews: cards } =
                store.runs().with_membership(space, agent, run, shown).await?;
            if let Some(run_tx) = run_tx {
                // Nobody waits for the record if the claim has already failed.
                let _ = run_tx.send(run);
            }
            Ok((membership, cards))
        };
        let ((membership, cards), messages) =
            futures::try_join!(of_run, seen.last_messages(store, space))?;
        Ok((Some(Self { triggered_by, membership, messages }), cards))
    }

    /// Reads more messages if the window may show more than the default one.
    /// Returns `None` if the agent has left the space, or if the space or the message was deleted.
    async fn into_context(self, store: &Store, window: usize) -> Result<Option<SpaceContext>> {
        let Self { triggered_by: jobs::MessageRef { space_id, seq }, membership, mut messages } =
            self;
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
        Ok(trigger.map(|trigger| SpaceContext {
            space,
            member,
            messages,
            trigger,
            joined: Vec::new(),
            summary,
            unlisted: Vec::new(),
            left: Vec::new(),
        }))
    }
}

/// Reads the states of the agent's other active runs, and what the first few of them have done.
async fn activities(
    store: &Store,
    others: &[ActiveRecord],
) -> Result<(HashMap<RunId, RunStatus>, HashMap<RunId, RunActivity>)> {
    if others.is_empty() {
        return Ok(Default::default());
    }
    let runs = store.runs().still_active(others).await?;
    // A run without a step has done nothing yet. The number is limited, because each activity is a
    // read of its own.
    let working = runs.iter().filter(|run| run.step_count > 0).take(ACTIVITIES_SHOWN);
    let reads = working
        .map(|run| async { Ok::<_, Error>((run.id, RunActivity::of(store, run.id).await?)) });
    let activities = futures::future::try_join_all(reads).await?.into_iter().collect();
    let states = runs.iter().map(|run| (run.id, run.status)).collect();
    Ok((states, activities))
}
