//! Files of spaces: uploads, downloads, and files that messages name.
//!
//! A file is uploaded directly to the storage. The first to notice that checks it: the job that
//! follows the upload, a reader, or a message that names the file.

use std::collections::BTreeSet;

use futures::future::{join_all, try_join_all};
use smartspace_domain::{
    Error, Result, Time,
    access::{Caller, Membership, SpaceAction},
    attachments::{
        Attachment, AttachmentStatus, DOWNLOAD_VALID, FILES_OF_MESSAGE, FilePart, FileSpec,
        ListedAttachment, PictureSize, SizeSearch, UPLOAD_VALID, WholeFile, check_stored,
    },
    events::EventKind,
    forms::AskedFile,
    ids::{AttachmentId, EntityId, SpaceId},
    jobs::TriggerJob,
};
use smartspace_ports::files::{FileKey, Upload};
use smartspace_store::{
    attachments::{FileRecord, no_such_file, unusable},
    idempotency::PostKey,
    table::pages::{Page, PageRequest},
};

use crate::Pipeline;

/// Why a file of another space can't be named.
const NO_SUCH_FILE: &str = "this space has no such file";
/// How many portions of the files of a deleted space or a former member one job deletes.
const PORTIONS: usize = 4;
/// How many files of a former member are marked as deleted at once.
const MARKED_AT_ONCE: usize = 16;
/// How many messages show the deletion of a file at once. A file of more messages takes a job.
const SHOWN_AT_ONCE: usize = 16;

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

/// Refuses more files than a message may name.
///
/// # Errors
/// Invalid, with a pointer to `attachments`.
pub fn check_count(ids: &[AttachmentId]) -> Result<()> {
    if ids.len() <= FILES_OF_MESSAGE {
        return Ok(());
    }
    let text = format!("expected at most {FILES_OF_MESSAGE} files, got {}", ids.len());
    Err(Error::invalid("/attachments", text))
}

