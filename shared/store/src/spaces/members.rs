//! The members of spaces: reading them, joining, leaving, names, and read positions.
//!
//! A change of a roster is one transaction. It raises the version of the roster, so a decision that
//! is based on an older roster fails.

mod joining;
mod leaving;
mod names;

use std::{collections::BTreeSet, sync::Arc};

use smartspace_domain::ids::{EntityId, SpaceId};

pub use self::{
    joining::Accepted,
    leaving::Departure,
    names::{guest_name_is_free, name_is_free},
};
use crate::{
    Error, Members, Result,
    shared::{member::MemberRecord, space::SpaceRecord},
    spaces::{
        SpaceOverview,
        rosters::{Head, Roster},
    },
    table::{Query, WriteError, keys, read, refusal::Refusal, write::Write},
};

/// How many times a change of the roster is tried while other changes get ahead of it.
pub(super) const TRIES: u32 = 50;

/// A member's read position after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadUpTo {
    /// The last message that it has read.
    pub seq: u64,
    /// How many cards there are up to it.
    pub cards: u64,
    /// Whether this request has moved the position.
    pub moved: bool,
}

impl Members<'_> {
    /// A space and a member of it, or `None` if the entity is not a member or the space does not
    /// exist.
    pub async fn membership(
        self,
        space: SpaceId,
        entity: EntityId,
    ) -> Result<Option<(SpaceRecord, MemberRecord)>> {
        let meta_key = keys::space_meta(space);
        let member_key = keys::member(space, entity);
        let mut items = self.store.table.get_all(&[meta_key.clone(), member_key.clone()]).await?;
        let record: Option<SpaceRecord> = items.take(&meta_key)?;
        let member: Option<MemberRecord> = items.take(&member_key)?;
        Ok(record.filter(|record| !record.deleted).zip(member))
    }

    /// The same with the head of the space.
    pub async fn with_head(
        self,
        space: SpaceId,
        entity: EntityId,
    ) -> Result<Option<(SpaceRecord, MemberRecord, Head)>> {
        let meta_key = keys::space_meta(space);
        let head_key = keys::space_head(space);
        let member_key = keys::member(space, entity);
        let wanted = [meta_key.clone(), head_key.clone(), member_key.clone()];
        let mut items = self.store.table.get_all(&wanted).await?;
        let record: Option<SpaceRecord> = items.take(&meta_key)?;
        let head: Option<Head> = items.take(&head_key)?;
        let member: Option<MemberRecord> = items.take(&member_key)?;
        let record = record.filter(|record| !record.deleted);
        Ok(record.zip(member).zip(head).map(|((record, member), head)| (record, member, head)))
    }

    /// Whether an entity is or was a member of a space.
    pub async fn was_member(self, space: SpaceId, entity: EntityId) -> Result<bool> {
        let present = keys::member(space, entity);
        let past = keys::past_member(space, entity);
        let found: Vec<MemberRecord> =
            self.store.table.get_all(&[present, past]).await?.into_all()?;
        Ok(!found.is_empty())
    }

    /// Whether an entity has left one of these spaces.
    pub async fn has_left_any(self, spaces: &[SpaceId], entity: EntityId) -> Result<bool> {
        let past: Vec<_> = spaces.iter().map(|space| keys::past_member(*space, entity)).collect();
        let found: Vec<MemberRecord> = self.store.table.get_all(&past).await?.into_all()?;
        Ok(!found.is_empty())
    }

    /// Those that have left a space. Those that have come back are among them.
    pub async fn all_past(self, space: SpaceId) -> Result<Vec<MemberRecord>> {
        let query = Query::of(keys::space(space)).begins_with(keys::PAST);
        self.store.table.all(query).await?.into_iter().map(read).collect()
    }

    /// A former member of a space.
    pub async fn former(self, space: SpaceId, entity: EntityId) -> Result<Option<MemberRecord>> {
        let present = keys::member(space, entity);
        let past = keys::past_member(space, entity);
        let mut items = self.store.table.get_all(&[present.clone(), past.clone()]).await?;
        // An entity that has come back has both items.
        let is_present = items.take::<MemberRecord>(&present)?.is_some();
        Ok(items.take(&past)?.filter(|_| !is_present))
    }

    /// A current member of a space.
    pub async fn get(self, space: SpaceId, entity: EntityId) -> Result<Option<MemberRecord>> {
        self.store.table.get(&keys::member(space, entity)).await
    }

    /// Which of these entities are members of a space.
    pub async fn present(
        self,
        space: SpaceId,
        entities: &[EntityId],
    ) -> Result<BTreeSet<EntityId>> {
        let wanted: Vec<_> = entities.iter().map(|entity| keys::member(space, *entity)).collect();
        let mut items = self.store.table.get_all(&wanted).await?;
        let mut present = BTreeSet::new();
        for key in &wanted {
            let member: Option<MemberRecord> = items.take(key)?;
            present.extend(member.map(|member| member.entity_id));
        }
        Ok(present)
    }

    /// Moves a member's read position forward to `seq`, at most to the space's last message.
    pub async fn read_up_to(self, space: SpaceId, entity: EntityId, seq: u64) -> Result<ReadUpTo> {
        let roster = self.roster(space).await?;
        let member = roster.member(entity).ok_or_else(no_such_member)?;
        let seq = seq.min(roster.head.seq);
        let write = Write::update(keys::member(space, entity), "SET #readSeq = :seq")
            .when("#readSeq < :seq")
            .value(":seq", seq)?;
        let (seq, moved) = match self.store.table.write(write).await {
            Ok(_) => (seq, true),
            Err(WriteError::Refused(refusal)) => {
                let stored: Option<MemberRecord> = refusal.existing(&keys::member(space, entity));
                let stored = stored.ok_or_else(no_such_member)?;
                // The first try may have moved the position, and its answer was lost.
                (stored.read_seq, stored.read_seq == seq && member.read_seq < seq)
            }
            Err(WriteError::Other(error)) => return Err(error),
        };
        let cards = self.store.spaces().cards_up_to(space, &roster.head, seq).await?;
        Ok(ReadUpTo { seq, cards, moved })
    }

    /// Reads the roster first: a space that is read before its roster may have an outdated name.
    pub(super) async fn roster_and_record(
        self,
        space: SpaceId,
    ) -> Result<(Arc<Roster>, SpaceRecord)> {
        let roster = self.roster(space).await?;
        Ok((roster, self.store.spaces().record(space).await?))
    }

    /// Returns `None` if the writes took effect, or the refusal if the roster has changed since it
    /// was read. Our own first try may have changed it, if its answer was lost. The caller sees
    /// that when it reads the roster again.
    pub(super) async fn change_roster(self, writes: &[Write]) -> Result<Option<Refusal>> {
        match self.store.table.transact(writes).await {
            Ok(()) => Ok(None),
            Err(WriteError::Refused(refusal)) => Ok(Some(refusal)),
            Err(WriteError::Other(error)) => Err(error),
        }
    }
}

