//! A cache of the data that this process has read for earlier prompts.

mod bounded_cache;

use std::sync::Arc;

use smartspace_domain::{
    Result,
    ids::{EntityId, SpaceId},
};
use smartspace_store::{
    Store,
    messages::{MessageRecord, Range},
    spaces::Lengths,
};

use self::bounded_cache::BoundedCache;
use crate::prompt::window;

/// Agents whose spaces are remembered.
const MAX_AGENTS: usize = 10_000;
/// Spaces whose last messages are remembered.
const MAX_SPACES: usize = 100;
/// Spaces whose length is remembered.
const MAX_LENGTHS: usize = 10_000;
/// The longest text that is remembered of a space, in bytes. All spaces together stay under 15 MB.
const MAX_SPACE_BYTES: usize = 150_000;

/// The data that this process has read before. It only saves reads and never changes a prompt.
#[derive(Debug, Default)]
pub(crate) struct SourceCache {
    /// The spaces of agents. Their cards are read together with the agent, and only missing ones
    /// are read afterwards.
    spaces: BoundedCache<EntityId, Guess>,
    /// The last messages of spaces. Message numbers have no gaps, and few messages may change
    /// without a new value of `HEAD.changed`: cards whose call has no result, and messages with
    /// files, which may be deleted. So these and new messages are all that is read.
    messages: BoundedCache<SpaceId, Seen>,
    /// How long spaces were. They only grow.
    lengths: BoundedCache<SpaceId, u64>,
}

/// What an agent's last prompt showed: the next one probably shows the same.
#[derive(Clone, Debug)]
pub(super) struct Guess {
    pub(super) spaces: Arc<[SpaceId]>,
    /// The size of its window.
    pub(super) window: u32,
}

/// The last messages of a space, as this process has read them.
#[derive(Clone, Debug, Default)]
struct Seen {
    messages: Arc<[Arc<MessageRecord>]>,
    /// They show every edit and every deletion up to this value of `HEAD.changed`.
    changed: u64,
}

/// The last messages of a space, read beside its head. They may be older than the head.
pub(super) struct LastMessages {
    messages: Vec<Arc<MessageRecord>>,
    /// The value of `HEAD.changed` up to which they show every change.
    changed: u64,
    /// Whether they differ from those that the process remembers.
    is_new: bool,
}

impl SourceCache {
    /// What the last prompt of an agent showed.
    pub(super) fn last_of(&self, agent: EntityId) -> Option<Guess> {
        self.spaces.get(&agent)
    }

    pub(super) fn remember_spaces(&self, agent: EntityId, spaces: &[SpaceId], window: u32) {
        self.spaces.insert(agent, Guess { spaces: spaces.into(), window }, MAX_AGENTS);
    }

    /// How long these spaces were when this process last read them, and those whose lengths are to
    /// be read: none if one of them is known to be longer than `window`.
    pub(super) fn lengths(&self, spaces: &[SpaceId], window: u32) -> (Lengths, Vec<SpaceId>) {
        let known = |space: &SpaceId| Some((*space, self.lengths.get(space)?));
        let known: Lengths = spaces.iter().filter_map(known).collect();
        let has_long = known.values().any(|length| *length > u64::from(window));
        (known, if has_long { Vec::new() } else { spaces.to_vec() })
    }

    /// The known lengths with those that were read now, which are remembered.
    pub(super) fn with_lengths(&self, mut known: Lengths, read: Lengths) -> Lengths {
        for (space, length) in &read {
            self.lengths.insert(*space, *length, MAX_LENGTHS);
        }
        known.extend(read);
        known
    }

    /// Reads the last messages of a space, oldest first, as many as a default window may show. What
    /// [`Self::up_to_date`] makes of them with the head is what a prompt may show.
    pub(super) async fn last_messages(
        &self,
        store: &Store,
        space: SpaceId,
    ) -> Result<LastMessages> {
        let max = window::max_messages(window::DEFAULT_SIZE);
        let Seen { messages: before, changed: at } = self.messages.get(&space).unwrap_or_default();
        let mut messages = before.to_vec();
        let open: Vec<_> = messages
            .iter()
            .filter(|message| message.may_change())
            .map(|message| (space, message.seq))
            .collect();
        let range = before.last().map_or(Range::Before(u64::MAX), |last| Range::After(last.seq));
        let (new, changed) = futures::try_join!(
            store.messages().records(space, range, max),
            store.messages().at(&open)
        )?;
        for changed in changed.into_iter().flatten() {
            if let Ok(index) = messages.binary_search_by_key(&changed.seq, |message| message.seq) {
                messages[index] = Arc::new(changed);
            }
        }
        let is_new = !new.is_empty() || !open.is_empty();
        if new.len() == max && !before.is_empty() {
            // More new messages than one read returns may have come. So all are read again.
            messages = all(store, space).await?;
        } else {
            messages.extend(new.into_iter().map(Arc::new));
            messages.drain(..messages.len().saturating_sub(max));
        }
        Ok(LastMessages { messages, changed: at, is_new })
    }

    /// The messages that were read, if they show all changes up to `changed`, the value of
    /// `HEAD.changed` that was read at the same time. Otherwise reads all of them again.
    pub(super) async fn up_to_date(
        &self,
        store: &Store,
        space: SpaceId,
        read: LastMessages,
        changed: u64,
    ) -> Result<Vec<Arc<MessageRecord>>> {
        let is_old = read.changed != changed;
        let messages = if is_old { all(store, space).await? } else { read.messages };
        if is_old || read.is_new {
            let bytes: usize = messages.iter().map(|message| message.text.len()).sum();
            let remembered = if bytes > MAX_SPACE_BYTES { &[] } else { messages.as_slice() };
            let seen = Seen { messages: remembered.into(), changed };
            self.messages.insert(space, seen, MAX_SPACES);
        }
        Ok(messages)
    }
}

/// Reads the last messages of a space.
async fn all(store: &Store, space: SpaceId) -> Result<Vec<Arc<MessageRecord>>> {
    let max = window::max_messages(window::DEFAULT_SIZE);
    let messages = store.messages().records(space, Range::Before(u64::MAX), max).await?;
    Ok(messages.into_iter().map(Arc::new).collect())
}
