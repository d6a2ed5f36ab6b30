//! What other users of the machine can read of the product: nothing.

use std::{
    fs,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
};

use crate::support::{files::PIXEL, process::Setup, stack::Stack};

/// A folder that others can enter.
fn open_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::DirBuilder::new().mode(0o755).create(folder.path().join("data")).unwrap();
    folder
}

/// All files and folders below a folder, and the folder itself.
fn all(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    let mut next = 0;
    while next < found.len() {
        if found[next].is_dir() {
            found.extend(fs::read_dir(&found[next]).unwrap().map(|entry| entry.unwrap().path()));
        }
        next += 1;
    }
    found
}

#[tokio::test]
async fn a_data_folder_that_exists_is_closed_and_what_is_in_it_too() {
    let folder = open_folder();
    let data = folder.path().join("data");
    let flags = ["--data", data.to_str().unwrap()].map(str::to_owned).to_vec();
    let Some(stack) = Stack::of(Setup { flags, ..Setup::default() }).await else { return };
    let (_, _, space) = stack.pair().await;
    stack.upload(&space, "a.png", "image/png", PIXEL).await;
    let found = all(&data);
    assert!(found.iter().any(|path| path.ends_with("table.sqlite")), "{found:?}");
    assert!(found.len() > 5, "{found:?}");
    for path in found {
        let mode = fs::metadata(&path).unwrap().mode();
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", path.display());
    }
    let log = stack.log();
    assert!(log.contains("the data folder was open to other users of this machine"), "{log}");
}

#[tokio::test]
async fn in_memory_a_file_has_no_name_and_a_killed_process_leaves_none() {
    let folder = tempfile::tempdir().unwrap();
    let temporary = folder.path().to_str().unwrap().to_owned();
    let env = vec![("TMPDIR".to_owned(), temporary)];
    let Some(mut stack) = Stack::of(Setup { env, ..Setup::default() }).await else { return };
    let (_, _, space) = stack.pair().await;
    let id = stack.upload(&space, "a.png", "image/png", PIXEL).await;
    assert_eq!(stack.bytes_of(&space, &id).await, PIXEL);
    assert_eq!(all(folder.path()), [folder.path()]);
    stack.kill9();
    assert_eq!(all(folder.path()), [folder.path()]);
}
