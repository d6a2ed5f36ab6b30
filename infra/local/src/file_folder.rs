//! The files of spaces in the data folder: `attachments/<space>/<file>`. [`server`] is where
//! clients upload and download them.

pub(crate) mod server;
mod signing;

use std::{
    collections::HashMap,
    fs,
    io::{self, Write},
    ops::Range,
    os::unix::fs::{DirBuilderExt, FileExt},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use axum::body::Bytes;
use smartspace_domain::{
    Error, Result, Time,
    attachments::{FIRST_BYTES, FilePart, FileSpec, StoredFile},
};
use smartspace_ports::{
    files::{FileKey, Files, Upload},
    ids::{IdSource, RandomIds},
};

pub(crate) use self::signing::FolderKey;
use self::signing::{SignedDownload, SignedUpload};

/// What the names of files begin with that are being uploaded.
const PARTIAL: char = '.';

/// How many files of an instance without a data folder have no name. Each is an open file of the
/// process, and systems limit these.
const UNNAMED: usize = 256;

/// The files of spaces in a folder.
#[derive(Clone, Debug)]
pub(crate) struct FileFolder {
    path: Arc<Path>,
    key: FolderKey,
    /// Only an instance without a data folder has one.
    temporary: Option<Arc<Temporary>>,
}

/// The files of an instance that stores nothing. They lose their names at once, so that even a
/// killed process leaves none. Those beyond [`UNNAMED`] are in a folder, which ends with this
/// value.
#[derive(Debug)]
struct Temporary {
    folder: PathBuf,
    unnamed: Mutex<HashMap<FileKey, Arc<fs::File>>>,
}

impl Temporary {
    fn unnamed(&self) -> MutexGuard<'_, HashMap<FileKey, Arc<fs::File>>> {
        self.unnamed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // What is left is in the system's folder for such files.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Why a file is not stored.
#[derive(Debug)]
pub(crate) enum NotStored {
    Taken,
    /// The folder can't be written.
    Failed(io::Error),
}

impl From<io::Error> for NotStored {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::AlreadyExists { Self::Taken } else { Self::Failed(error) }
    }
}

impl FileFolder {
    /// The files in a folder. Without one, they end with this value.
    pub(crate) fn new(path: Option<PathBuf>, key: FolderKey) -> Self {
        let temporary = path.is_none().then(|| {
            let name = format!("smartspace-{:032x}", RandomIds.random());
            let folder = std::env::temp_dir().join(name);
            Arc::new(Temporary { folder, unnamed: Mutex::default() })
        });
        let path = path.or_else(|| Some(temporary.as_ref()?.folder.clone())).unwrap_or_default();
        let folder = Self { path: path.into(), key, temporary };
        if let Err(error) = folder.delete_partial() {
            tracing::warn!(%error, "unfinished uploads could not be deleted");
        }
        folder
    }

    fn of_space(&self, key: FileKey) -> PathBuf {
        self.path.join(key.space.to_string())
    }

    fn of_file(&self, key: FileKey) -> PathBuf {
        self.of_space(key).join(key.file.to_string())
    }

    fn unnamed(&self) -> Option<MutexGuard<'_, HashMap<FileKey, Arc<fs::File>>>> {
        self.temporary.as_ref().map(|temporary| temporary.unnamed())
    }

    fn find(&self, key: FileKey) -> io::Result<Option<Arc<fs::File>>> {
        if let Some(file) = self.unnamed().and_then(|files| files.get(&key).cloned()) {
            return Ok(Some(file));
        }
        Ok(if_exists(fs::File::open(self.of_file(key)))?.map(Arc::new))
    }

    /// A new file that becomes `key` once it is whole.
    pub(crate) fn begin(&self, key: FileKey) -> Result<PartialFile, NotStored> {
        if self.find(key)?.is_some() {
            return Err(NotStored::Taken);
        }
        let (file, path) = match self.open_partial(key) {
            // The deletion of another file has just removed the empty folder.
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.open_partial(key)?,
            opened => opened?,
        };
        Ok(PartialFile { folder: self.clone(), key, file: Arc::new(file), path })
    }

    /// A new file, and its name if it has one.
    fn open_partial(&self, key: FileKey) -> io::Result<(fs::File, Option<PathBuf>)> {
        let open = |folder: &Path| {
            let path = folder.join(format!("{PARTIAL}{:032x}", RandomIds.random()));
            let file =
                fs::OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
            Ok((file, path))
        };
        if self.unnamed().is_some_and(|files| files.len() < UNNAMED) {
            let (file, path) = open(&std::env::temp_dir())?;
            fs::remove_file(path)?;
            return Ok((file, None));
        }
        let folder = self.of_space(key);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        open(&folder).map(|(file, path)| (file, Some(path)))
    }

    /// A file to download, and its size.
    pub(crate) async fn open(&self, key: FileKey) -> Result<Option<(Arc<fs::File>, u64)>> {
        let open = move |folder: &Self| {
            let Some(file) = folder.find(key)? else { return Ok(None) };
            let bytes = file.metadata()?.len();
            Ok(Some((file, bytes)))
        };
        self.blocking("opened", open).await
    }

    /// Deletes what uploads of an earlier process have left.
    fn delete_partial(&self) -> io::Result<()> {
        let Some(spaces) = if_exists(fs::read_dir(&*self.path))? else { return Ok(()) };
        for space in spaces {
            for file in fs::read_dir(space?.path())? {
                let file = file?;
                if file.file_name().to_string_lossy().starts_with(PARTIAL) {
                    fs::remove_file(file.path())?;
                }
            }
        }
        Ok(())
    }

    /// Does work with the folder that blocks.
    async fn blocking<T: Send + 'static>(
        &self,
        what: &'static str,
        work: impl FnOnce(&Self) -> io::Result<T> + Send + 'static,
    ) -> Result<T> {
        let folder = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&folder)).await;
        let done = done.map_err(io::Error::other).flatten();
        done.map_err(|error| Error::Unavailable(format!("a file could not be {what}: {error}")))
    }
}

