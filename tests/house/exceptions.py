"""The list of what breaks a rule today. It may only shrink."""

import tomllib
from pathlib import Path

LIST = Path(__file__).parent / "exceptions.toml"
HEAD = """\
# What breaks a rule of tests/house today: the paths for each rule. The list may only shrink:
# the check fails for a finding that is not here, and for an entry that nothing needs any longer.
# After files have moved, `tests/house/run.py --rewrite` writes it again.
"""


def read(path=LIST):
    return {
        (rule, each) for rule, paths in tomllib.loads(path.read_text()).items() for each in paths
    }


def write(findings, path=LIST):
    parts = [HEAD]
    for rule in sorted({finding.rule for finding in findings}):
        paths = sorted({finding.path for finding in findings if finding.rule == rule})
        parts.append(f"\n{rule} = [\n" + "".join(f'  "{each}",\n' for each in paths) + "]\n")
    path.write_text("".join(parts))


def judged(findings, exceptions):
    """The findings that are not in the list, and the entries that nothing needs."""
    new = [each for each in findings if (each.rule, each.path) not in exceptions]
    needed = {(each.rule, each.path) for each in findings}
    return sorted(new), sorted(exceptions - needed)
