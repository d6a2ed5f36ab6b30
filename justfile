# What a developer types. `just` alone lists it.

default:
    @just --list

# Run the product on this machine.
run *flags:
    cargo run -- {{flags}}

# Set up and run all tests.
test:
    tests/run

# Format and lint.
lint:
    cargo fmt --all
    cargo clippy --workspace --all-targets --all-features -- -D warnings

# Take prompts, frames and ids as they are now for what is expected.
accept:
    INSTA_UPDATE=always cargo nextest run --workspace --all-features

# Play seeds of the simulation, by hand (docs/reliability.md).
simulate *flags:
    cargo run --profile simulation -p smartspace-simulation -- {{flags}}

# Measure, by hand (docs/performance.md).
load *flags:
    cargo build --release -p smartspace -p smartspace-tests
    target/release/load {{flags}}

# Build the six Lambda binaries.
lambda:
    cargo lambda build --release --arm64 --all-features --workspace --exclude smartspace --exclude smartspace-tests --exclude smartspace-simulation
