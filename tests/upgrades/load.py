"""People, agents, plans, forms and a service on the product, and what each of them was promised."""

import hashlib
import hmac
import json
import secrets
import threading
import time

from api import Refused
from crowd import Crowd
from follower import Follower

HOOK_SECRET = f"a-secret-of-the-upgrade-test-{secrets.token_hex(8)}"
SENDERS = 4
# Seconds between two posts of a sender, two posts to the slow agent, and two webhook calls.
FAST, CALM = (0.05, 2, 0.3), (2, 4, 3)
SPACES = 3
QUIET_LIMIT_S = 240
PHASE_LIMIT_S = 240
STOP_LIMIT_S = 200
ACTIVE = ("queued", "running", "waiting_tool")


def script(*rules, **more):
    return {"provider": "scripted", "name": "demo", "script": {"rules": list(rules), **more}}


def says(text, **when):
    return {"when": when, "steps": [{"calls": [{"tool": "send_message", "input": {"text": text}}]}]}


FORM = {
    "name": "ask",
    "description": "Asks people.",
    "inputSchema": {"type": "object"},
    "execution": {"type": "space", "ui": "buttons", "expiresAfter": "1 day"},
}
ASK = {"calls": [{"tool": "ask", "input": {"message": "Which?", "options": ["A", "B"]}}]}
CHOSEN = {"calls": [{"tool": "send_message", "input": {"text": "You chose: {{result.choice}}"}}]}
BUDGET = {"runsPerMinute": 100_000}
# Each message has a run of its own, in both versions.
OWN_RUNS = {"loop": {"endAfterSend": False}, "concurrency": {"mode": "parallel"}}
AGENTS = {
    "Echo": {"model": script(says("You said: {{message}}", sender="human"))},
    "Asker": {
        "model": script({"when": {"contains": "form please"}, "steps": [ASK, CHOSEN]}),
        "tools": [FORM],
        "webhooks": {"ci": {"scheme": "github", "secrets": ["CI_HOOK"]}},
    },
    # Its answers take some seconds, so that runs are at work when their version is replaced.
    "Slow": {
        "model": script(
            says("You said: {{message}} " + "and " * 12, sender="human"), wordDelayMs=300
        )
    },
}


