//! Counts how many bytes files have together: of a space, of an entity, and of all. The counter of
//! an entity also has the number of its files that are announced and not uploaded.
//!
//! A file counts from its announcement on, before its bytes arrive. The transaction that announces,
//! refuses or deletes it also changes the counters, so they stay exact whatever fails in between.

use std::collections::BTreeMap;

use serde::Deserialize;
use smartspace_domain::{
    attachments::{AttachmentStatus, ByteLimit, CountedFiles, FileLimits, too_many_pending},
    ids::{EntityId, SpaceId},
};

use crate::{
    Error, Result,
    attachments::{Attachments, FileRecord},
    table::{
        keys::{self, Key},
        refusal::Refusal,
        write::Write,
    },
};

#[derive(Default, Deserialize)]
struct Used {
    bytes: u64,
    #[serde(default)]
    pending: u64,
}

type Counter = (CountedFiles, Key, ByteLimit);

fn counters(file: &FileRecord, limits: &FileLimits) -> Vec<Counter> {
    let mut counters = counters_of(file.space_id, file.created_by, limits);
    if file.counts_in_all {
        counters.push((CountedFiles::All, keys::all_files(), limits.in_all));
    }
    counters
}

fn counters_of(space: SpaceId, entity: Option<EntityId>, limits: &FileLimits) -> Vec<Counter> {
    let of_space = (CountedFiles::OfSpace, keys::files_of_space(space), limits.per_space);
    let of_entity = entity
        .map(|entity| (CountedFiles::OfEntity, keys::files_of_entity(entity), limits.per_entity));
    [of_space].into_iter().chain(of_entity).collect()
}

impl Attachments<'_> {
    /// Fails if a file of so many bytes that an entity makes finds no room in a space now. Nothing
    /// is reserved: another file may take the room.
    pub async fn must_have_room(self, space: SpaceId, entity: EntityId, bytes: u64) -> Result<()> {
        let limits = &self.store.file_limits;
        let mut limited = counters_of(space, Some(entity), limits);
        limited.push((CountedFiles::All, keys::all_files(), limits.in_all));
        limited.retain(|(_, _, limit)| limit.0.is_some());
        let keys: Vec<_> = limited.iter().map(|(_, key, _)| key.clone()).collect();
        let items = self.store.table.get_all(&keys).await?;
        for (which, key, limit) in limited {
            let used = items.get::<Used>(&key)?.map_or(0, |used| used.bytes);
            let sum = used.saturating_add(bytes);
            if let Some(limit) = limit.0.filter(|limit| sum > *limit) {
                return Err(which.no_room(used, limit, bytes));
            }
        }
        Ok(())
    }
}

/// Counts a file that is announced, if there is room for it.
pub(super) fn reserve(file: &FileRecord, limits: &FileLimits) -> Result<Vec<Write>> {
    let counted = counters(file, limits).into_iter().map(|(which, key, limit)| {
        let mut expression = "SET #bytes = if_not_exists(#bytes, :none) + :bytes".to_owned();
        if which == CountedFiles::OfEntity {
            expression.push_str(" ADD #pending :one");
        }
        let mut count =
            Write::count(key, expression).value(":none", 0)?.value(":bytes", file.bytes)?;
        if which == CountedFiles::OfEntity {
            count = count
                .when("attribute_not_exists(#pending) OR #pending < :most")
                .value(":one", 1)?
                .value(":most", file.most_pending())?;
        }
        let ByteLimit(Some(limit)) = limit else { return Ok(count) };
        match limit.checked_sub(file.bytes) {
            Some(room) => {
                count.when("attribute_not_exists(#bytes) OR #bytes <= :room").value(":room", room)
            }
            // It does not fit in any case. The refusal says what is used.
            None => count.when("#bytes < :none").value(":none", 0),
        }
    });
    counted.collect()
}

/// The error if a file was refused for lack of room.
pub(super) fn no_room(file: &FileRecord, limits: &FileLimits, refusal: &Refusal) -> Option<Error> {
    counters(file, limits).into_iter().find_map(|(which, key, limit)| {
        if !refusal.names(&key) {
            return None;
        }
        let Used { bytes: used, pending } = refusal.existing(&key).unwrap_or_default();
        if which == CountedFiles::OfEntity && pending >= file.most_pending() {
            return Some(too_many_pending(file.most_pending()));
        }
        let limit = limit.0?;
        let fits = used.checked_add(file.bytes).is_some_and(|sum| sum <= limit);
        // It fits if another file was deleted since.
        (!fits).then(|| which.no_room(used, limit, file.bytes))
    })
}

/// No longer counts a file as one whose bytes have not arrived.
pub(super) fn arrived(file: &FileRecord) -> Result<Vec<Write>> {
    let entity = file.created_by.into_iter();
    let counted = entity.map(|entity| {
        Write::update(keys::files_of_entity(entity), "ADD #pending :less").value(":less", -1)
    });
    counted.collect()
}

/// No longer counts files of one space. A refused file was counted out when it was refused.
pub(super) fn free<'a>(files: impl Iterator<Item = &'a FileRecord>) -> Result<Vec<Write>> {
    let mut freed: BTreeMap<Key, (u64, i64)> = BTreeMap::new();
    for file in files.filter(|file| file.status != AttachmentStatus::Refused) {
        for (which, key, _) in counters(file, &FileLimits::DEFAULT) {
            let (bytes, pending) = freed.entry(key).or_default();
            *bytes += file.bytes;
            let was_pending = file.status == AttachmentStatus::Pending;
            *pending += i64::from(was_pending && which == CountedFiles::OfEntity);
        }
    }
    let freed = freed.into_iter().map(|(key, (bytes, pending))| {
        let set = "SET #bytes = #bytes - :bytes";
        let write = match pending {
            0 => Write::update(key, set),
            _ => {
                Write::update(key, format!("{set} ADD #pending :less")).value(":less", -pending)?
            }
        };
        write.value(":bytes", bytes)
    });
    freed.collect()
}
