//! `smartspace validate`.

use clap::Args;
use smartspace_domain::projects::ObjectKind;

use super::Folder;
use crate::{
    checks::Checked,
    output::{DONE, Output, Stop, counted},
};

#[derive(Debug, Args)]
pub struct Flags {
    #[command(flatten)]
    folder: Folder,
    /// The environment whose variables the files have
    #[arg(long, value_name = "NAME")]
    env: Option<String>,
}

pub(super) fn run(flags: &Flags, output: &mut Output) -> Result<u8, Stop> {
    let checked = Checked::read(&flags.folder.dir, flags.env.as_deref())?;
    output.warnings(&checked.warnings);
    let count = |kind: ObjectKind| {
        let objects = checked.folder.objects.iter().filter(|object| object.kind == kind);
        counted(objects.count(), kind.as_str())
    };
    let (agents, spaces, plans) =
        (count(ObjectKind::Agent), count(ObjectKind::Space), count(ObjectKind::Plan));
    let project = checked.apply.project.as_str();
    output.line(&format!("{project} is valid: {agents}, {spaces}, {plans}"));
    Ok(DONE)
}
