//! Files of spaces: uploads, downloads, and files that messages name.
//!
//! A file is uploaded directly to the storage. The first to notice that checks it: the job that
//! follows the upload, a reader, or a message that names the file.

use std::collections::BTreeSet;

use futures::future::try_join_all;
use smartspace_domain::{
    Error, Result, Time,
    access::Caller,
    attachments::{
        Attachment, AttachmentStatus, DOWNLOAD_VALID, FILES_OF_MESSAGE, FilePart, FileSpec,
        PictureSize, UPLOAD_VALID, WholeFile, check_stored,
    },
    events::EventKind,
    ids::{AttachmentId, EntityId, SpaceId},
};
use smartspace_ports::files::{FileKey, Upload};
use smartspace_store::{
    attachments::{FileRecord, UnsentRoom, no_such_file, unusable},
    idempotency::PostKey,
};

use crate::Pipeline;

/// How many portions of a deleted space's files one job deletes.
const PORTIONS: usize = 4;

/// An upload that a client may start.
#[derive(Clone, Debug)]
pub struct StartedUpload {
    pub id: AttachmentId,
    /// Where and how to upload it.
    pub upload: Upload,
    /// When the upload must have started.
    pub until: Time,
}

/// The address of a download.
#[derive(Clone, Debug)]
pub struct Download {
    pub url: String,
    /// Until when it works.
    pub until: Time,
}

fn key_of(file: &FileRecord) -> FileKey {
    FileKey { space: file.space_id, file: file.id }
}

impl Pipeline {
    /// Starts the upload of a file, or again the one that was started with the same `key`. The
    /// transaction checks that an entity is a member.
    pub async fn start_upload(
        &self,
        caller: Caller,
        space: SpaceId,
        file: &FileSpec,
        key: Option<&PostKey>,
    ) -> Result<StartedUpload> {
        let now = self.now();
        let own = AttachmentId::new(now, self.ids.random());
        let record = FileRecord::new(own, space, file, caller.entity(), now);
        let id = self.store.attachments().create(&record, UnsentRoom::Limited, key).await?;
        let until = now + UPLOAD_VALID;
        let upload = self.files.upload(FileKey { space, file: id }, file, until).await?;
        Ok(StartedUpload { id, upload, until })
    }

    /// Keeps a picture that a tool of an agent has made. A message may name it.
    pub async fn keep_made(
        &self,
        agent: EntityId,
        space: SpaceId,
        image: WholeFile,
        room: UnsentRoom,
    ) -> Result<FileRecord> {
        let WholeFile { spec: file, size, bytes } = image;
        let now = self.now();
        let id = AttachmentId::new(now, self.ids.random());
        let record = FileRecord::new(id, space, &file, Some(agent), now);
        let attachments = self.store.attachments();
        // First the record: a stored file without one is deleted.
        attachments.create(&record, room, None).await?;
        self.files.write(key_of(&record), &file, bytes.into()).await?;
        if attachments.checked(&record, &Ok(size)).await? {
            let PictureSize { width, height } = size.unwrap_or_default();
            let shown = |side: u32| size.map(|_| side);
            return Ok(FileRecord {
                status: AttachmentStatus::Ready,
                width: shown(width),
                height: shown(height),
                ..record
            });
        }
        // The notice of the storage came first, or the space is gone.
        match attachments.find(space, id).await? {
            Some(file) if file.may_be_sent() => Ok(file),
            _ => {
                self.files.delete(&[key_of(&record)]).await?;
                Err(Error::NotFound("the space of the picture was deleted".into()))
            }
        }
    }

    /// A file of a space, checked if it was uploaded, and where to download it.
    pub async fn attachment(
        &self,
        space: SpaceId,
        id: AttachmentId,
    ) -> Result<(Attachment, Option<Download>)> {
        let file = self.store.attachments().get(space, id).await?;
        let file = self.checked(file).await?.ok_or_else(no_such_file)?;
        let download = if file.status == AttachmentStatus::Ready {
            Some(self.download(space, &file.part()).await?)
        } else {
            None
        };
        Ok((file.view(), download))
    }

    /// Where to download a file that is ready. Only for those who may read the space.
    pub async fn download(&self, space: SpaceId, file: &FilePart) -> Result<Download> {
        let until = self.now() + DOWNLOAD_VALID;
        let key = FileKey { space, file: file.attachment_id };
        Ok(Download { url: self.files.download(key, file, until).await?, until })
    }

