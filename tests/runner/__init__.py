"""The test command, `tests/run`: its steps, and how they run."""
