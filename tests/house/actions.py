"""Actions of CI are pinned by the full hash of a commit, with the version in a comment."""

import re

from house.tree import Finding

RULES = ("unpinned-action",)
USES = re.compile(r"^\s*(?:- )?uses:\s*(?P<action>\S+)(?P<comment>.*)$")
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")
VERSION = re.compile(r" # v\d+(\.\d+)*")


def check(files):
    for file in files:
        if not file.path.startswith(".github/"):
            continue
        for number, line in enumerate(file.lines(), 1):
            match = USES.match(line)
            if not match or match["action"].startswith("./"):
                continue
            if not PINNED.fullmatch(match["action"]) or not VERSION.fullmatch(match["comment"]):
                detail = f"line {number}: expected OWNER/NAME@HASH # vVERSION"
                yield Finding("unpinned-action", file.path, detail)
