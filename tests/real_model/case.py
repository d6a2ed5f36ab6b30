"""What the tests have in common: a deployment for each class, and what must hold after each."""

import unittest

from deployment import Deployment
from figures import figure


class ModelCase(unittest.TestCase):
    """A test case with servers and a product of its own."""

    servers = {"llama": {}}

    @classmethod
    def setUpClass(cls):
        cls.deployment = cls.enterClassContext(Deployment(**cls.servers))
        cls.sara = cls.deployment.person("Sara")

    def tearDown(self):
        self.assertEqual(list(self.deployment.faults()), [])

    def figure(self, text):
        figure(text)

    def model(self, name="llama"):
        return self.deployment.servers[name]

    def json_agent(self, name="Ada", provider="llama", tokens=64, **more):
        """An agent that answers in JSON."""
        model = {"speaks": "json", "maxOutputTokens": tokens} | more
        return self.deployment.agent(name, provider, model)

    def assert_completed(self, run, *reasons):
        ended = (run["status"], run["endReason"], run["error"])
        self.assertIn(ended, [("completed", reason, None) for reason in reasons])
