"""Answers over the wire: their pieces, their calls, their tokens, and a cancellation."""

import re
import statistics

from case import ModelCase
from deployment import FEW_TOOLS, text_of, until_frame
from waiting import wait_until

LONG = 2_000


class Answers(ModelCase):
    def test_the_pieces_of_an_answer_arrive_before_its_message(self):
        space = self.deployment.space(self.sara, self.json_agent())
        # A model may say nothing, or all of it in one piece. It does not do that each time.
        for _ in range(5):
            frames = self.frames_of_an_answer(space)
            pieces = [frame for frame in frames if frame["type"] == "stream.delta"]
            if len(pieces) > 1:
                break
        self.assertGreater(len(pieces), 1, frames)
        pieces = {frame["offset"]: frame["text"] for frame in pieces}
        message = frames[-1]["message"]
        self.assertEqual("".join(pieces[at] for at in sorted(pieces)), text_of(message))
        started = next(frame for frame in frames if frame["type"] == "stream.started")
        self.assertEqual(started["streamId"], message["streamId"])
        self.figure(f"{len(pieces)} pieces came before the message {text_of(message)[:60]!r}")

    def frames_of_an_answer(self, space):
        """All frames from a question to the message that answers it, or to the end of its run."""
        connection, frames = self.deployment.follow(space), []
        run = self.deployment.run_of(
            self.deployment.post(space, self.sara, "What can I plant in spring?")
        )

        def is_last(frame):
            ends = frame["type"] in ("run.completed", "run.failed") and frame["run"]["id"] == run
            return ends or (frame["type"] == "message.created" and frame["message"]["runId"] == run)

        until_frame(connection, is_last, frames)
        connection.close()
        self.deployment.ended(run)
        return frames

    def test_the_tokens_of_a_run_are_those_of_the_server(self):
        space = self.deployment.space(self.sara, self.json_agent())
        for question in ("Who are you?", "Which flower is red?"):
            before = self.model().tokens()
            run = self.deployment.answered(space, self.sara, question)
            after = self.model().tokens()
            counted = {name: after[name] - before[name] for name in after}
            self.assertEqual({name: run["usage"][name] for name in counted}, counted)
            self.assertGreater(counted["outputTokens"], 0)

    def test_a_canceled_run_frees_the_slot(self):
        # It writes on to the limit, since it may not end its turn.
        model = {"maxOutputTokens": LONG, "request": {"ignore_eos": True}}
        agent = self.deployment.agent("Ada", "llama", model, builtins=FEW_TOOLS)
        space = self.deployment.space(self.sara, agent)
        run = self.deployment.run_of(self.deployment.post(space, self.sara, "Tell me a story."))
        wait_until(self.model().has_written, "the model writes")
        self.deployment.call("POST", f"/v1/runs/{run}/cancel")
        canceled = self.deployment.ended(run)
        self.assertEqual((canceled["status"], canceled["endReason"]), ("canceled", "cancel"))
        wait_until(lambda: not self.model().is_busy(), "the slot is free")
        lengths = re.findall(r"stop processing: n_tokens = (\d+)", self.model().text())
        self.assertLess(int(lengths[-1]), LONG)


class Calls(ModelCase):
    # With this template the server's grammar lets the model write nothing but calls.
    servers = {"llama": {"template": "recipients"}}

    def test_calls_are_made_and_their_results_are_sent_back(self):
        model = {"toolChoice": "required", "maxOutputTokens": 48}
        agent = self.deployment.agent(
            "Ada", "llama", model, builtins=FEW_TOOLS, loop={"maxSteps": 2}
        )
        tom = self.deployment.person("Tom")
        space = self.deployment.space(self.sara, tom, agent, triggerPolicy="mention")
        steps = []
        for question in ("say hello to Tom", "read the messages", "which rose is red?"):
            message = self.deployment.post(space, self.sara, f"@Ada {question}")
            wait_until(self.model().is_busy, "the model reads")
            # News, which the next step brings at the end of its last result.
            self.deployment.post(space, tom, f"Somebody asked Ada: {question}")
            run = self.deployment.ended(self.deployment.run_of(message))
            self.assert_completed(run, "done", "skipped", "max_steps", "length")
            steps += run["steps"]
        calls = [call for step in steps for call in step["calls"]]
        made = [call["name"] for call in calls if call["status"] == "completed"]
        self.assertTrue(made, calls)
        self.assertEqual([step["text"] for step in steps if step["text"]], [])
        self.assertEqual(self.model().refusals(), [])
        self.assertEqual(self.model().requests(), len(steps))
        most = statistics.mode(call["name"] for call in calls)
        self.figure(f"{len(steps)} answers made {len(calls)} calls, mostly {most}")