/// The writes of every change of a roster.
fn roster_change(space: SpaceId, roster: &Roster, overview: &SpaceOverview) -> Result<Vec<Write>> {
    Ok(vec![raise_roster(space, roster)?, Write::put(keys::space_overview(space), overview)?])
}

/// Raises the version of a roster: what was decided from an older one fails.
pub(super) fn raise_roster(space: SpaceId, roster: &Roster) -> Result<Write> {
    // A new member's cursor starts at `seq`, so no message may be appended at the same time.
    Write::update(keys::space_head(space), "SET #roster = :next")
        .when("#roster = :roster AND #seq = :seq")
        .value(":roster", roster.head.roster)?
        .value(":next", roster.head.roster + 1)?
        .value(":seq", roster.head.seq)
}

/// Moves a member out of the range that is read with each roster.
fn move_to_past(space: SpaceId, member: &MemberRecord) -> Result<[Write; 2]> {
    let past = MemberRecord { g2pk: None, g2sk: None, ..member.clone() };
    let entity = member.entity_id;
    Ok([
        Write::delete(keys::member(space, entity)),
        Write::put(keys::past_member(space, entity), &past)?,
    ])
}

pub(super) fn being_changed() -> Error {
    Error::Retry("too many changes of the space's members at once; repeat the call".into())
}

fn no_such_member() -> Error {
    Error::NotFound("the entity is not a member of this space".into())
}
