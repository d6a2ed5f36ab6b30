//! `smartspace init`: a folder to begin with.

use std::{
    fs::{self, OpenOptions},
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
};

use clap::Args;
use smartspace_domain::projects::ProjectName;

use crate::output::{DONE, Output, Stop, printable};

macro_rules! schema {
    ($name:literal) => {
        (
            concat!("schemas/", $name, ".json"),
            include_str!(concat!("../../../../docs/reference/schemas/", $name, ".json")),
        )
    };
}

const SCHEMAS: [(&str, &str); 6] = [
    schema!("agent"),
    schema!("space"),
    schema!("plan"),
    schema!("tools"),
    schema!("environment"),
    schema!("project"),
];

/// The files, without project.yaml.
const FILES: [(&str, &str); 5] = [
    ("agents/ada.yaml", include_str!("init/ada.yaml")),
    ("prompts/ada.md", include_str!("init/ada.md")),
    ("spaces/help-desk.yaml", include_str!("init/help-desk.yaml")),
    ("plans/daily-report.yaml", include_str!("init/daily-report.yaml")),
    ("environments/prod.yaml", include_str!("init/prod.yaml")),
];

#[derive(Debug, Args)]
pub struct Flags {
    /// The folder to make
    dir: PathBuf,
}

pub(super) fn run(flags: &Flags, output: &mut Output) -> Result<u8, Stop> {
    write(&flags.dir)?;
    let dir = printable(&flags.dir.display().to_string());
    output.line(&format!("{dir} has an agent, a space and a plan. Try them:"));
    output.line(&format!("  smartspace validate {dir}"));
    output.line(&format!("  smartspace apply {dir} --dry-run"));
    Ok(DONE)
}

/// Writes all files, and leaves those alone that exist.
fn write(folder: &Path) -> Result<(), Stop> {
    let failed =
        |path: &Path, error: std::io::Error| Stop::said(format!("{}: {error}", path.display()));
    let known = folder.join("project.yaml");
    if known.exists() {
        let text = "there is a project already; nothing was written";
        return Err(Stop::said(format!("{}: {text}", known.display())));
    }
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let own = fs::canonicalize(folder).map_err(|error| failed(folder, error))?;
    let name = own.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let name = if ProjectName::check(name).is_ok() { name } else { "agents" };
    let project = include_str!("init/project.yaml").replace("NAME", name);
    let files = SCHEMAS.into_iter().chain(FILES);
    for (path, text) in files.chain([("project.yaml", project.as_str())]) {
        let path = folder.join(path);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(|error| failed(parent, error))?;
        match OpenOptions::new().create_new(true).write(true).open(&path) {
            Ok(mut file) => {
                file.write_all(text.as_bytes()).map_err(|error| failed(&path, error))?;
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(&path, error)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::Checked;

    #[test]
    fn the_folder_is_valid_and_nothing_is_overwritten() {
        let disk = tempfile::tempdir().unwrap();
        let folder = disk.path().join("support");
        fs::create_dir_all(folder.join("prompts")).unwrap();
        fs::write(folder.join("prompts/ada.md"), "Mine.\n").unwrap();
        write(&folder).unwrap();
        let checked = Checked::read(&folder, Some("prod")).unwrap();
        assert_eq!((checked.apply.project.as_str(), checked.folder.objects.len()), ("support", 3));
        assert_eq!(checked.warnings, []);
        assert_eq!(checked.apply.objects[0].spec["instructions"], "Mine.");
        let Err(Stop::Said(text)) = write(&folder) else { panic!() };
        assert!(text.contains("there is a project already"), "{text}");
    }
}
