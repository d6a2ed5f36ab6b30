//! The members of spaces: joining, leaving, names, and read positions.
//!
//! A change of a roster is one transaction. It raises the version of the roster, so a decision that
//! is based on an older roster fails.

mod joining;
mod leaving;
mod names;

use std::sync::Arc;

use smartspace_domain::ids::{EntityId, SpaceId};

pub use self::names::name_is_free;
use crate::{
    Error, Members, Result,
    spaces::{
        Card, SpaceRecord,
        rosters::{MemberRecord, Roster},
    },
    table::{WriteError, keys, refusal::Refusal, write::Write},
};

/// How often a change of the roster is tried if other changes come first.
const TRIES: u32 = 50;

impl Members<'_> {
    /// Moves a member's read position forward to `seq`, at most to the space's last message.
    /// Returns the new position, and whether it has moved.
    pub async fn read_up_to(
        self,
        space: SpaceId,
        entity: EntityId,
        seq: u64,
    ) -> Result<(u64, bool)> {
        let roster = self.roster(space).await?;
        let member = roster.member(entity).ok_or_else(no_such_member)?;
        let seq = seq.min(roster.head.seq);
        let write = Write::update(keys::member(space, entity), "SET #readSeq = :seq")
            .when("#readSeq < :seq AND attribute_not_exists(#left)")
            .value(":seq", seq)?;
        match self.store.table.write(write).await {
            Ok(_) => Ok((seq, true)),
            Err(WriteError::Refused(refusal)) => {
                let stored: Option<MemberRecord> = refusal.existing(&keys::member(space, entity));
                let stored = stored.filter(|stored| !stored.left).ok_or_else(no_such_member)?;
                // The first try may have moved it and its answer was lost.
                Ok((stored.read_seq, stored.read_seq == seq && member.read_seq < seq))
            }
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Reads the roster first. A space that is read before its roster may still have its old name.
    async fn roster_and_record(self, space: SpaceId) -> Result<(Arc<Roster>, SpaceRecord)> {
        let roster = self.roster(space).await?;
        Ok((roster, self.store.spaces().record(space).await?))
    }

    /// Returns `None` if the roster was changed, or the refusal if something has changed since it
    /// was read. That may be our own first try whose answer was lost: reading again shows its
    /// change.
    async fn change_roster(self, writes: &[Write]) -> Result<Option<Refusal>> {
        match self.store.table.transact(writes).await {
            Ok(()) => Ok(None),
            Err(WriteError::Refused(refusal)) => Ok(Some(refusal)),
            Err(WriteError::Other(error)) => Err(error),
        }
    }
}

fn roster_change(space: SpaceId, roster: &Roster, card: &Card) -> Result<Vec<Write>> {
    // A new member's cursor starts at `seq`, so no message may be appended at the same time.
    let head = Write::update(keys::space_head(space), "SET #roster = :next")
        .when("#roster = :roster AND #seq = :seq")
        .value(":roster", roster.head.roster)?
        .value(":next", roster.head.roster + 1)?
        .value(":seq", roster.head.seq)?;
    Ok(vec![head, Write::put(keys::space_card(space), card)?])
}

fn being_changed() -> Error {
    Error::Retry("too many changes of the space's members at once; repeat the call".into())
}

fn no_such_member() -> Error {
    Error::NotFound("it is not a member of this space".into())
}
