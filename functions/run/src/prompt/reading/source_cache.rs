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
};

use self::bounded_cache::BoundedCache;
use crate::prompt::window;

/// Agents whose spaces are remembered.
const MAX_AGENTS: usize = 10_000;
/// Spaces whose last messages are remembered.
const MAX_SPACES: usize = 100;
/// The longest text that is remembered of a space, in bytes. All spaces together stay under 15 MB.
const MAX_SPACE_BYTES: usize = 150_000;

/// The data that this process has read before. It only saves reads and never changes a prompt.
#[derive(Debug, Default)]
pub(crate) struct SourceCache {
    /// The spaces of agents. Their cards are read together with the agent, and only missing ones
    /// are read afterwards.
    spaces: BoundedCache<EntityId, Arc<[SpaceId]>>,
    /// The last messages of spaces. Message numbers have no gaps, and few messages may change:
    /// cards whose call has no result, and messages with files, which may be deleted. So these
    /// and new messages are all that is read.
    messages: BoundedCache<SpaceId, Arc<[Arc<MessageRecord>]>>,
}

impl SourceCache {
    /// The spaces that the last prompt of an agent showed.
    pub(super) fn spaces_of(&self, agent: EntityId) -> Option<Arc<[SpaceId]>> {
        self.spaces.get(&agent)
    }

    pub(super) fn remember_spaces(&self, agent: EntityId, spaces: &[SpaceId]) {
        self.spaces.insert(agent, spaces.into(), MAX_AGENTS);
    }

    /// Reads the last messages of a space, oldest first, as many as a default window may show.
    pub(super) async fn last_messages(
        &self,
        store: &Store,
        space: SpaceId,
    ) -> Result<Vec<Arc<MessageRecord>>> {
        let max = window::max_messages(window::DEFAULT_SIZE);
        let before = self.messages.get(&space).unwrap_or_default();
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
        if new.is_empty() && open.is_empty() {
            return Ok(messages);
        }
        if new.len() == max && !before.is_empty() {
            // More new messages than one read returns may have come. So all are read again.
            messages.clear();
            messages.extend(
                store
                    .messages()
                    .records(space, Range::Before(u64::MAX), max)
                    .await?
                    .into_iter()
                    .map(Arc::new),
            );
        } else {
            messages.extend(new.into_iter().map(Arc::new));
            messages.drain(..messages.len().saturating_sub(max));
        }
        let bytes: usize = messages.iter().map(|message| message.text.len()).sum();
        let remembered = if bytes > MAX_SPACE_BYTES { &[] } else { messages.as_slice() };
        self.messages.insert(space, remembered.into(), MAX_SPACES);
        Ok(messages)
    }
}
