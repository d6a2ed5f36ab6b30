"""The product with providers that are model servers on this machine."""

import json
import os
import pathlib
import tempfile

from api import Api
from local_product import BINARY, LocalProduct, free_address
from model_server import ModelServer
from waiting import wait_until
from websocket import WebSocket

KEY = "the-key-of-the-real-model"
ENDED = ("completed", "failed", "canceled")
# Of all tools only those that read and post stay, which halves the prompt.
FEW_TOOLS = dict.fromkeys(("memories", "goals", "plans", "runs", "search", "delegate"), False)


class Deployment(Api):
    """A context manager. `servers` are the arguments of a `ModelServer` by the provider's name."""

    def __init__(self, **servers):
        self.address = free_address()
        super().__init__(f"http://{self.address}", KEY)
        self.wanted, self.servers, self.product, self.spaces = servers, {}, None, []

    def __enter__(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="smartspace-real-model-")
        self.folder = pathlib.Path(self.temporary.name)
        for name, settings in self.wanted.items():
            self.servers[name] = ModelServer(self.folder, **settings)
            self.servers[name].start()
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()
        for server in self.servers.values():
            server.kill()
        self.temporary.cleanup()

    def start(self):
        entries = {
            name: {"api": "openai", "baseUrl": f"http://{server.address}/v1"}
            for name, server in self.servers.items()
        }
        providers = self.folder / "providers.json"
        providers.write_text(json.dumps({"providers": entries}))
        flags = ["--listen", self.address, "--data", self.folder / "data", "--admin-key", KEY]
        flags += ["--no-demo", "--no-rate-limit", "--providers", providers]
        # No proxy of the environment, and no key or address of another provider.
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder)}
        log = self.folder / "product.log"
        self.product = LocalProduct([BINARY, *flags], self.address, log, env=environment)
        self.product.wait_until_ready()

    def kill(self):
        if self.product:
            self.product.kill()
            self.product = None

    def person(self, name):
        return self.call("POST", "/v1/entities", {"type": "human", "name": name})["id"]

    def agent(self, name, provider, model, **settings):
        named = {"provider": provider, "name": "SmolLM2"} | model
        loop = {"endAfterSend": False}
        body = {"type": "agent", "name": name, "agent": {"model": named, "loop": loop} | settings}
        return self.call("POST", "/v1/entities", body)["id"]

    def space(self, *members, **settings):
        body = {"name": "Garden", "members": list(members)} | settings
        self.spaces.append(self.call("POST", "/v1/spaces", body)["id"])
        return self.spaces[-1]

    def post(self, space, sender, text):
        body = {"senderId": sender, "text": text}
        return self.call("POST", f"/v1/spaces/{space}/messages", body)

    def run_of(self, message):
        """The id of the one run that a message triggered."""
        (run,) = runs_of(message)
        return run

    def answered(self, space, sender, text):
        """Posts a message, and returns its run after the end."""
        return self.ended(self.run_of(self.post(space, sender, text)))

    def run(self, run):
        return self.call("GET", f"/v1/runs/{run}")

    def ended(self, run):
        def found():
            read = self.run(run)
            return read if read["status"] in ENDED else None

        return wait_until(found, f"{run} ended", pause_s=0.1)

    def messages_of(self, run):
        """What a run posted, in the space in which it started."""
        posted = self.messages(run["activeSpaceId"])
        return [message for message in posted if message["runId"] == run["id"]]

    def follow(self, space):
        """A WebSocket that follows a space."""
        connection = WebSocket(self.call("POST", "/v1/socketTickets", {})["url"])
        connection.send(json.dumps({"action": "subscribe", "spaceId": space}))
        until_frame(connection, lambda frame: frame["type"] == "subscribed")
        return connection

    def faults(self):
        """What must not be, whatever the model says. Each run has ended, says why, and posted
        nothing twice."""
        for run in self.all("/v1/runs"):
            why = run["error"] if run["status"] == "failed" else run["endReason"]
            if run["status"] not in ENDED or not why:
                yield f"{run['id']} is {run['status']}, {run['endReason']}, {run['error']}"
        for space in self.spaces:
            streams = [message["streamId"] for message in self.messages(space)]
            streams = [stream for stream in streams if stream]
            yield from (f"{each} is there twice" for each in streams if streams.count(each) > 1)


def runs_of(message):
    return [each["runId"] for each in message["dispatch"] if each["runId"]]


def text_of(message):
    return "".join(part.get("text", "") for part in message["parts"])


def until_frame(connection, is_wanted, frames=None):
    """Reads frames until one that is wanted, and returns it. Adds all of them to `frames`."""

    def next_frame():
        text = connection.receive(1)
        if not text:
            return None
        frame = json.loads(text)
        if frames is not None:
            frames.append(frame)
        return frame if is_wanted(frame) else None

    return wait_until(next_frame, "the frame came", pause_s=0)
