//! Deleting a space. It gets no more messages at once. Its other items are deleted later, in parts.

use futures::future::try_join_all;
use smartspace_domain::{
    Time,
    ids::{LeaseId, SpaceId},
    limits::due,
};

use crate::{
    Result, Spaces,
    shared::{
        member::MemberRecord,
        space::{SpaceRecord, no_such_space},
    },
    table::{
        Query, WriteError, key_of,
        keys::{self, Key},
        read,
        write::Write,
    },
};

/// How many items of a deleted space are read at once.
const CLEARED_AT_ONCE: usize = 200;
/// How many of them are deleted concurrently.
const CONCURRENT_DELETES: usize = 16;

impl Spaces<'_> {
    /// Marks a space as deleted: it gets no more messages. [`Spaces::clear`] deletes its items.
    /// `token` is made before the first try, and detects a lost answer.
    pub async fn delete(self, id: SpaceId, token: &LeaseId, now: Time) -> Result<()> {
        self.delete_as(id, None, token, now).await
    }

    /// The same for a space that is as this call found it: without members since `emptied_at`.
    pub(super) async fn delete_as(
        self,
        id: SpaceId,
        emptied_at: Option<Time>,
        token: &LeaseId,
        now: Time,
    ) -> Result<()> {
        let expression = "SET #deleted = :yes, #deletedAt = :now, #deletedBy = :token, \
                          #due = :due, #dueAt = :now REMOVE #g2pk, #g2sk, #dueCount";
        let mut meta = Write::update(keys::space_meta(id), expression)
            .when("attribute_not_exists(#deleted)")
            .value(":yes", true)?
            .value(":token", token)?
            .value(":due", keys::due(id.part_of(keys::DUE_PARTS)))?
            .value(":now", now)?;
        if let Some(at) = emptied_at {
            meta = meta.when("#emptiedAt = :emptied").value(":emptied", at)?;
        }
        match self.store.table.transact(&[meta, Write::delete(keys::space_head(id))]).await {
            Ok(()) => Ok(()),
            Err(WriteError::Refused(refusal)) => {
                match refusal.existing::<SpaceRecord>(&keys::space_meta(id)) {
                    Some(stored) if stored.deleted_by.as_ref() == Some(token) => Ok(()),
                    _ => Err(no_such_space()),
                }
            }
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Deletes messages of a deleted space. May be repeated. Their forms must be closed first.
    pub async fn clear_messages(self, id: SpaceId, seqs: &[u64]) -> Result<()> {
        self.delete_all(seqs.iter().map(|seq| keys::numbered(id, keys::MSG, *seq)).collect()).await
    }

    /// Deletes about `most` of the remaining items of a deleted space, and of what searches read of
    /// it. Returns whether all are gone. May be repeated. Its agents must have left first.
    pub async fn clear(self, id: SpaceId, most: usize) -> Result<bool> {
        let Some(most) = self.clear_partition(id, keys::find(id), most).await? else {
            return Ok(false);
        };
        if self.clear_partition(id, keys::space(id), most).await?.is_none() {
            return Ok(false);
        }
        // The settings are deleted last, since they are the due item.
        self.store.table.write_always(Write::delete(keys::space_meta(id))).await?;
        Ok(true)
    }

    /// Deletes about `most` items of a partition of a deleted space, without its settings. Returns
    /// how many more may be deleted, or `None` if some may be left.
    async fn clear_partition(
        self,
        id: SpaceId,
        partition: String,
        most: usize,
    ) -> Result<Option<usize>> {
        let meta = keys::space_meta(id);
        let mut gone = 0;
        let mut after = None;
        while gone < most {
            let query = Query::of(partition.clone()).limit(CLEARED_AT_ONCE).after(after);
            let page = self.store.table.page(query).await?;
            let mut keys_left = page.items.iter().map(key_of).collect::<Result<Vec<_>>>()?;
            // Subscriptions are deleted with their connections, since some subscribers may not have
            // been notified of the deletion yet.
            keys_left.retain(|key| *key != meta && !key.sk.starts_with(keys::CONN));
            gone += keys_left.len();
            self.delete_all(keys_left).await?;
            after = page.next;
            if after.is_none() {
                return Ok(Some(most.saturating_sub(gone)));
            }
        }
        Ok(None)
    }

    /// Postpones a deleted space while its items are being deleted, however long that takes.
    pub async fn continue_clearing(self, id: SpaceId, now: Time) -> Result<()> {
        let meta = Write::update(keys::space_meta(id), "SET #dueAt = :then REMOVE #dueCount")
            .when("attribute_exists(#due)");
        self.store.table.write_where_it_holds(meta.value(":then", now + due::RUNNING)?).await
    }

    pub(crate) async fn delete_all(self, unwanted: Vec<Key>) -> Result<()> {
        for some in unwanted.chunks(CONCURRENT_DELETES) {
            try_join_all(
                some.iter().map(|key| self.store.table.write_always(Write::delete(key.clone()))),
            )
            .await?;
        }
        Ok(())
    }

    /// The remaining members of a deleted space.
    pub async fn members_left(self, id: SpaceId) -> Result<Vec<MemberRecord>> {
        let items =
            self.store.table.all(Query::of(keys::space(id)).begins_with(keys::MEMBER)).await?;
        items.into_iter().map(read).collect()
    }
}
