//! Applies the rules of [`smartspace_domain::access`] to the memberships and relationships in the
//! table.

mod known_spaces;

use smartspace_domain::{
    Error, Result,
    access::{Caller, EntityAction, Membership, SpaceAction},
    ids::{EntityId, SpaceId},
};
use smartspace_store::spaces::rosters::Roster;

pub use self::known_spaces::KnownSpaces;
use crate::Pipeline;

impl Pipeline {
    /// Checks that a caller may do something in a space. For the operator this does not check that
    /// the space exists.
    pub async fn authorise(
        &self,
        caller: Caller,
        action: SpaceAction,
        space: SpaceId,
    ) -> Result<()> {
        caller.may_in_space(action, self.membership(caller, space).await?)
    }

    /// The membership of a caller in a space. `None` for a stranger and for the operator.
    pub async fn membership(&self, caller: Caller, space: SpaceId) -> Result<Option<Membership>> {
        match caller {
            Caller::Operator => Ok(None),
            Caller::Entity(entity) => {
                Ok(self.store.members().get(space, entity).await?.map(|member| member.membership()))
            }
        }
    }

    /// The entity that a caller speaks as in a space, given the `senderId` that it sent. A stranger
    /// gets the answer that the space does not exist.
    pub async fn speaker(
        &self,
        caller: Caller,
        space: SpaceId,
        sender: Option<EntityId>,
    ) -> Result<EntityId> {
        match caller.speaks_as(sender) {
            Err(error @ Error::Forbidden(_)) => {
                self.authorise(caller, SpaceAction::Post, space).await?;
                Err(error)
            }
            speaker => speaker,
        }
    }

    /// Checks that a caller may do something with an entity. For the operator this does not check
    /// that the entity exists.
    pub async fn authorise_with(
        &self,
        caller: Caller,
        action: EntityAction,
        other: EntityId,
    ) -> Result<()> {
        match caller {
            Caller::Operator => Ok(()),
            Caller::Entity(entity) => caller.may_with_entity(
                action,
                Box::pin(self.store.relationships().between(entity, other)).await?,
            ),
        }
    }
}

/// Checks that a caller may do something in the space of this roster. A write on the condition of
/// the roster's version then has the same guarantee.
pub fn may_in(roster: &Roster, caller: Caller, action: SpaceAction) -> Result<()> {
    let membership = match caller {
        Caller::Operator => None,
        Caller::Entity(entity) => {
            roster.member(entity).map(smartspace_store::spaces::rosters::MemberRecord::membership)
        }
    };
    caller.may_in_space(action, membership)
}
