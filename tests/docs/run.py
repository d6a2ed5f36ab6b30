#!/usr/bin/env python3
"""Runs the shell blocks of README.md and docs/guide/*.md as a reader would.

    tests/docs/run.py [PAGE...]

Without a page it also checks the links of all Markdown files, and the pictures that are drawn from
text.

Each page runs in a temporary folder of its own, against the product that is already built
(SMARTSPACE_BIN).
The folder has `examples/` as the repository has it.
A block that begins with `cargo run` starts the product and replaces the one that the page started
before.
All other blocks of a page run in one bash, in order. A block fails if one of its commands fails.

tests/shell_pages.py says which comments the pages may have.
A block that prints something needs an expectation.
"""

import os
import re
import signal
import sys
import tempfile
import time
from pathlib import Path

import links

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))

from local_product import BINARY, LocalProduct, NotReady, free_address
from shell_pages import Bash, Failure, PageError, read_blocks

# The address in the pages. Each page gets a free port instead.
ADDRESS = "127.0.0.1:7700"

BLOCK_LIMIT_S = 60
SOON_LIMIT_S = 30

ASSIGNMENT = r"""\w+=(?:'[^']*'|"[^"]*"|[^\s'"])*(?:\s|\\\n)+"""
STARTS_PRODUCT = re.compile(rf"(?:{ASSIGNMENT})*cargo run\b")
# Takes the place of cargo: runs the built product with the flags after `--`.
CARGO = """\
#!/bin/sh
[ "$1" = run ] || { echo "expected cargo run, got cargo $*" >&2; exit 1; }
shift
[ "${1:-}" = --release ] && shift
if [ $# -gt 0 ] && [ "$1" != -- ]; then
    echo "expected cargo run [--release] [-- FLAGS], got cargo run $*" >&2
    exit 1
fi
[ $# -eq 0 ] || shift
exec "$SMARTSPACE_BIN" "$@"
"""


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if not BINARY.exists():
        sys.exit(f"{BINARY} does not exist: build the workspace first, or set SMARTSPACE_BIN")
    passed = failed = skipped = 0
    if not sys.argv[1:]:
        broken = links.problems()
        failed += len(broken)
        passed += not broken
        print("\n".join(f"FAILED  {each}" for each in broken) or "ok      links and pictures")
    for page in pages(sys.argv[1:]):
        try:
            blocks = read_blocks(page.read_text())
        except PageError as error:
            print(f"FAILED  {name(page)}:{error}")
            failed += 1
            continue
        with tempfile.TemporaryDirectory() as folder:
            for block, failure in run_page(blocks, Path(folder)):
                where = f"{name(page)}:{block.line}"
                if block.skip:
                    skipped += 1
                    print(f"skipped {where} ({block.skip})")
                elif failure:
                    failed += 1
                    print(f"FAILED  {where}\n{failure}")
                else:
                    passed += 1
                    print(f"ok      {where}")
                sys.stdout.flush()
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed + skipped else 0


def pages(wanted):
    """README.md and the guides, or those that are named."""
    every = [ROOT / "README.md", *sorted((ROOT / "docs/guide").glob("*.md"))]
    unknown = set(wanted) - {name(page) for page in every}
    if unknown:
        sys.exit(f"unknown pages: {', '.join(unknown)}; expected: {', '.join(map(name, every))}")
    return [page for page in every if not wanted or name(page) in wanted]


def name(page):
    return str(page.relative_to(ROOT))


def run_page(blocks, folder):
    """Runs the blocks, and yields each with what went wrong, if anything did."""
    if all(block.skip for block in blocks):
        yield from ((block, None) for block in blocks)
        return
    shims = folder / "shims"
    shims.mkdir()
    (shims / "cargo").write_text(CARGO)
    (shims / "cargo").chmod(0o755)
    home = folder / "home"
    home.mkdir()
    (home / "examples").symlink_to(ROOT / "examples")
    address = free_address()
    # Nothing of the caller's environment: no proxies, no keys of model providers.
    environment = {
        "PATH": f"{shims}:{os.environ['PATH']}",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "SMARTSPACE_BIN": str(BINARY.resolve()),
        "SMARTSPACE_LISTEN": address,
    }
    product, shell, failed_line = None, Shell(folder, home, environment), None
    try:
        for number, block in enumerate(blocks):
            if block.skip:
                yield block, None
                continue
            if failed_line:
                yield block, f"not run: the block in line {failed_line} failed"
                continue
            text = block.text.replace(ADDRESS, address)
            expected = [each.replace(ADDRESS, address) for each in block.expected]
            try:
                if STARTS_PRODUCT.match(text):
                    if product:
                        product.stop()
                        product = None
                    log = folder / f"{number}.log"
                    product = start_product(text, address, log, expected, home, environment)
                elif block.repeat:
                    shell.run_until(text, expected)
                else:
                    check(shell.run(text), expected)
                yield block, None
            except (Failure, NotReady) as failure:
                failed_line = block.line
                yield block, f"{failure}{log_of(product)}"
    finally:
        shell.stop()
        if product:
            product.stop()


def start_product(text, address, log, expected, home, environment):
    """Starts the product as a `cargo run` of a page, and waits for what the page says it prints."""
    command = ["bash", "-c", text]
    product = LocalProduct(command, address, log, cwd=home, env=environment)
    try:
        product.wait_until_ready()
        missing = f"did not print {', '.join(expected)}"
        product.wait_until(lambda: all(each in product.log() for each in expected), missing)
        check(product.log(), expected)
    except (Failure, NotReady):
        product.stop()
        raise
    return product


def log_of(product):
    return f"\n-- the product's log:\n{product.log()[-3000:]}" if product else ""


def check(output, expected):
    missing = [text for text in expected if text not in output]
    if missing:
        raise Failure(f"-- expected: {missing[0]}\n-- got:\n{output[-3000:]}")
    if output and not expected:
        raise Failure(f"-- the page has no expectation for this output:\n{output[-3000:]}")


class Shell(Bash):
    """The bash of a page of the guides."""

    def __init__(self, folder, home, environment):
        super().__init__(folder, home, environment, BLOCK_LIMIT_S)

    def run_until(self, text, expected):
        """Repeats a block that only reads until its output is what the page says."""
        started = time.monotonic()
        while True:
            try:
                return check(self.run(text), expected)
            except Failure:
                if self.process.poll() is not None or time.monotonic() - started > SOON_LIMIT_S:
                    raise
            time.sleep(0.1)


if __name__ == "__main__":
    sys.exit(main())