/// A file that is being written. It is deleted unless it is finished.
pub(crate) struct PartialFile {
    folder: FileFolder,
    key: FileKey,
    file: Arc<fs::File>,
    /// `None` if the file has no name.
    path: Option<PathBuf>,
}

impl PartialFile {
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        (&*self.file).write_all(bytes)
    }

    /// Gives the file its name, unless that is taken.
    pub(crate) fn finish(self) -> Result<(), NotStored> {
        let Some(path) = &self.path else {
            let files = self.folder.unnamed();
            let mut files = files.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
            if files.contains_key(&self.key) {
                return Err(NotStored::Taken);
            }
            files.insert(self.key, Arc::clone(&self.file));
            return Ok(());
        };
        self.file.sync_all()?;
        // Unlike a rename, a link replaces nothing.
        Ok(fs::hard_link(path, self.folder.of_file(self.key))?)
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // A file that stays is found by nobody.
            let _ = fs::remove_file(path);
        }
    }
}

/// The result of an operation on a file, or `None` if the file does not exist.
fn if_exists<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The bytes of a file in a range, as far as the file has them. Downloads share the open file, so
/// each says where it reads.
pub(crate) fn read_at(file: &fs::File, range: Range<u64>) -> io::Result<Vec<u8>> {
    let end = range.end.min(file.metadata()?.len());
    let mut bytes = vec![0; end.saturating_sub(range.start) as usize];
    let mut count = 0;
    while count < bytes.len() {
        match file.read_at(&mut bytes[count..], range.start + count as u64) {
            Ok(0) => break,
            Ok(read) => count += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(count);
    Ok(bytes)
}

#[async_trait]
impl Files for FileFolder {
    async fn upload(&self, key: FileKey, file: &FileSpec, until: Time) -> Result<Upload> {
        let signed = SignedUpload::new(file, until);
        let headers = [("content-type", file.content_type.name()), ("if-none-match", "*")];
        Ok(Upload {
            url: self.key.sign(&server::path(key), &signed),
            headers: headers.map(|(name, value)| (name.into(), value.into())).into(),
        })
    }

    async fn download(&self, key: FileKey, file: &FilePart, until: Time) -> Result<String> {
        Ok(self.key.sign(&server::path(key), &SignedDownload::new(file, until)))
    }

    async fn look(&self, key: FileKey) -> Result<Option<StoredFile>> {
        let look = move |folder: &Self| {
            let Some(file) = folder.find(key)? else { return Ok(None) };
            let bytes = file.metadata()?.len();
            let first = read_at(&file, 0..FIRST_BYTES as u64)?;
            // The hash was checked when the file arrived.
            Ok(Some(StoredFile { bytes, sha256: None, first }))
        };
        self.blocking("looked at", look).await
    }

    async fn read(&self, key: FileKey, range: Range<u64>) -> Result<Option<Bytes>> {
        let read =
            move |folder: &Self| folder.find(key)?.map(|file| read_at(&file, range)).transpose();
        Ok(self.blocking("read", read).await?.map(Bytes::from))
    }

    async fn write(&self, key: FileKey, _: &FileSpec, bytes: Bytes) -> Result<()> {
        let write = move |folder: &Self| {
            let stored = folder.begin(key).and_then(|mut file| {
                file.write(&bytes)?;
                file.finish()
            });
            match stored {
                // An earlier try has stored it.
                Ok(()) | Err(NotStored::Taken) => Ok(()),
                Err(NotStored::Failed(error)) => Err(error),
            }
        };
        self.blocking("stored", write).await
    }

    async fn delete(&self, keys: &[FileKey]) -> Result<()> {
        let keys = keys.to_vec();
        let delete = move |folder: &Self| {
            for key in keys {
                if folder.unnamed().is_some_and(|mut files| files.remove(&key).is_some()) {
                    continue;
                }
                if_exists(fs::remove_file(folder.of_file(key)))?;
                // It fails as long as the space has other files.
                let _ = fs::remove_dir(folder.of_space(key));
            }
            Ok(())
        };
        self.blocking("deleted", delete).await
    }
}

#[cfg(test)]
mod tests;
