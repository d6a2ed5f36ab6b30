"""Checks the product against its OpenAPI description: `run.py [--seed N] [--examples N]`.

It needs the packages of tests/requirements.txt.
It starts the product in memory on a free loopback port, creates objects for the requests, runs
schemathesis, and ends the product.
"""

import argparse
import json
import os
import pathlib
import secrets
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))

from local_product import BINARY, LocalProduct, NotReady, free_address

ANSWER_LIMIT_S = 30


def main():
    flags = argparse.ArgumentParser(description=__doc__)
    flags.add_argument("--seed", default="1")
    flags.add_argument("--examples", default="25", help="for each operation")
    flags = flags.parse_args()

    address, key = free_address(), f"contract-tests-{secrets.token_hex(8)}"
    with tempfile.TemporaryDirectory() as folder:
        command = [BINARY, "--listen", address, "--data", ":memory:", "--admin-key", key]
        # The suite writes more into one space than a space accepts in a second.
        command += ["--log", "warn", "--no-rate-limit"]
        product = LocalProduct(command, address, pathlib.Path(folder) / "log")
        try:
            product.wait_until_ready()
            client = Client(f"http://{address}", key)
            failed = run_schemathesis(client, prepare(client), flags, folder)
            if product.has_ended():
                raise SystemExit(f"the product ended by itself:\n{product.tail()}")
            if failed:
                print(f"the product's log:\n{product.tail()}", file=sys.stderr)
            return failed
        except NotReady as error:
            raise SystemExit(str(error)) from None
        finally:
            product.stop()


