//! The members of spaces: reading them, joining, leaving, names, and read positions.
//!
//! A change of a roster is one transaction. It raises the version of the roster, so a decision that
//! is based on an older roster fails.

mod joining;
mod leaving;
mod names;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use smartspace_domain::ids::{EntityId, RunId, SpaceId};

pub use self::{joining::Accepted, leaving::Parting, names::name_is_free};
use crate::{
    Error, Members, Result,
    runs::RunRecord,
    spaces::{
        Card, SpaceRecord,
        card::take_cards,
        rosters::{MemberRecord, Roster},
        summaries::SummaryRecord,
    },
    table::{WriteError, keys, refusal::Refusal, write::Write},
};

/// How many times a change of the roster is tried while other changes get ahead of it.
const TRIES: u32 = 50;
/// How many marked former members one change of the roster moves.
const MOVED_AT_ONCE: usize = 10;

/// What [`Members::of_run`] reads.
#[derive(Clone, Debug)]
pub struct OfRun {
    /// The run, if it is stored.
    pub run: Option<RunRecord>,
    /// The space, the entity as its member, and the summary if the space has one. `None` if the
    /// space is deleted, or the entity is not a member.
    pub place: Option<(SpaceRecord, MemberRecord, Option<SummaryRecord>)>,
    /// The cards of the spaces that were asked for.
    pub cards: BTreeMap<SpaceId, Card>,
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
        Ok(record.filter(|record| !record.deleted).zip(member.filter(|member| !member.left)))
    }

    /// What a run needs to know of the space that triggered it, in one read: also the run itself,
    /// and the cards of the spaces in `shown`.
    pub async fn of_run(
        self,
        space: SpaceId,
        entity: EntityId,
        run: RunId,
        shown: &[SpaceId],
    ) -> Result<OfRun> {
        let meta_key = keys::space_meta(space);
        let member_key = keys::member(space, entity);
        let summary_key = keys::summary(space);
        let run_key = keys::run_meta(run);
        let mut wanted =
            vec![meta_key.clone(), member_key.clone(), summary_key.clone(), run_key.clone()];
        wanted.extend(shown.iter().map(|space| keys::space_card(*space)));
        let mut items = self.store.table.get_all(&wanted).await?;
        let record: Option<SpaceRecord> = items.take(&meta_key)?;
        let member: Option<MemberRecord> = items.take(&member_key)?;
        let summary: Option<SummaryRecord> = items.take(&summary_key)?;
        let record = record.filter(|record| !record.deleted);
        let place = record.zip(member.filter(|member| !member.left));
        Ok(OfRun {
            run: items.take(&run_key)?,
            place: place.map(|(record, member)| {
                (record, member, summary.filter(SummaryRecord::is_written))
            }),
            cards: take_cards(&mut items, shown)?,
        })
    }

    /// Whether an entity is or was a member of a space.
    pub async fn was_member(self, space: SpaceId, entity: EntityId) -> Result<bool> {
        Ok(self.present_or_past(space, entity).await?.is_some())
    }

    /// A former member of a space.
    pub async fn former(self, space: SpaceId, entity: EntityId) -> Result<Option<MemberRecord>> {
        Ok(self.present_or_past(space, entity).await?.filter(|member| member.left))
    }

    /// An entity that is or was a member. A former member has an item of its own, or, if an older
    /// version of Smartspace removed it, a mark on its `MEMBER#` item.
    async fn present_or_past(
        self,
        space: SpaceId,
        entity: EntityId,
    ) -> Result<Option<MemberRecord>> {
        let present = keys::member(space, entity);
        let past = keys::past_member(space, entity);
        let mut items = self.store.table.get_all(&[present.clone(), past.clone()]).await?;
        match items.take(&present)? {
            Some(member) => Ok(Some(member)),
            None => items.take(&past),
        }
    }

    /// A current member of a space.
    pub async fn get(self, space: SpaceId, entity: EntityId) -> Result<Option<MemberRecord>> {
        let member: Option<MemberRecord> =
            self.store.table.get(&keys::member(space, entity)).await?;
        Ok(member.filter(|member| !member.left))
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
            present.extend(member.filter(|member| !member.left).map(|member| member.entity_id));
        }
        Ok(present)
    }

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
                // The first try may have moved the position, and its answer was lost.
                Ok((stored.read_seq, stored.read_seq == seq && member.read_seq < seq))
            }
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Reads the roster first: a space that is read before its roster may have an outdated name.
    async fn roster_and_record(self, space: SpaceId) -> Result<(Arc<Roster>, SpaceRecord)> {
        let roster = self.roster(space).await?;
        Ok((roster, self.store.spaces().record(space).await?))
    }

    /// Returns `None` if the writes took effect, or the refusal if the roster has changed since it
    /// was read. Our own first try may have changed it, if its answer was lost. The caller sees
    /// that when it reads the roster again.
    async fn change_roster(self, writes: &[Write]) -> Result<Option<Refusal>> {
        match self.store.table.transact(writes).await {
            Ok(()) => Ok(None),
            Err(WriteError::Refused(refusal)) => Ok(Some(refusal)),
            Err(WriteError::Other(error)) => Err(error),
        }
    }
}

/// The writes of every change of a roster. `changed` is the entity that joins, leaves or gets
/// another name, or `None` if many join and the transaction has no room for anything else.
fn roster_change(
    space: SpaceId,
    roster: &Roster,
    card: &Card,
    changed: Option<EntityId>,
) -> Result<Vec<Write>> {
    // A new member's cursor starts at `seq`, so no message may be appended at the same time.
    let head = Write::update(keys::space_head(space), "SET #roster = :next")
        .when("#roster = :roster AND #seq = :seq")
        .value(":roster", roster.head.roster)?
        .value(":next", roster.head.roster + 1)?
        .value(":seq", roster.head.seq)?;
    let mut writes = vec![head, Write::put(keys::space_card(space), card)?];
    // Former members whom an older version marked leave the range of the roster, some at a time.
    if let Some(changed) = changed {
        let marked = roster.marked.iter().filter(|member| member.entity_id != changed);
        for member in marked.take(MOVED_AT_ONCE) {
            writes.extend(move_to_past(space, member)?);
        }
    }
    Ok(writes)
}

/// Moves a member out of the range that is read with each roster.
fn move_to_past(space: SpaceId, member: &MemberRecord) -> Result<[Write; 2]> {
    let past = MemberRecord { left: true, g2pk: None, g2sk: None, ..member.clone() };
    let entity = member.entity_id;
    Ok([
        Write::delete(keys::member(space, entity)),
        Write::put(keys::past_member(space, entity), &past)?,
    ])
}

fn being_changed() -> Error {
    Error::Retry("too many changes of the space's members at once; repeat the call".into())
}

/// The check of a transaction that an entity is a member of a space.
pub(crate) fn is_member(space: SpaceId, entity: EntityId) -> Write {
    Write::check(keys::member(space, entity))
        .when("attribute_exists(PK) AND attribute_not_exists(#left)")
}

fn no_such_member() -> Error {
    Error::NotFound("the entity is not a member of this space".into())
}
