//! Whether a caller may do what it asks for: the rules of [`smartspace_domain::access`], with where the caller stands as the table says it.

use std::collections::BTreeMap;

use smartspace_domain::{
    Error, Result,
    access::{Caller, EntityAction, KnownBy, Place, SpaceAction},
    ids::{EntityId, SpaceId},
};
use smartspace_store::rosters::Roster;

use crate::Pipeline;

impl Pipeline {
    /// Checks that a caller may do something in a space. The operator is told by what follows whether there is such a space.
    pub async fn authorise(&self, caller: Caller, action: SpaceAction, space: SpaceId) -> Result<()> {
        caller.may_in_space(action, self.place_of(caller, space).await?)
    }

    /// Where a caller stands in a space; none for a stranger, and for the operator, who stands nowhere.
    pub(crate) async fn place_of(&self, caller: Caller, space: SpaceId) -> Result<Option<Place>> {
        match caller {
            Caller::Operator => Ok(None),
            Caller::Entity(entity) => Ok(self.store.member(space, entity).await?.map(|member| member.place())),
        }
    }

    /// In whose name a caller speaks in a space. A stranger is told that there is no such space, whatever it asked for.
    pub async fn speaker(&self, caller: Caller, space: SpaceId, sender: Option<EntityId>) -> Result<EntityId> {
        match caller.speaks_as(sender) {
            Err(error @ Error::Forbidden(_)) => {
                self.authorise(caller, SpaceAction::Post, space).await?;
                Err(error)
            }
            speaker => speaker,
        }
    }

    /// Checks that a caller may do something with an entity. The operator is told by what follows whether there is such an entity.
    pub async fn authorise_with(&self, caller: Caller, action: EntityAction, other: EntityId) -> Result<()> {
        match caller {
            Caller::Operator => Ok(()),
            Caller::Entity(entity) => caller.may_with_entity(action, Box::pin(self.store.acquaintance(entity, other)).await?),
        }
    }
}

/// Checks that a caller may do something in a space of this roster: what is then written under the roster's version is written by who may.
pub fn may_in(roster: &Roster, caller: Caller, action: SpaceAction) -> Result<()> {
    let place = match caller {
        Caller::Operator => None,
        Caller::Entity(entity) => roster.member(entity).map(smartspace_store::rosters::MemberRecord::place),
    };
    caller.may_in_space(action, place)
}

/// What a caller may know, asked once for each space.
#[derive(Debug)]
pub struct KnownSpaces {
    caller: Caller,
    known: BTreeMap<SpaceId, bool>,
}

impl KnownSpaces {
    /// Nothing asked yet.
    pub fn of(caller: Caller) -> Self {
        Self { caller, known: BTreeMap::new() }
    }

    /// Whether the caller may know what is known by these.
    pub async fn has(&mut self, pipeline: &Pipeline, known_by: KnownBy) -> Result<bool> {
        let KnownBy::Members(space) = known_by else { return Ok(self.caller == Caller::Operator) };
        if let Some(known) = self.known.get(&space) {
            return Ok(*known);
        }
        let known = match pipeline.authorise(self.caller, SpaceAction::Read, space).await {
            Ok(()) => true,
            Err(Error::NotFound(_)) => false,
            Err(error) => return Err(error),
        };
        self.known.insert(space, known);
        Ok(known)
    }
}
