"""Comments: enough where the code is hard, and none that only repeat a name."""

import re

from house.rust_source import Source
from house.tree import Finding

RULES = ("few-reasons", "empty-comment")

# The hardest files by the end of their path: races, retries, leases and reducers.
HARDEST = (
    "functions/run/src/agent_loop/worker.rs",
    "functions/run/src/agent_loop/steps.rs",
    "shared/store/src/messages/append/attempt.rs",
    "shared/store/src/runs/lanes/placement.rs",
    "functions/protocols/src/turn/sequencer.rs",
    "clients/js/client/src/space/reducer.ts",
)
LEAST_PER_HUNDRED = 3

# Here every public item has a comment, since people read it as documentation: types and routes
# in the description of the API, flags in the help of the command, fields of MCP tools.
DOCUMENTED = (
    "clients/",
    "shared/domain/",
    "shared/ports/",
    "functions/api/src/routes/",
    "functions/protocols/src/mcp/",
    "infra/local/src/flags",
)
# "The run.", "Its id.": an article and at most three words. "Locked during a read." says more.
REPEATED = re.compile(r"(?:The|An?|Its?|Their|His|All|This|These|Who|What|Whose|They)(?: \S+){1,3}")


def check(files):
    known = {file.path for file in files}
    for path in HARDEST:
        if path not in known:
            # A file that moved must stay in the list.
            yield Finding("few-reasons", path, "there is no such file; correct comments.py")
    for file in files:
        if file.path in HARDEST:
            yield from few_reasons(file)
        if file.suffix == ".rs" and not file.path.startswith(DOCUMENTED):
            yield from repeated_names(file)


def few_reasons(file):
    """Too few `//` comments for the lines of code."""
    reasons = sum(1 for line in file.lines() if is_reason(line.strip()))
    code = sum(1 for line in file.lines() if line.strip() and not line.strip().startswith("//"))
    if reasons * 100 < LEAST_PER_HUNDRED * code:
        detail = f"{reasons} lines of // in {code} of code, expected {LEAST_PER_HUNDRED} in 100"
        yield Finding("few-reasons", file.path, detail)


def is_reason(line):
    return line.startswith("//") and not line.startswith(("///", "//!"))


def repeated_names(file):
    """Doc comments of so few words that they can hardly say more than the name."""
    for line, text in doc_blocks(file.text):
        if REPEATED.fullmatch(text):
            detail = f'line {line}: "{text}"; say why or delete it'
            yield Finding("empty-comment", file.path, detail)


def doc_blocks(text):
    """The line and the text of each run of `///` lines."""
    last, first, words = None, None, []
    for comment in Source(text).comments:
        is_doc = comment.text.startswith("///") and not comment.text.startswith("////")
        if is_doc and last == comment.line - 1:
            words.append(comment.text[3:].strip())
        else:
            if words:
                yield first, " ".join(words)
            words = [comment.text[3:].strip()] if is_doc else []
            first = comment.line
        last = comment.line if is_doc else None
    if words:
        yield first, " ".join(words)
