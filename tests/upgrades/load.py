"""People, agents, a plan, a form and a service on the product, and what each of them was promised."""

import hashlib
import hmac
import json
import threading
import time

from product import HOOK_SECRET, Refused

SENDERS = 4
SPACES = 3
QUIET_LIMIT_S = 180
PHASE_LIMIT_S = 180


def script(*rules):
    return {"provider": "scripted", "name": "demo", "script": {"rules": list(rules)}}


def says(text, **when):
    return {"when": when, "steps": [{"calls": [{"tool": "send_message", "input": {"text": text}}]}]}


FORM = {
    "name": "ask",
    "description": "Asks people.",
    "inputSchema": {"type": "object"},
    "execution": {"type": "space", "ui": "buttons", "expiresAfter": "1 day"},
}


class Load:
    def __init__(self, product):
        self.product, self.acknowledged, self.deliveries = product, {}, {}
        self.lock, self.stopping, self.errors = threading.Lock(), threading.Event(), []
        self.spaces, self.people, self.agents, self.threads = [], [], [], []

    def prepare(self):
        """Two agents and two people in each space; one agent asks a form and is triggered by a service."""
        call = self.product.call
        for name in ("Sara", "Husam"):
            self.people.append(call("POST", "/v1/entities", {"type": "human", "name": name})["id"])
        echo = {"model": script(says("You said: {{message}}", sender="human"))}
        ask = {"calls": [{"tool": "ask", "input": {"message": "Which?", "options": ["A", "B"]}}]}
        chosen = {"calls": [{"tool": "send_message", "input": {"text": "You chose: {{result.choice}}"}}]}
        asking = {
            "model": script({"when": {"contains": "form please"}, "steps": [ask, chosen]}),
            "tools": [FORM],
            "webhooks": {"ci": {"scheme": "github", "secrets": ["CI_HOOK"]}},
            "budget": {"runsPerMinute": 100_000},
        }
        echo["budget"] = asking["budget"]
        for name, agent in (("Echo", echo), ("Asker", asking)):
            self.agents.append(call("POST", "/v1/entities", {"type": "agent", "name": name, "agent": agent})["id"])
        for number in range(SPACES):
            space = {"name": f"Space {number}", "members": self.people + self.agents, "budget": {"runsPerMinute": 100_000}}
            self.spaces.append(call("POST", "/v1/spaces", space)["id"])
        plan = {"name": "Often", "instruction": "Look around.", "cron": "* * * * *"}
        self.plan = call("POST", f"/v1/agents/{self.agents[0]}/plans", plan)["id"]
        once = {"name": "Once", "instruction": "Look once.", "runAfter": "5 seconds"}
        call("POST", f"/v1/agents/{self.agents[0]}/plans", once)
        for number in range(SENDERS):
            self.threads.append(threading.Thread(target=self.send, args=(number,), daemon=True))
        self.threads.append(threading.Thread(target=self.deliver, daemon=True))
        for thread in self.threads:
            thread.start()

    def repeat(self, *words, **options):
        """Repeats a call with the same key until its outcome is known."""
        while not self.stopping.is_set():
            try:
                return self.product.call(*words, **options)
            except OSError:
                time.sleep(0.1)
            except Refused as refused:
                self.errors.append(str(refused))
                return None
        return None

    def send(self, sender):
        number = 0
        while not self.stopping.is_set():
            space = self.spaces[(number + sender) % SPACES]
            text = f"message {sender}-{number}" + (", a form please" if number % 20 == 7 else "")
            body = {"text": text, "senderId": self.people[sender % 2]}
            key = {"Idempotency-Key": f"{sender}-{number}"}
            message = self.repeat("POST", f"/v1/spaces/{space}/messages", body, headers=key)
            if message:
                with self.lock:
                    self.acknowledged[text] = (space, message)
            number += 1
            time.sleep(0.05)

    def deliver(self):
        number = 0
        while not self.stopping.is_set():
            body = json.dumps({"build": number}).encode()
            signature = hmac.new(HOOK_SECRET.encode(), body, hashlib.sha256).hexdigest()
            headers = {"X-Hub-Signature-256": f"sha256={signature}", "X-GitHub-Delivery": f"delivery-{number}"}
            answer = self.repeat("POST", f"/v1/hooks/{self.agents[1]}/ci", body, headers=headers)
            if answer:
                self.deliveries[number] = answer
            number += 1
            time.sleep(0.3)

    def run_until(self, messages):
        """Lets the senders work until so many messages are acknowledged, and then a little longer."""
        until = time.monotonic() + PHASE_LIMIT_S
        while len(self.acknowledged) < messages:
            if self.errors or time.monotonic() > until:
                raise SystemExit(f"{len(self.acknowledged)} of {messages} messages; {self.errors[:3]}")
            time.sleep(0.1)

    def change(self, phase):
        """Both versions change what the other one has stored."""
        call, agent = self.product.call, self.agents[0]
        call("PATCH", f"/v1/spaces/{self.spaces[0]}", {"maxChainDepth": 6})
        call("PATCH", f"/v1/entities/{agent}", {"agent": {"description": f"Changed by the {phase} version."}})
        call("PUT", f"/v1/agents/{agent}/plans/{self.plan}", {"instruction": f"Look at the {phase} version."})
        call("PUT", f"/v1/agents/{agent}/memories/phase", {"value": phase})
        call("PUT", f"/v1/agents/{agent}/goals/phase", {"description": phase})
        self.answer_forms(limit=2)

    def cards(self):
        for space in self.spaces:
            for message in self.product.messages(space):
                for part in message["parts"]:
                    if part["type"] == "tool":
                        yield message, part

    def answer_forms(self, limit=None):
        pending = [(message, part) for message, part in self.cards() if part["status"] == "pending"]
        for message, part in pending[:limit]:
            path = f"/v1/runs/{message['runId']}/toolCalls/{part['callId']}/result"
            try:
                self.product.call("POST", path, {"output": {"choice": "A"}})
            except Refused as refused:
                self.errors.append(str(refused))
        return len(pending)

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join(timeout=60)

    def runs(self):
        return [run for agent in self.agents for run in self.product.all(f"/v1/agents/{agent}/runs")]

    def wait_until_quiet(self):
        """Answers all forms and waits until every run has ended."""
        until = time.monotonic() + QUIET_LIMIT_S
        while time.monotonic() < until:
            forms = self.answer_forms()
            active = [run for run in self.runs() if run["status"] in ("queued", "running", "waiting_tool")]
            if not forms and not active:
                return
            time.sleep(0.5)
        raise SystemExit(f"{len(active)} runs do not end, for example {active[0]}")

    def judge(self):
        faults = list(self.errors)
        runs = {run["id"]: run for run in self.runs()}
        faults += [f"a run failed: {run}" for run in runs.values() if run["status"] == "failed"]
        by_message = {}
        for run in runs.values():
            trigger = run["trigger"]
            if trigger["type"] == "space_message":
                by_message.setdefault((trigger["messageId"], run["agentId"]), []).append(run["id"])
        stored = {}
        for space in self.spaces:
            messages = self.product.messages(space)
            if [message["seq"] for message in messages] != list(range(1, len(messages) + 1)):
                faults.append(f"the order of {space} has gaps")
            stored |= {message["id"]: message for message in messages}
        for text, (_, message) in self.acknowledged.items():
            kept = stored.get(message["id"])
            if not kept or kept["parts"][0]["text"] != text:
                faults.append(f"lost: {text}")
                continue
            for decision in kept["dispatch"]:
                found = by_message.get((message["id"], decision["agentId"]), [])
                if decision["runId"] and found != [decision["runId"]]:
                    faults.append(f"{text}: runs {found} instead of {decision['runId']}")
        for number, delivery in self.deliveries.items():
            if delivery["runId"] and delivery["runId"] not in runs:
                faults.append(f"delivery {number} has no run")
        return faults + self.unreadable()

    def unreadable(self):
        """Reads everything else that is stored."""
        faults, agent = [], self.agents[0]
        paths = [f"/v1/agents/{agent}/{kind}" for kind in ("memories", "goals", "plans")]
        paths += [f"/v1/agents/{self.agents[1]}/deliveries", "/v1/entities", "/v1/spaces"]
        for path in paths:
            if not self.product.all(path):
                faults.append(f"nothing at {path}")
        for run in self.runs()[:20]:
            self.product.call("GET", f"/v1/runs/{run['id']}")
        return faults

    def summary(self):
        return f"{len(self.acknowledged)} messages, {len(self.deliveries)} deliveries, {len(self.runs_seen())} forms"

    def runs_seen(self):
        return [text for text in self.acknowledged if "form please" in text]
