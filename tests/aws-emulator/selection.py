"""Selects the e2e tests that run on the emulator for each change: a few for each service and right
that the template gives.

`tests/run --all` runs every test.
"""

import os

EVERY_TEST = "SMARTSPACE_EMULATOR_ALL" in os.environ
PER_CHANGE = (
    "files::",
    "messages::order::an_idempotency_key",
    "plans::runs::",
    "realtime::streams::subscribing::",
    "realtime::streams::text_streams",
    "runs::cancel::",
    "runs::remote::a_",
    "runs::remote::files::",
    "spaces::members::",
    "tools::effects::",
    "webhooks::incoming::triggered::",
)


def chosen(names):
    return [name for name in names if EVERY_TEST or name.startswith(PER_CHANGE)]
