"""The product as a process on this machine, for the suites that are written in Python."""

import os
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BINARY = Path(os.environ.get("SMARTSPACE_BIN", ROOT / "target/checked/smartspace-under-test"))
START_LIMIT_S = 60
STOP_LIMIT_S = 10
# A proxy of the environment must not see requests to this machine.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class NotReady(Exception):
    """The product ended, or did not answer in time."""


class LocalProduct:
    """A command that starts the product at an address. Its output is appended to the file `log`."""

    def __init__(self, command, address, log, **options):
        self.name, self.address, self.path = str(command[0]), address, Path(log)
        with self.path.open("ab") as file:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                # With its children, it is a group that `stop_group` can end.
                start_new_session=True,
                **options,
            )

    def wait_until_ready(self):
        self.wait_until(self.is_healthy, "did not answer /healthz")
        return self

    def wait_until(self, is_so, otherwise):
        """Waits for a condition, but not longer than the product runs."""
        started = time.monotonic()
        while not is_so():
            if self.has_ended():
                raise NotReady(f"{self.name} ended by itself:\n{self.tail()}")
            if time.monotonic() - started > START_LIMIT_S:
                raise NotReady(f"{self.name} {otherwise} in {START_LIMIT_S} s:\n{self.tail()}")
            time.sleep(0.05)

    def is_healthy(self):
        try:
            with DIRECT.open(f"http://{self.address}/healthz", timeout=5):
                return True
        except OSError:
            return False

    def has_ended(self):
        return self.process.poll() is not None

    def log(self):
        return self.path.read_text(errors="replace")

    def tail(self):
        return self.log()[-6000:]

    def stop(self):
        # As Ctrl+C does.
        stop_group(self.process, signal.SIGINT)

    def kill(self):
        stop_group(self.process, signal.SIGKILL)


def stop_group(process, first):
    """Ends a process and its children: with the signal `first`, and then with SIGKILL."""
    for sent in (first, signal.SIGKILL):
        try:
            os.killpg(process.pid, sent)
            process.wait(STOP_LIMIT_S)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass
    process.wait()


def free_address():
    """An address of the loopback interface with a port that is free now."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{taken.getsockname()[1]}"
