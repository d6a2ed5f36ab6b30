"""Files, lines and functions that are too long. The linter of TypeScript has its own rule."""

from house.rust_source import Source
from house.tree import Finding

RULES = ("long-file", "wide-line", "long-function")
MOST_LINES = 500
MOST_COLUMNS = 100
MOST_FUNCTION_LINES = 60


def check(files):
    for file in files:
        if not file.is_code:
            continue
        yield from long_file(file)
        yield from wide_lines(file)
        if file.suffix == ".rs":
            yield from long_functions(file)


def long_file(file):
    count = len(file.text.splitlines())
    if count > MOST_LINES:
        detail = f"{count} lines, expected at most {MOST_LINES}"
        yield Finding("long-file", file.path, detail)


def wide_lines(file):
    for number, line in enumerate(file.lines(), 1):
        if len(line) > MOST_COLUMNS:
            detail = f"line {number}: {len(line)} columns, expected at most {MOST_COLUMNS}"
            yield Finding("wide-line", file.path, detail)


def long_functions(file):
    for name, line, count in Source(file.text).functions():
        if count > MOST_FUNCTION_LINES:
            detail = f"line {line}: {name} has {count} lines, expected {MOST_FUNCTION_LINES}"
            yield Finding("long-function", file.path, detail)
