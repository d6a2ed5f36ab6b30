//! The files of spaces. Their bytes are in the storage of files; here is what a file is to be, and
//! whether it is that.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    attachments::{
        Attachment, AttachmentStatus, FilePart, FileSpec, PictureSize, UNSENT_BYTES, UNSENT_KEPT,
    },
    ids::{AttachmentId, EntityId, SpaceId},
    stored,
};

use crate::{
    Attachments, Error, Result,
    idempotency::PostKey,
    shared::{member::is_member, message::MessageFile, space::no_such_space},
    table::{Query, WriteError, keys, read, write::Write},
};

/// How many files of a deleted space are deleted at once.
const PORTION: usize = 500;

/// A file, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileRecord {
    pub id: AttachmentId,
    pub space_id: SpaceId,
    pub name: String,
    pub content_type: String,
    pub bytes: u64,
    /// Its hash, in hexadecimal digits.
    pub sha256: String,
    /// The width of a picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// The height of a picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<u32>,
    /// How far its upload is.
    #[serde(deserialize_with = "stored::read")]
    pub status: AttachmentStatus,
    /// Why it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The entity that uploads it. `None` is the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<EntityId>,
    /// When its upload was asked for.
    pub created_at: Time,
    /// Whether a message names it. It then stays as long as its space.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sent: bool,
    /// Whether it is being deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dropped: bool,
    /// Its partition in the index of due items, until a message names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<String>,
    /// When it is deleted, if no message names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Time>,
    /// How often the sweep found it overdue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_count: Option<u32>,
}

impl FileRecord {
    /// A file whose upload is asked for.
    pub fn new(
        id: AttachmentId,
        space_id: SpaceId,
        file: &FileSpec,
        created_by: Option<EntityId>,
        now: Time,
    ) -> Self {
        Self {
            id,
            space_id,
            name: file.name.to_string(),
            content_type: file.content_type.name().to_owned(),
            bytes: file.bytes,
            sha256: file.sha256.to_string(),
            width: None,
            height: None,
            status: AttachmentStatus::Pending,
            reason: None,
            created_by,
            created_at: now,
            sent: false,
            dropped: false,
            due: Some(keys::due(id.part_of(keys::DUE_PARTS))),
            due_at: Some(now + UNSENT_KEPT),
            due_count: None,
        }
    }

    /// The file, as a message shows it.
    pub fn part(&self) -> FilePart {
        FilePart {
            attachment_id: self.id,
            name: self.name.clone(),
            content_type: self.content_type.clone(),
            bytes: self.bytes,
            width: self.width,
            height: self.height,
        }
    }

    /// The file, as a message stores it.
    pub fn named(&self) -> MessageFile {
        MessageFile { part: self.part(), sha256: self.sha256.clone() }
    }

    /// The file, as the API shows it.
    pub fn view(self) -> Attachment {
        Attachment {
            id: self.id,
            space_id: self.space_id,
            name: self.name,
            content_type: self.content_type,
            bytes: self.bytes,
            sha256: self.sha256,
            width: self.width,
            height: self.height,
            status: self.status,
            reason: self.reason,
            created_by: self.created_by,
            created_at: self.created_at,
        }
    }

    /// Whether a message may name it.
    pub fn may_be_sent(&self) -> bool {
        self.status == AttachmentStatus::Ready && !self.dropped
    }

    /// Whether its time is over, and no message has named it.
    pub fn is_abandoned(&self, now: Time) -> bool {
        !self.sent && self.created_at + UNSENT_KEPT <= now
    }
}

/// Why a message can't name a file that is at this position of its list.
pub fn unusable(index: usize, why: &str) -> Error {
    Error::invalid(format!("/attachments/{index}"), format!("the file can't be used: {why}"))
}

/// The error for a file that the space does not have.
pub fn no_such_file() -> Error {
    Error::NotFound("there is no such attachment in this space".into())
}

/// The writes of a transaction that names files in a message: they stay, and no longer count
/// towards what their uploaders may keep unsent.
pub(crate) fn naming(space: SpaceId, files: &[FileRecord]) -> Result<Vec<Write>> {
    let unsent = files.iter().filter(|file| !file.sent);
    naming_all(space, unsent.map(|file| (file.id, file.bytes, file.created_by)))
}

/// The same for pictures that the tools of an agent have just made.
pub(crate) fn naming_made(
    space: SpaceId,
    agent: EntityId,
    files: &[&MessageFile],
) -> Result<Vec<Write>> {
    let made = files.iter().map(|file| (file.part.attachment_id, file.part.bytes, Some(agent)));
    naming_all(space, made)
}

