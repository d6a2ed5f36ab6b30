//! The files of spaces in the data folder: `attachments/<space>/<file>`. [`server`] is where
//! clients upload and download them.

pub(crate) mod server;
mod signing;

use std::{
    fs,
    io::{self, Read, Seek, SeekFrom, Write},
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
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

/// The files of spaces in a folder.
#[derive(Clone, Debug)]
pub(crate) struct FileFolder {
    path: Arc<Path>,
    key: FolderKey,
    /// Deletes a folder of an instance without a data folder.
    _temporary: Option<Arc<TemporaryFolder>>,
}

/// A folder that is deleted with its last user.
#[derive(Debug)]
struct TemporaryFolder(PathBuf);

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // What is left is in the system's folder for such files.
        let _ = fs::remove_dir_all(&self.0);
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
    /// The files in a folder. Without one, they are in a folder that ends with this value.
    pub(crate) fn new(path: Option<PathBuf>, key: FolderKey) -> Self {
        let temporary = path.is_none().then(|| {
            let name = format!("smartspace-{:032x}", RandomIds.random());
            Arc::new(TemporaryFolder(std::env::temp_dir().join(name)))
        });
        let path = path.or_else(|| Some(temporary.as_ref()?.0.clone())).unwrap_or_default();
        let folder = Self { path: path.into(), key, _temporary: temporary };
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

    /// A new file that becomes `key` once it is whole.
    pub(crate) fn begin(&self, key: FileKey) -> Result<PartialFile, NotStored> {
        let target = self.of_file(key);
        if target.exists() {
            return Err(NotStored::Taken);
        }
        let (file, path) = match self.open_partial(key) {
            // The deletion of another file has just removed the empty folder.
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.open_partial(key)?,
            opened => opened?,
        };
        Ok(PartialFile { file, path, target })
    }

    fn open_partial(&self, key: FileKey) -> io::Result<(fs::File, PathBuf)> {
        let folder = self.of_space(key);
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{PARTIAL}{:032x}", RandomIds.random()));
        let file = fs::OpenOptions::new().write(true).create_new(true).open(&path)?;
        Ok((file, path))
    }

    /// A file to download, and its size.
    pub(crate) async fn open(&self, key: FileKey) -> Result<Option<(fs::File, u64)>> {
        let open = move |folder: &Self| {
            let Some(file) = if_exists(fs::File::open(folder.of_file(key)))? else {
                return Ok(None);
            };
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
    file: fs::File,
    path: PathBuf,
    target: PathBuf,
}

impl PartialFile {
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    /// Gives the file its name, unless that is taken.
    pub(crate) fn finish(self) -> Result<(), NotStored> {
        self.file.sync_all()?;
        // Unlike a rename, a link replaces nothing.
        Ok(fs::hard_link(&self.path, &self.target)?)
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        // A file that stays is found by nobody.
        let _ = fs::remove_file(&self.path);
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

fn read_range(path: &Path, range: Range<u64>) -> io::Result<Option<Vec<u8>>> {
    let Some(mut file) = if_exists(fs::File::open(path))? else { return Ok(None) };
    if range.start >= file.metadata()?.len() {
        return Ok(Some(Vec::new()));
    }
    file.seek(SeekFrom::Start(range.start))?;
    let mut bytes = Vec::new();
    file.take(range.end.saturating_sub(range.start)).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
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
            let opened = if_exists(fs::File::open(folder.of_file(key)))?;
            let Some(file) = opened else { return Ok(None) };
            let bytes = file.metadata()?.len();
            let mut first = Vec::new();
            file.take(FIRST_BYTES as u64).read_to_end(&mut first)?;
            // The hash was checked when the file arrived.
            Ok(Some(StoredFile { bytes, sha256: None, first }))
        };
        self.blocking("looked at", look).await
    }

    async fn read(&self, key: FileKey, range: Range<u64>) -> Result<Option<Bytes>> {
        let read = move |folder: &Self| read_range(&folder.of_file(key), range);
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
