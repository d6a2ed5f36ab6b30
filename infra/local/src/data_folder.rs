//! The folder with all data. The operating system locks it, so that two processes never share it.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError},
    io::{Read, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
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
        close_to_others(path)?;
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

/// What other users of this machine may do with a folder.
const OTHERS: u32 = 0o077;

/// Closes an existing folder to the other users of this machine, or refuses it.
fn close_to_others(path: &Path) -> Result<(), String> {
    let shown = path.display();
    let refused = |why: &str, mend: &str| {
        format!(
            "the data folder {shown} is open to other users of this machine, and {why}; run \
             `{mend}`, or choose a folder of your own with --data"
        )
    };
    let failed = |error: std::io::Error| format!("the data folder {shown} can't be used: {error}");
    let metadata = fs::metadata(path).map_err(failed)?;
    let me = rustix::process::geteuid().as_raw();
    // Its owner can read and replace what is in it, the admin key too, also if we are root.
    if metadata.uid() != me {
        let mend = format!("sudo chown -R {me} {shown} && sudo chmod 700 {shown}");
        return Err(refused("it belongs to one of them", &mend));
    }
    if metadata.mode() & OTHERS == 0 {
        return Ok(());
    }
    let closed = fs::set_permissions(path, Permissions::from_mode(0o700));
    // Some file systems accept every mode and store none.
    let is_open = fs::metadata(path).map_err(failed)?.mode() & OTHERS != 0;
    if closed.is_err() || is_open {
        return Err(refused("it could not be closed to them", &format!("chmod 700 {shown}")));
    }
    tracing::warn!(
        folder = %shown,
        was = format!("{:o}", metadata.mode() & 0o7777),
        "the data folder was open to other users of this machine; its mode is 700 now"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_others_can_enter_is_closed_to_them() {
        let folder = tempfile::tempdir().unwrap();
        let mode = || fs::metadata(folder.path()).unwrap().mode() & 0o7777;
        for open in [0o755, 0o710, 0o704, 0o777] {
            fs::set_permissions(folder.path(), Permissions::from_mode(open)).unwrap();
            drop(DataFolder::open(folder.path()).unwrap());
            assert_eq!(mode(), 0o700, "{open:o}");
        }
    }

    #[test]
    fn a_folder_of_another_user_is_refused_with_the_command_that_mends_it() {
        let me = rustix::process::geteuid();
        let given = tempfile::tempdir().unwrap();
        // Only root can give a folder away. For others the root of the file system is not theirs.
        let path = if me.is_root() { given.path() } else { Path::new("/") };
        if me.is_root() {
            std::os::unix::fs::chown(path, Some(65_534), None).unwrap();
        }
        let refused = DataFolder::open(path).unwrap_err();
        assert!(refused.contains("it belongs to one of them"), "{refused}");
        let shown = path.display();
        let mend = format!("sudo chown -R {} {shown} && sudo chmod 700 {shown}", me.as_raw());
        assert!(refused.contains(&mend), "{refused}");
    }

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
