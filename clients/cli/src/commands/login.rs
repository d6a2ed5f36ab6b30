//! `smartspace login`.

use std::io::{self, BufRead, IsTerminal, Read};

use clap::Args;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use crate::{
    connection::{Address, keep_login},
    output::{DONE, Output, Stop},
};

/// No key is longer.
const KEY_BYTES: u64 = 64 * 1024;

#[derive(Debug, Args)]
pub struct Flags {
    /// The address of the deployment
    url: String,
}

pub(super) async fn run(flags: &Flags, output: &mut Output) -> Result<u8, Stop> {
    let address = Address::parse(&flags.url)?;
    let origin = address.origin();
    let key = read_key(&origin, output)
        .map_err(|error| Stop::said(format!("the standard input can't be read: {error}")))?;
    if key.is_empty() {
        return Err(Stop::said("expected the key on the standard input, got nothing"));
    }
    let entity = address.session(&key)?.entity().await?;
    let path = keep_login(&origin, &key)?;
    let who = match entity {
        None => "the operator".to_owned(),
        Some(id) => format!("{id}, who may not apply files"),
    };
    output.line(&format!("Signed in at {origin} as {who}. The key is in {}.", path.display()));
    Ok(DONE)
}

/// The first line of the standard input. What is typed at a terminal is not shown there.
fn read_key(origin: &str, output: &mut Output) -> io::Result<String> {
    let input = io::stdin();
    let mut key = String::new();
    if !input.is_terminal() {
        input.lock().take(KEY_BYTES).read_line(&mut key)?;
        return Ok(key.trim().to_owned());
    }
    output.ask(&format!("The key of {origin}: "));
    let before = tcgetattr(&input)?;
    let mut hidden = before.clone();
    hidden.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&input, OptionalActions::Now, &hidden)?;
    let read = input.lock().take(KEY_BYTES).read_line(&mut key);
    tcsetattr(&input, OptionalActions::Now, &before)?;
    output.problem("");
    read?;
    Ok(key.trim().to_owned())
}
