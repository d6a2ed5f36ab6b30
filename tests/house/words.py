"""Words that the tree does not use, and names that say too little.

A word counts in prose and as a part of an identifier: `door_url` and `isDoor` have the word door.
"""

import re

from house.tree import Finding

RULES = ("banned-word", "banned-name")

BANNED = {
    "door": "HTTP or WebSocket API, or the protocol's name",
    "doors": "HTTP or WebSocket API, or the protocols' names",
    "told": "notified",
    "telling": "sending, or the encoder's name",
    "planted": "mutants",
}
BANNED_IN_SIMULATION = {"weather": "fault rates", "spared": "suppressed"}

# Names that were used, and what to say. `Gate`, `Answer`, `Names`, `Stop` and `Half` are fine where
# the folder gives them one meaning.
TYPES = {
    "Place": "MessageRef, Membership, SpaceContext or TemplatePosition",
    "Told": "SendOutcome",
    "Begun": "ClaimKind",
    "By": "MessageSource, ChangedBy or Caller",
    "Driven": "LoopOutcome",
    "End": "RunEnd",
    "Over": "StopReason",
    "Company": "Concurrency",
    "Does": "ToolKind",
    "Said": "IncomingMessage",
    "Listener": "Candidate",
    "Minute": "RateWindow",
    "Happening": "EventKind",
    "Doing": "RunActivity",
    "Air": "StreamDeps",
    "Bell": "CancelSignal",
    "Shelf": "ToolListCache",
    "SORE": "NEGATIVE_TTL",
    "Slip": "InFlight",
    "Fate": "RequestState",
    "Trail": "TraceContext",
    "Wire": "Transport",
    "Patience": "RetryBudget",
    "Turns": "SpaceLocks",
    "Ids": "IdSource",
}
FILES = {
    "shares": "quota",
    "kept": "agent_state, or storage",
    "posted": "idempotency",
    "acquaintances": "relationships",
}
TYPE = re.compile(
    r"^[ \t]*(?:export |default |declare |abstract |pub(?:\([\w: ]+\))? )*"
    r"(?:struct|enum|trait|union|type|interface|class|const|static) (\w+)\b",
    re.MULTILINE,
)
# Lower case words, and the words of camelCase and SCREAMING_CASE names.
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")

# Decisions and releases of the past keep their words, and this folder lists them.
HISTORY = ("docs/adr/", "CHANGELOG.md", "tests/house/")


def check(files):
    for file in files:
        if file.path.startswith(HISTORY):
            continue
        yield from banned_words(file)
        if file.suffix in (".rs", ".ts", ".tsx"):
            yield from banned_names(file)


def banned_words(file):
    banned = BANNED
    if file.path.startswith("tests/simulation/"):
        banned = BANNED | BANNED_IN_SIMULATION
    # Finding the lines first is much faster: most files have none.
    pattern = re.compile("|".join(banned), re.IGNORECASE)
    for number, line in enumerate([file.path, *file.lines()]):
        if not pattern.search(line):
            continue
        for word in {word.lower() for word in WORD.findall(line)} & set(banned):
            where = f"line {number}" if number else "the file's name"
            yield Finding("banned-word", file.path, f"{where}: {word}; say: {banned[word]}")


def banned_names(file):
    for match in TYPE.finditer(file.text):
        if match[1] in TYPES:
            detail = f"the name {match[1]}; say: {TYPES[match[1]]}"
            yield Finding("banned-name", file.path, detail)
    if file.stem in FILES:
        yield Finding("banned-name", file.path, f"the file's name; say: {FILES[file.stem]}")
