//! The commands of the binary `smartspace` that talk to a deployment. Each file imports only from
//! those above it:
//!
//! - `faults`: what is wrong, and in which line
//! - `yaml`: YAML and JSON files as values that know their lines
//! - `folder`: a folder of agents, spaces and plans, as the API gets it
//! - `checks`: what can be checked of a folder without a deployment
//! - `connection`: which deployment, and with which key
//! - `output`: what people read
//! - `commands`: the commands

mod checks;
mod commands;
mod connection;
mod faults;
mod folder;
mod output;
mod yaml;

use std::process::ExitCode;

pub use self::commands::Command;
use self::output::Output;

/// Runs a command to its end. The exit codes are those of `docs/reference/cli.md`.
pub fn run(command: Command) -> ExitCode {
    let mut output = Output::of_process();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let code = match runtime {
        Ok(runtime) => match runtime.block_on(command.run(&mut output)) {
            Ok(code) => code,
            Err(stop) => {
                output.stop(&stop);
                output::REFUSED
            }
        },
        Err(error) => {
            output.problem(&format!("the runtime could not be started: {error}"));
            output::REFUSED
        }
    };
    ExitCode::from(code)
}
