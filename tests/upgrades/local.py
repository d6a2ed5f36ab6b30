"""The local host on one data folder, as a process that is killed and replaced."""

import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

import versions
from api import Api

KEY = "the-key-of-the-upgrade-test"
START_LIMIT_S = 60
# Words in the log that mean lost or unreadable work.
FAULTS = ("dead_letter", "unreadable_job", "could not be read", "panicked")


class LocalHost(Api):
    """A context manager. `older` and `newer` are folders of binaries."""

    phases = staticmethod(versions.whole)

    def __init__(self, older, newer, hook_secret):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        super().__init__(f"http://127.0.0.1:{self.port}", KEY)
        self.older, self.newer, self.hook_secret, self.process, self.kills = older, newer, hook_secret, None, 0

    def __enter__(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="smartspace-upgrade-")
        self.folder = pathlib.Path(self.temporary.name)
        self.log = (self.folder / "log").open("ab")
        return self

    def __exit__(self, *_):
        self.kill()
        self.log.close()
        self.temporary.cleanup()

    def enter(self, phase):
        """Kills the running version under load, and continues with that of the phase."""
        self.kill()
        binary = (self.newer if phase.newer else self.older) / "smartspace"
        environment = os.environ | {"SMARTSPACE_SECRET_CI_HOOK": self.hook_secret}
        flags = ["--listen", f"127.0.0.1:{self.port}", "--data", self.folder / "data", "--admin-key", KEY]
        command = [binary, *flags, "--no-demo", "--no-rate-limit"]
        self.process = subprocess.Popen(command, env=environment, stdout=self.log, stderr=self.log)
        until = time.monotonic() + START_LIMIT_S
        while True:
            try:
                with urllib.request.urlopen(f"{self.url}/healthz", timeout=5):
                    return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > until:
                    raise SystemExit(f"{binary} does not start:\n{self.log_text()[-2000:]}") from None
                time.sleep(0.1)

    def kill(self):
        if self.process:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(timeout=30)
            self.process, self.kills = None, self.kills + 1

    def summary(self):
        return f"the process was killed {self.kills} times"

    def log_text(self):
        return (self.folder / "log").read_text(errors="replace")

    def faults(self):
        return [line[:300] for line in self.log_text().splitlines() if any(fault in line for fault in FAULTS)]
