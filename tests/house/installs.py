"""What is installed is named exactly: packages by version, those of the test command by hash, and
no package of npm runs its own scripts.

`actions` has the rule for the actions of CI. Examples and what readers add to projects of their own
are theirs to pin.
"""

import re

from house.tree import Finding

RULES = ("unpinned-install", "missing-hash")
# These have commands as texts of tests.
EXCLUDED = ("tests/house/", "examples/")
COMMAND_END = re.compile(r"&&|\|\||[;|`)]|\s#|$")
PIP = re.compile(r"\bpip3? install\b")
PIP_FLAGS_WITH_VALUE = {"-r", "-c", "--only-binary"}
CARGO = re.compile(r"\bcargo install\b")
CARGO_VERSIONED = re.compile(r"@\d|--version[ =]\d")
NPM = re.compile(r"\bnpm (?:ci|clean-install)\b")
NPX = re.compile(r"\bnpx (?:--yes|-y)\b")
PIPED = re.compile(r"\bcurl\b[^|]*\|\s*(?:sudo )?(?:ba)?sh\b")
TOOL = re.compile(r"^\s*tool:(?P<names>.*)$")
EXACT = re.compile(r"[\w.-]+==[\w.]+(\s*\\)?")
HASH = re.compile(r"\s+--hash=sha256:[0-9a-f]{64}(\s*\\)?")


def check(files):
    for file in files:
        if file.path.startswith(EXCLUDED):
            continue
        if file.path.endswith("requirements.txt"):
            yield from without_hash(file)
            continue
        for number, line in enumerate(file.lines(), 1):
            for detail in unpinned(file, line):
                yield Finding("unpinned-install", file.path, f"line {number}: {detail}")


def unpinned(file, line):
    """What is wrong with the commands of a line."""
    for words in commands(PIP, line):
        if any("==" not in name for name in packages(words)):
            yield "expected NAME==VERSION after pip install"
    for words in commands(CARGO, line):
        if "--locked" not in words or not CARGO_VERSIONED.search(words):
            yield "expected cargo install --locked NAME@VERSION"
    for words in commands(NPM, line):
        if "--ignore-scripts" not in words:
            yield "expected npm ci --ignore-scripts"
    for words in commands(NPX, line):
        if not re.search(r"@\d", words):
            yield "expected npx --yes NAME@VERSION"
    if PIPED.search(line):
        yield "expected a package of a registry, not a script of the web"
    tool = TOOL.match(line) if file.path.startswith(".github/") else None
    if tool and any("@" not in name for name in tool["names"].split(",")):
        yield "expected tool: NAME@VERSION"


def commands(pattern, line):
    """What follows each match, up to the end of its command."""
    for match in pattern.finditer(line):
        rest = line[match.end() :]
        yield rest[: COMMAND_END.search(rest).start()]


def packages(words):
    """The names among the words of a pip command."""
    is_value = False
    for word in words.split():
        if not is_value and not word.startswith("-"):
            yield word
        is_value = word in PIP_FLAGS_WITH_VALUE


def without_hash(file):
    """The packages of a list that lack an exact version or a hash."""
    lines = [line for line in file.lines() if line.strip() and not line.startswith("#")]
    for line, following in zip(lines, [*lines[1:], ""]):
        if HASH.fullmatch(line):
            continue
        if not EXACT.fullmatch(line) or not HASH.fullmatch(following):
            detail = f"{line.split()[0]}: expected NAME==VERSION and a --hash of each of its files"
            yield Finding("missing-hash", file.path, detail)
