#!/usr/bin/env python3
"""Runs the product with a real model: `tests/real_model/run.py [NAME...]`.

llama.cpp's own HTTP server answers with SmolLM2-135M-Instruct on one thread of the processor. Both
come as packages (requirements.txt). What so small a model says is not judged. The suite checks
that the wire fits, that each run ends and says why, and that nothing is posted twice.

A name selects tests that contain it, such as `restarts`.
"""

import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent), str(HERE.parent / "upgrades")]

from figures import FIGURES
from local_product import BINARY


def main():
    if not BINARY.exists():
        sys.exit(f"{BINARY} does not exist: build the workspace first, or set SMARTSPACE_BIN")
    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*{name}*" for name in sys.argv[1:]] or None
    suite = loader.discover(str(HERE))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    print("\n".join(FIGURES))
    bad = [*result.failures, *result.errors]
    for test, text in bad:
        print(f"FAILED {test}: {text.strip().splitlines()[-1][:300]}")
    skipped = len(result.skipped)
    passed = result.testsRun - len(bad) - skipped
    print(f"{passed} passed, {len(bad)} failed, {skipped} skipped")
    return 1 if bad or not result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
