"""The parts of the product, and the order in which a test replaces them."""

# Without `protocols`, which is a client of the API and stores nothing.
FUNCTIONS = ("api", "socket", "run", "trigger", "broadcast", "sweep")
# Each pair of functions is apart in one of these halves. The test also plays their complements, so
# each function works once in the newer version while each other one is still the older, and once
# the other way round.
HALVES = (
    frozenset({"api", "trigger", "sweep"}),
    frozenset({"run", "socket", "sweep"}),
    frozenset({"broadcast", "socket", "trigger"}),
)
ALL, NONE = frozenset(FUNCTIONS), frozenset()


class Phase:
    """A name, and the functions that are the newer version."""

    def __init__(self, name, newer):
        self.name, self.newer = name, newer


def whole():
    """The phases of a product that is one process."""
    return [Phase("older", NONE), Phase("newer", ALL), *again()]


def mixed():
    """The phases of a product whose functions are replaced one by one."""
    halves = [half for one in HALVES for half in (one, ALL - one)]
    between = [Phase("newer " + ", ".join(sorted(half)), half) for half in halves]
    back = Phase("half back", HALVES[0])
    return [Phase("older", NONE), *between, Phase("newer", ALL), back, *again()]


def again():
    """The last phases: a rollback and another upgrade."""
    return [Phase("older again", NONE), Phase("newer again", ALL)]


def unmet():
    """The pairs of a newer and an older function that no phase of `mixed` brings together."""
    met = {(new, old) for phase in mixed() for new in phase.newer for old in ALL - phase.newer}
    return {(new, old) for new in ALL for old in ALL if new != old} - met
