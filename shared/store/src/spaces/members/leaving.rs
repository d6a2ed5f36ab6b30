//! Removing an entity from a space.

use smartspace_domain::ids::{EntityId, SpaceId};

use crate::{
    Error, Members, Result,
    spaces::{
        Card,
        members::{TRIES, being_changed, roster_change},
        rosters::{MemberRecord, Roster},
    },
    table::{WriteError, keys, write::Write},
};

impl Members<'_> {
    /// Removes an entity from a space. Returns `None` if it was not a member.
    pub async fn leave(self, space: SpaceId, entity: EntityId) -> Result<Option<MemberRecord>> {
        match self.leave_if(space, entity, |_| Ok(())).await {
            Err(Error::NotFound(_)) => self.leave_deleted(space, entity).await.map(|()| None),
            left => left,
        }
    }

    /// Removes an entity from a space if `may` allows it for the roster at that moment.
    pub async fn leave_if(
        self,
        space: SpaceId,
        entity: EntityId,
        may: impl Fn(&Roster) -> Result<()> + Send,
    ) -> Result<Option<MemberRecord>> {
        let mut tried = None;
        for tries in 0..TRIES {
            let (roster, record) = self.roster_and_record(space).await?;
            let member = roster.member(entity);
            if member.is_none() && tried.is_some() {
                // Most likely our own first try did it and its answer was lost.
                return Ok(tried);
            }
            may(&roster)?;
            let Some(member) = member else { return Ok(None) };
            let others = roster.members.iter().filter(|other| other.entity_id != entity);
            let card = Card::of(&record.settings.name, others.map(MemberRecord::sender));
            let mut writes = roster_change(space, &roster, &card)?;
            writes.push(
                Write::update(keys::member(space, entity), "SET #left = :yes REMOVE #g2pk, #g2sk")
                    .value(":yes", true)?,
            );
            // Only agents have this item. For a person, this deletes nothing.
            writes.push(Write::delete(keys::agent_space(entity, space)));
            if self.change_roster(&writes).await?.is_none() {
                return Ok(Some(member.clone()));
            }
            tried = Some(member.clone());
            self.store.table.pause(tries).await;
        }
        Err(being_changed())
    }

    /// Removes an entity from a deleted space, which no longer has a roster.
    pub async fn leave_deleted(self, space: SpaceId, entity: EntityId) -> Result<()> {
        let member =
            Write::update(keys::member(space, entity), "SET #left = :yes REMOVE #g2pk, #g2sk")
                .value(":yes", true)?;
        match self
            .store
            .table
            .transact(&[member, Write::delete(keys::agent_space(entity, space))])
            .await
        {
            Ok(()) | Err(WriteError::Refused(_)) => Ok(()),
            Err(WriteError::Other(error)) => Err(error),
        }
    }
}
