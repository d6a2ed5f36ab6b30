"""The server's cache of prompts: a run begins with the text of the run before."""

import statistics

from case import ModelCase

# About 140 of at least 2,215 tokens are new to the server: the last lines of the history and what
# triggers the run. Were the time or the trigger in front of the tools, all of them would be new.
FLOOR = 0.85
RUNS = 6


class Prefixes(ModelCase):
    def test_later_runs_find_their_prompt_in_the_cache(self):
        # Short answers, since only what the server reads counts here.
        model = {"maxOutputTokens": 16, "request": {"stop": [" ", "\n"]}}
        space = self.deployment.space(self.sara, self.deployment.agent("Ada", "llama", model))
        runs = [
            self.deployment.answered(space, self.sara, f"Bed {number} has roses. What else?")
            for number in range(RUNS)
        ]
        shares = [share_of(run) for run in runs]
        read = [run["steps"][0]["usage"]["inputTokens"] for run in runs]
        self.figure(
            f"cached, with the default tools: {shares[0]:.2f} of the first prompt, then "
            f"{min(shares[1:]):.3f} to {max(shares[1:]):.3f}, median "
            f"{statistics.median(shares[1:]):.3f}, of {read[1]} to {read[-1]} tokens"
        )
        self.assertGreaterEqual(min(shares[1:]), FLOOR)


def share_of(run):
    usage = run["steps"][0]["usage"]
    return usage["cachedTokens"] / usage["inputTokens"]
