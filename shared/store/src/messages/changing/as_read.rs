//! What an edit or a deletion reads, in one batch: the message, its space, and what its transaction
//! checks.

use smartspace_domain::{
    ids::{EntityId, SpaceId},
    search::block_of,
};

use crate::{
    Messages, Result,
    messages::changing::ChangeLog,
    shared::{
        member::MemberRecord,
        message::{LongDispatch, MessageRecord, no_such_message},
        space::{SpaceRecord, no_such_space},
        stored_block::StoredBlock,
    },
    spaces::{rosters::Head, summaries::SummaryRecord},
    table::keys,
};

pub(super) struct AsRead {
    pub(super) space: SpaceRecord,
    pub(super) head: Head,
    /// The membership of the caller, if it is an entity that has one.
    pub(super) member: Option<MemberRecord>,
    /// `None` if the space has no such message, or if it has expired.
    pub(super) record: Option<MessageRecord>,
    pub(super) dispatch: Option<LongDispatch>,
    pub(super) log: ChangeLog,
    /// The summary, or the claim of the first one.
    pub(super) summary: Option<SummaryRecord>,
    /// The block that covers the message.
    pub(super) block: StoredBlock,
}

impl AsRead {
    /// The message, for a caller that may read the space.
    pub(super) fn message(&self, seq: u64) -> Result<&MessageRecord> {
        self.record.as_ref().ok_or_else(|| no_such_message(seq))
    }
}

impl Messages<'_> {
    pub(super) async fn read_for_change(
        self,
        space: SpaceId,
        seq: u64,
        entity: Option<EntityId>,
    ) -> Result<AsRead> {
        let meta = keys::space_meta(space);
        let head = keys::space_head(space);
        let message = keys::numbered(space, keys::MSG, seq);
        let dispatch = keys::numbered(space, keys::WOKEN, seq);
        let changes = keys::changes(space);
        let summary = keys::summary(space);
        let block = keys::block(space, block_of(seq));
        let member = entity.map(|entity| keys::member(space, entity));
        let mut wanted = vec![
            meta.clone(),
            head.clone(),
            message.clone(),
            dispatch.clone(),
            changes.clone(),
            summary.clone(),
            block.clone(),
        ];
        wanted.extend(member.clone());
        let mut items = self.store.table.get_all(&wanted).await?;
        Ok(AsRead {
            space: items.take(&meta)?.ok_or_else(no_such_space)?,
            // A deleted space has no head.
            head: items.take(&head)?.ok_or_else(no_such_space)?,
            member: match member {
                Some(member) => items.take(&member)?,
                None => None,
            },
            record: items.take(&message)?,
            dispatch: items.take(&dispatch)?,
            log: items.take(&changes)?.unwrap_or_default(),
            summary: items.take(&summary)?,
            block: StoredBlock::of(space, block_of(seq), items.take(&block)?.as_ref()),
        })
    }
}
