#!/usr/bin/env python3
"""Checks the rules of the tree that a program can check: `tests/house/run.py [--rewrite]`.

It prints what breaks a rule and is not in exceptions.toml, and the entries of that list that
nothing needs any longer. `--rewrite` writes the list again, which is right only after moves.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))

from house import actions, comments, crates, cycles, exceptions, sizes, tree, words

CHECKS = (actions, comments, crates, cycles, sizes, words)


def main():
    flags = argparse.ArgumentParser(description=__doc__)
    flags.add_argument("--rewrite", action="store_true", help="write exceptions.toml again")
    flags.add_argument("--all", action="store_true", help="print the listed findings too")
    options = flags.parse_args()
    files = list(tree.files_of(ROOT))
    findings = [finding for check in CHECKS for finding in check.check(files)]
    if options.rewrite:
        exceptions.write(findings)
    if options.all:
        print("\n".join(f"{each.rule} {each.path}: {each.detail}" for each in sorted(findings)))
    known = exceptions.read()
    new, unneeded = exceptions.judged(findings, known)
    for finding in new:
        print(f"FAILED {finding.rule} {finding.path}: {finding.detail}")
    for rule, path in unneeded:
        print(f"FAILED {rule} {path}: nothing breaks this rule here; remove it from the list")
    rules = {rule for check in CHECKS for rule in check.RULES}
    broken = {finding.rule for finding in new} | {rule for rule, _ in unneeded}
    print(f"{len(files)} files, {len(known)} entries in exceptions.toml")
    print(f"{len(rules - broken)} passed, {len(broken)} failed")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
