//! What a prompt needs, read side by side: it can begin before the run is claimed.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use smartspace_domain::{
    Result,
    agents::SpacesShown,
    entities::Entity,
    goals::Goal,
    ids::{EntityId, RunId, SpaceId},
    jobs,
    memories::Memory,
    plans::Plan,
    runs::RunStatus,
};
use smartspace_store::{
    Store,
    messages::{MessageRecord, Range},
    rosters::MemberRecord,
    runs::ActiveRecord,
    spaces::{Card, SpaceRecord},
    summaries::SummaryRecord,
};

use super::{doing::Doing, window};

/// How many active runs a prompt shows.
pub(crate) const ACTIVE_SHOWN: usize = 20;
/// How many spaces a prompt shows.
pub(crate) const SPACES_SHOWN: usize = 30;

/// Everything that a prompt is made of.
#[derive(Clone, Debug)]
pub(crate) struct Gathered {
    /// The agent.
    pub(crate) agent: Entity,
    /// The space that woke it; none where a plan or a service did.
    pub(crate) place: Option<Place>,
    /// Its spaces, by id.
    pub(crate) cards: BTreeMap<SpaceId, Card>,
    /// How many spaces it has.
    pub(crate) space_count: usize,
    /// Its active runs, this one first, as many as a prompt shows. An agent that is told of the active space only is not told what it does in
    /// others: anybody may have let it in here.
    pub(crate) active: Vec<ActiveRecord>,
    /// How many they are, as far as is known without looking at each.
    pub(crate) active_count: usize,
    /// Their states.
    pub(crate) states: HashMap<RunId, RunStatus>,
    /// What the others of them have done.
    pub(crate) doings: HashMap<RunId, Doing>,
    /// What it remembers, by key.
    pub(crate) memories: Vec<Memory>,
    /// What it works towards.
    pub(crate) goals: Vec<Goal>,
    /// What it is to do later.
    pub(crate) plans: Vec<Plan>,
}

/// The space that woke an agent.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// It.
    pub(crate) space: SpaceRecord,
    /// The agent's place there.
    pub(crate) member: MemberRecord,
    /// The last messages, oldest first; more than the window may show.
    pub(crate) messages: Vec<Arc<MessageRecord>>,
    /// The message that woke it.
    pub(crate) trigger: Arc<MessageRecord>,
    /// What is written of its older history.
    pub(crate) summary: Option<SummaryRecord>,
}

/// What this process has seen before, so that it reads only what is new. Nothing here decides anything.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The spaces of agents: their cards are read at once, and again only for what was missing.
    spaces: Cache<EntityId, Arc<[SpaceId]>>,
    /// The last messages of spaces. Numbers have no gaps, and only a card whose call has no result yet still changes: what came since is read, and
    /// the open cards.
    messages: Cache<SpaceId, Arc<[Arc<MessageRecord>]>>,
}

#[derive(Debug)]
struct Cache<K, V>(Mutex<HashMap<K, V>>);

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: std::hash::Hash + Eq, V: Clone> Cache<K, V> {
    fn of(&self, key: &K) -> Option<V> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// Keeps a value; forgets all others once there are `most`.
    fn saw(&self, key: K, value: V, most: usize) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= most && !seen.contains_key(&key) {
            seen.clear();
        }
        seen.insert(key, value);
    }
}

/// Agents whose spaces are remembered.
const AGENTS: usize = 10_000;
/// Spaces whose last messages are remembered.
const SPACES: usize = 100;
/// What of a space is remembered at most, in bytes of text: all of them together stay under 15 MB.
const SPACE_BYTES: usize = 150_000;

impl Seen {
    /// The last messages of a space, oldest first: as many as a usual window may show.
    async fn last_messages(&self, store: &Store, space: SpaceId) -> Result<Vec<Arc<MessageRecord>>> {
        let most = window::most(window::USUAL);
        let before = self.messages.of(&space).unwrap_or_default();
        let mut messages = before.to_vec();
        let open: Vec<_> = messages.iter().filter(|message| message.is_open()).map(|message| (space, message.seq)).collect();
        let range = before.last().map_or(Range::Before(u64::MAX), |last| Range::After(last.seq));
        let (new, changed) = futures::try_join!(store.message_records(space, range, most), store.messages_at(&open))?;
        for changed in changed.into_iter().flatten() {
            if let Ok(place) = messages.binary_search_by_key(&changed.seq, |message| message.seq) {
                messages[place] = Arc::new(changed);
            }
        }
        if new.is_empty() && open.is_empty() {
            return Ok(messages);
        }
        if new.len() == most && !before.is_empty() {
            // So much came meanwhile that this may not be all of it.
            messages.clear();
            messages.extend(store.message_records(space, Range::Before(u64::MAX), most).await?.into_iter().map(Arc::new));
        } else {
            messages.extend(new.into_iter().map(Arc::new));
            messages.drain(..messages.len().saturating_sub(most));
        }
        let remembered =
            if messages.iter().map(|message| message.text.len()).sum::<usize>() > SPACE_BYTES { &[] } else { messages.as_slice() };
        self.messages.saw(space, remembered.into(), SPACES);
        Ok(messages)
    }
}

