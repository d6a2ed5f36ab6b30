//! The folder with all data. The operating system locks it, so that two processes never share it.

use std::{
    fs::{DirBuilder, File, OpenOptions, TryLockError},
    io::{Read, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

/// A locked data folder. The lock ends with this value, or when the process is killed.
#[derive(Debug)]
pub(crate) struct DataFolder {
    path: PathBuf,
    _lock: File,
}

impl DataFolder {
    /// Creates the folder if it is missing, and locks it.
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        let failed = |error: std::io::Error| {
            format!("the data folder {} can't be used: {error}", path.display())
        };
        if path.exists() && !path.is_dir() {
            return Err(format!("--data: expected a folder, and {} is a file", path.display()));
        }
        // Other users of this machine must not read the messages.
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.join("lock"))
            .map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.to_owned(), _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(format!(
                "another smartspace is running on the data folder {}; stop it, or choose another \
                 folder with --data",
                path.display()
            )),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    pub(crate) fn table(&self) -> PathBuf {
        self.path.join("table.sqlite")
    }

    /// The folder of the files of spaces.
    pub(crate) fn attachments(&self) -> PathBuf {
        self.path.join("attachments")
    }

    /// Returns the stored admin key. If the file does not exist, `new` creates a key, which is
    /// stored in a file that only this user can read.
    pub(crate) fn admin_key(&self, new: impl FnOnce() -> String) -> Result<String, String> {
        let path = self.path.join("admin-key");
        let failed = |error: std::io::Error| format!("{} can't be used: {error}", path.display());
        let mut key = String::new();
        match File::open(&path) {
            Ok(mut file) => {
                file.read_to_string(&mut key).map_err(failed)?;
                key.truncate(key.trim_end().len());
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        if key.is_empty() {
            key = new();
            let mut file = OpenOptions::new()
                .create(true)
                .write(true)
                .truncate(true)
                .mode(0o600)
                .open(&path)
                .map_err(failed)?;
            file.write_all(key.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
        }
        Ok(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_locked_and_stores_its_key() {
        let folder = tempfile::tempdir().unwrap();
        let ours = DataFolder::open(folder.path()).unwrap();
        assert_eq!(ours.admin_key(|| "one".into()).unwrap(), "one");
        assert!(
            DataFolder::open(folder.path()).unwrap_err().contains("another smartspace is running")
        );
        drop(ours);
        assert_eq!(
            DataFolder::open(folder.path()).unwrap().admin_key(|| "two".into()).unwrap(),
            "one"
        );
    }
}
