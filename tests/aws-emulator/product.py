"""Runs the e2e tests against the deployed stack.

Without its environment variables, the same binary starts a product for each test.
"""

import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# The functions, the emulator and the tests share two cores. This number of parallel tests keeps
# both busy.
THREADS = os.environ.get("SMARTSPACE_EMULATOR_THREADS", "4")
# The factor by which time limits of the tests are longer here.
PATIENCE = "6"
LIMIT_S = 900
RESULT = re.compile(r"^test (\S+)(?: - should panic)? \.\.\. (ok|FAILED|ignored)", re.MULTILINE)


class ProductTests:
    def __init__(self, binary):
        self.binary = binary

    def names(self):
        listed = subprocess.run(
            [self.binary, "--list", "--format", "terse"], capture_output=True, text=True, check=True
        ).stdout
        return [
            line.removesuffix(": test") for line in listed.splitlines() if line.endswith(": test")
        ]

    def run(self, names, environment, folder):
        """The outcome of each test: `passed`, `skipped` or `failed`, and the reason."""
        report = folder / "report"
        environment = {
            **os.environ,
            **environment,
            "SMARTSPACE_TEST_REPORT": str(report),
            "SMARTSPACE_TEST_PATIENCE": PATIENCE,
            "RUST_BACKTRACE": "0",
        }
        command = [self.binary, "--test-threads", THREADS, "--exact", *names]
        with (folder / "output").open("w+") as output:
            try:
                # Like cargo, run the tests in the folder of their manifest.
                subprocess.run(
                    command,
                    env=environment,
                    stdout=output,
                    stderr=output,
                    cwd=ROOT / "tests",
                    timeout=LIMIT_S,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                print(f"the product tests were not done within {LIMIT_S} s")
            output.seek(0)
            text = output.read()
        started = {}
        for line in report.read_text().splitlines() if report.exists() else []:
            name, what = line.split("\t")
            started.setdefault(name, []).append(what)
        became = {
            name: "passed" if result == "ok" else "failed" for name, result in RESULT.findall(text)
        }
        return {
            name: self.outcome(name, became.get(name), started.get(name, []), text)
            for name in names
        }

    @staticmethod
    def outcome(name, became, started, text):
        if became == "passed":
            why = [what for what in started if what != "asked"]
            if why:
                return "skipped", ("in part: " if "asked" in started else "") + "; ".join(
                    sorted(set(why))
                )
            return ("passed", "") if started else ("skipped", "it asks no stack")
        output = re.search(
            rf"^---- {re.escape(name)} stdout ----\n(.*?)(?=^---- |^failures:|\Z)",
            text,
            re.MULTILINE | re.DOTALL,
        )
        return "failed", output.group(1) if output else f"it did not end:\n{text[-3000:]}"


def build():
    """Builds the binary of the e2e tests, unless it is given. Returns its path."""
    if "SMARTSPACE_PRODUCT_TESTS" in os.environ:
        return os.environ["SMARTSPACE_PRODUCT_TESTS"]
    # The same features as the build of the whole workspace, which usually exists already.
    command = [
        os.environ.get("CARGO", "cargo"),
        "test",
        "--no-run",
        "--profile",
        "checked",
        "--locked",
        "--workspace",
        "--all-features",
        "--test",
        "e2e",
    ]
    command += ["--message-format=json"]
    lines = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.splitlines()
    made = [json.loads(line) for line in lines if '"executable"' in line]
    return next(
        one["executable"]
        for one in made
        if one["target"]["name"] == "e2e" and one["profile"]["test"]
    )
