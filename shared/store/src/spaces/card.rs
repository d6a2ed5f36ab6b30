//! The card of a space: its name and its first members.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use smartspace_domain::{ids::SpaceId, messages::Sender};

use crate::{Result, Spaces, table::keys};

/// The part of a space that prompts in other spaces show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// Its name.
    pub name: String,
    /// Its first 20 members.
    pub members: Vec<Sender>,
    /// How many members it has.
    pub count: usize,
}

impl Card {
    /// How many members a card names.
    pub const NAMED: usize = 20;

    pub(crate) fn of(name: &str, members: impl Iterator<Item = Sender>) -> Self {
        let members: Vec<Sender> = members.collect();
        let count = members.len();
        Self {
            name: name.to_owned(),
            members: members.into_iter().take(Self::NAMED).collect(),
            count,
        }
    }
}

impl Spaces<'_> {
    /// The cards of spaces. Leaves out spaces without a card.
    pub async fn cards(self, ids: &[SpaceId]) -> Result<BTreeMap<SpaceId, Card>> {
        let wanted: Vec<_> = ids.iter().map(|id| keys::space_card(*id)).collect();
        let mut items = self.store.table.get_all(&wanted).await?;
        let mut cards = BTreeMap::new();
        for (id, key) in ids.iter().zip(&wanted) {
            if let Some(card) = items.take(key)? {
                cards.insert(*id, card);
            }
        }
        Ok(cards)
    }
}
