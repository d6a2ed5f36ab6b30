"""Reads Rust without a compiler: what is a comment, what is text, and where functions end."""

import bisect
import re
from dataclasses import dataclass

TOKEN = re.compile(
    r"(?P<line>//[^\n]*)"
    r"|(?P<block>/\*)"
    r'|(?P<raw>\bb?c?r(?P<hashes>#*)".*?"(?P=hashes))'
    r'|(?P<text>\b[bc]?"(?:\\.|[^"\\])*"|"(?:\\.|[^"\\])*")'
    r"|(?P<char>b?'(?:\\(?:u\{[^}]*\}|x..|.)|[^'\\\n])')",
    re.DOTALL,
)
BLOCK = re.compile(r"/\*|\*/")
FUNCTION = re.compile(r"\bfn\s+(\w+)")
OPENING, CLOSING = "([{", ")]}"


@dataclass(frozen=True)
class Comment:
    line: int
    text: str


class Source:
    """A Rust file. In `code` comments and texts are blank, and everything has its position."""

    def __init__(self, text):
        self.text = text
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self.comments = []
        self.code = self.blanked()

    def blanked(self):
        parts, at = [], 0
        while match := TOKEN.search(self.text, at):
            end = self.end_of_block(match.end()) if match["block"] else match.end()
            if match["line"] or match["block"]:
                comment = Comment(self.line_at(match.start()), self.text[match.start() : end])
                self.comments.append(comment)
            parts.append(self.text[at : match.start()])
            parts.append(re.sub(r"[^\n]", " ", self.text[match.start() : end]))
            at = end
        parts.append(self.text[at:])
        return "".join(parts)

    def end_of_block(self, at):
        """The end of a block comment, which may have others inside."""
        depth = 1
        while depth and (match := BLOCK.search(self.text, at)):
            depth += 1 if match[0] == "/*" else -1
            at = match.end()
        return at if not depth else len(self.text)

    def line_at(self, position):
        return bisect.bisect_right(self.starts, position)

    def body_after(self, position):
        """Where the next `{ }` at this level begins and ends. None if a `;` comes first."""
        depth = 0
        for at in range(position, len(self.code)):
            letter = self.code[at]
            if letter == "{" and depth == 0:
                return at, self.end_of_braces(at)
            if letter == ";" and depth == 0:
                return None
            depth += (letter in OPENING) - (letter in CLOSING)
        return None

    def end_of_braces(self, opening):
        depth = 0
        for match in re.compile(r"[{}]").finditer(self.code, opening):
            depth += 1 if match[0] == "{" else -1
            if not depth:
                return match.end()
        return len(self.code)

    def functions(self):
        """The name, the first line and the number of lines of each function with a body."""
        for match in FUNCTION.finditer(self.code):
            body = self.body_after(match.end())
            if body:
                first = self.line_at(match.start())
                yield match[1], first, self.line_at(body[1] - 1) - first + 1
