# Commands for daily work. `just` lists them. Each test recipe is a step of `tests/run`.

default:
    @just --list

# Run the product on this machine.
run *flags:
    cargo run -- {{flags}}

# Format, lint and run the unit tests.
check:
    cargo fmt --all
    tests/run check

# Run whole-product tests whose name contains FILTER.
e2e *filter:
    tests/run e2e -- {{filter}}

# Run seeds of the simulation: `just simulate --from 303`, `just simulate --mutant ignores-leases`.
simulate *flags:
    cargo run --profile checked -p smartspace-simulation -- {{flags}}

# Search for the seeds of mutants that their listed seeds no longer find: `just find-seeds NAME`.
find-seeds *names:
    cargo run --profile checked -p smartspace-simulation -- --find-seeds {{names}}

# Run the simulation that a change must pass: 50 seeds and every mutant.
simulation:
    tests/run simulation

# Check names, sizes, imports and comments: the rules that a program can check.
house:
    tests/run house

# Check the format and the lints of JavaScript and TypeScript.
lint-js:
    tests/run lint-js

# Test the client library, the hooks and the console's parts.
clients:
    tests/run clients

# Test the packages as npm installs them: sample apps, runtimes, real frames.
packages *files:
    tests/run packages -- {{files}}

# Test clients of protocols that people already have.
interop *files:
    tests/run interop -- {{files}}

# Test the console in a browser.
console *files:
    tests/run console -- {{files}}

# Compare the API with its OpenAPI description.
contract *flags:
    tests/run contract -- {{flags}}

# Check `openapi.json` with linters, and with clients that generators make of it.
description *flags:
    tests/run description -- {{flags}}

# Compare the approval rules with a reading of their own.
approvals *flags:
    tests/run approvals -- {{flags}}

# Deploy to an AWS emulator and run the tests there.
emulator *flags:
    tests/run emulator -- {{flags}}

# Run the product with a small model on llama.cpp's server.
real-model *names:
    tests/run real-model -- {{names}}

# Lint the template and check the licenses of dependencies.
template:
    tests/run template

# Run the shell blocks of README and the guides.
docs *pages:
    tests/run docs -- {{pages}}

# Run all tests that a change must pass.
test *flags:
    tests/run {{flags}}

# Accept the present prompts, frames, ids and API description as snapshots.
accept:
    INSTA_UPDATE=always cargo test --workspace --all-features --exclude smartspace-simulation
    UPDATE_OPENAPI=1 cargo test -p smartspace-api committed_text

# Measure the speed (docs/performance.md).
load *flags:
    cargo build --release -p smartspace -p smartspace-tests
    target/release/load {{flags}}

# Serve a function with the environment of `target/function.env`: `just watch run`.
watch name:
    cargo lambda watch -p smartspace-{{name}} --env-file target/function.env

# Invoke a function that `just watch` serves: `just invoke run events/run/message.json`.
invoke name event:
    cargo lambda invoke {{name}} --data-file {{event}}

# Build the Lambda binaries.
lambda:
    cargo lambda build --release --arm64 --all-features --workspace \
        --exclude smartspace --exclude smartspace-tests --exclude smartspace-simulation
