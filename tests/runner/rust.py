"""Builds and tests the Rust crates, here or from an archive of another machine."""

import json
import os
import shutil
import tomllib

from runner.step import ROOT, Failed

# The same for every command, so that each dependency is compiled once.
PROFILE = "checked"
FEATURES = ["--locked", "--workspace", "--all-features"]
HAS_NEXTEST = shutil.which("cargo-nextest") is not None
IS_UNIT_TEST = "not (package(smartspace-tests) or package(smartspace-simulation))"
IS_RUST_SUITE = "not package(smartspace-simulation)"
IS_SIMULATION = "package(smartspace-simulation)"
IS_E2E = "package(smartspace-tests)"
# The same selections for cargo's own test runner.
CARGO_TEST = {
    IS_UNIT_TEST: ["--exclude", "smartspace-tests", "--exclude", "smartspace-simulation"],
    IS_RUST_SUITE: ["--exclude", "smartspace-simulation"],
    IS_SIMULATION: ["-p", "smartspace-simulation"],
    IS_E2E: ["-p", "smartspace-tests"],
}
# Where nextest unpacks the description of an archive's binaries.
UNPACKED = ROOT / "target/nextest"


def build(runner):
    """Lints and builds everything, or unpacks an archive in which everything is built."""
    if archive := runner.options.archive:
        unpack(runner, archive)
    else:
        runner.command("cargo", "build", "--profile", PROFILE, *FEATURES, "--all-targets")


def test(runner, selection, ignored=False, waits=False):
    """Runs Rust tests with nextest, or with cargo's own runner if nextest is not installed.

    Tests that mostly wait for a product need half a core each.
    """
    extra = runner.options.arguments
    if HAS_NEXTEST:
        flags = ["--run-ignored", "all"] if ignored else []
        if waits and not any(word.startswith(("-j", "--test-threads")) for word in extra):
            flags += ["--test-threads", 2 * (os.cpu_count() or 1)]
        built = ["--cargo-profile", PROFILE, *FEATURES]
        source = from_archive() if runner.options.archive else built
        runner.command("cargo", "nextest", "run", *source, "-E", selection, *flags, *extra)
        return
    flags = ["--include-ignored"] if ignored else []
    packages = CARGO_TEST[selection]
    features = [word for word in FEATURES if not ("-p" in packages and word == "--workspace")]
    command = ["cargo", "test", "--profile", PROFILE, "--tests", *features, *packages]
    runner.command(*command, *extra, "--", *flags)


def pack(runner):
    """Writes target/tests.tar.zst: all tests, and the binaries that the suites start."""
    need_nextest()
    config = ROOT / "target/archive.toml"
    config.write_text(archive_config())
    runner.command(
        *("cargo", "nextest", "archive", "--cargo-profile", PROFILE, *FEATURES),
        *("--tool-config-file", f"smartspace:{config}"),
        *("--archive-file", ROOT / "target/tests.tar.zst"),
    )


def archive_config():
    """Names the binaries that no Rust test starts, so that nextest would leave them out."""
    names = ["smartspace-under-test", "smartspace-simulation", *function_binaries()]
    files = [
        f'  {{ path = "checked/{name}", relative-to = "target", on-missing = "error" }},\n'
        for name in names
    ]
    return f"[profile.default.archive]\ninclude = [\n{''.join(files)}]\n"


def function_binaries():
    """The binary of each Lambda function."""
    for manifest in sorted(ROOT.glob("functions/*/Cargo.toml")):
        described = tomllib.loads(manifest.read_text())
        binaries = [binary["name"] for binary in described.get("bin", [])]
        yield from binaries or [described["package"]["name"]]


def unpack(runner, archive):
    """Puts the archive's binaries where a build puts them, since suites look for them there."""
    need_nextest()
    runner.command(
        *("cargo-nextest", "nextest", "list", "--list-type", "binaries-only"),
        *("--archive-file", archive, "--extract-to", ROOT, "--extract-overwrite"),
    )


def need_nextest():
    if not HAS_NEXTEST:
        raise Failed("cargo-nextest is missing, which packs and unpacks archives; install it")


def from_archive():
    """The flags with which nextest runs unpacked binaries and calls no compiler."""
    return [
        *("--binaries-metadata", UNPACKED / "binaries-metadata.json"),
        *("--cargo-metadata", UNPACKED / "cargo-metadata.json"),
        *("--workspace-remap", ROOT, "--target-dir-remap", ROOT / "target"),
    ]


def e2e_binary():
    """The unpacked binary of the whole-product tests."""
    described = json.loads((UNPACKED / "binaries-metadata.json").read_text())
    binary = described["rust-binaries"]["smartspace-tests::e2e"]["binary-path"]
    built_in = described["rust-build-meta"]["target-directory"]
    return ROOT / "target" / os.path.relpath(binary, built_in)
