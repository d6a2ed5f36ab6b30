#!/usr/bin/env python3
"""Upgrades and rolls back under load: `tests/upgrades/run.py [--from COMMIT] [--to COMMIT]`.

Builds the local host of two commits. Then it plays one deployment on one data folder: the older binary
starts, is killed under load, the newer one continues, is killed, and the older one continues again.
People post, a form waits, a plan and webhooks trigger agents, and both versions change what is stored.

In the end nothing that was acknowledged may be lost, each message has one ended run per agent, no job
is a dead letter or unreadable, and both versions can read everything.
"""

import argparse
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from load import Load
from product import Product

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "target/upgrades"
BUILD_LIMIT_S = 3_600
# How many acknowledged messages each process takes before it is killed.
MESSAGES = 60


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def binary_of(commit):
    """The local host of a commit. It is built once."""
    commit = git("rev-parse", "--verify", f"{commit}^{{commit}}")
    binary = FOLDER / f"smartspace-{commit[:12]}"
    if binary.exists():
        return binary
    tree = FOLDER / "tree"
    if tree.exists():
        git("worktree", "remove", "--force", str(tree))
    FOLDER.mkdir(parents=True, exist_ok=True)
    git("worktree", "add", "--detach", str(tree), commit)
    try:
        # A target folder of its own: cargo compares times only, and would mix the files of two checkouts.
        environment = os.environ | {"CARGO_TARGET_DIR": str(FOLDER / "target"), "CARGO_INCREMENTAL": "0"}
        words = ["cargo", "build", "--locked", "--bin", "smartspace"]
        subprocess.run(words, cwd=tree, env=environment, check=True, timeout=BUILD_LIMIT_S)
        shutil.copy2(FOLDER / "target/debug/smartspace", binary)
    finally:
        git("worktree", "remove", "--force", str(tree))
    return binary


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main():
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    release = (pathlib.Path(__file__).parent / "release").read_text().strip()
    flags.add_argument("--from", dest="older", default=release, help="the older commit, or a binary")
    flags.add_argument("--to", dest="newer", default="HEAD", help="the newer commit, or a binary")
    options = flags.parse_args()
    older, newer = (
        pathlib.Path(given) if os.access(given, os.X_OK) and pathlib.Path(given).is_file() else binary_of(given)
        for given in (options.older, options.newer)
    )
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="smartspace-upgrade-") as folder:
        product = Product(pathlib.Path(folder), port)
        load = Load(product)
        phases = [("older", older), ("newer", newer), ("older again", older), ("newer again", newer)]
        for number, (name, binary) in enumerate(phases):
            product.start(binary)
            if number == 0:
                load.prepare()
            load.run_until(MESSAGES * (number + 1))
            load.change(name)
            product.kill(signal.SIGKILL)
            print(f"{name}: {len(load.acknowledged)} messages acknowledged", flush=True)
        load.stop()
        # Both versions read everything: the older one first, then the newer one.
        for name, binary in (("older", older), ("newer", newer)):
            product.start(binary)
            load.wait_until_quiet()
            faults = load.judge()
            product.kill(signal.SIGTERM)
            if faults:
                print("\n".join(faults[:20]))
                sys.exit(f"{len(faults)} faults, seen by the {name} version")
        faults = product.faults_in_log()
        if faults:
            print("\n".join(faults[:20]))
            sys.exit(f"{len(faults)} lines in the log")
    print(load.summary())


if __name__ == "__main__":
    started = time.monotonic()
    main()
    print(f"1 passed in {time.monotonic() - started:.1f}s")
