"""The local host on one data folder, as a process that is killed and replaced."""

import os
import pathlib
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import versions
from api import Api
from local_product import LocalProduct, NotReady, free_address

KEY = "the-key-of-the-upgrade-test"
# Words in the log that mean lost or unreadable work.
FAULTS = ("dead_letter", "unreadable_job", "could not be read", "panicked")


class LocalHost(Api):
    """A context manager. `older` and `newer` are folders of binaries."""

    phases = staticmethod(versions.whole)

    def __init__(self, older, newer, hook_secret):
        self.address = free_address()
        super().__init__(f"http://{self.address}", KEY)
        self.older, self.newer, self.hook_secret = older, newer, hook_secret
        self.product, self.kills = None, 0

    def __enter__(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="smartspace-upgrade-")
        self.folder = pathlib.Path(self.temporary.name)
        return self

    def __exit__(self, *_):
        self.kill()
        self.temporary.cleanup()

    def enter(self, phase):
        """Kills the running version under load, and continues with that of the phase."""
        self.kill()
        binary = (self.newer if phase.newer else self.older) / "smartspace"
        environment = os.environ | {"SMARTSPACE_SECRET_CI_HOOK": self.hook_secret}
        flags = ["--listen", self.address, "--data", self.folder / "data", "--admin-key", KEY]
        command = [binary, *flags, "--no-demo", "--no-rate-limit"]
        self.product = LocalProduct(command, self.address, self.folder / "log", env=environment)
        try:
            self.product.wait_until_ready()
        except NotReady as error:
            raise SystemExit(str(error)) from None

    def kill(self):
        if self.product:
            self.product.kill()
            self.product, self.kills = None, self.kills + 1

    def summary(self):
        return f"the process was killed {self.kills} times"

    def log_text(self):
        return (self.folder / "log").read_text(errors="replace")

    def faults(self):
        lines = self.log_text().splitlines()
        return [line[:300] for line in lines if any(fault in line for fault in FAULTS)]
