//! `cargo run`: Smartspace on this machine.

use std::process::ExitCode;

fn main() -> ExitCode {
    smartspace::main()
}
