//! The overviews of spaces: the name and the first members of each, as prompts show them. An
//! overview is an item of its own, so that a prompt reads one item per space.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    ids::{EntityId, SpaceId},
    messages::Sender,
    spaces::{SpaceSettings, TriggerPolicy},
    stored,
    system_lines::SystemLine,
};

use crate::{
    Result, Spaces,
    shared::member::MemberRecord,
    spaces::rosters::Head,
    table::{
        Items,
        keys::{self, Key},
    },
};

/// The numbers of the last messages of spaces.
pub type Lengths = BTreeMap<SpaceId, u64>;

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
    /// The line of the last change of its members or settings, if one reports it.
    #[serde(default, deserialize_with = "stored::read_if_known")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<SystemLine>,
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
        Self { name: settings.name.clone(), members: named, count, admin, changed: None }
    }

    /// The overview after a change that a line reports.
    #[must_use]
    pub(crate) fn after(self, changed: Option<&SystemLine>) -> Self {
        Self { changed: changed.cloned(), ..self }
    }
}

impl Spaces<'_> {
    /// The overviews of spaces. Leaves out spaces without an overview.
    pub async fn overviews(self, ids: &[SpaceId]) -> Result<BTreeMap<SpaceId, SpaceOverview>> {
        let wanted: Vec<_> = ids.iter().map(|id| keys::space_overview(*id)).collect();
        take_overviews(&mut self.store.table.get_all(&wanted).await?, ids)
    }

    /// The overviews of spaces, and how long those in `measured` are, in one read.
    pub async fn overviews_and_lengths(
        self,
        ids: &[SpaceId],
        measured: &[SpaceId],
    ) -> Result<(BTreeMap<SpaceId, SpaceOverview>, Lengths)> {
        let overviews = ids.iter().map(|id| keys::space_overview(*id));
        let wanted: Vec<_> = overviews.chain(head_keys(measured)).collect();
        let mut items = self.store.table.get_all(&wanted).await?;
        Ok((take_overviews(&mut items, ids)?, take_lengths(&mut items, measured)?))
    }
}

/// The keys of what says how long spaces are.
pub(crate) fn head_keys(ids: &[SpaceId]) -> impl Iterator<Item = Key> + '_ {
    ids.iter().map(|id| keys::space_head(*id))
}

/// Takes the lengths of spaces out of what was read. Leaves out spaces without a head.
pub(crate) fn take_lengths(items: &mut Items, ids: &[SpaceId]) -> Result<Lengths> {
    let mut lengths = Lengths::new();
    for id in ids {
        let head: Option<Head> = items.take(&keys::space_head(*id))?;
        lengths.extend(head.map(|head| (*id, head.seq)));
    }
    Ok(lengths)
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
