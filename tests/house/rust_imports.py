"""The modules of a crate and what they name: `use` declarations and paths in the code.

Code under `#[cfg(test)]` is left out, since no product code can name it.
"""

import re
from pathlib import PurePath

from house.graph import Import
from house.rust_source import Source

# A path that begins at the crate, at this module or at its parent.
PATH = re.compile(r"(?<![\w:$])(?:crate|self|super)\b(?:\s*::\s*(?:\w+|\{|\*))+")
USE = re.compile(r"\buse\s+([^;]+);")
NAME = re.compile(r"\w+")
INLINE = re.compile(r"\bmod\s+(\w+)\s*\{")
TEST = re.compile(r"#\[cfg\((?:test|all\(test\b[^\]]*)\)\]")
TEST_FILE = re.compile(r"#\[cfg\(test\)\]\s*(?:pub(?:\([\w: ]+\))?\s+)?mod\s+(\w+)\s*;")


def module_of(path):
    """The module of a file below `src`: `runs/turns.rs` and `runs/turns/mod.rs` are the same."""
    parts = PurePath(path).with_suffix("").parts
    if parts[-1] in ("lib", "main", "mod"):
        parts = parts[:-1]
    return parts


def imports_of(texts):
    """The modules of a crate with their files, and its imports. `texts` has paths below `src`."""
    sources = {module_of(path): Source(text) for path, text in texts.items()}
    paths = {module_of(path): path for path in texts}
    tests = test_modules(sources)
    kept = {module for module in sources if not any(is_below(module, test) for test in tests)}
    imports = [
        Import(module, target, line)
        for module in kept
        for target, line in imports_in(module, sources[module], kept)
    ]
    return {module: paths[module] for module in kept}, imports


def test_modules(sources):
    return {
        (*module, match[1])
        for module, source in sources.items()
        for match in TEST_FILE.finditer(source.code)
    }


def is_below(module, other):
    return module[: len(other)] == other


def imports_in(module, source, modules):
    """The modules of the crate that a module names, with the lines."""
    code, inline = without_tests(source), inline_modules(source)
    for start, names in paths_in(code):
        here = (*module, *inline_at(inline, start))
        target = resolved(here, names, modules)
        if target is not None:
            yield target, source.line_at(start)


def without_tests(source):
    """The code with items under `#[cfg(test)]` blank."""
    code = source.code
    for match in TEST.finditer(source.code):
        body = source.body_after(match.end())
        end = body[1] if body else match.end()
        code = code[: match.start()] + re.sub(r"[^\n]", " ", code[match.start() : end]) + code[end:]
    return code


def inline_modules(source):
    """The name, the start and the end of each `mod name { }`."""
    return [
        (match[1], match.end(), source.end_of_braces(match.end() - 1))
        for match in INLINE.finditer(source.code)
    ]


def inline_at(inline, position):
    return [name for name, start, end in inline if start <= position < end]


def paths_in(code):
    """The position and the names of each path in the code, with groups of `use` taken apart."""
    used = []
    for match in USE.finditer(code):
        used.append(match.span())
        for names in taken_apart(match[1]):
            yield match.start(), names
    spans = iter(used)
    start, end = next(spans, (len(code), len(code)))
    for match in PATH.finditer(code):
        while match.start() >= end:
            start, end = next(spans, (len(code), len(code)))
        if not start <= match.start() < end:
            yield match.start(), NAME.findall(match[0])


def taken_apart(text):
    """`crate::{a::B, c}` as [crate, a, B] and [crate, c]."""
    text = text.strip()
    if "{" not in text:
        yield NAME.findall(text.split(" as ")[0])
        return
    prefix, _, rest = text.partition("{")
    names = NAME.findall(prefix)
    for part in parts_of(rest[: rest.rindex("}")]):
        for more in taken_apart(part):
            yield [*names, *more]


def parts_of(text):
    """The parts between the commas of this level."""
    depth, part = 0, ""
    for letter in text:
        depth += (letter == "{") - (letter == "}")
        if letter == "," and not depth:
            yield part
            part = ""
        else:
            part += letter
    if part.strip():
        yield part


def resolved(here, names, modules):
    """The module of the crate in which the named thing is. None for another crate."""
    if not names or names[0] not in ("crate", "self", "super"):
        return None
    at = () if names[0] == "crate" else here
    for name in names:
        if name == "super":
            at = at[:-1]
        elif name not in ("crate", "self"):
            at = (*at, name)
    # The last names are items of a module, or modules that are written inside a file.
    while at and at not in modules:
        at = at[:-1]
    return at
