//! The folder that keeps everything: locked by the operating system, so that two processes never share it.

use std::{
    fs::{DirBuilder, File, OpenOptions, TryLockError},
    io::{Read, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

/// A folder that is ours as long as this lives, also where the process is killed.
#[derive(Debug)]
pub(crate) struct DataFolder {
    path: PathBuf,
    _lock: File,
}

impl DataFolder {
    /// Makes the folder where it is missing, and locks it.
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        let told = |error: std::io::Error| format!("the data folder {} can't be used: {error}", path.display());
        // What people say to each other is nobody else's on this machine.
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(told)?;
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(path.join("lock")).map_err(told)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.to_owned(), _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(format!(
                "another smartspace is running on the data folder {}; end it, or choose another one with --data",
                path.display()
            )),
            Err(TryLockError::Error(error)) => Err(told(error)),
        }
    }

    /// Where the table is.
    pub(crate) fn table(&self) -> PathBuf {
        self.path.join("table.sqlite")
    }

    /// The operator's key: the one that is kept here, or `new`, which is kept from now on. Nobody else can read its file.
    pub(crate) fn admin_key(&self, new: impl FnOnce() -> String) -> Result<String, String> {
        let path = self.path.join("admin-key");
        let told = |error: std::io::Error| format!("{} can't be used: {error}", path.display());
        let mut key = String::new();
        match File::open(&path) {
            Ok(mut file) => {
                file.read_to_string(&mut key).map_err(told)?;
                key.truncate(key.trim_end().len());
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(told(error)),
        }
        if key.is_empty() {
            key = new();
            let mut file = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&path).map_err(told)?;
            file.write_all(key.as_bytes()).and_then(|()| file.sync_all()).map_err(told)?;
        }
        Ok(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_can_not_have_it_and_the_key_stays() {
        let folder = tempfile::tempdir().unwrap();
        let ours = DataFolder::open(folder.path()).unwrap();
        assert_eq!(ours.admin_key(|| "one".into()).unwrap(), "one");
        assert!(DataFolder::open(folder.path()).unwrap_err().contains("another smartspace is running"));
        drop(ours);
        assert_eq!(DataFolder::open(folder.path()).unwrap().admin_key(|| "two".into()).unwrap(), "one");
    }
}
