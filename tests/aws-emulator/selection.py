"""Selects the e2e tests that run on the emulator for each change: about a fifth of those that can,
from several modules.

`tests/run --all` runs every test.
"""

import os

EVERY_TEST = "SMARTSPACE_EMULATOR_ALL" in os.environ
PER_CHANGE = (
    "files::",
    "messages::order::",
    "messages::chains::",
    "plans::runs::",
    "realtime::streams::",
    "runs::cancel::",
    "runs::own_runs::",
    "runs::remote::",
    "spaces::members::",
    "tools::cards::",
    "tools::compute::",
    "tools::effects::",
    "webhooks::incoming::triggered::",
)


def chosen(names):
    return [name for name in names if EVERY_TEST or name.startswith(PER_CHANGE)]
