"""Sets up and runs the tests: `tests/run [STEP...] [--all] [-- ARGUMENTS]`.

Without a step it runs what every change needs. With `--all` it also runs what takes too long for
that: every e2e test on the emulator, upgrades, a real model, and further seeds of the simulation.
Arguments after `--` go to the test runner of the named step: `tests/run e2e -- idempotency`.

`tests/run archive` packs the built tests, and `--archive FILE` uses such a file in place of a
build. Rust compiles paths into the tests, so both need the same path of the checkout.

It needs Rust, Python 3.11 and Node 20. It installs what else it needs, in pinned versions, into
ignored folders of the project; Chromium and Python's venv come from Debian's packages.
"""

import argparse
import json
import pathlib
import shutil
import sys
import time

from runner import lanes, times
from runner.results import explain
from runner.step import LOGS
from runner.steps import GROUPS, STEPS

# How much of the failures is printed: a CI service may keep only the end of its log.
TAIL_LINES = 22
TOOLS = {
    "cargo": "install Rust 1.95 or later with rustup",
    "node": "install Node 20 or later",
}


def main():
    flags, options = read_flags()
    if options.list:
        print(listed(options.json))
        return 0
    known = {step.name: step for step in STEPS}
    names = names_of(options)
    if unknown := [name for name in names if name not in known]:
        expected = ", ".join([*known, *GROUPS])
        flags.error(f"there is no step {unknown[0]}; expected one of {expected}")
    # A suite needs what it tests.
    needs = [need for name in names for need in known[name].needs]
    options.names = list(dict.fromkeys([*needs, *names]))
    for tool, otherwise in TOOLS.items():
        if not shutil.which(tool):
            sys.exit(f"tests/run: {tool} is missing; {otherwise}")
    LOGS.mkdir(parents=True, exist_ok=True)
    steps = [known[name] for name in options.names]
    started = time.monotonic()
    lanes.run(steps, options)
    return report(steps, time.monotonic() - started, is_whole=not options.steps)


def read_flags():
    lines = [f"  {step.name:<11} {step.doc}" for step in STEPS]
    lines += [f"  {name:<11} {', '.join(parts)}" for name, parts in GROUPS.items()]
    flags = argparse.ArgumentParser(
        prog="tests/run",
        description=__doc__,
        epilog="steps:\n" + "\n".join(lines),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    flags.add_argument("steps", nargs="*", metavar="STEP")
    flags.add_argument("--all", action="store_true", help="also what takes too long")
    flags.add_argument("--archive", type=pathlib.Path, metavar="FILE", help="use these tests")
    flags.add_argument("--list", action="store_true", help="print the steps and run nothing")
    flags.add_argument("--json", action="store_true", help="print the list as JSON")
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    options = flags.parse_args(words[:at])
    options.arguments = words[at + 1 :]
    if options.archive:
        options.archive = options.archive.resolve()
    return flags, options


def names_of(options):
    """The names of the steps to run, without those that they need."""
    if options.steps:
        return [name for word in options.steps for name in GROUPS.get(word, [word])]
    return [step.name for step in STEPS if not step.part and (options.all or not step.slow)]


def listed(as_json):
    if as_json:
        return json.dumps([step.description() for step in STEPS], indent=1)
    return "\n".join(f"{step.name:<11} {step.doc}" for step in STEPS)


def report(steps, seconds, is_whole):
    """Prints the times, the failures and the totals. Returns the exit code."""
    failures = [step for step in steps if step.error]
    explained = [step for step in failures if not step.error.startswith("not run")]
    times.print_times(steps)
    for step in explained[:3]:
        explain(step, TAIL_LINES // min(len(explained), 3))
    passed, failed, skipped = (sum(step.counts[kind] for step in steps) for kind in range(3))
    done = f"{len(steps) - len(failures)} of {len(steps)} steps passed"
    print(f"\n{done} in {times.spoken(seconds)}")
    print(times.summary(steps, is_whole))
    if failures:
        print("failed: " + ", ".join(step.name for step in failures))
    # A step that fails without a failed test, such as a lint, counts as one failure.
    failed += sum(1 for step in failures if not step.counts[1])
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failures else 0
