//! The commands.

mod apply;
mod export;
mod init;
mod login;
mod results;
mod rollback;
mod source;
mod validate;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::output::{Output, Stop};

const ADDRESS: &str =
    "The address of the deployment [default: the one of --env, or http://127.0.0.1:7700]";

/// A command that talks to a deployment, or prepares it.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check a folder of agents, spaces and plans without a deployment
    Validate(validate::Flags),
    /// Show what `apply` would do, and what was changed by hand
    Diff(apply::DiffFlags),
    /// Make the agents, spaces and plans of a deployment as a folder says
    Apply(apply::Flags),
    /// Write what a deployment has into files
    #[command(subcommand)]
    Export(Export),
    /// Restore a revision of an agent, by default the one before the newest
    Rollback(rollback::Flags),
    /// Store the key of a deployment, read from the standard input
    Login(login::Flags),
    /// Write a folder to begin with, and the schemas of its files
    Init(init::Flags),
}

/// What can be exported.
#[derive(Debug, Subcommand)]
pub enum Export {
    /// Agents, spaces and plans, as `apply` reads them
    Config(export::Flags),
}

/// Which deployment a command is about.
#[derive(Debug, Args)]
struct Target {
    /// The environment file environments/NAME.yaml: its address, key and variables
    #[arg(long, value_name = "NAME")]
    env: Option<String>,
    #[arg(long, help = ADDRESS)]
    url: Option<String>,
}

/// The folder that a command reads.
#[derive(Debug, Args)]
struct Folder {
    /// The folder with project.yaml
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

impl Command {
    /// Runs the command. Returns its exit code.
    pub(crate) async fn run(self, output: &mut Output) -> Result<u8, Stop> {
        match self {
            Self::Validate(flags) => validate::run(&flags, output),
            Self::Diff(flags) => apply::diff(&flags, output).await,
            Self::Apply(flags) => apply::run(&flags, output).await,
            Self::Export(Export::Config(flags)) => export::run(&flags, output).await,
            Self::Rollback(flags) => rollback::run(&flags, output).await,
            Self::Login(flags) => login::run(&flags, output).await,
            Self::Init(flags) => init::run(&flags, output),
        }
    }
}
