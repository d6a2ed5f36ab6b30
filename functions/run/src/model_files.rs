//! The bytes of files for a model: the newest ones, as far as they fit. They are read when a model
//! is asked, and stay in memory for the next steps of the run.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use bytes::Bytes;
use futures::future::try_join_all;
use smartspace_domain::{
    Result,
    agents::ModelConfig,
    attachments::{FileKind, FilePart, FileType, RETURNED_IMAGE_BYTES},
    ids::{AttachmentId, SpaceId},
};
use smartspace_models::{file_support, port::FileRef};
use smartspace_ports::files::{FileKey, Files};
use smartspace_store::messages::MessageFile;

/// How many images a model gets at most.
const MAX_IMAGES: usize = 8;
/// The largest image that a model gets, in bytes. A larger one stays a line.
pub(crate) const MAX_IMAGE_BYTES: u64 = RETURNED_IMAGE_BYTES as u64;
/// The longest side of an image that models take, in pixels.
const MAX_IMAGE_SIDE: u32 = 8_000;
/// How many bytes of files a model gets at most.
const MAX_BYTES: u64 = 12 * 1024 * 1024;

/// How many images and bytes still fit.
pub(crate) struct FileCapacity {
    images: usize,
    bytes: u64,
}

impl Default for FileCapacity {
    fn default() -> Self {
        Self { images: MAX_IMAGES, bytes: MAX_BYTES }
    }
}

impl FileCapacity {
    /// Takes a file, if it fits.
    pub(crate) fn take(&mut self, file: &FilePart) -> bool {
        let is_short = file.width.max(file.height).unwrap_or_default() <= MAX_IMAGE_SIDE;
        (is_short || !is_image(&file.content_type))
            && self.take_bytes(&file.content_type, file.bytes)
    }

    fn take_bytes(&mut self, content_type: &str, bytes: u64) -> bool {
        let is_image = is_image(content_type);
        if bytes > self.bytes || is_image && (self.images == 0 || bytes > MAX_IMAGE_BYTES) {
            return false;
        }
        self.bytes -= bytes;
        self.images -= usize::from(is_image);
        true
    }
}

fn is_image(content_type: &str) -> bool {
    FileType::read(content_type).map(FileType::kind) == Some(FileKind::Image)
}

/// A file of a space for a model, after this label.
pub(crate) fn file_ref(space: SpaceId, file: &MessageFile, label: String) -> FileRef {
    FileRef {
        space_id: space,
        attachment_id: file.part.attachment_id,
        sha256: file.sha256.clone(),
        name: file.part.name.clone(),
        content_type: file.part.content_type.clone(),
        bytes: file.part.bytes,
        label,
        call_id: None,
        is_cut: false,
    }
}

/// Files with their bytes.
pub(crate) type LoadedFiles = Arc<BTreeMap<AttachmentId, Bytes>>;

/// Loads each file once.
#[derive(Default)]
pub(crate) struct FileLoader {
    loaded: Mutex<BTreeMap<AttachmentId, Bytes>>,
    /// The provider has refused the files of this run.
    is_given_up: AtomicBool,
}

impl FileLoader {
    /// The bytes of those files that a model takes; `files` are in order. A file that was deleted,
    /// or that does not fit, is left out. Its line in the prompt still describes it.
    pub(crate) async fn load(
        &self,
        storage: &dyn Files,
        files: Vec<&FileRef>,
        model: &ModelConfig,
    ) -> Result<LoadedFiles> {
        if self.is_given_up.load(Ordering::Relaxed) {
            return Ok(LoadedFiles::default());
        }
        let file_support = file_support::of_model(model);
        let mut capacity = FileCapacity::default();
        let mut loads = Vec::new();
        for file in files.into_iter().rev() {
            let is_taken = !file.is_cut && file_support.takes(&file.content_type);
            if is_taken && capacity.take_bytes(&file.content_type, file.bytes) {
                loads.push(self.load_one(storage, file));
            }
        }
        let loaded: BTreeMap<_, _> = try_join_all(loads).await?.into_iter().flatten().collect();
        (*self.loaded.lock().unwrap_or_else(PoisonError::into_inner)).clone_from(&loaded);
        Ok(Arc::new(loaded))
    }

    /// From now on no file is loaded.
    pub(crate) fn give_up(&self) {
        self.is_given_up.store(true, Ordering::Relaxed);
    }

    async fn load_one(
        &self,
        storage: &dyn Files,
        file: &FileRef,
    ) -> Result<Option<(AttachmentId, Bytes)>> {
        let id = file.attachment_id;
        if let Some(known) = self.known(id) {
            return Ok(Some((id, known)));
        }
        let key = FileKey { space: file.space_id, file: id };
        let bytes = storage.read(key, 0..file.bytes).await?;
        Ok(bytes.map(|bytes| (id, bytes)))
    }

    fn known(&self, id: AttachmentId) -> Option<Bytes> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }
}
