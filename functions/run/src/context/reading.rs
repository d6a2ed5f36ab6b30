//! What a prompt needs, read side by side: it can begin before the run is claimed.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, PoisonError},
};

use smartspace_domain::{
    Result,
    entities::Entity,
    ids::{EntityId, RunId, SpaceId},
    runs::RunStatus,
};
use smartspace_store::{
    Store,
    messages::{MessageRecord, Range},
    rosters::MemberRecord,
    runs::ActiveRecord,
    spaces::{Card, SpaceRecord},
};

use super::window;

/// How many active runs a prompt shows.
pub(crate) const ACTIVE_SHOWN: usize = 20;
/// How many spaces a prompt shows.
pub(crate) const SPACES_SHOWN: usize = 30;

/// Everything that a space message's prompt is made of.
#[derive(Clone, Debug)]
pub(crate) struct Gathered {
    /// The agent.
    pub(crate) agent: Entity,
    /// The space that woke it.
    pub(crate) space: SpaceRecord,
    /// Its place there.
    pub(crate) member: MemberRecord,
    /// The last messages, oldest first; more than the window may show.
    pub(crate) messages: Vec<MessageRecord>,
    /// The message that woke it.
    pub(crate) trigger: MessageRecord,
    /// Its spaces, by id.
    pub(crate) cards: BTreeMap<SpaceId, Card>,
    /// How many spaces it has.
    pub(crate) space_count: usize,
    /// Its active runs, this one among them.
    pub(crate) active: Vec<ActiveRecord>,
    /// Their states.
    pub(crate) states: HashMap<RunId, RunStatus>,
}

/// The spaces of agents as last seen: their cards are read at once, and again only for what was missing.
#[derive(Debug, Default)]
pub(crate) struct SpacesSeen(Mutex<HashMap<EntityId, Vec<SpaceId>>>);

impl SpacesSeen {
    const MOST: usize = 10_000;

    fn of(&self, agent: EntityId) -> Option<Vec<SpaceId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&agent).cloned()
    }

    fn saw(&self, agent: EntityId, spaces: &[SpaceId]) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= Self::MOST {
            seen.clear();
        }
        seen.insert(agent, spaces.to_vec());
    }
}

/// Reads what the prompt of `run` needs. None where the agent is retired, or not in the space any more, or the space is gone.
pub(crate) async fn gather(
    store: &Store,
    seen: &SpacesSeen,
    run: RunId,
    agent_id: EntityId,
    space_id: SpaceId,
    seq: u64,
) -> Result<Option<Gathered>> {
    let guessed = seen.of(agent_id).unwrap_or_else(|| vec![space_id]);
    let (context, place, messages, mut cards) = futures::try_join!(
        store.agent_context(agent_id),
        store.place_of(space_id, agent_id),
        store.message_records(space_id, Range::Before(u64::MAX), window::most(window::USUAL)),
        store.cards(&guessed),
    )?;
    let (Some(agent), Some((space, member))) = (context.agent, place) else { return Ok(None) };
    let Some(config) = &agent.agent else { return Ok(None) };

    let mut messages = messages;
    let most = window::most(config.context.window as usize);
    if most > window::most(window::USUAL) {
        messages = store.message_records(space_id, Range::Before(u64::MAX), most).await?;
    }
    let trigger = match messages.iter().find(|message| message.seq == seq) {
        Some(message) => message.clone(),
        None => match store.message_record(space_id, seq).await? {
            Some(message) => message,
            None => return Ok(None),
        },
    };

    let shown: Vec<SpaceId> = context.spaces.iter().copied().take(SPACES_SHOWN).collect();
    let missing: Vec<SpaceId> = shown.iter().copied().filter(|space| !cards.contains_key(space)).collect();
    if !missing.is_empty() {
        cards.extend(store.cards(&missing).await?);
    }
    cards.retain(|space, _| shown.contains(space));
    seen.saw(agent_id, &shown);

    let others: Vec<ActiveRecord> = context.active.iter().filter(|active| active.run_id != run).take(ACTIVE_SHOWN).cloned().collect();
    let states = if others.is_empty() { HashMap::new() } else { store.states_of(&others).await? };
    let space_count = context.spaces.len();
    Ok(Some(Gathered { agent, space, member, messages, trigger, cards, space_count, active: context.active, states }))
}