    /// The files that a message of a space names, each once. They are ready: a file that has just
    /// been uploaded is checked here.
    pub async fn files_named(
        &self,
        space: SpaceId,
        ids: &[AttachmentId],
    ) -> Result<Vec<FileRecord>> {
        if ids.len() > FILES_OF_MESSAGE {
            let text = format!("expected at most {FILES_OF_MESSAGE} files, got {}", ids.len());
            return Err(Error::invalid("/attachments", text));
        }
        let mut seen = BTreeSet::new();
        if let Some(index) = ids.iter().position(|id| !seen.insert(id)) {
            return Err(unusable(index, "it is named twice"));
        }
        let mut files = Vec::new();
        for (index, id) in ids.iter().enumerate() {
            files.push(self.file_named(space, index, *id));
        }
        try_join_all(files).await
    }

    async fn file_named(
        &self,
        space: SpaceId,
        index: usize,
        id: AttachmentId,
    ) -> Result<FileRecord> {
        let found = match self.store.attachments().find(space, id).await? {
            Some(file) => self.checked(file).await?,
            None => None,
        };
        let file = found.ok_or_else(|| unusable(index, "this space has no such file"))?;
        match file.status {
            AttachmentStatus::Ready => Ok(file),
            AttachmentStatus::Pending => Err(unusable(index, "it is not uploaded yet")),
            AttachmentStatus::Refused => {
                Err(unusable(index, file.reason.as_deref().unwrap_or("it was refused")))
            }
        }
    }

    /// Checks a file that was uploaded, and deletes one that no message has named in time. A file
    /// whose space has forgotten it is deleted from the storage. May be repeated.
    pub async fn settle_file(&self, space: SpaceId, id: AttachmentId) -> Result<()> {
        let key = FileKey { space, file: id };
        // An upload may end while its space is being deleted, after the bytes that were there.
        let is_gone = matches!(self.store.spaces().record(space).await, Err(Error::NotFound(_)));
        let file = self.store.attachments().find_any(space, id).await?;
        let Some(file) = file.filter(|_| !is_gone) else {
            return self.files.delete(&[key]).await;
        };
        if file.dropped || file.is_abandoned(self.now()) {
            if self.store.attachments().drop_unsent(&file).await? {
                self.files.delete(&[key]).await?;
                self.store.attachments().delete_dropped(&file).await?;
            }
            return Ok(());
        }
        match self.checked(file).await? {
            // The process that refused it may have died before it deleted the bytes, and the
            // address of an upload works again once they are gone.
            Some(file) if file.status == AttachmentStatus::Refused => {
                self.files.delete(&[key]).await
            }
            _ => Ok(()),
        }
    }

    /// The file after a look into the storage, if it was pending. Returns `None` if it was deleted
    /// meanwhile.
    async fn checked(&self, file: FileRecord) -> Result<Option<FileRecord>> {
        if file.status != AttachmentStatus::Pending {
            return Ok(Some(file));
        }
        let attachments = self.store.attachments();
        let Some(stored) = self.files.look(key_of(&file)).await? else {
            // Not uploaded yet, or refused and deleted since the record was read.
            return attachments.find(file.space_id, file.id).await;
        };
        let found = check_stored(&file.content_type, file.bytes, &file.sha256, &stored);
        if attachments.checked(&file, &found).await? {
            match found {
                Ok(_) => {
                    let what = EventKind::AttachmentReady { attachment_id: file.id };
                    self.announce(file.space_id, what).await;
                }
                Err(_) => self.files.delete(&[key_of(&file)]).await?,
            }
        }
        attachments.find(file.space_id, file.id).await
    }

    /// Deletes files of a deleted space. Returns whether all are gone.
    pub(crate) async fn clear_files(&self, space: SpaceId) -> Result<bool> {
        let attachments = self.store.attachments();
        for _ in 0..PORTIONS {
            let ids = attachments.left_in(space).await?;
            if ids.is_empty() {
                attachments.clear(space).await?;
                return Ok(true);
            }
            let keys: Vec<_> = ids.iter().map(|file| FileKey { space, file: *file }).collect();
            self.files.delete(&keys).await?;
            attachments.delete_all(space, &ids).await?;
        }
        Ok(false)
    }
}
