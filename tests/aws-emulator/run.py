"""Builds the six functions and the product's tests for this machine, and runs the suite: `run.py [pytest's arguments]`, with the packages of requirements.txt.

`pytest` alone runs it with what is built. For who looks into something:

- `SMARTSPACE_EMULATOR_KEEP`: a folder for what the functions wrote, what they were allowed and refused, and the emulator's own log
- `SMARTSPACE_EMULATOR_THREADS`: how many of the product's tests run at a time
- `SMARTSPACE_BINARIES`: a folder with other binaries of the functions; `SMARTSPACE_PRODUCT_TESTS`: another binary of the tests
"""

import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def main():
    # What `tests/run` builds first, so mostly nothing is left to do.
    command = [os.environ.get("CARGO", "cargo"), "build", "--locked", "--workspace", "--all-features", "--all-targets"]
    subprocess.run(command, cwd=ROOT, check=True)
    return pytest.main([str(HERE), *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