def run_schemathesis(client, ids, flags, folder):
    """Runs the suite in a folder, which gets its reports. Returns its exit code."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(HERE),
        "PYTHONDONTWRITEBYTECODE": "1",
        "SMARTSPACE_CONTRACT_KEY": client.key,
        "SMARTSPACE_CONTRACT_IDS": json.dumps(ids),
    }
    suite = [sys.executable, "-m", "schemathesis.cli"]
    suite += ["--config-file", HERE / "schemathesis.toml", "run", f"{client.base}/openapi.json"]
    suite += ["--seed", flags.seed, "--max-examples", flags.examples]
    return subprocess.run(suite, env=environment, cwd=folder, check=False).returncode


class Client:
    """The operator."""

    def __init__(self, base, key):
        self.base, self.key = base, key

    def ask(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"authorization": f"Bearer {self.key}", "content-type": "application/json"}
        with urllib.request.urlopen(
            urllib.request.Request(self.base + path, data, headers), timeout=30
        ) as answer:
            return json.load(answer)


def prepare(client):
    """Creates people, agents, spaces, forms, plans, deliveries and runs.

    The runs of the slow agent stay active: it writes one word a minute.
    """

    def make(body):
        return client.ask("/v1/entities", body)["id"]

    people = [make({"type": "human", "name": name}) for name in ("Sara", "Husam", "Robin")]
    # Guests join and leave spaces.
    guests = [make({"type": "human", "name": f"Guest {number}"}) for number in range(3)]
    agents = [
        make({"type": "agent", "name": name, "agent": agent(delay)})
        for name, delay in (("Quick", 0), ("Slow", 60_000))
    ]
    spaces = [
        client.ask("/v1/spaces", {"name": f"Space {number}", "members": people + agents})["id"]
        for number in range(3)
    ]
    runs = []
    for number in range(20):
        for space in spaces:
            message = client.ask(
                f"/v1/spaces/{space}/messages", {"text": f"Number {number}", "senderId": people[0]}
            )
            runs += [decision["runId"] for decision in message["dispatch"] if decision["runId"]]
    forms = [ask(client, people, make) for _ in range(4)]
    approvals = [guarded(client, people, make) for _ in range(4)]
    plan = {"name": "Now and then", "instruction": "Look around.", "cron": "0 9 * * *"}
    plans = [(agents[0], client.ask(f"/v1/agents/{agents[0]}/plans", plan)["id"]) for _ in range(3)]
    delivery = {"service": "jira", "payload": {"issue": 1}}
    deliveries = [
        (agents[0], client.ask(f"/v1/agents/{agents[0]}/trigger", delivery)["deliveryId"])
        for _ in range(3)
    ]
    invites = [(space, client.ask(f"/v1/spaces/{space}/invites", {})["id"]) for space in spaces]
    file = {"name": "a.txt", "contentType": "text/plain", "bytes": 1, "sha256": "0" * 64}
    files = [
        (space, client.ask(f"/v1/spaces/{space}/attachments", file)["attachmentId"])
        for space in spaces
        for _ in range(3)
    ]
    prepared = {
        "people": people,
        "guests": guests,
        "agents": agents,
        "spaces": spaces,
        "runs": runs,
        "forms": forms,
        "approvals": approvals,
        "files": files,
        "allowances": remembered(client, people, make),
    }
    return {**prepared, "plans": plans, "deliveries": deliveries, "invites": invites}


def ask(client, people, make):
    """Creates a form that accepts any answer. Returns its run and its call."""
    tool = {
        "name": "ask",
        "description": "Asks.",
        "inputSchema": {},
        "execution": {"type": "space", "answerBy": "anyone"},
    }
    _, cards = asked(client, people, make, {"tools": [tool]}, 1)
    return cards[0]["runId"], cards[0]["parts"][0]["callId"]


GUARDED = {
    "tools": [
        {
            "name": "ask",
            "description": "Does nothing.",
            "inputSchema": {},
            "execution": {"type": "static", "output": "done"},
        }
    ],
    "approvals": [{"tools": ["ask"]}],
}


def guarded(client, people, make):
    """Creates a call that waits for approval. Returns its run and its call."""
    _, cards = asked(client, people, make, GUARDED, 1)
    return cards[0]["runId"], cards[0]["parts"][0]["callId"]


def remembered(client, people, make):
    """Approves calls and remembers that. Returns the ids of the allowances."""
    agent, cards = asked(client, people, make, GUARDED, 3)
    approve = {"action": "approve", "remember": {"in": "space"}, "senderId": people[0]}
    for card in cards:
        call = card["parts"][0]["callId"]
        client.ask(f"/v1/runs/{card['runId']}/toolCalls/{call}/decision", approve)
    return [item["id"] for item in client.ask(f"/v1/allowances?agentId={agent}")["items"]]


def asked(client, people, make, config, count):
    """Waits until an agent shows cards. Returns the agent and the cards."""
    call = {"tool": "ask", "input": {}}
    script = {"rules": [{"steps": [{"calls": [call] * count}]}]}
    model = {"provider": "scripted", "name": "demo", "script": script}
    name = f"Asker {secrets.token_hex(4)}"
    asker = make({"type": "agent", "name": name, "agent": {"model": model, **config}})
    space = client.ask("/v1/spaces", {"name": "Forms", "members": [*people, asker]})["id"]
    client.ask(f"/v1/spaces/{space}/messages", {"text": "Ask me.", "senderId": people[0]})
    started = time.monotonic()
    while time.monotonic() - started < ANSWER_LIMIT_S:
        cards = client.ask(f"/v1/spaces/{space}/messages?after=1")["items"]
        if len(cards) == count:
            return asker, cards
        time.sleep(0.02)
    raise SystemExit("an agent did not ask")


def agent(word_delay_ms):
    says = {
        "calls": [
            {
                "tool": "send_message",
                "input": {"text": "You said: {{message}}, and I heard every word of it."},
            }
        ]
    }
    script = {
        "wordDelayMs": word_delay_ms,
        "rules": [{"when": {"sender": "human"}, "steps": [says]}],
    }
    return {
        "model": {"provider": "scripted", "name": "demo", "script": script},
        # Each message has a run that works.
        "concurrency": {"mode": "parallel"},
        "budget": {"runsPerMinute": 100_000},
    }


if __name__ == "__main__":
    sys.exit(main())