fn naming_all(
    space: SpaceId,
    files: impl Iterator<Item = (AttachmentId, u64, Option<EntityId>)>,
) -> Result<Vec<Write>> {
    let mut freed: BTreeMap<Option<EntityId>, u64> = BTreeMap::new();
    let mut writes = Vec::new();
    for (id, bytes, created_by) in files {
        *freed.entry(created_by).or_default() += bytes;
        let named = Write::update(
            keys::file(space, id),
            "SET #sent = :yes REMOVE #due, #dueAt, #dueCount",
        )
        .when("#status = :ready AND attribute_not_exists(#sent) AND attribute_not_exists(#dropped)")
        .value(":yes", true)?
        .value(":ready", AttachmentStatus::Ready)?;
        writes.push(named);
    }
    for (of, bytes) in freed {
        writes.push(free(space, of, bytes)?);
    }
    Ok(writes)
}

/// Counts bytes out that are no longer unsent.
fn free(space: SpaceId, of: Option<EntityId>, bytes: u64) -> Result<Write> {
    Write::update(keys::unsent_files(space, of), "SET #bytes = #bytes - :bytes")
        .value(":bytes", bytes)
}

impl Attachments<'_> {
    /// Stores a file whose upload is asked for. An entity must be a member of the space. If the
    /// `post_key` was used before, returns the file that was asked for then.
    pub async fn create(
        self,
        file: &FileRecord,
        room: UnsentRoom,
        post_key: Option<&PostKey>,
    ) -> Result<AttachmentId> {
        let (space, key) = (file.space_id, keys::file(file.space_id, file.id));
        let unsent = keys::unsent_files(space, file.created_by);
        let most = match room {
            UnsentRoom::Limited => UNSENT_BYTES,
            // More than all unsent files ever have.
            UnsentRoom::SentAtOnce => 1 << 50,
        };
        let room = most - file.bytes.min(most);
        let exists = Write::check(keys::space_meta(space))
            .when("attribute_exists(PK) AND attribute_not_exists(#deleted)");
        let count =
            Write::count(unsent.clone(), "SET #bytes = if_not_exists(#bytes, :none) + :bytes")
                .when("attribute_not_exists(#bytes) OR #bytes <= :room")
                .value(":none", 0)?
                .value(":bytes", file.bytes)?
                .value(":room", room)?;
        let mut writes = vec![Write::put(key.clone(), file)?.if_absent(), exists, count];
        writes.extend(file.created_by.map(|entity| is_member(space, entity)));
        if let Some(post_key) = post_key {
            writes.push(post_key.write(&file.id.to_string(), file.created_at)?);
        }
        let mut tries = self.store.optimistic_retry();
        loop {
            let refusal = match self.store.table.transact(&writes).await {
                Ok(()) => return Ok(file.id),
                Err(WriteError::Other(error)) => return Err(error),
                Err(WriteError::Refused(refusal)) => refusal,
            };
            // The first try took effect and its answer was lost.
            if refusal.existing::<FileRecord>(&key).is_some_and(|stored| stored.id == file.id) {
                return Ok(file.id);
            }
            if let Some(made) = PostKey::made(post_key, &refusal)? {
                return Ok(made);
            }
            if refusal.names(&keys::space_meta(space)) {
                return Err(no_such_space());
            }
            if file.created_by.is_some_and(|it| refusal.names(&keys::member(space, it))) {
                return Err(Error::NotAMember);
            }
            if refusal.existing::<Unsent>(&unsent).is_some_and(|unsent| unsent.bytes > room) {
                return Err(Error::Conflict(format!(
                    "files that no message names may have {} MiB together; send some, or wait \
                     until the oldest are deleted after a day",
                    UNSENT_BYTES / 1024 / 1024
                )));
            }
            tries
                .after_conflict("too many files are uploaded to this space at once; try again")
                .await?;
        }
    }

    /// A file of a space.
    pub async fn get(self, space: SpaceId, id: AttachmentId) -> Result<FileRecord> {
        self.find(space, id).await?.ok_or_else(no_such_file)
    }

    /// A file of a space, if the space has it.
    pub async fn find(self, space: SpaceId, id: AttachmentId) -> Result<Option<FileRecord>> {
        Ok(self.find_any(space, id).await?.filter(|file| !file.dropped))
    }

    /// Like [`Self::find`], with a file that is being deleted.
    pub async fn find_any(self, space: SpaceId, id: AttachmentId) -> Result<Option<FileRecord>> {
        self.store.table.get(&keys::file(space, id)).await
    }

    /// Stores that a pending file is what it is to be, or why it is not. Returns whether this call
    /// has stored it: another one may have been faster.
    pub async fn checked(
        self,
        file: &FileRecord,
        found: &Result<Option<PictureSize>, String>,
    ) -> Result<bool> {
        let key = keys::file(file.space_id, file.id);
        let stored = |set: &str| {
            Write::update(key.clone(), set)
                .when("#status = :pending AND attribute_not_exists(#dropped)")
                .value(":pending", AttachmentStatus::Pending)
        };
        let writes = match found {
            Ok(Some(PictureSize { width, height })) => vec![
                stored("SET #status = :ready, #width = :width, #height = :height")?
                    .value(":ready", AttachmentStatus::Ready)?
                    .value(":width", width)?
                    .value(":height", height)?,
            ],
            Ok(None) => {
                vec![stored("SET #status = :ready")?.value(":ready", AttachmentStatus::Ready)?]
            }
            Err(reason) => vec![
                stored("SET #status = :refused, #reason = :reason")?
                    .value(":refused", AttachmentStatus::Refused)?
                    .value(":reason", reason)?,
                free(file.space_id, file.created_by, file.bytes)?,
            ],
        };
        match self.store.table.transact(&writes).await {
            Ok(()) => Ok(true),
            Err(WriteError::Refused(refusal)) if refusal.names(&key) => Ok(false),
            Err(WriteError::Refused(_)) => Err(changed_meanwhile()),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Marks a file that no message has named, so that none can name it. Returns whether it may be
    /// deleted now.
    pub async fn drop_unsent(self, file: &FileRecord) -> Result<bool> {
        let write = Write::update(keys::file(file.space_id, file.id), "SET #dropped = :yes")
            // A file that is refused meanwhile was counted out, and is deleted later.
            .when("#status = :status AND attribute_not_exists(#sent)")
            .value(":status", file.status)?
            .value(":yes", true)?;
        match self.store.table.write(write).await {
            Ok(_) => Ok(true),
            Err(WriteError::Refused(_)) => Ok(false),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Deletes a file that is marked, after its bytes.
    pub async fn delete_dropped(self, file: &FileRecord) -> Result<()> {
        let key = keys::file(file.space_id, file.id);
        let mut writes =
            vec![Write::delete(key.clone()).when("#dropped = :yes").value(":yes", true)?];
        // A refused file was counted out when it was refused.
        if file.status != AttachmentStatus::Refused {
            writes.push(free(file.space_id, file.created_by, file.bytes)?);
        }
        match self.store.table.transact(&writes).await {
            Ok(()) => Ok(()),
            // It is deleted already.
            Err(WriteError::Refused(refusal)) if refusal.names(&key) => Ok(()),
            Err(WriteError::Refused(_)) => Err(changed_meanwhile()),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Some of the files of a deleted space.
    pub async fn left_in(self, space: SpaceId) -> Result<Vec<AttachmentId>> {
        let query = Query::of(keys::files(space)).begins_with(keys::FILE).limit(PORTION);
        let page = self.store.table.page(query).await?;
        page.items.into_iter().map(|item| read::<FileRecord>(item).map(|file| file.id)).collect()
    }

    /// Deletes files of a deleted space, after their bytes.
    pub async fn delete_all(self, space: SpaceId, ids: &[AttachmentId]) -> Result<()> {
        let keys = ids.iter().map(|id| keys::file(space, *id)).collect();
        self.store.spaces().delete_all(keys).await
    }

    /// Deletes what else a deleted space has stored about files.
    pub async fn clear(self, space: SpaceId) -> Result<()> {
        let left = self.store.table.all(Query::of(keys::files(space))).await?;
        let keys = left.iter().map(crate::table::key_of).collect::<Result<Vec<_>>>()?;
        self.store.spaces().delete_all(keys).await
    }
}

/// How much room a new file needs among those of its uploader that no message names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnsentRoom {
    /// As much as it has bytes.
    Limited,
    /// None: a message names it as soon as it is stored.
    SentAtOnce,
}

/// How many bytes an uploader keeps that no message names.
#[derive(Deserialize)]
struct Unsent {
    bytes: u64,
}

fn changed_meanwhile() -> Error {
    Error::Retry("the files of this space change at this moment; try again".into())
}
