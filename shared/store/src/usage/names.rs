//! The names of the agents and the spaces in a report of usage.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use smartspace_domain::ids::{EntityId, SpaceId};

use crate::{
    Result, UsageRows,
    table::keys::{self, Key},
    usage::UsageReport,
};

/// How many items are held at once, since the item of an agent has its whole configuration.
const READ_AT_ONCE: usize = 100;

#[derive(Deserialize)]
struct Named {
    name: String,
}

impl UsageRows<'_> {
    /// Fills in the names of a report's agents and spaces. Retired agents have names, too.
    pub async fn add_names(self, report: &mut UsageReport) -> Result<()> {
        let agents: BTreeSet<EntityId> =
            report.items.iter().filter_map(|item| item.agent_id).collect();
        let spaces: BTreeSet<SpaceId> =
            report.items.iter().filter_map(|item| item.space_id).collect();
        let agents = self.names(agents, |id| keys::entity_meta(*id)).await?;
        let spaces = self.names(spaces, |id| keys::space_overview(*id)).await?;
        for item in &mut report.items {
            item.agent_name = item.agent_id.and_then(|id| agents.get(&id).cloned());
            item.space_name = item.space_id.and_then(|id| spaces.get(&id).cloned());
        }
        Ok(())
    }

    /// The names at the keys of `ids`. Leaves out ids without an item.
    async fn names<T: Ord>(
        self,
        ids: BTreeSet<T>,
        key_of: impl Fn(&T) -> Key,
    ) -> Result<BTreeMap<T, String>> {
        let mut names = BTreeMap::new();
        let mut left = ids.into_iter();
        loop {
            let some: Vec<(Key, T)> =
                left.by_ref().take(READ_AT_ONCE).map(|id| (key_of(&id), id)).collect();
            if some.is_empty() {
                return Ok(names);
            }
            let wanted: Vec<Key> = some.iter().map(|(key, _)| key.clone()).collect();
            let mut items = self.store.table.get_all(&wanted).await?;
            for (key, id) in some {
                if let Some(Named { name }) = items.take(&key)? {
                    names.insert(id, name);
                }
            }
        }
    }
}