class Load:
    def __init__(self, api, pauses, watched):
        self.api, self.pauses, self.acknowledged, self.deliveries, self.answered = (
            api,
            pauses,
            {},
            {},
            {},
        )
        self.lock, self.stopping, self.errors = threading.Lock(), threading.Event(), []
        self.spaces, self.people, self.agents, self.plans, self.threads = [], [], {}, [], []
        self.watched = watched

    def prepare(self):
        """Two people in each space, with two agents, one of which asks forms and is triggered by a
        service.

        In the last space the slow agent answers, and a crowd listens.
        """
        call = self.api.call
        for name in ("Sara", "Husam"):
            self.people.append(call("POST", "/v1/entities", {"type": "human", "name": name})["id"])
        for name, agent in AGENTS.items():
            agent = {"type": "agent", "name": name, "agent": agent | OWN_RUNS | {"budget": BUDGET}}
            self.agents[name] = call("POST", "/v1/entities", agent)["id"]
        quick, slow = [self.agents["Echo"], self.agents["Asker"]], [self.agents["Slow"]]
        for number in range(SPACES + 1):
            members = self.people + (quick if number < SPACES else slow)
            space = {"name": f"Space {number}", "members": members, "budget": BUDGET}
            self.spaces.append(call("POST", "/v1/spaces", space)["id"])
        plan = {"name": "Often", "instruction": "Look around.", "cron": "* * * * *"}
        self.plan = call("POST", f"/v1/agents/{self.agents['Echo']}/plans", plan)["id"]
        self.follower = Follower(self)
        for number in range(SENDERS):
            self.begin(
                lambda number=number: self.send(f"{number}", self.spaces[:SPACES], self.pauses[0])
            )
        self.begin(lambda: self.send("slow", self.spaces[SPACES:], self.pauses[1]))
        self.begin(self.deliver)
        self.workers = list(self.threads)
        self.begin(self.follower.follow)
        self.crowd = Crowd(self, self.spaces[SPACES], self.watched)
        self.crowd.begin()

    def begin(self, work):
        def guarded():
            try:
                work()
            except Exception as error:  # Otherwise a thread would end unseen.
                self.errors.append(f"{type(error).__name__}: {error}")

        self.threads.append(threading.Thread(target=guarded, daemon=True))
        self.threads[-1].start()

    def acknowledge(self, text, space, message, request=None):
        with self.lock:
            self.acknowledged[text] = (space, message, request)

    def send(self, sender, spaces, pause):
        number = 0
        while not self.stopping.is_set():
            space = spaces[number % len(spaces)]
            text = f"message {sender}-{number}" + (", a form please" if number % 20 == 7 else "")
            body = {"text": text, "senderId": self.people[number % 2]}
            request = (
                "POST",
                f"/v1/spaces/{space}/messages",
                body,
                {"Idempotency-Key": f"{sender}-{number}"},
            )
            self.acknowledge(text, space, self.api.call(*request)["id"], request)
            number += 1
            self.stopping.wait(pause)

    def deliver(self):
        number = 0
        while not self.stopping.is_set():
            body = json.dumps({"build": number}).encode()
            signature = hmac.new(HOOK_SECRET.encode(), body, hashlib.sha256).hexdigest()
            headers = {
                "X-Hub-Signature-256": f"sha256={signature}",
                "X-GitHub-Delivery": f"delivery-{number}",
            }
            self.deliveries[number] = self.api.call(
                "POST", f"/v1/hooks/{self.agents['Asker']}/ci", body, headers
            )
            number += 1
            self.stopping.wait(self.pauses[2])

    def run_until(self, messages):
        """Lets everyone work until so many messages are acknowledged."""
        until = time.monotonic() + PHASE_LIMIT_S
        while len(self.acknowledged) < messages:
            if self.errors or time.monotonic() > until:
                raise SystemExit(
                    f"{len(self.acknowledged)} of {messages} messages; {self.errors[:3]}"
                )
            time.sleep(0.1)

    def change(self, phase):
        """Each version changes what the other one has stored, and repeats what the other one has
        acknowledged.
        """
        call, agent = self.api.call, self.agents["Echo"]
        call("PATCH", f"/v1/spaces/{self.spaces[0]}", {"maxChainDepth": 6})
        call(
            "PATCH",
            f"/v1/entities/{agent}",
            {"agent": {"description": f"Changed in the phase {phase}."}},
        )
        call(
            "PUT",
            f"/v1/agents/{agent}/plans/{self.plan}",
            {"instruction": f"Look at the phase {phase}."},
        )
        call("PUT", f"/v1/agents/{agent}/memories/phase", {"value": phase})
        call("PUT", f"/v1/agents/{agent}/goals/phase", {"description": phase})
        # It fires in a later phase.
        once = {
            "name": f"Once {len(self.plans)}",
            "instruction": "Look once.",
            "runAfter": "5 seconds",
        }
        key = {"Idempotency-Key": f"plan-{len(self.plans)}"}
        self.plans.append(call("POST", f"/v1/agents/{agent}/plans", once, key)["id"])
        self.repeat_posts()
        self.answer_forms(limit=2)

    def repeat_posts(self):
        with self.lock:
            posted = [
                (message, request) for _, message, request in self.acknowledged.values() if request
            ]
        for message, request in (*posted[:2], *posted[-2:]):
            if (again := self.api.call(*request)["id"]) != message:
                self.errors.append(f"{request}: first {message}, then {again}")

    def cards(self):
        for space in self.spaces:
            for message in self.api.messages(space):
                for part in message["parts"]:
                    if part["type"] == "tool":
                        yield message, part

    def answer_forms(self, limit=None):
        pending = [(message, part) for message, part in self.cards() if part["status"] == "pending"]
        for message, part in pending[:limit]:
            path = f"/v1/runs/{message['runId']}/toolCalls/{part['callId']}/result"
            try:
                self.api.call("POST", path, {"output": {"choice": "A"}})
                self.answered[part["callId"]] = message["runId"]
            except Refused as refused:
                self.errors.append(str(refused))
        return len(pending)

    def stop(self):
        """Ends all but the follower and the crowd, which must see the end."""
        self.stopping.set()
        for thread in self.workers:
            thread.join(timeout=STOP_LIMIT_S)

    def runs(self):
        return [
            run
            for agent in self.agents.values()
            for run in self.api.all(f"/v1/agents/{agent}/runs")
        ]

    def wait_until_quiet(self):
        """Answers all forms, and waits until all runs have ended and all messages were seen."""
        until = time.monotonic() + QUIET_LIMIT_S
        while time.monotonic() < until:
            forms = self.answer_forms()
            active = [run for run in self.runs() if run["status"] in ACTIVE]
            unseen = self.follower.missing()
            if not forms and not active and not unseen:
                return
            time.sleep(0.5)
        raise SystemExit(
            f"{len(active)} runs do not end: {active[:1]}; the follower has seen {unseen}; "
            f"{self.errors[:3]}"
        )

    def summary(self):
        return (
            f"{len(self.acknowledged)} messages acknowledged, {len(self.runs())} runs, "
            f"{len(self.deliveries)} deliveries, {len(self.answered)} forms, "
            f"{len(self.plans)} plans; the follower connected {self.follower.connections} times "
            f"and read again {self.follower.healed} times; "
            f"{self.crowd.summary()}"
        )
