//! `smartspace export config`: writes what a deployment has into files.
//!
//! `deployment` reads the objects there, `spec` makes the shortest file of each, and `files` writes
//! what differs from the folder.

mod deployment;
mod files;
mod spec;

use std::path::PathBuf;

use clap::Args;

use self::{
    deployment::{Found, read},
    files::Target as Files,
};
use super::Target;
use crate::{
    connection::connect,
    output::{DONE, Output, REFUSED, Stop, counted, printable},
};

#[derive(Debug, Args)]
pub struct Flags {
    /// The folder to write to; it is made if it is missing
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Names in files, names or ids of what to export [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    target: Target,
    /// Write files again that have comments, variables or tool sets, which are lost
    #[arg(long)]
    force: bool,
}

pub(super) async fn run(flags: &Flags, output: &mut Output) -> Result<u8, Stop> {
    let mut files = Files::open(&flags.to, flags.target.env.as_deref())?;
    let session = connect(flags.target.url.as_deref(), files.environment())?;
    let found = read(&session).await?;
    let chosen = chosen(&found, &flags.names, files.project())?;
    let mut left = 0;
    for object in &chosen {
        match files.write(object, &found, flags.force)? {
            files::Outcome::Unchanged => {}
            files::Outcome::Written(path) => output.line(&format!("wrote {}", printable(&path))),
            files::Outcome::Left { path, has } => {
                left += 1;
                let path = printable(&path);
                output.problem(&format!(
                    "{path} differs and was left alone: it has {has}, which --force would lose"
                ));
            }
        }
    }
    output.warnings(files.warnings());
    let others = found.objects.len() - chosen.len();
    if others > 0 && flags.names.is_empty() {
        let others = counted(others, "object");
        output
            .problem(&format!("{others} of other projects left out; name them to take them over"));
    }
    let count = counted(chosen.len(), "object");
    let project = printable(files.project());
    if left > 0 {
        let left = counted(left, "file");
        output.problem(&format!("{count} of {project} read, {left} left alone"));
        return Ok(REFUSED);
    }
    output.line(&format!("{count} of {project} are in the files"));
    Ok(DONE)
}

/// The objects with these names, or else all that no other project manages.
fn chosen<'a>(
    found: &'a Found,
    names: &[String],
    project: &str,
) -> Result<Vec<&'a deployment::Object>, Stop> {
    if names.is_empty() {
        let is_own =
            |it: &&deployment::Object| it.project.as_deref().is_none_or(|it| it == project);
        return Ok(found.objects.iter().filter(is_own).collect());
    }
    let mut chosen = Vec::new();
    for name in names {
        let before = chosen.len();
        chosen.extend(found.objects.iter().filter(|object| object.is_named(name)));
        if chosen.len() == before {
            return Err(Stop::said(format!("there is no agent, space or plan {name:?}")));
        }
    }
    Ok(chosen)
}
