//! Measures the wake gate on chat logs with reply links. Run by hand: `docs/wake.md` says how.
//!
//! ```text
//! wake-bench matrix LOGS SET OUT  writes the features of a set into a folder: `train` for train.py
//! wake-bench table LOGS [SET]     prints the table of a set: `test`, or `dev` for thresholds
//! ```
//!
//! LOGS is a folder with the folders `train`, `dev` and `test`.

mod log;
mod matrix;
mod measure;
mod policies;
mod table;

use std::{
    env, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

/// What the program did not expect.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["matrix", logs, name, out] => matrix::write(&set(logs, name), Path::new(out)),
        ["table", logs] => table::print(&set(logs, "test"), &mut io::stdout().lock()),
        ["table", logs, name] => table::print(&set(logs, name), &mut io::stdout().lock()),
        _ => Err("expected: matrix LOGS SET OUT, or: table LOGS [SET]".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(error.as_ref()),
    }
}

fn set(logs: &str, name: &str) -> PathBuf {
    Path::new(logs).join(name)
}

#[expect(clippy::print_stderr, reason = "a command says what went wrong")]
fn fail(error: &dyn std::error::Error) -> ExitCode {
    eprintln!("{error}");
    ExitCode::FAILURE
}
