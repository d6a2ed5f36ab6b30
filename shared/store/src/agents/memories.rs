//! The memories of agents. [`crate::agents::state`] describes how changes are stored.

use std::collections::{BTreeMap, BTreeSet};

use smartspace_domain::{
    Time,
    ids::EntityId,
    limits,
    memories::{Memory, MemoryKey, MemoryValue},
};

use crate::{
    Error, Memories, Result,
    agents::state::{Change, ChangedBy, Counts, Reads, set_write},
    table::{
        keys,
        pages::{Page, PageRequest},
    },
};

impl Memories<'_> {
    /// A page of an agent's memories, by key.
    pub async fn list(self, agent: EntityId, request: &PageRequest) -> Result<Page<Memory>> {
        self.store.agent_state().page(agent, keys::MEMORY, request).await
    }

    /// All memories of an agent, by key.
    pub async fn all(self, agent: EntityId) -> Result<Vec<Memory>> {
        self.store.agent_state().all(agent, keys::MEMORY).await
    }

    /// The memories with these keys, in their order. Leaves out keys without a memory.
    pub async fn at(self, agent: EntityId, wanted: &BTreeSet<MemoryKey>) -> Result<Vec<Memory>> {
        let item_keys: Vec<_> =
            wanted.iter().map(|key| keys::memory(agent, key.as_str())).collect();
        let mut items = self.store.table.get_all(&item_keys).await?;
        item_keys.iter().filter_map(|item_key| items.take(item_key).transpose()).collect()
    }

    /// Stores values by their keys, at most [`limits::CHANGES_AT_ONCE`]. An existing key gets the
    /// new value.
    ///
    /// Fails with [`Error::Conflict`] if the agent would have too many memories.
    pub async fn set(
        self,
        agent: EntityId,
        set: &BTreeMap<MemoryKey, MemoryValue>,
        by: &ChangedBy<Memory>,
        now: Time,
    ) -> Result<Vec<Memory>> {
        let item_keys: Vec<_> = set.keys().map(|key| keys::memory(agent, key.as_str())).collect();
        let made: Vec<_> = set
            .iter()
            .map(|(key, value)| Memory {
                key: key.to_string(),
                value: value.to_string(),
                updated_at: now,
            })
            .collect();
        self.store
            .agent_state()
            .change(agent, Reads::Items(&item_keys), by, |mut items, counts| {
                let before: Vec<Option<Memory>> =
                    item_keys.iter().map(|item_key| items.take(item_key)).collect::<Result<_>>()?;
                let new = before.iter().filter(|before| before.is_none()).count();
                let memories = counts.memories + new;
                if new > 0 && memories > limits::MEMORIES {
                    return Err(too_many_memories(counts.memories, new));
                }
                let mut writes = Vec::with_capacity(made.len());
                for (item_key, (before, memory)) in item_keys.iter().zip(before.iter().zip(&made)) {
                    writes.extend(set_write(item_key.clone(), before.as_ref(), memory)?);
                }
                Ok(Change { writes, counts: Counts { memories, ..counts }, made: made.clone() })
            })
            .await
    }

    /// Deletes the memories with these keys, at most [`limits::CHANGES_AT_ONCE`]. Returns the keys
    /// of those that existed.
    pub async fn delete(
        self,
        agent: EntityId,
        unwanted: &BTreeSet<MemoryKey>,
        by: &ChangedBy<String>,
    ) -> Result<Vec<String>> {
        let item_keys: Vec<_> =
            unwanted.iter().map(|key| keys::memory(agent, key.as_str())).collect();
        let name = |memory: Memory| memory.key;
        let left = |counts: Counts, deleted| Counts {
            memories: counts.memories.saturating_sub(deleted),
            ..counts
        };
        self.store.agent_state().delete(agent, &item_keys, by, name, left).await
    }
}

fn too_many_memories(existing: usize, new: usize) -> Error {
    Error::Conflict(format!(
        "an agent has at most {} memories, this one has {existing}, and {new} would be new; delete \
         some first, or set existing ones",
        limits::MEMORIES
    ))
}
