//! The card of a space: its name and its first members.

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
pub struct Card {
    pub name: String,
    pub members: Vec<CardMember>,
    /// How many members it has.
    pub count: usize,
    /// Its admin agent, if its policy is `admin`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admin: Option<EntityId>,
}

/// A member on a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardMember {
    /// Its id, name and type.
    #[serde(flatten)]
    pub sender: Sender,
    /// The work of the agent, see [`MemberRecord::about`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
}

impl Card {
    /// How many members a card names.
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
                named.push(CardMember { sender: member.sender(), about: member.about.clone() });
            }
        }
        let admin =
            settings.admin_agent_id.filter(|_| settings.trigger_policy == TriggerPolicy::Admin);
        Self { name: settings.name.clone(), members: named, count, admin }
    }
}

impl Spaces<'_> {
    /// The cards of spaces. Leaves out spaces without a card.
    pub async fn cards(self, ids: &[SpaceId]) -> Result<BTreeMap<SpaceId, Card>> {
        let wanted: Vec<_> = ids.iter().map(|id| keys::space_card(*id)).collect();
        take_cards(&mut self.store.table.get_all(&wanted).await?, ids)
    }
}

/// Takes the cards of spaces out of what was read. Leaves out spaces without a card.
pub(crate) fn take_cards(items: &mut Items, ids: &[SpaceId]) -> Result<BTreeMap<SpaceId, Card>> {
    let mut cards = BTreeMap::new();
    for id in ids {
        if let Some(card) = items.take(&keys::space_card(*id))? {
            cards.insert(*id, card);
        }
    }
    Ok(cards)
}
