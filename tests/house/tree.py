"""The files of the tree, and what a rule reports about them."""

import subprocess
from dataclasses import dataclass, field
from pathlib import Path

CODE = (".rs", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".py", ".css")


@dataclass(frozen=True, order=True)
class Finding:
    """A place that breaks a rule."""

    rule: str
    path: str
    detail: str = field(compare=False)


@dataclass(frozen=True)
class File:
    path: str
    text: str

    @property
    def suffix(self):
        return Path(self.path).suffix

    @property
    def stem(self):
        return Path(self.path).name.split(".")[0]

    @property
    def is_code(self):
        # The test command has no suffix.
        return self.suffix in CODE or self.path == "tests/run"

    def lines(self):
        return self.text.split("\n")


def files_of(root):
    """The tracked text files under `root` that people write: no generated file, no lock."""
    listed = git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    paths = [path for path in listed.split("\0") if path and (root / path).is_file()]
    generated = generated_among(root, paths)
    for path in sorted(set(paths) - generated):
        try:
            yield File(path, (root / path).read_text())
        except UnicodeDecodeError:
            continue


def generated_among(root, paths):
    """The paths that .gitattributes calls generated."""
    asked = ["check-attr", "-z", "--stdin", "linguist-generated"]
    words = git(root, *asked, stdin="\0".join(paths)).split("\0")
    answers = zip(words[0::3], words[2::3])
    return {path for path, value in answers if value in ("set", "true")}


def git(root, *words, stdin=None):
    command = ["git", "-c", "core.quotePath=off", *words]
    done = subprocess.run(
        command, cwd=root, input=stdin, capture_output=True, text=True, check=True
    )
    return done.stdout
