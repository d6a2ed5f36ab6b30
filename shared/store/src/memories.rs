//! What agents remember. How a change of it is kept stands in [`crate::kept`].

use std::collections::{BTreeMap, BTreeSet};

use smartspace_domain::{Time, ids::EntityId, limits, memories::Memory};

use crate::{
    Error, Result, Store,
    kept::{By, Change, Counts, Reads},
    keys,
    pages::{Ask, Page},
    write::Write,
};

impl Store {
    /// A page of what an agent remembers, by key.
    pub async fn memories(&self, agent: EntityId, ask: &Ask) -> Result<Page<Memory>> {
        self.kept_page(agent, keys::MEMORY, ask).await
    }

    /// All that an agent remembers, by key.
    pub async fn all_memories(&self, agent: EntityId) -> Result<Vec<Memory>> {
        self.all_kept(agent, keys::MEMORY).await
    }

    /// What an agent remembers under these keys, in their order. Those that are not there are left out.
    pub async fn memories_at(&self, agent: EntityId, wanted: &BTreeSet<String>) -> Result<Vec<Memory>> {
        let places: Vec<_> = wanted.iter().map(|key| keys::memory(agent, key)).collect();
        let mut items = self.table.get_all(&places).await?;
        Ok(places.iter().map(|place| items.take(place)).collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    /// Keeps values by their keys, checked before and at most [`limits::KEPT_AT_ONCE`]; a key that is there gets the new value.
    /// [`Error::Conflict`] where there would be too many.
    pub async fn set_memories(&self, agent: EntityId, set: &BTreeMap<String, String>, by: &By<Memory>, now: Time) -> Result<Vec<Memory>> {
        let places: Vec<_> = set.keys().map(|key| keys::memory(agent, key)).collect();
        let made: Vec<_> = set.iter().map(|(key, value)| Memory { key: key.clone(), value: value.clone(), updated_at: now }).collect();
        self.change_kept(agent, Reads::Places(&places), by, |mut items, counts| {
            let mut new = 0;
            for place in &places {
                new += usize::from(items.take::<Memory>(place)?.is_none());
            }
            let memories = counts.memories + new;
            if new > 0 && memories > limits::MEMORIES {
                let (most, there) = (limits::MEMORIES, counts.memories);
                return Err(Error::Conflict(format!(
                    "an agent has at most {most} memories, this one has {there}, and {new} would be new; delete some first, or set those that are there"
                )));
            }
            let writes = places.iter().zip(&made).map(|(place, memory)| Write::put(place.clone(), memory));
            Ok(Change { writes: writes.collect::<Result<_>>()?, counts: Counts { memories, ..counts }, made: made.clone() })
        })
        .await
    }

    /// Forgets what is kept under these keys, at most [`limits::KEPT_AT_ONCE`]. Gives those that were there.
    pub async fn delete_memories(&self, agent: EntityId, unwanted: &BTreeSet<String>, by: &By<String>) -> Result<Vec<String>> {
        let places: Vec<_> = unwanted.iter().map(|key| keys::memory(agent, key)).collect();
        self.change_kept(agent, Reads::Places(&places), by, |mut items, counts| {
            let (mut writes, mut made) = (Vec::new(), Vec::new());
            for place in &places {
                if let Some(memory) = items.take::<Memory>(place)? {
                    writes.push(Write::delete(place.clone()));
                    made.push(memory.key);
                }
            }
            let memories = counts.memories.saturating_sub(made.len());
            Ok(Change { writes, counts: Counts { memories, ..counts }, made })
        })
        .await
    }
}
