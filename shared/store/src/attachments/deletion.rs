//! Deleting files: those that no message has named in time, those that somebody deletes, and those
//! of a deleted space.
//!
//! A file is marked first, so that no message can name it any longer. The mark makes it due: what
//! follows, its bytes, its messages and its item, is repeated until it is done.

use smartspace_domain::{
    Time,
    ids::{AttachmentId, SpaceId},
    limits::due,
    messages::Message,
    search::block_of,
};

use super::{FileRecord, changed_meanwhile, no_such_file, room::free};
use crate::{
    Attachments, Result,
    shared::{
        message::MessageRecord,
        space::space_exists,
        stored_block::{BlockItem, StoredBlock},
    },
    table::{Query, WriteError, keys, read, write::Write},
};

/// How many files of a deleted space are read at once.
const PORTION: usize = 500;
/// How many of them one transaction deletes. It also writes a counter for each of their uploaders.
const DELETED_AT_ONCE: usize = 45;

impl Attachments<'_> {
    /// Marks a file that no message has named, so that none can name it. Returns whether it may be
    /// deleted now.
    pub async fn drop_unsent(self, file: &FileRecord) -> Result<bool> {
        let write = Write::update(keys::file(file.space_id, file.id), "SET #dropped = :yes")
            // A file that is refused meanwhile was counted out, and is deleted later.
            .when("#status = :status AND attribute_not_exists(#named)")
            .value(":status", file.status)?
            .value(":yes", true)?;
        match self.store.table.write(write).await {
            Ok(_) => Ok(true),
            Err(WriteError::Refused(_)) => Ok(false),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Notes that a message that named a file was deleted. If no other message names the file, it
    /// is due, and is deleted. Returns whether that is so. May be repeated.
    pub async fn unname(
        self,
        space: SpaceId,
        id: AttachmentId,
        seq: u64,
        now: Time,
    ) -> Result<bool> {
        let key = keys::file(space, id);
        let mut tries = self.store.optimistic_retry();
        loop {
            let Some(file) = self.find(space, id).await? else { return Ok(false) };
            if !file.named.contains(&seq) || file.unnamed.contains(&seq) {
                return Ok(file.is_unused());
            }
            let uses = file.uses.saturating_sub(1);
            let due = if uses == 0 { ", #due = :due, #dueAt = :now" } else { "" };
            let expression = format!(
                "SET #unnamed = list_append(if_not_exists(#unnamed, :none), :seq), \
                 #uses = :uses{due}"
            );
            // Each message is added to one of the lists once, so their lengths tell what was read.
            let is_unchanged = if file.unnamed.is_empty() {
                "attribute_not_exists(#unnamed) AND size(#named) = :named"
            } else {
                "size(#unnamed) = :unnamed AND size(#named) = :named"
            };
            let mut write = Write::update(key.clone(), expression)
                .when(is_unchanged)
                .value(":none", Vec::<u64>::new())?
                .value(":seq", vec![seq])?
                .value(":uses", uses)?
                .value(":named", file.named.len())?;
            if !file.unnamed.is_empty() {
                write = write.value(":unnamed", file.unnamed.len())?;
            }
            if uses == 0 {
                let part = keys::due(id.part_of(keys::DUE_PARTS));
                write = write.value(":due", part)?.value(":now", now)?;
            }
            if self.store.table.write_if_unchanged(write).await? {
                return Ok(uses == 0);
            }
            tries.after_conflict("the file changes at this moment; try again").await?;
        }
    }

    /// Marks a file whose messages were all deleted, so that none can name it. Returns whether it
    /// may be deleted now.
    pub async fn drop_unused(self, file: &FileRecord) -> Result<bool> {
        let write = Write::update(keys::file(file.space_id, file.id), "SET #dropped = :yes")
            .when("#uses = :none AND attribute_not_exists(#dropped)")
            .value(":none", 0)?
            .value(":yes", true)?;
        match self.store.table.write(write).await {
            Ok(_) => Ok(true),
            Err(WriteError::Refused(_)) => Ok(false),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Marks a file that is to be deleted, whether or not messages name it. May be repeated.
    pub async fn drop_any(self, file: &FileRecord, now: Time) -> Result<()> {
        let key = keys::file(file.space_id, file.id);
        let write = Write::update(
            key.clone(),
            "SET #dropped = :yes, #due = :due, #dueAt = :dueAt REMOVE #dueCount",
        )
        .when("attribute_not_exists(#dropped)")
        .value(":yes", true)?
        .value(":due", keys::due(file.id.part_of(keys::DUE_PARTS)))?
        // Later than the caller needs for what follows.
        .value(":dueAt", now + due::QUEUED)?;
        match self.store.table.write(write).await {
            Ok(_) => Ok(()),
            // Marked before, perhaps by the first try, whose answer was lost.
            Err(WriteError::Refused(refusal)) if refusal.existing::<FileRecord>(&key).is_some() => {
                Ok(())
            }
            Err(WriteError::Refused(_)) => Err(no_such_file()),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Shows in the message `seq` that a file of it was deleted. The block of words that has the
    /// file's name is deleted with it. Returns the message, or `None` if it or its space does not
    /// exist. May be repeated.
    pub async fn show_deleted(
        self,
        file: &FileRecord,
        seq: u64,
        now: Time,
    ) -> Result<Option<Message>> {
        let messages = self.store.messages();
        let key = keys::numbered(file.space_id, keys::MSG, seq);
        let number = block_of(seq);
        // The messages of a file change side by side, and may have the same block.
        let (_lock, now) = self.store.space_locks.lock_space(file.space_id, now).await;
        let mut tries = self.store.optimistic_retry();
        loop {
            let Some(record) = messages.record(file.space_id, seq).await? else { return Ok(None) };
            let MessageRecord { rev, .. } = record;
            let mut files = record.files.clone();
            let named = files.iter_mut().filter(|it| it.part.attachment_id == file.id);
            named.for_each(|it| it.part.deleted = true);
            if files == record.files {
                return Ok(messages.with_long_texts(file.space_id, vec![record]).await?.pop());
            }
            let block: Option<BlockItem> =
                self.store.table.get(&keys::block(file.space_id, number)).await?;
            let block = StoredBlock::of(file.space_id, number, block.as_ref());
            let shown = Write::update(
                key.clone(),
                "SET #files = :files, #rev = #rev + :one, #updatedAt = :now",
            )
            // The result of a card, or the deletion of another file, may come at the same time.
            .when("#rev = :rev")
            .value(":files", files)?
            .value(":one", 1)?
            .value(":rev", rev)?
            .value(":now", now)?;
            let writes = [vec![shown, space_exists(file.space_id)], block.drop_writes()?].concat();
            match self.store.table.transact(&writes).await {
                Ok(()) => {}
                Err(WriteError::Refused(refusal))
                    if refusal.names(&keys::space_meta(file.space_id)) =>
                {
                    return Ok(None);
                }
                Err(WriteError::Refused(_)) => {
                    tries.after_conflict("the message changes at this moment; try again").await?;
                }
                Err(WriteError::Other(error)) => return Err(error),
            }
        }
    }

    /// Deletes a file that is marked, after its bytes, and no longer counts it.
    pub async fn delete_dropped(self, file: &FileRecord) -> Result<()> {
        let key = keys::file(file.space_id, file.id);
        let deletion = Write::delete(key.clone()).when("#dropped = :yes").value(":yes", true)?;
        let writes = [vec![deletion], free([file].into_iter())?].concat();
        match self.store.table.transact(&writes).await {
            Ok(()) => Ok(()),
            // It is deleted already.
            Err(WriteError::Refused(refusal)) if refusal.names(&key) => Ok(()),
            Err(WriteError::Refused(_)) => Err(changed_meanwhile()),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Some of the files of a deleted space.
    pub async fn left_in(self, space: SpaceId) -> Result<Vec<FileRecord>> {
        let query = Query::of(keys::files(space)).begins_with(keys::FILE).limit(PORTION);
        let page = self.store.table.page(query).await?;
        page.items.into_iter().map(read).collect()
    }

    /// Deletes files that no message can name any longer, after their bytes, and no longer counts
    /// them. They are of one space. Those that change meanwhile are left for the next call.
    pub async fn delete_all(self, files: &[FileRecord]) -> Result<()> {
        for some in files.chunks(DELETED_AT_ONCE) {
            let mut writes = free(some.iter())?;
            for file in some {
                let key = keys::file(file.space_id, file.id);
                writes.push(
                    // A file that was refused meanwhile is counted out.
                    Write::delete(key).when("#status = :status").value(":status", file.status)?,
                );
            }
            match self.store.table.transact(&writes).await {
                // The first try took effect and its answer was lost, or files have changed.
                Ok(()) | Err(WriteError::Refused(_)) => {}
                Err(WriteError::Other(error)) => return Err(error),
            }
        }
        Ok(())
    }

    /// Deletes what else a deleted space has stored about files.
    pub async fn clear(self, space: SpaceId) -> Result<()> {
        let left = self.store.table.all(Query::of(keys::files(space))).await?;
        let keys = left.iter().map(crate::table::key_of).collect::<Result<Vec<_>>>()?;
        self.store.spaces().delete_all(keys).await
    }
}
