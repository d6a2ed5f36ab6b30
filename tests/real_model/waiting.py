"""Waits for a condition, with a limit."""

import time

# A machine that does much else reads a prompt in minutes.
LIMIT_S = 300


def wait_until(is_so, what, pause_s=0.05):
    """Returns the first true value of `is_so`."""
    started = time.monotonic()
    while True:
        found = is_so()
        if found:
            return found
        if time.monotonic() - started > LIMIT_S:
            raise AssertionError(f"not so in {LIMIT_S} s: {what}")
        time.sleep(pause_s)
