"""A model's server and a product that are killed while an answer arrives."""

from case import ModelCase
from deployment import until_frame

# Tokens with a quote are unlikely, so that answers are long, and null is not allowed, so that the
# answer after a restart says something, too.
QUOTES = ['"', '",', '."', '.",', '"}', '?"', '!"']
BIASES = [*([quote, -4] for quote in QUOTES), ["null", False], [" null", False]]
LONG_ANSWER = {"request": {"logit_bias": BIASES}}


class Restarts(ModelCase):
    def setUp(self):
        self.space = self.deployment.space(self.sara, self.json_agent(tokens=120, **LONG_ANSWER))

    def run_in_mid_stream(self):
        """The id of a run whose message people already see in part."""
        connection = self.deployment.follow(self.space)
        message = self.deployment.post(self.space, self.sara, "Tell me all about roses.")
        kinds = ("stream.delta", "run.completed", "run.failed")
        frame = until_frame(connection, lambda frame: frame["type"] in kinds)
        self.assertEqual(frame["type"], "stream.delta", frame)
        connection.close()
        return self.deployment.run_of(message)

    def assert_answered_once(self, run):
        # It is cut at the limit more often than not.
        self.assert_completed(run, "done", "length")
        self.assertEqual(len(self.deployment.messages_of(run)), 1)

    def test_a_run_outlasts_a_restart_of_the_models_server(self):
        run = self.run_in_mid_stream()
        self.model().kill()
        before = self.model().requests()
        self.model().start()
        ended = self.deployment.ended(run)
        self.assert_answered_once(ended)
        self.assertGreater(self.model().requests(), before)

    def test_a_run_resumes_after_the_product_was_killed(self):
        run = self.run_in_mid_stream()
        self.deployment.kill()
        self.deployment.start()
        ended = self.deployment.ended(run)
        self.assert_answered_once(ended)
        self.assertGreater(ended["attempt"], 1)
