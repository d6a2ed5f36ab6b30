"""The links of the Markdown files, and the pictures that are drawn from text."""

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"(?:\]\(|(?:src|srcset|href)=\")([^)\"\s]+)")
FENCE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")


def problems():
    """What is wrong, one text for each broken link or stale picture."""
    found = []
    for page in pages():
        # Code may look like a link.
        for link in LINK.findall(CODE.sub("`", FENCE.sub("", page.read_text()))):
            reason = broken(page, unquote(link))
            if reason:
                found.append(f"{page.relative_to(ROOT)}: the link {link}: {reason}")
    drawn = subprocess.run(
        [sys.executable, "docs/pictures/draw.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if drawn.returncode:
        found.append(drawn.stderr.strip())
    return found


def pages():
    """The committed Markdown files, and new ones that are not ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).exists()]


def broken(page, link):
    """Why a link leads nowhere, or None."""
    if re.match(r"[a-z]+:", link):
        return None
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    # Addresses relative to GitHub's pages of a repository, such as `../../commits`.
    if not target.is_relative_to(ROOT):
        return None
    if not target.exists():
        return "no such file"
    if anchor and target.suffix == ".md" and anchor not in anchors(target):
        return "no such heading"
    return None


def anchors(page):
    """The anchors of the headings of a page, as GitHub makes them."""
    found = {}
    for heading in re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text()), re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-")
        found[anchor] = found.get(anchor, -1) + 1
    return {
        f"{anchor}-{number}" if number else anchor
        for anchor, last in found.items()
        for number in range(last + 1)
    }
