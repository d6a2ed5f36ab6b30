"""Which e2e tests run on the emulator for every change: about a fifth of those that can, a few of each room. With `tests/run --all` every test runs."""

import os

EVERY_TEST = "SMARTSPACE_EMULATOR_ALL" in os.environ
PER_CHANGE = (
    "messages::order::",
    "messages::chains::",
    "plans::runs::",
    "realtime::streams::",
    "runs::cancel::",
    "runs::own_runs::",
    "spaces::members::",
    "tools::cards::",
    "tools::effects::",
    "webhooks::incoming::triggered::",
)


def chosen(names):
    return [name for name in names if EVERY_TEST or name.startswith(PER_CHANGE)]
