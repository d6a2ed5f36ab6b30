//! The files of spaces. Their bytes are in the storage of files; here is what a file is to be, and
//! whether it is that.

mod deletion;
mod listing;
mod room;

use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Time,
    attachments::{
        Attachment, AttachmentStatus, FilePart, FileSpec, ListedAttachment, MESSAGES_OF_FILE,
        PENDING_FILES, PENDING_FILES_OF_GUEST, PictureSize, UNSENT_KEPT,
    },
    ids::{AttachmentId, EntityId, SpaceId},
    stored,
};

use self::room::{arrived, free, no_room, reserve};
use crate::{
    Attachments, Error, Result,
    idempotency::PostKey,
    shared::{member::is_member, message::MessageFile, space::no_such_space},
    table::{WriteError, keys, write::Write},
};

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
    /// Whether that is a guest.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_guest: bool,
    /// When its upload was asked for.
    pub created_at: Time,
    /// The numbers of the messages that name it. Such a file stays until it is deleted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub named: Vec<u64>,
    /// Those of them that were deleted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unnamed: Vec<u64>,
    /// How many messages name it and are not deleted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub uses: u64,
    /// Whether it also counts among all files of the deployment.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counts_in_all: bool,
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
            by_guest: false,
            created_at: now,
            named: Vec::new(),
            unnamed: Vec::new(),
            uses: 0,
            counts_in_all: false,
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
            deleted: false,
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

    /// The file, as the list of a space's files shows it.
    pub fn listed(self) -> ListedAttachment {
        let seq = self.named.iter().find(|seq| !self.unnamed.contains(seq)).copied();
        let expires_at = seq.is_none().then(|| self.created_at + UNSENT_KEPT);
        ListedAttachment { seq, expires_at, attachment: self.view() }
    }

    /// How many files of its entity may be announced and not uploaded.
    fn most_pending(&self) -> u64 {
        if self.by_guest { PENDING_FILES_OF_GUEST } else { PENDING_FILES }
    }

    /// Why no further message may name it, if that is so.
    pub(crate) fn unnameable(&self) -> Option<&'static str> {
        if !self.may_be_sent() {
            return Some("it was deleted");
        }
        (self.named.len() >= MESSAGES_OF_FILE).then_some(TOO_OFTEN_NAMED)
    }

    /// Why no message may name it yet, if that is so.
    pub fn unready(&self) -> Option<&str> {
        match self.status {
            AttachmentStatus::Ready => None,
            AttachmentStatus::Pending => Some("it is not uploaded yet"),
            AttachmentStatus::Refused => Some(self.reason.as_deref().unwrap_or("it was refused")),
        }
    }

    /// Whether a message may name it.
    pub fn may_be_sent(&self) -> bool {
        self.status == AttachmentStatus::Ready && !self.dropped
    }

    /// Whether all messages that named it were deleted.
    pub fn is_unused(&self) -> bool {
        self.uses == 0 && !self.named.is_empty()
    }

    /// Whether its time is over, and no message has named it.
    pub fn is_abandoned(&self, now: Time) -> bool {
        self.named.is_empty() && self.created_at + UNSENT_KEPT <= now
    }
}

const TOO_OFTEN_NAMED: &str = "1,000 messages name it already; upload it again";

/// Why a message can't name a file that is at this position of its list.
pub fn unusable(index: usize, why: &str) -> Error {
    Error::invalid(format!("/attachments/{index}"), format!("the file can't be used: {why}"))
}

/// The error for a file that the space does not have.
pub fn no_such_file() -> Error {
    Error::NotFound("there is no such attachment in this space".into())
}

/// The writes of a transaction that names files in the message `seq`: they stay.
pub(crate) fn naming(
    space: SpaceId,
    seq: u64,
    files: impl Iterator<Item = AttachmentId>,
) -> Result<Vec<Write>> {
    let named = files.map(|id| {
        Write::update(
            keys::file(space, id),
            "SET #named = list_append(if_not_exists(#named, :none), :seq), \
             #uses = if_not_exists(#uses, :zero) + :one REMOVE #due, #dueAt, #dueCount",
        )
        .when("#status = :ready AND attribute_not_exists(#dropped)")
        .when("attribute_not_exists(#named) OR size(#named) < :most")
        .value(":none", [0_u64; 0].as_slice())?
        .value(":seq", [seq].as_slice())?
        .value(":most", MESSAGES_OF_FILE)?
        .value(":zero", 0)?
        .value(":one", 1)?
        .value(":ready", AttachmentStatus::Ready)
    });
    named.collect()
}

impl Attachments<'_> {
    /// Stores a file whose upload is asked for. An entity must be a member of the space. If the
    /// `post_key` was used before, returns the file that was asked for then, unless it was deleted.
    pub async fn create(
        self,
        file: &FileRecord,
        post_key: Option<&PostKey>,
    ) -> Result<AttachmentId> {
        let limits = &self.store.file_limits;
        let file = &FileRecord { counts_in_all: limits.in_all.0.is_some(), ..file.clone() };
        let (space, key) = (file.space_id, keys::file(file.space_id, file.id));
        let exists = Write::check(keys::space_meta(space))
            .when("attribute_exists(PK) AND attribute_not_exists(#deleted)");
        let mut writes = vec![Write::put(key.clone(), file)?.if_absent(), exists];
        writes.extend(reserve(file, limits)?);
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
                return self.announced_before(space, made).await;
            }
            if refusal.names(&keys::space_meta(space)) {
                return Err(no_such_space());
            }
            if file.created_by.is_some_and(|it| refusal.names(&keys::member(space, it))) {
                return Err(Error::NotAMember);
            }
            if let Some(error) = no_room(file, limits, &refusal) {
                return Err(error);
            }
            tries
                .after_conflict("too many files are uploaded to this space at once; try again")
                .await?;
        }
    }

    /// The file that the same idempotency key announced. A deleted one gets no new address.
    async fn announced_before(self, space: SpaceId, id: AttachmentId) -> Result<AttachmentId> {
        let file = self.find(space, id).await?;
        file.map(|file| file.id).ok_or_else(|| {
            Error::NotFound("the file that this Idempotency-Key announced was deleted".into())
        })
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
        let (stored, counted) = match found {
            Ok(size) => {
                let ready = match size {
                    Some(PictureSize { width, height }) => {
                        stored("SET #status = :ready, #width = :width, #height = :height")?
                            .value(":width", width)?
                            .value(":height", height)?
                    }
                    None => stored("SET #status = :ready")?,
                };
                (ready.value(":ready", AttachmentStatus::Ready)?, arrived(file)?)
            }
            Err(reason) => {
                let refused = stored("SET #status = :refused, #reason = :reason")?
                    .value(":refused", AttachmentStatus::Refused)?
                    .value(":reason", reason)?;
                (refused, free([file].into_iter())?)
            }
        };
        let writes = [vec![stored], counted].concat();
        match self.store.table.transact(&writes).await {
            Ok(()) => Ok(true),
            Err(WriteError::Refused(refusal)) if refusal.names(&key) => Ok(false),
            Err(WriteError::Refused(_)) => Err(changed_meanwhile()),
            Err(WriteError::Other(error)) => Err(error),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn changed_meanwhile() -> Error {
    Error::Retry("the files of this space change at this moment; try again".into())
}
