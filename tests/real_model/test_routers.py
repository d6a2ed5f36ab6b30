"""A space whose router is the model."""

from case import ModelCase
from waiting import wait_until

WORK = {"Gardener": "plants", "Cook": "meals", "Banker": "money"}
LATE = "it did not answer within 60 s"


class Routers(ModelCase):
    def test_a_small_model_decides_in_a_form_that_can_be_read(self):
        agents = [
            self.deployment.agent(
                name,
                "llama",
                {"speaks": "json", "maxOutputTokens": 32},
                description=f"Answers questions about {work}.",
            )
            for name, work in WORK.items()
        ]
        router = {"model": {"provider": "llama", "name": "SmolLM2"}, "timeoutMs": 60_000}
        gate = {"mode": "off"}
        settings = {
            "triggerPolicy": "router", "router": router, "gate": gate, "maxChainDepth": 1,
        }
        space = self.deployment.space(self.sara, *agents, **settings)
        chosen = []
        for question in ("When do I plant tulips?", "What is for dinner?"):
            message = self.decided(space, self.deployment.post(space, self.sara, question))
            # A busy machine may be too slow, but what comes can be read.
            error = message["router"].get("error")
            self.assertIn(error, [None, LATE])
            woken = ("broadcast" if error else "router", True)
            for decision in message["dispatch"]:
                # It named the agent, or it did not.
                is_woken = decision.get("source"), decision["runId"] is not None
                self.assertIn(is_woken, [woken, (None, False)], decision)
                if decision["runId"]:
                    self.deployment.ended(decision["runId"])
            chosen.append(sum(each["runId"] is not None for each in message["dispatch"]))
        self.figure(f"the router chose {chosen} of {len(agents)} agents")

    def decided(self, space, message):
        """The message, when its dispatch is decided."""

        def found():
            for read in self.deployment.messages(space):
                if read["id"] == message["id"] and read.get("router"):
                    return read
            return None

        return wait_until(found, "the router has decided")
