//! A stand-in for the services of AWS that the functions call, with what the samples of `events/` are about, for trying one function by itself (README says
//! how). Nothing is kept. What the function asks is printed as it comes.

use std::{path::PathBuf, time::Duration};

use clap::Parser;
use smartspace_tests::{Result, function::environment, services::Services, world};

/// Stands in for AWS, for one function by itself.
#[derive(Parser)]
struct Flags {
    /// Where it listens
    #[arg(long, default_value = "127.0.0.1:4566")]
    listen: String,
    /// Where to write the environment that a function needs, for `cargo lambda watch --env-file`
    #[arg(long)]
    env_file: Option<PathBuf>,
}

#[tokio::main]
#[expect(clippy::print_stdout, reason = "it is for a person to read")]
async fn main() -> Result<()> {
    let flags = Flags::parse();
    let services = Services::at(&flags.listen, world::make().await?).await?;
    let variables: Vec<_> = environment(&services.url()).iter().map(|(name, value)| format!("{name}=\"{value}\"")).collect();
    let variables = variables.join("\n");
    match flags.env_file {
        Some(path) => std::fs::write(&path, variables).map_err(|error| format!("{}: {error}", path.display()))?,
        None => println!("{variables}"),
    }
    println!("AWS stands at {}", services.url());
    loop {
        for call in services.calls() {
            println!("{} {} {}", call.service, call.operation, call.said);
        }
        // For people's eyes.
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
