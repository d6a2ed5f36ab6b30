//! Reads files, and only those inside the folder.

use std::{
    fs::{self, File},
    io::Read,
    path::{Component, Path, PathBuf},
};

use smartspace_domain::projects::APPLY_BYTES;

use crate::faults::FileFault;

/// The endings of files that describe something.
pub(crate) const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// A folder whose files may be read.
#[derive(Debug)]
pub(crate) struct FileTree {
    /// Without symbolic links, so that a path can be compared with it.
    root: PathBuf,
}

impl FileTree {
    /// The folder at `path`.
    pub(crate) fn open(path: &Path) -> Result<Self, FileFault> {
        let shown = path.display().to_string();
        let fault = |detail: String| FileFault::of_file(&shown, detail);
        let root = fs::canonicalize(path).map_err(|error| fault(format!("{error}")))?;
        if root.is_dir() { Ok(Self { root }) } else { Err(fault("expected a folder".to_owned())) }
    }

    /// The described files of a subfolder by path, such as `agents/ada.yaml`. Empty if there is no
    /// such folder.
    pub(crate) fn list(&self, folder: &str) -> Result<Vec<String>, FileFault> {
        let fault = |error: std::io::Error| FileFault::of_file(folder, error.to_string());
        let entries = match fs::read_dir(self.root.join(folder)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(fault(error)),
        };
        let mut files = Vec::new();
        for entry in entries {
            let name = entry.map_err(fault)?.file_name();
            let ending = Path::new(&name).extension().and_then(|ending| ending.to_str());
            if !ending.is_some_and(|ending| ENDINGS.contains(&ending)) {
                continue;
            }
            let Some(name) = name.to_str() else {
                let detail = format!("expected file names in UTF-8, got {}", name.display());
                return Err(FileFault::of_file(folder, detail));
            };
            if !name.starts_with('.') {
                files.push(format!("{folder}/{name}"));
            }
        }
        files.sort();
        Ok(files)
    }

    /// The file with one of the usual endings at `stem`, such as `tools/crm`.
    pub(crate) fn find(&self, stem: &str) -> Option<String> {
        let mut names = ENDINGS.iter().map(|ending| format!("{stem}.{ending}"));
        names.find(|name| self.root.join(name).is_file())
    }

    /// The bytes of a file of the folder.
    pub(crate) fn read(&self, path: &str) -> Result<Vec<u8>, FileFault> {
        let fault = |detail: String| FileFault::of_file(path, detail);
        let real = fs::canonicalize(self.root.join(path));
        let real = real.map_err(|error| fault(format!("can't be read: {error}")))?;
        if !real.starts_with(&self.root) {
            return Err(fault("expected a file inside the folder; this link leaves it".to_owned()));
        }
        if !real.is_file() {
            return Err(fault("expected a file".to_owned()));
        }
        let failed = |error: std::io::Error| fault(format!("can't be read: {error}"));
        let mut bytes = Vec::new();
        let limit = APPLY_BYTES as u64 + 1;
        File::open(&real).map_err(failed)?.take(limit).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() > APPLY_BYTES {
            return Err(fault(format!("expected a file of at most {APPLY_BYTES} bytes")));
        }
        Ok(bytes)
    }

    /// The path in the folder of what `written` means in the file at `from`.
    pub(crate) fn resolve(from: &str, written: &str) -> Option<String> {
        let mut parts: Vec<&str> = from.split('/').collect();
        parts.pop();
        for component in Path::new(written).components() {
            match component {
                Component::CurDir => {}
                Component::ParentDir => drop(parts.pop()?),
                Component::Normal(name) => parts.push(name.to_str()?),
                Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        Some(parts.join("/"))
    }
}