/// Reads what the prompt of `run` needs, which a message at `woken_at` woke; none where a plan or a service did. None where the agent is retired, or not in
/// the space any more, or the space is gone.
pub(crate) async fn gather(
    store: &Store,
    seen: &Seen,
    run: RunId,
    agent_id: EntityId,
    woken_at: Option<jobs::Place>,
) -> Result<Option<Gathered>> {
    let home = woken_at.map(|place| place.space_id);
    let guessed = seen.spaces.of(&agent_id).unwrap_or_else(|| home.into_iter().collect());
    let around = async {
        match woken_at {
            Some(woken_at) => Around::of(store, seen, agent_id, woken_at).await.map(Some),
            None => Ok(None),
        }
    };
    let (context, around, mut cards) = futures::try_join!(store.agent_context(agent_id), around, store.cards(&guessed))?;
    let Some(agent) = context.agent else { return Ok(None) };
    let Some(config) = &agent.agent else { return Ok(None) };
    let place = match around {
        None => None,
        Some(around) => match around.place(store, config.context.window as usize).await? {
            Some(place) => Some(place),
            None => return Ok(None),
        },
    };

    // Where it was woken stands among them, however many there are.
    let others = context.spaces.iter().copied().filter(|other| Some(*other) != home);
    let shown: Vec<SpaceId> = home.into_iter().chain(others).take(SPACES_SHOWN).collect();
    let missing: Vec<SpaceId> = shown.iter().copied().filter(|space| !cards.contains_key(space)).collect();
    if !missing.is_empty() {
        cards.extend(store.cards(&missing).await?);
    }
    cards.retain(|space, _| shown.contains(space));
    seen.spaces.saw(agent_id, shown.as_slice().into(), AGENTS);

    let told = |other: &&ActiveRecord| other.run_id != run && (config.spaces_shown() == SpacesShown::All || other.cause.space_id() == home);
    let (mine, others) = (context.active.iter().find(|active| active.run_id == run), context.active.iter().filter(told));
    let active_count = others.clone().count() + usize::from(mine.is_some());
    let active: Vec<ActiveRecord> = mine.into_iter().chain(others).take(ACTIVE_SHOWN).cloned().collect();
    let (states, doings) = doings(store, &active[usize::from(mine.is_some())..]).await?;
    Ok(Some(Gathered {
        agent,
        place,
        cards,
        space_count: context.spaces.len(),
        active,
        active_count,
        states,
        doings,
        memories: context.memories,
        goals: context.goals,
        plans: context.plans,
    }))
}

/// The space around the message that woke a run, before it is known how much of it the prompt shows.
struct Around {
    woken_at: jobs::Place,
    place: Option<(SpaceRecord, MemberRecord, Option<SummaryRecord>)>,
    messages: Vec<Arc<MessageRecord>>,
}

impl Around {
    async fn of(store: &Store, seen: &Seen, agent: EntityId, woken_at: jobs::Place) -> Result<Self> {
        let space = woken_at.space_id;
        let (place, messages) = futures::try_join!(store.place_with_summary(space, agent), seen.last_messages(store, space))?;
        Ok(Self { woken_at, place, messages })
    }

    /// With as many messages as a window may show. None where the agent is not in the space any more, or the space or the message is gone.
    async fn place(self, store: &Store, window: usize) -> Result<Option<Place>> {
        let Self { woken_at: jobs::Place { space_id, seq }, place, mut messages } = self;
        let Some((space, member, summary)) = place else { return Ok(None) };
        let most = window::most(window);
        if most > window::most(window::USUAL) {
            let more = store.message_records(space_id, Range::Before(u64::MAX), most).await?;
            messages = more.into_iter().map(Arc::new).collect();
        }
        let trigger = match messages.iter().find(|message| message.seq == seq) {
            Some(message) => Some(Arc::clone(message)),
            None => store.message_record(space_id, seq).await?.map(Arc::new),
        };
        Ok(trigger.map(|trigger| Place { space, member, messages, trigger, summary }))
    }
}

/// Runs of which a prompt says what they have done.
const DOINGS: usize = 5;

/// The states of an agent's other runs, and what they have done.
async fn doings(store: &Store, others: &[ActiveRecord]) -> Result<(HashMap<RunId, RunStatus>, HashMap<RunId, Doing>)> {
    if others.is_empty() {
        return Ok(Default::default());
    }
    let runs = store.records_of(others).await?;
    // Who was not answered yet has done nothing. Where an agent does very much at once, the first few are enough: each is a read of its own.
    let working = runs.iter().filter(|run| run.step_count > 0).take(DOINGS);
    let each = working.map(|run| async { Ok::<_, smartspace_domain::Error>((run.id, Doing::of(store, run.id).await?)) });
    let doings = futures::future::try_join_all(each).await?;
    Ok((runs.iter().map(|run| (run.id, run.status)).collect(), doings.into_iter().collect()))
}
