"""The local host on one data folder, as a process that is killed and replaced."""

import json
import os
import subprocess
import time
import urllib.error
import urllib.request

KEY = "the-key-of-the-upgrade-test"
HOOK_SECRET = "a-secret-of-the-upgrade-test"
START_LIMIT_S = 60
# Events in the log that mean lost or unreadable work.
FAULTS = ("dead_letter", "unreadable_job", "could not be read", "panicked")


class Refused(Exception):
    """An answer that is neither 2xx nor a reason to try again."""


class Product:
    def __init__(self, folder, port):
        self.folder, self.port, self.process = folder, port, None
        self.log = (folder / "log").open("ab")
        self.url = f"http://127.0.0.1:{port}"

    def start(self, binary):
        environment = os.environ | {"SMARTSPACE_SECRET_CI_HOOK": HOOK_SECRET}
        flags = ["--listen", f"127.0.0.1:{self.port}", "--data", str(self.folder / "data"), "--admin-key", KEY]
        self.process = subprocess.Popen(
            [str(binary), *flags, "--no-demo", "--no-rate-limit"], env=environment, stdout=self.log, stderr=self.log
        )
        until = time.monotonic() + START_LIMIT_S
        while True:
            try:
                with urllib.request.urlopen(f"{self.url}/healthz", timeout=5):
                    return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > until:
                    raise SystemExit(f"{binary} does not start:\n{self.log_text()[-2000:]}") from None
                time.sleep(0.1)

    def kill(self, how):
        self.process.send_signal(how)
        self.process.wait(timeout=30)

    def call(self, method, path, body=None, headers=None):
        """The answer as JSON. An OSError means that the outcome is unknown."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.url + path, data=data, method=method)
        request.add_header("Content-Type", "application/json")
        if not headers or "X-Hub-Signature-256" not in headers:
            request.add_header("Authorization", f"Bearer {KEY}")
        for name, value in (headers or {}).items():
            request.add_header(name, value)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            if error.code in (429, 503):
                raise OSError(f"{error.code}") from error
            raise Refused(f"{method} {path}: {error.code} {error.read()[:500]!r}") from error
        return json.loads(text) if text else None

    def all(self, path):
        items, cursor = [], ""
        while cursor is not None:
            mark = "&" if "?" in path else "?"
            page = self.call("GET", f"{path}{mark}limit=200{f'&cursor={cursor}' if cursor else ''}")
            items += page["items"]
            cursor = page.get("nextCursor")
        return items

    def messages(self, space):
        """All messages of a space, by number."""
        messages = []
        while True:
            after = messages[-1]["seq"] if messages else 0
            page = self.call("GET", f"/v1/spaces/{space}/messages?limit=200&after={after}")["items"]
            if not page:
                return messages
            messages += page

    def log_text(self):
        return (self.folder / "log").read_text(errors="replace")

    def faults_in_log(self):
        return [line[:300] for line in self.log_text().splitlines() if any(fault in line for fault in FAULTS)]
