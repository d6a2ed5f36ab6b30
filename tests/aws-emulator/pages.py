"""Runs the shell blocks of a page about AWS, as printed, with the tools that the guide installs."""

import os
import pathlib
import re
import sys

from deployment import ROOT

sys.path.append(str(ROOT / "tests"))

from shell_pages import Bash, read_blocks

BLOCK_LIMIT_S = 180
# The reason of blocks that this suite runs, although the suite of the guides can't.
OURS = "tests/aws-emulator runs it on an emulator"


def sections(page):
    """The blocks to run of each section of a page, by its heading."""
    parts = re.split(r"^## (.+)$", (ROOT / page).read_text(), flags=re.MULTILINE)
    return {
        heading: [block.text for block in read_blocks(body) if block.skip in (None, OURS)]
        for heading, body in zip(parts[1::2], parts[2::2], strict=True)
    }


class Terminal(Bash):
    """The bash of a page, which answers yes to every question."""

    def __init__(self, folder, environment):
        super().__init__(folder, folder, environment, BLOCK_LIMIT_S, "y\n" * 20)


def tools():
    """The folder with `aws` and `sam`."""
    folder = os.environ.get("SMARTSPACE_DEPLOY_TOOLS", ROOT / "tests/aws-emulator/.venv/bin")
    folder = pathlib.Path(folder)
    missing = [name for name in ("aws", "sam", "python3") if not (folder / name).exists()]
    assert not missing, f"{folder} has no {missing}: `tests/run emulator` installs them"
    return folder
