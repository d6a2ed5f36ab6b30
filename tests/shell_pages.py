"""The shell blocks of Markdown pages, and a bash that runs them.

Comments in the pages say what the runners do:

    <!-- not run by tests: REASON -->   directly above a block: skip it
    <!-- expect: TEXT -->               below a block: its output must contain TEXT
    <!-- expect soon: TEXT -->          below a block that only reads: repeat it until its output
                                        contains TEXT
"""

import re
import select
import shlex
import signal
import subprocess
from dataclasses import dataclass, field

from local_product import stop_group

SKIP = re.compile(r"<!-- not run by tests: (.+) -->")
EXPECT = re.compile(r"<!-- expect( soon)?: (.+) -->")


class Failure(Exception):
    """A block did not do what its page says."""


class PageError(Exception):
    """A page that the runner cannot read."""


@dataclass
class Block:
    line: int
    text: str
    skip: str | None
    expected: list[str] = field(default_factory=list)
    repeat: bool = False


def read_blocks(text):
    """The shell blocks of a page, in order, with their comments."""
    blocks = []
    lines = text.splitlines()
    below = False  # whether only comments and empty lines came since the last shell block
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if line.startswith("```"):
            opened = number
            above = SKIP.fullmatch(lines[opened - 2]) if opened > 1 else None
            while number < len(lines) and lines[number] != "```":
                number += 1
            if number == len(lines):
                raise PageError(f"{opened}: this block has no end")
            if line in ("```bash", "```shell", "```console"):
                raise PageError(f"{opened}: expected ```sh for a shell block")
            below = line == "```sh"
            if below:
                text = "\n".join(lines[opened:number]) + "\n"
                blocks.append(Block(opened, text, above and above[1]))
            number += 1
        elif line.startswith("<!-- expect"):
            expectation = EXPECT.fullmatch(line)
            if not expectation or not below or blocks[-1].skip:
                wanted = "expected `<!-- expect: TEXT -->` below a block that is run"
                raise PageError(f"{number}: {wanted}")
            blocks[-1].expected.append(expectation[2])
            blocks[-1].repeat |= expectation[1] is not None
        elif line:
            below = False
    return blocks


class Bash:
    """One bash, which runs one block after the other and remembers their variables."""

    def __init__(self, folder, home, environment, limit_s, answers=""):
        self.folder, self.limit_s, self.number = folder, limit_s, 0
        self.answers = folder / ".answers"
        self.answers.write_text(answers)
        self.process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=home,
            env=environment,
            text=True,
            start_new_session=True,
        )
        # Like `set -e`, but the shell survives, so that the runner can say which block failed.
        self.write("set -u -o pipefail; trap '_failed=1' ERR\n")

    def run(self, text):
        """Runs a block and returns its output."""
        self.number += 1
        kinds = ("sh", "out", "err")
        script, output, errors = (self.folder / f".{self.number}.{kind}" for kind in kinds)
        script.write_text(text)
        paths = (script, self.answers, output, errors)
        block, answers, out, err = (shlex.quote(str(path)) for path in paths)
        files = f"<{answers} >{out} 2>{err}"
        self.write(f"_failed=0; . {block} {files}; printf '%s\\n' \"$_failed\"\n")
        ready, _, _ = select.select([self.process.stdout], [], [], self.limit_s)
        late = f"no end within {self.limit_s} s"
        result = self.process.stdout.readline().strip() if ready else late
        printed, failed = (path.read_text() if path.exists() else "" for path in (output, errors))
        if result != "0":
            reason = {"1": "a command failed", "": "bash ended"}.get(result, result)
            shown = f"output:\n{printed[-3000:]}\n-- errors:\n{failed[-3000:]}"
            raise Failure(f"{text}\n-- {reason}; {shown}")
        return printed

    def write(self, text):
        try:
            self.process.stdin.write(text)
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Failure("-- bash ended") from None

    def stop(self):
        # With its background jobs.
        stop_group(self.process, signal.SIGTERM)
