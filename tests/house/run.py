#!/usr/bin/env python3
"""Checks the rules of the tree that a program can check, and prints what breaks one."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))

from house import actions, claims, comments, crates, cycles, installs, sizes, tree, words

CHECKS = (actions, claims, comments, crates, cycles, installs, sizes, words)


def main():
    files = list(tree.files_of(ROOT))
    findings = sorted(finding for check in CHECKS for finding in check.check(files))
    for finding in findings:
        print(f"FAILED {finding.rule} {finding.path}: {finding.detail}")
    rules = {rule for check in CHECKS for rule in check.RULES}
    broken = {finding.rule for finding in findings}
    print(f"{len(files)} files")
    print(f"{len(rules - broken)} passed, {len(broken)} failed")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