impl Pipeline {
    /// Starts the upload of a file, or again the one that was started with the same `key`. The
    /// transaction checks that an entity is still a member.
    pub async fn start_upload(
        &self,
        caller: Caller,
        membership: Option<Membership>,
        space: SpaceId,
        file: &FileSpec,
        key: Option<&PostKey>,
    ) -> Result<StartedUpload> {
        let now = self.now();
        let own = AttachmentId::new(now, self.ids.random());
        let by_guest = membership.is_some_and(|it| it.guest);
        let record = FileRecord::new(own, space, file, caller.entity(), now);
        let record = FileRecord { by_guest, ..record };
        let id = self.store.attachments().create(&record, key).await?;
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
    ) -> Result<FileRecord> {
        let WholeFile { spec: file, size, bytes } = image;
        let now = self.now();
        let id = AttachmentId::new(now, self.ids.random());
        let record = FileRecord::new(id, space, &file, Some(agent), now);
        let attachments = self.store.attachments();
        // First the record: a stored file without one is deleted.
        attachments.create(&record, None).await?;
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

    /// The files of a space that a caller may list.
    pub async fn list_files(
        &self,
        caller: Caller,
        space: SpaceId,
        request: &PageRequest,
    ) -> Result<Page<ListedAttachment>> {
        let listed = caller.may_list_files(self.membership(caller, space).await?)?;
        self.store.spaces().record(space).await?;
        self.store.attachments().list(space, listed, request).await
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
        check_count(ids)?;
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
        let found = self.found(space, id).await?;
        let file = found.ok_or_else(|| unusable(index, NO_SUCH_FILE))?;
        match file.unready() {
            None => Ok(file),
            Some(why) => Err(unusable(index, why)),
        }
    }

    /// The file that an answer to a form names: ready, of the right type and size, and uploaded by
    /// one of these: who answers, and the operator who answers for somebody.
    pub(crate) async fn file_asked(
        &self,
        uploaders: [Caller; 2],
        space: SpaceId,
        asked: &AskedFile,
    ) -> Result<FileRecord> {
        let found = self.found(space, asked.id).await?;
        let file = found.ok_or_else(|| asked.unusable(NO_SUCH_FILE))?;
        if uploaders.iter().all(|uploader| uploader.entity() != file.created_by) {
            return Err(asked.unusable("somebody else has uploaded it"));
        }
        if let Some(why) = file.unready() {
            return Err(asked.unusable(why));
        }
        match asked.refusal(&file.content_type, file.bytes) {
            None => Ok(file),
            Some(why) => Err(asked.unusable(&why)),
        }
    }

    async fn found(&self, space: SpaceId, id: AttachmentId) -> Result<Option<FileRecord>> {
        match self.store.attachments().find(space, id).await? {
            Some(file) => self.checked(file).await,
            None => Ok(None),
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
        if file.dropped {
            return self.finish_deletion(&file).await;
        }
        if file.is_unused() {
            if self.store.attachments().drop_unused(&file).await? {
                self.finish_deletion(&file).await?;
            }
            return Ok(());
        }
        if file.is_abandoned(self.now()) {
            if self.store.attachments().drop_unsent(&file).await? {
                self.finish_deletion(&file).await?;
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

    /// Deletes a file on behalf of a caller. From then on nobody can read or name it.
    pub async fn delete_file(
        &self,
        caller: Caller,
        space: SpaceId,
        id: AttachmentId,
    ) -> Result<()> {
        let membership = self.membership(caller, space).await?;
        caller.may_in_space(SpaceAction::Read, membership)?;
        let file = self.store.attachments().get(space, id).await?;
        caller.may_delete_file(file.created_by, membership)?;
        self.store.attachments().drop_any(&file, self.now()).await?;
        // Only now no message can name it any longer.
        let file = self.store.attachments().find_any(space, id).await?;
        let Some(file) = file else { return Ok(()) };
        let finished = if file.named.len() > SHOWN_AT_ONCE {
            Err(Error::Retry("many messages have to show it".into()))
        } else {
            self.finish_deletion(&file).await
        };
        if let Err(error) = finished {
            tracing::info!(file = %id, %error, "a job finishes the deletion of a file");
            let job = TriggerJob::SettleFile { space_id: space, attachment_id: id };
            self.queue_triggers(vec![job]).await;
        }
        Ok(())
    }

    /// Deletes a file whose bytes the storage has deleted, since its time there is over. May be
    /// repeated.
    pub async fn expire_file(&self, space: SpaceId, id: AttachmentId) -> Result<()> {
        let Some(file) = self.store.attachments().find_any(space, id).await? else {
            return Ok(());
        };
        // The notice may be about an older version.
        if file.status != AttachmentStatus::Ready || self.files.look(key_of(&file)).await?.is_some()
        {
            return Ok(());
        }
        match self.store.attachments().drop_any(&file, self.now()).await {
            // Deleted meanwhile.
            Err(Error::NotFound(_)) => Ok(()),
            Err(error) => Err(error),
            Ok(()) => self.settle_file(space, id).await,
        }
    }

    /// Deletes the bytes of a file that is marked as deleted, shows that in its messages, and
    /// deletes its item. May be repeated.
    async fn finish_deletion(&self, file: &FileRecord) -> Result<()> {
        self.files.delete(&[key_of(file)]).await?;
        for some in file.named.chunks(SHOWN_AT_ONCE) {
            let shown = join_all(some.iter().map(|seq| self.show_deletion(file, *seq))).await;
            shown.into_iter().collect::<Result<()>>()?;
        }
        self.store.attachments().delete_dropped(file).await
    }

    async fn show_deletion(&self, file: &FileRecord, seq: u64) -> Result<()> {
        let shown = self.store.attachments().show_deleted(file, seq, self.now()).await?;
        if let Some(message) = shown {
            self.announce(file.space_id, EventKind::MessageUpdated { message }).await;
        }
        Ok(())
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
        let found = match check_stored(&file.content_type, file.bytes, &file.sha256, &stored) {
            Ok(Some(search)) => match self.sizes_of(&file, search).await? {
                Some(search) => search.largest().map(Some),
                None => return attachments.find(file.space_id, file.id).await,
            },
            Ok(None) => Ok(None),
            Err(reason) => Err(reason),
        };
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

    /// Reads a stored picture until all its sizes are known. Returns `None` if it was deleted.
    async fn sizes_of(
        &self,
        file: &FileRecord,
        mut search: SizeSearch,
    ) -> Result<Option<SizeSearch>> {
        while let Some(range) = search.needs() {
            let begin = range.start;
            let Some(bytes) = self.files.read(key_of(file), range).await? else { return Ok(None) };
            search.read(begin, &bytes);
        }
        Ok(Some(search))
    }

    /// Deletes the files of a former member of a space that no message names. May be repeated.
    pub(crate) async fn delete_unsent(&self, space: SpaceId, entity: EntityId) -> Result<()> {
        let attachments = self.store.attachments();
        for _ in 0..PORTIONS {
            let files = attachments.unsent_of(space, entity, self.now()).await?;
            if files.is_empty() {
                return Ok(());
            }
            let mut dropped = Vec::new();
            for some in files.chunks(MARKED_AT_ONCE) {
                let marked =
                    try_join_all(some.iter().map(|it| attachments.drop_unsent(it))).await?;
                // Another one was checked or named meanwhile.
                dropped.extend(some.iter().zip(marked).filter(|(_, is_marked)| *is_marked));
            }
            let dropped: Vec<_> = dropped.into_iter().map(|(file, _)| file.clone()).collect();
            let keys: Vec<_> = dropped.iter().map(key_of).collect();
            self.files.delete(&keys).await?;
            attachments.delete_all(&dropped).await?;
        }
        Err(Error::Retry("the files of a former member are still being deleted".into()))
    }

    /// Deletes files of a deleted space. Returns whether all are gone.
    pub(crate) async fn clear_files(&self, space: SpaceId) -> Result<bool> {
        let attachments = self.store.attachments();
        for _ in 0..PORTIONS {
            let files = attachments.left_in(space).await?;
            if files.is_empty() {
                attachments.clear(space).await?;
                return Ok(true);
            }
            let keys: Vec<_> = files.iter().map(key_of).collect();
            self.files.delete(&keys).await?;
            attachments.delete_all(&files).await?;
        }
        Ok(false)
    }
}
