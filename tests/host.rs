//! The product's own binary, under a name of this package.

use std::process::ExitCode;

fn main() -> ExitCode {
    smartspace::main()
}
