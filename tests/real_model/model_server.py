"""A real model as a process on this machine: llama.cpp's server with one slot."""

import json
import pathlib
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request

from local_product import DIRECT, free_address, stop_group
from waiting import wait_until

HERE = pathlib.Path(__file__).resolve().parent
# A second thread helps only if the machine does nothing else.
THREADS = 1
CONTEXT = 8_192
LAUNCHED = "processing task, is_child"
REFUSED = re.compile(r"(?:got exception|send_error): (.*)")


class ModelServer:
    """A context manager. `template` names a file of the folder `templates`."""

    def __init__(self, folder, template="chatml", context=CONTEXT):
        self.address = free_address()
        self.template, self.context = HERE / f"templates/{template}.jinja", context
        self.log = pathlib.Path(folder) / f"model-{self.address.replace(':', '-')}.log"
        self.process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()

    def start(self):
        port = self.address.rpartition(":")[2]
        words = [sys.executable, HERE / "serve.py", port, self.context, THREADS, self.template]
        with self.log.open("ab") as file:
            self.process = subprocess.Popen(
                [str(word) for word in words],
                stdin=subprocess.PIPE,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )
        wait_until(self.is_ready, f"the model is loaded; see {self.log}")

    def kill(self):
        if self.process:
            stop_group(self.process, signal.SIGKILL)
            self.process.stdin.close()
            self.process = None

    def is_ready(self):
        if self.process.poll() is not None:
            raise AssertionError(f"the model's server ended:\n{self.text()[-3000:]}")
        try:
            return self.read("/health")["status"] == "ok"
        except OSError:
            return False

    def read(self, path):
        return json.loads(self.raw(path))

    def raw(self, path):
        with DIRECT.open(f"http://{self.address}{path}", timeout=60) as answer:
            return answer.read().decode()

    def ask(self, **body):
        """The status and the body of a chat completion that the suite asks for itself."""
        data = json.dumps(body).encode()
        request = urllib.request.Request(f"http://{self.address}/v1/chat/completions", data)
        request.add_header("Content-Type", "application/json")
        try:
            with DIRECT.open(request, timeout=300) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def is_busy(self):
        return any(slot["is_processing"] for slot in self.read("/slots"))

    def has_written(self):
        """Whether the slot has written the beginning of an answer."""
        (slot,) = self.read("/slots")
        return slot["is_processing"] and slot["next_token"][0]["n_decoded"] > 0

    def tokens(self):
        """The server's own counts since its start: tokens read, from the cache, and written."""
        found = dict(re.findall(r"^llamacpp:(\w+) (\d+)", self.raw("/metrics"), re.MULTILINE))
        read, cached = int(found["prompt_tokens_total"]), int(found["prompt_tokens_cached_total"])
        return {
            "inputTokens": read + cached,
            "cachedTokens": cached,
            "outputTokens": int(found["tokens_predicted_total"]),
        }

    def text(self):
        return self.log.read_text(errors="replace")

    def requests(self):
        """How many requests got the slot."""
        return self.text().count(LAUNCHED)

    def refusals(self):
        """What the server answered to requests that it did not take."""
        return REFUSED.findall(self.text())
