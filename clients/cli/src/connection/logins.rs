//! The keys that `login` has stored, one for each origin, in a file that only this user can read.

use std::{
    collections::BTreeMap,
    env,
    fs::{self, DirBuilder, OpenOptions},
    io::{ErrorKind, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use crate::output::Stop;

type Logins = BTreeMap<String, String>;

/// The stored key of an origin.
pub(crate) fn kept_login(origin: &str) -> Result<Option<String>, Stop> {
    let Some(path) = path() else { return Ok(None) };
    Ok(read(&path)?.remove(origin))
}

/// Stores the key of an origin. Returns the path of the file.
pub(crate) fn keep_login(origin: &str, key: &str) -> Result<PathBuf, Stop> {
    let path = path().ok_or_else(|| {
        Stop::said("there is no place for the key: expected HOME or XDG_CONFIG_HOME to be set")
    })?;
    let mut logins = read(&path)?;
    logins.insert(origin.to_owned(), key.to_owned());
    write(&path, &logins).map_err(|error| unusable(&path, &error))?;
    Ok(path)
}

fn path() -> Option<PathBuf> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let config = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))?;
    Some(config.join("smartspace").join("logins.json"))
}

fn read(path: &Path) -> Result<Logins, Stop> {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|_| {
            let path = path.display();
            Stop::said(format!("{path}: expected the keys that `smartspace login` has stored"))
        }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Logins::new()),
        Err(error) => Err(unusable(path, &error)),
    }
}

/// Replaces the file as a whole, so that a process that dies leaves the old one.
fn write(path: &Path, logins: &Logins) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let new = path.with_extension("json.new");
    let mut file =
        OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&new)?;
    // The mode counts only for a file that did not exist.
    file.set_permissions(fs::Permissions::from_mode(0o600))?;
    file.write_all(serde_json::to_string(logins)?.as_bytes())?;
    file.sync_all()?;
    fs::rename(&new, path)
}

fn unusable(path: &Path, error: &std::io::Error) -> Stop {
    Stop::said(format!("{} can't be used: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_user_can_read_the_keys() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("smartspace/logins.json");
        assert!(read(&path).unwrap().is_empty());
        let logins = Logins::from([("https://example.com".to_owned(), "secret".to_owned())]);
        write(&path, &logins).unwrap();
        assert_eq!(read(&path).unwrap(), logins);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::write(&path, "secret").unwrap();
        let Err(Stop::Said(text)) = read(&path) else { panic!() };
        assert!(!text.contains("secret\""), "{text}");
    }
}
