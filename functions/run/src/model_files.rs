//! The bytes of files for a model. They are read when a model is asked, and kept for the next steps
//! of the run.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use bytes::Bytes;
use futures::future::try_join_all;
use smartspace_domain::{Result, agents::ModelConfig, ids::AttachmentId};
use smartspace_models::{port::FileRef, sight::sight};
use smartspace_ports::files::{FileKey, Files};

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
    /// The bytes of those files that a model takes. A file that was deleted is left out, and its
    /// line says what it was.
    pub(crate) async fn load(
        &self,
        storage: &dyn Files,
        files: Vec<&FileRef>,
        model: &ModelConfig,
    ) -> Result<LoadedFiles> {
        if self.is_given_up.load(Ordering::Relaxed) {
            return Ok(LoadedFiles::default());
        }
        let sight = sight(model);
        let mut loads = Vec::new();
        for file in files.into_iter().filter(|file| sight.takes(&file.content_type)) {
            loads.push(self.load_one(storage, file));
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
