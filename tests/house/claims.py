"""Each claim of SECURITY.md names the test that tries to break it, and the test exists."""

import re

from house.tree import Finding

RULES = ("claim-without-test", "unknown-test", "many-weak-points")
PATH = "SECURITY.md"
CLAIMS, WEAK = "## What holds", "## What stays weak"
MOST_WEAK = 5
NAMED = re.compile(r"`(?P<path>[\w./-]+\.(?:rs|js|ts|py)): (?P<name>[^`]+)`")


def check(files):
    by_path = {file.path: file for file in files}
    if PATH not in by_path:
        return
    text = by_path[PATH].text
    claims = points(text, CLAIMS)
    if not claims:
        yield Finding("claim-without-test", PATH, f"expected claims under {CLAIMS!r}")
    for claim in claims:
        if not NAMED.search(claim):
            detail = f"expected `file: test` in the claim {claim[:60]!r}"
            yield Finding("claim-without-test", PATH, detail)
    for named in NAMED.finditer(text):
        file = by_path.get(named["path"])
        if file is None or not has_test(file, named["name"]):
            yield Finding("unknown-test", PATH, f"there is no test {named[0]}")
    weak = len(points(text, WEAK))
    if weak > MOST_WEAK:
        yield Finding("many-weak-points", PATH, f"expected at most {MOST_WEAK}, got {weak}")


def points(text, heading):
    """The list items of a section, each with the lines that belong to it."""
    section = text.partition(f"\n{heading}\n")[2].split("\n## ")[0]
    return [point for point in re.split(r"^- ", section, flags=re.MULTILINE)[1:]]


def has_test(file, name):
    exact = re.escape(name)
    if file.suffix == ".rs":
        # Other attributes may follow.
        attributes = r"#\[(?:tokio::)?test\b[^\n]*\]\s*(?:#\[[^\n]*\]\s*)*"
        pattern = attributes + rf"(?:async )?fn {exact}\s*\("
    elif file.suffix == ".py":
        pattern = rf"def {exact}\("
    else:
        pattern = rf"\b(?:test|it)\(\s*(['\"`]){exact}\1"
    return re.search(pattern, file.text) is not None
