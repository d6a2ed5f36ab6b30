"""Reads the logs of the steps: how many tests ran, and what failed."""

import re

from runner.step import ROOT

NEXTEST = re.compile(r"^ *Summary \[.*?\] .*?\d+ tests? run: (.*)$", re.MULTILINE)
CARGO_TEST = re.compile(
    r"^test result: \w+\. (?P<passed>\d+) passed; (?P<failed>\d+) failed; (?P<skipped>\d+) ignored",
    re.MULTILINE,
)
NODE = re.compile(r"^(?:#|ℹ) (?P<kind>pass|fail|skipped) (?P<number>\d+)$", re.MULTILINE)
# "3 failed, 20 passed, 2 skipped in 4.2s" and "20 passed, 3 failed, 2 skipped".
PYTEST = re.compile(r"^=*(?: ?\d+ \w+,?)+(?: in [\d.]+s.*)?$", re.MULTILINE)
NUMBER = re.compile(r"(\d+) (passed|failed|timed out|errors?|skipped)")
KINDS = {
    "passed": 0,
    "pass": 0,
    "failed": 1,
    "fail": 1,
    "timed out": 1,
    "error": 1,
    "errors": 1,
    "skipped": 2,
}

FAILED_TEST = re.compile(
    r"^ *(?:FAIL|TIMEOUT|SIGABRT) \[.*?\] (?:\(.*?\) )?(.+)$"
    r"|^test (\S+) \.\.\. FAILED$"
    r"|^FAILED (\S+.*)$"
    r"|^not ok \d+ - (.+)$"
    r"|^✖ (.+?)(?: \(.*\))?$",
    re.MULTILINE,
)
MESSAGE = re.compile(
    r"^.*panicked at .*(?:\n(?!stack backtrace|note:).+){1,8}"
    r"|^error(?:\[E\d+\])?: .*(?:\n.+){0,6}"
    r"|^E  .*(?:\n.+){0,5}"
    r"|^ +(?:\w*Error\b|error: ).*(?:\n.+){0,5}"
    r"|^Diff in .*(?:\n.+){0,6}",
    re.MULTILINE,
)


def counted(text):
    """Passed, failed and skipped tests, as the test runners' own summaries say."""
    counts = [0, 0, 0]
    for summary in (*NEXTEST.findall(text), *PYTEST.findall(text)):
        for number, kind in NUMBER.findall(summary):
            counts[KINDS[kind]] += int(number)
    for summary in CARGO_TEST.finditer(text):
        for kind, number in summary.groupdict().items():
            counts[KINDS[kind]] += int(number)
    for summary in NODE.finditer(text):
        counts[KINDS[summary["kind"]]] += int(summary["number"])
    return tuple(counts)


def explain(step, most):
    """Prints the failed step in at most `most` lines: its failed tests and the first message."""
    text = step.log.read_text(errors="replace")
    names = list(dict.fromkeys(next(filter(None, found)) for found in FAILED_TEST.findall(text)))
    message = MESSAGE.search(text)
    lines = message[0].splitlines() if message else text.splitlines()[-12:]
    shown = names[: max(1, most // 3)]
    print(f"\n{step.name} failed: {step.error}")
    for name in shown:
        print(f"  {name}")
    if len(names) > len(shown):
        print(f"  … and {len(names) - len(shown)} more")
    for line in lines[: max(1, most - len(shown) - 4)]:
        print(f"  | {line[:400]}")
    print(f"  again: tests/run {step.name}    log: {step.log.relative_to(ROOT)}")
