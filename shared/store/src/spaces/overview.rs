//! The overviews of spaces: the name and the first members of each, as prompts show them. An
//! overview is an item of its own, so that a prompt reads one item per space.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    ids::{EntityId, SpaceId},
    messages::Sender,
    spaces::{SpaceSettings, TriggerPolicy},
};

use crate::{
    Result, Spaces,
    shared::member::MemberRecord,
    table::{Items, keys},
};

/// The part of a space that the prompts of its agents show, in every space that they are in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpaceOverview {
    pub name: String,
    pub members: Vec<OverviewMember>,
    /// How many members it has.
    pub count: usize,
    /// Its admin agent, if its policy is `admin`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admin: Option<EntityId>,
}

/// A member in an overview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverviewMember {
    /// Its id, name and type.
    #[serde(flatten)]
    pub sender: Sender,
    /// The work of the agent, see [`MemberRecord::about`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// See [`MemberRecord::chain_limit`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain_limit: Option<u32>,
}

impl SpaceOverview {
    /// How many members an overview names.
    pub const NAMED: usize = 20;

    pub(crate) fn of<'a>(
        settings: &SpaceSettings,
        members: impl Iterator<Item = &'a MemberRecord>,
    ) -> Self {
        let mut count = 0;
        let mut named = Vec::new();
        for member in members {
            count += 1;
            if count <= Self::NAMED {
                named.push(OverviewMember {
                    sender: member.sender(),
                    about: member.about.clone(),
                    chain_limit: member.chain_limit,
                });
            }
        }
        let admin =
            settings.admin_agent_id.filter(|_| settings.trigger_policy == TriggerPolicy::Admin);
        Self { name: settings.name.clone(), members: named, count, admin }
    }
}

impl Spaces<'_> {
    /// The overviews of spaces. Leaves out spaces without an overview.
    pub async fn overviews(self, ids: &[SpaceId]) -> Result<BTreeMap<SpaceId, SpaceOverview>> {
        let wanted: Vec<_> = ids.iter().map(|id| keys::space_overview(*id)).collect();
        take_overviews(&mut self.store.table.get_all(&wanted).await?, ids)
    }
}

/// Takes the overviews of spaces out of what was read. Leaves out spaces without an overview.
pub(crate) fn take_overviews(
    items: &mut Items,
    ids: &[SpaceId],
) -> Result<BTreeMap<SpaceId, SpaceOverview>> {
    let mut overviews = BTreeMap::new();
    for id in ids {
        if let Some(overview) = items.take(&keys::space_overview(*id))? {
            overviews.insert(*id, overview);
        }
    }
    Ok(overviews)
}
