"""A small context window, and more agents than the server has slots."""

from case import ModelCase
from deployment import runs_of

SMALL = 2_048
# About 2,700 tokens of history, in so few messages that nobody summarizes them.
TALK = "I watered the roses, the tulips and the beans in the long bed, and then it rained. "
MESSAGES = 20


class SmallWindow(ModelCase):
    servers = {"llama": {"context": SMALL}}

    def test_a_history_that_does_not_fit_is_shortened_and_the_window_is_remembered(self):
        agent = self.json_agent()
        tom = self.deployment.person("Tom")
        space = self.deployment.space(self.sara, tom, agent, triggerPolicy="mention")
        for number in range(MESSAGES):
            self.deployment.post(space, tom, f"{number}: {TALK * 7}")
        first = self.deployment.answered(space, self.sara, "@Ada did it rain?")
        self.assert_completed(first, "done", "skipped", "length")
        refused = self.model().refusals()
        self.assertTrue(refused)
        self.assertLessEqual(len(refused), 2, refused)
        for refusal in refused:
            self.assertIn("exceeds the available context size", refusal)
        # From now on each prompt fits at once, since the refusal said how many tokens there are.
        second = self.deployment.answered(space, self.sara, "@Ada and what grew?")
        self.assert_completed(second, "done", "skipped", "length")
        self.assertEqual(self.model().refusals(), refused)
        read = [run["steps"][0]["usage"]["inputTokens"] for run in (first, second)]
        self.assertLess(max(read), SMALL)
        (known,) = [
            item["contextWindow"]
            for item in self.deployment.call("GET", "/v1/providers")["items"]
            if item["name"] == "llama"
        ]
        self.assertEqual(known, SMALL)
        self.figure(f"prompts of {read} tokens for a window of {SMALL}, {len(refused)} refused")

    def test_tools_that_do_not_fit_fail_the_run_with_a_reason(self):
        agent = self.deployment.agent("Ada", "llama", {"maxOutputTokens": 64})
        space = self.deployment.space(self.sara, agent)
        run = self.deployment.answered(space, self.sara, "Hello?")
        self.assertEqual((run["status"], run["error"]["code"]), ("failed", "context_too_long"))


class Busy(ModelCase):
    def test_five_agents_on_one_slot_all_answer(self):
        agents = [self.json_agent(name) for name in ("Ada", "Bob", "Cleo", "Dan", "Eve")]
        members = [self.sara, *agents]
        space = self.deployment.space(*members, triggerPolicy="all", maxChainDepth=1)
        before = self.model().requests()
        message = self.deployment.post(space, self.sara, "What do you like?")
        runs = [self.deployment.ended(run) for run in runs_of(message)]
        self.assertEqual(len(runs), len(agents))
        for run in runs:
            self.assert_completed(run, "done", "skipped", "length")
        # Nobody hung up in the queue and asked again.
        answers = sum(run["stepCount"] for run in runs)
        self.assertEqual(self.model().requests() - before, answers)
        self.assertEqual([run["attempt"] for run in runs], [1] * len(agents))
        said = sum(len(self.deployment.messages_of(run)) for run in runs)
        self.figure(f"5 agents on one slot: 5 runs ended, {answers} answers, {said} messages")
