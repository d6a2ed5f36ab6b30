"""A step of the test command, and the commands that it runs."""

import contextlib
import os
import pathlib
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOGS = ROOT / "target/test-logs"
PRODUCT = ROOT / "target/checked/smartspace-under-test"

# Lints and builds in one pass: clippy's compiler takes rustc's place for the workspace's crates.
ENVIRONMENT = os.environ | {
    "RUSTC_WORKSPACE_WRAPPER": "clippy-driver",
    "CLIPPY_ARGS": "-Dwarnings__CLIPPY_HACKERY__",
    "SMARTSPACE_BIN": str(PRODUCT),
    # CI has no terminal; colours would only garble the log.
    "CARGO_TERM_COLOR": "never",
    "NO_COLOR": "1",
}
if os.environ.get("CI"):
    # What is built once gains nothing from these, and they take time and gigabytes.
    ENVIRONMENT |= {"CARGO_INCREMENTAL": "0", "CARGO_PROFILE_CHECKED_DEBUG": "0"}


class Failed(Exception):
    """A step failed; the message says how."""


class Step:
    """One step: its commands run in order, and their output goes to a log of its own.

    `slow` steps run only with `--all`. A `part` is contained in another step and runs by name.
    """

    def __init__(self, name, doc, run, lane, needs=(), slow=False, part=False):
        self.name, self.doc, self.run, self.lane, self.needs = name, doc, run, lane, list(needs)
        self.slow, self.part = slow, part
        self.seconds = self.processor = self.installing = 0.0
        self.error, self.counts, self.notes = None, (0, 0, 0), []

    @property
    def log(self):
        return LOGS / f"{self.name}.log"

    def description(self):
        """The step for `tests/run --list --json`."""
        return {
            "name": self.name,
            "doc": self.doc,
            "needs": self.needs,
            "lane": self.lane,
            "slow": self.slow,
            "part": self.part,
        }


class Runner:
    """Runs the commands of one step, writes what they print to its log and measures them."""

    def __init__(self, step, options):
        self.step, self.options, self.output = step, options, step.log.open("w")
        self.notes, self.is_installing = step.notes, False

    def command(self, *command, cwd=ROOT, **environment):
        words = [str(word) for word in command]
        self.output.write(f"$ {' '.join(words)}\n")
        self.output.flush()
        process = subprocess.Popen(
            words,
            cwd=cwd,
            env=ENVIRONMENT | environment,
            stdin=subprocess.DEVNULL,
            stdout=self.output,
            stderr=self.output,
        )
        # The usage of this child and of its own children. `getrusage` would add up all lanes.
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.step.processor += usage.ru_utime + usage.ru_stime
        if process.returncode:
            raise Failed(f"{words[0]} ended with {process.returncode}")

    @contextlib.contextmanager
    def installing(self):
        """Counts the time inside as installing: it is spent once on a machine."""
        if self.is_installing:
            yield
            return
        started, self.is_installing = time.monotonic(), True
        try:
            yield
        finally:
            self.step.installing += time.monotonic() - started
            self.is_installing = False
