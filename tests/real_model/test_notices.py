"""Notices of the system, with a template that refuses what many models' templates refuse."""

from case import ModelCase
from deployment import FEW_TOOLS
from local_product import free_address
from waiting import wait_until


def of(role, text="Hello."):
    return {"role": role, "content": text}


class Notices(ModelCase):
    def test_the_template_refuses_what_others_refuse(self):
        for roles in (
            ("system", "user", "system"),
            ("system", "user", "user"),
            ("system", "user", "assistant", "system"),
            ("system", "user", "assistant", "tool", "user"),
        ):
            messages = [of(role) for role in roles]
            status, answer = self.model().ask(messages=messages, max_tokens=1)
            self.assertEqual(status, 400, roles)
            self.assertIn("Jinja Exception", answer["error"]["message"])
        status, _ = self.model().ask(messages=[of("system"), of("user")], max_tokens=1)
        self.assertEqual(status, 200)

    def test_notices_between_steps_are_taken(self):
        # Its answers are a word of text, so it is reminded that it has posted nothing.
        model = {"maxOutputTokens": 64, "request": {"stop": [" ", "\n"]}}
        down = {"name": "docs", "url": f"http://{free_address()}/mcp"}
        agent = self.deployment.agent(
            "Ada", "llama", model, builtins=FEW_TOOLS, mcp={"servers": [down]}
        )
        tom = self.deployment.person("Tom")
        space = self.deployment.space(self.sara, tom, agent, triggerPolicy="mention")
        refused = self.model().refusals()
        message = self.deployment.post(space, self.sara, "@Ada what do you know of roses?")
        wait_until(self.model().is_busy, "the model reads")
        self.deployment.post(space, tom, "I know much about roses.")
        run = self.deployment.ended(self.deployment.run_of(message))
        self.assert_completed(run, "done")
        watchers = [
            {notice["watcher"] for notice in step["systemMessages"]} for step in run["steps"]
        ]
        self.assertIn("start", watchers[0])
        self.assertLessEqual({"unsaid", "news"}, watchers[1])
        self.assertEqual(self.model().refusals(), refused)
        self.figure(f"notices were taken: {', '.join(sorted(set().union(*watchers)))}")
