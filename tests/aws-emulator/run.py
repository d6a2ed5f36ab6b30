"""Builds the functions and the e2e tests for this machine, and runs the suite.

`run.py [pytest's arguments]`. It needs the packages of tests/requirements.txt.

`pytest` alone runs the suite with existing binaries. Variables for debugging:

- `SMARTSPACE_EMULATOR_KEEP`: a folder for the output of the functions, the allowed and refused
  actions, and the emulator's log
- `SMARTSPACE_EMULATOR_THREADS`: the number of e2e tests that run in parallel
- `SMARTSPACE_BINARIES`: a folder with other binaries of the functions
- `SMARTSPACE_PRODUCT_TESTS`: another binary of the e2e tests
"""

import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# Binaries from elsewhere: then there is nothing to build.
GIVEN = {"SMARTSPACE_BINARIES", "SMARTSPACE_PRODUCT_TESTS"}


def main():
    if not GIVEN <= set(os.environ):
        # `tests/run` builds the same first, so usually nothing is left to do.
        cargo = os.environ.get("CARGO", "cargo")
        flags = ["--profile", "checked", "--locked"]
        flags += ["--workspace", "--all-features", "--all-targets"]
        subprocess.run([cargo, "build", *flags], cwd=ROOT, check=True)
    return pytest.main([str(HERE), *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
