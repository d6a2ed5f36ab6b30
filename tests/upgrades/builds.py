"""Builds the binaries of a commit, once."""

import os
import pathlib
import shutil
import subprocess

from versions import FUNCTIONS

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "target/upgrades"
BINARIES = ("smartspace", *FUNCTIONS)
# As in `tests/run`, so that the built dependencies of this checkout can be used again.
PROFILE = "checked"
BUILD = ("cargo", "build", "--profile", PROFILE, "--locked")
BUILD += ("--workspace", "--all-features", "--bins")
BUILD_LIMIT_S = 3_600


def git(*words):
    return subprocess.run(
        ["git", *words], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()


def binaries_of(given):
    """The folder with the binaries of a commit, or the given folder."""
    folder = pathlib.Path(given)
    if folder.is_dir():
        if missing := [name for name in BINARIES if not os.access(folder / name, os.X_OK)]:
            raise SystemExit(f"{folder} has no {' and no '.join(missing)}")
        return folder.resolve()
    commit = git("rev-parse", "--verify", f"{given}^{{commit}}")
    folder = FOLDER / commit[:12]
    if not folder.exists():
        build(commit, folder)
    return folder


def build(commit, folder):
    """Builds in a worktree, with a target folder of its own: cargo compares only times, and would
    mix two checkouts.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    tree, target, made = FOLDER / "tree", FOLDER / "target", FOLDER / "made"
    remove(tree)
    git("worktree", "add", "--force", "--detach", str(tree), commit)
    try:
        if not target.exists():
            reuse_dependencies(target)
        environment = os.environ | {"CARGO_TARGET_DIR": str(target), "CARGO_INCREMENTAL": "0"}
        # A commit need not pass today's lints.
        environment.pop("RUSTC_WORKSPACE_WRAPPER", None)
        subprocess.run(BUILD, cwd=tree, env=environment, check=True, timeout=BUILD_LIMIT_S)
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir()
        for name in BINARIES:
            shutil.copy2(target / PROFILE / name, made / name)
        # At once, so that a folder with a commit's name is always complete.
        made.rename(folder)
    finally:
        remove(tree)


def remove(tree):
    """Removes the worktree, also one that an aborted build left behind."""
    shutil.rmtree(tree, ignore_errors=True)
    git("worktree", "prune")


def reuse_dependencies(target):
    """Copies what this checkout has built: its dependencies need not be compiled again."""
    for name in ("deps", "build", ".fingerprint"):
        built = ROOT / "target" / PROFILE / name
        if built.exists():
            shutil.copytree(built, target / PROFILE / name, symlinks=True)
