//! Lists of files: those of a space, for people, and those that a former member has not sent.

use smartspace_domain::{
    Time,
    access::ListedFiles,
    attachments::{ListedAttachment, UNSENT_KEPT},
    ids::{AttachmentId, EntityId, SpaceId},
};

use super::FileRecord;
use crate::{
    Attachments, Result,
    table::{
        Query,
        indexes::KeyNames,
        key_of, keys,
        pages::{Page, PageRequest, bad_cursor},
        read,
    },
};

/// How many files are read at once, and how many of a former member are returned at most.
const PORTION: usize = 500;

impl Attachments<'_> {
    /// The files of a space, newest first, without those that are being deleted. A page may be
    /// shorter than its limit, because not all files are in everybody's list.
    pub async fn list(
        self,
        space: SpaceId,
        listed: ListedFiles,
        request: &PageRequest,
    ) -> Result<Page<ListedAttachment>> {
        let partition = keys::files(space);
        let after = request.after(KeyNames::TABLE, &partition)?;
        // The table refuses a start key outside the range.
        if let Some(after) = &after
            && !key_of(after)?.sk.starts_with(keys::FILE)
        {
            return Err(bad_cursor());
        }
        let query = Query::of(partition).begins_with(keys::FILE).newest_first();
        let page = self.store.table.page(query.limit(request.limit()?).after(after)).await?;
        let mut items = Vec::with_capacity(page.items.len());
        for item in page.items {
            let file: FileRecord = read(item.clone())?;
            if !file.dropped && listed.has(file.created_by, !file.named.is_empty()) {
                items.push((item, file.listed()));
            }
        }
        Ok(Page::cut(items, page.next, KeyNames::TABLE.sk))
    }

    /// Up to 500 files of an entity that no message of a space names.
    pub async fn unsent_of(
        self,
        space: SpaceId,
        entity: EntityId,
        now: Time,
    ) -> Result<Vec<FileRecord>> {
        // The sweep deletes older ones. It may be late.
        let oldest = keys::file(space, AttachmentId::new(now - 2 * UNSENT_KEPT, 0)).sk;
        let newest = format!("{}~", keys::FILE);
        let query = Query::of(keys::files(space)).between(&oldest, &newest).limit(PORTION);
        let mut unsent = Vec::new();
        let mut after = None;
        loop {
            let page = self.store.table.page(query.clone().after(after)).await?;
            for item in page.items {
                let file: FileRecord = read(item)?;
                if file.created_by == Some(entity) && file.named.is_empty() {
                    unsent.push(file);
                }
            }
            after = page.next;
            if after.is_none() || unsent.len() >= PORTION {
                return Ok(unsent);
            }
        }
    }
}
