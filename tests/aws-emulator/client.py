"""A client of the HTTP API for tests."""

import json
import secrets
import time
import urllib.error
import urllib.request

SOON_S = 30


class Client:
    """The operator."""

    def __init__(self, url, key):
        self.url, self.key = url, key

    def call(self, method, path, body=None):
        """Sends a request. Returns the status, and the answer as JSON."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"authorization": f"Bearer {self.key}", "content-type": "application/json"}
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.loads(answer.read() or "null")
        except urllib.error.HTTPError as error:
            with error:
                text = error.read().decode(errors="replace")
            return error.code, json.loads(text) if text.startswith("{") else text

    def get(self, path):
        status, answer = self.call("GET", path)
        assert status == 200, (path, status, answer)
        return answer

    def make(self, path, body):
        status, answer = self.call("POST", path, body)
        assert status in (200, 201, 202), (path, status, answer)
        return answer

    def team(self, model, **agent):
        """Creates a person, an agent that asks `model`, and their space. Returns their ids."""
        person = self.make(
            "/v1/entities", {"type": "human", "name": f"Sara {secrets.token_hex(3)}"}
        )["id"]
        several = {"loop": {"endAfterSend": False}, "concurrency": {"mode": "parallel"}}
        agent = {"model": {"provider": "openai", "name": model}, **several, **agent}
        agent = self.make(
            "/v1/entities", {"type": "agent", "name": f"Ada {secrets.token_hex(3)}", "agent": agent}
        )["id"]
        space = self.make("/v1/spaces", {"name": "Team", "members": [person, agent]})["id"]
        return person, agent, space

    def say(self, space, person, text):
        """Posts a message. Returns the run that it triggers."""
        message = self.make(f"/v1/spaces/{space}/messages", {"text": text, "senderId": person})
        return next(one["runId"] for one in message["dispatch"] if one["runId"])

    def texts(self, space):
        items = self.get(f"/v1/spaces/{space}/messages?after=0&limit=200")["items"]
        return [part["text"] for item in items for part in item["parts"] if "text" in part]

    def run(self, run):
        return self.get(f"/v1/runs/{run}")

    def ended(self, run, limit_s=SOON_S):
        return wait_for(
            lambda: (
                (found := self.run(run))["status"] in ("completed", "failed", "canceled") and found
            ),
            limit_s,
            f"the end of {run}",
        )


def wait_for(look, limit_s=SOON_S, what="it"):
    """Calls `look` until it returns something true. Returns that."""
    started = time.monotonic()
    while True:
        found = look()
        if found:
            return found
        assert time.monotonic() - started < limit_s, f"not within {limit_s} s: {what}"
        time.sleep(0.05)
