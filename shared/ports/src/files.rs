//! The storage of files. Clients upload and download directly, with signed URLs, so that no file
//! passes a function.

#[cfg(feature = "aws")]
mod s3;

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    ops::Range,
    str::FromStr,
    sync::{Mutex, PoisonError},
};

use async_trait::async_trait;
use bytes::Bytes;
use smartspace_domain::{
    Error, Result, Time,
    attachments::{FIRST_BYTES, FilePart, FileSpec, Sha256Hex, StoredFile, saved_name},
    ids::{AttachmentId, SpaceId},
};

#[cfg(feature = "aws")]
pub use self::s3::S3Files;

/// The key of a file in the storage: `spc_…/att_…`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileKey {
    /// The file's space.
    pub space: SpaceId,
    /// The file.
    pub file: AttachmentId,
}

impl fmt::Display for FileKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.space, self.file)
    }
}

impl FromStr for FileKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let refused = || Error::Malformed("expected a key like spc_…/att_…".into());
        let (space, file) = text.split_once('/').ok_or_else(refused)?;
        Ok(Self {
            space: space.parse().map_err(|_| refused())?,
            file: file.parse().map_err(|_| refused())?,
        })
    }
}

/// How a client uploads a file: by one `PUT` of its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// The address, which is signed.
    pub url: String,
    /// The headers that the request must have. `Content-Length` is always the file's size.
    pub headers: BTreeMap<String, String>,
}

/// Stores files. A key is written once: nobody can replace a file that was checked.
#[async_trait]
pub trait Files: Send + Sync {
    /// The origin of the addresses of uploads and downloads, as pages name it. `None` if that is
    /// the host's own.
    fn origin(&self) -> Option<&str> {
        None
    }
    /// How a client uploads a file until `until`. The storage accepts no other size, type or hash.
    async fn upload(&self, key: FileKey, file: &FileSpec, until: Time) -> Result<Upload>;
    /// Where a client downloads a file until `until`. Browsers save the answer as a file with its
    /// name, and show it only in an `<img>`.
    async fn download(&self, key: FileKey, file: &FilePart, until: Time) -> Result<String>;
    /// What the storage has of a file, with its first [`FIRST_BYTES`] bytes. Returns `None` if it
    /// has none.
    async fn look(&self, key: FileKey) -> Result<Option<StoredFile>>;
    /// The bytes of a file in this range, which may reach beyond its end. Returns `None` if the
    /// storage has no such file.
    async fn read(&self, key: FileKey, range: Range<u64>) -> Result<Option<Bytes>>;
    /// Stores a file that the product itself has made, unless the key is taken.
    async fn write(&self, key: FileKey, file: &FileSpec, bytes: Bytes) -> Result<()>;
    /// Deletes files. One that does not exist is none.
    async fn delete(&self, keys: &[FileKey]) -> Result<()>;
}

/// A storage of a function that handles no files.
#[derive(Clone, Copy, Debug)]
pub struct NoFiles;

fn no_files<T>() -> Result<T> {
    Err(Error::Internal("this function has no storage of files".into()))
}

#[async_trait]
impl Files for NoFiles {
    async fn upload(&self, _: FileKey, _: &FileSpec, _: Time) -> Result<Upload> {
        no_files()
    }

    async fn download(&self, _: FileKey, _: &FilePart, _: Time) -> Result<String> {
        no_files()
    }

    async fn look(&self, _: FileKey) -> Result<Option<StoredFile>> {
        no_files()
    }

    async fn read(&self, _: FileKey, _: Range<u64>) -> Result<Option<Bytes>> {
        no_files()
    }

    async fn write(&self, _: FileKey, _: &FileSpec, _: Bytes) -> Result<()> {
        no_files()
    }

    async fn delete(&self, _: &[FileKey]) -> Result<()> {
        no_files()
    }
}

/// Files in memory, for tests. A client's upload is a [`MemoryFiles::put`].
#[derive(Debug, Default)]
pub struct MemoryFiles(Mutex<HashMap<FileKey, Bytes>>);

impl MemoryFiles {
    /// Stores a file as a client does, unless the key is taken. Returns whether it was stored.
    pub fn put(&self, key: FileKey, bytes: impl Into<Bytes>) -> bool {
        let mut files = self.files();
        let is_new = !files.contains_key(&key);
        if is_new {
            files.insert(key, bytes.into());
        }
        is_new
    }

    /// The keys of the stored files.
    pub fn keys(&self) -> Vec<FileKey> {
        let mut keys: Vec<_> = self.files().keys().copied().collect();
        keys.sort_unstable();
        keys
    }

    fn files(&self) -> std::sync::MutexGuard<'_, HashMap<FileKey, Bytes>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Files for MemoryFiles {
    async fn upload(&self, key: FileKey, _: &FileSpec, _: Time) -> Result<Upload> {
        Ok(Upload { url: format!("memory:{key}"), headers: BTreeMap::new() })
    }

    async fn download(&self, key: FileKey, _: &FilePart, _: Time) -> Result<String> {
        Ok(format!("memory:{key}"))
    }

    async fn look(&self, key: FileKey) -> Result<Option<StoredFile>> {
        Ok(self.files().get(&key).map(|bytes| StoredFile {
            bytes: bytes.len() as u64,
            sha256: Some(Sha256Hex::of(bytes)),
            first: bytes[..bytes.len().min(FIRST_BYTES)].to_vec(),
        }))
    }

    async fn read(&self, key: FileKey, range: Range<u64>) -> Result<Option<Bytes>> {
        let within =
            |at: u64, bytes: &Bytes| usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
        Ok(self
            .files()
            .get(&key)
            .map(|bytes| bytes.slice(within(range.start, bytes)..within(range.end, bytes))))
    }

    async fn write(&self, key: FileKey, _: &FileSpec, bytes: Bytes) -> Result<()> {
        self.put(key, bytes);
        Ok(())
    }

    async fn delete(&self, keys: &[FileKey]) -> Result<()> {
        let mut files = self.files();
        for key in keys {
            files.remove(key);
        }
        Ok(())
    }
}

/// The header with which a browser saves a file of this media type: RFC 6266 and RFC 8187.
pub fn disposition(name: &str, media_type: &str) -> String {
    use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
    const ENCODED: &AsciiSet =
        &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    let name = saved_name(name, media_type);
    let plain: String = name
        .chars()
        .map(|char| if char.is_ascii_alphanumeric() || "-._ ".contains(char) { char } else { '_' })
        .collect();
    let encoded = utf8_percent_encode(&name, ENCODED);
    format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{encoded}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_as_it_is_written() {
        let at = Time::from_millis(1_760_000_000_000);
        let key = FileKey { space: SpaceId::new(at, 1), file: AttachmentId::new(at, 2) };
        assert_eq!(key.to_string().parse(), Ok(key));
        for wrong in ["", "spc_1/att_2", &format!("{}/x", key.space), "../../etc/passwd"] {
            assert!(wrong.parse::<FileKey>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_page_is_saved_as_a_text() {
        assert_eq!(
            disposition("page.html", "text/plain"),
            "attachment; filename=\"page.html.txt\"; filename*=UTF-8''page.html.txt"
        );
    }

    #[test]
    fn a_name_cannot_leave_its_header() {
        assert_eq!(
            disposition("Plän \"1\"\r\nX: y.pdf", "application/pdf"),
            "attachment; filename=\"Pl_n _1___X_ y.pdf\"; \
             filename*=UTF-8''Pl%C3%A4n%20%221%22%0D%0AX_%20y.pdf"
        );
    }
}
