"""The emulator as a process, and clients for it."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import boto3
from botocore.config import Config

HERE = pathlib.Path(__file__).resolve().parent
START_LIMIT_S = 30
STOP_LIMIT_S = 10
REGION = "us-east-1"


class Cloud:
    """The running emulator. `with` starts it, and stops it with all its processes at the end."""

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="smartspace-emulator-"))
        self.url = f"http://127.0.0.1:{free_port()}"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder),
            "STATE_DIR": str(self.folder / "state"),
            "S3_DATA_DIR": str(self.folder / "s3"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1",
            "BIND_HOST": "127.0.0.1",
            "MINISTACK_HOST": "127.0.0.1",
            "GATEWAY_PORT": self.url.rsplit(":", 1)[1],
            "MINISTACK_REGION": REGION,
            # A run that waits for its model occupies a thread.
            "MINISTACK_WORKER_THREADS": "256",
            "AWS_DEFAULT_REGION": REGION,
            # Without this the functions would call AWS.
            "AWS_ENDPOINT_URL": self.url,
            # The emulator enforces the policies of roles.
            "AUTH": "true",
            "IOT_MTLS_ENABLED": "0",
            "SFTP_ENABLED": "0",
            "LOG_LEVEL": "WARNING",
        }
        self.log = (self.folder / "emulator.log").open("w+")
        # A new session, by which its child processes are found.
        command = [sys.executable, HERE / "emulator.py", self.folder]
        self.process = subprocess.Popen(
            command,
            env=environment,
            stdout=self.log,
            stderr=self.log,
            cwd=self.folder,
            start_new_session=True,
        )
        try:
            self.wait_until_ready()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.log.close()
        folder_of_logs = os.environ.get("SMARTSPACE_EMULATOR_KEEP")
        if folder_of_logs:
            logs = pathlib.Path(folder_of_logs)
            logs.mkdir(parents=True, exist_ok=True)
            for name in ("functions.log", "emulator.log", "calls.jsonl"):
                shutil.copy(self.folder / name, logs / name)
        shutil.rmtree(self.folder, ignore_errors=True)

    def wait_until_ready(self):
        started = time.monotonic()
        while True:
            try:
                with urllib.request.urlopen(f"{self.url}/_ministack/health", timeout=5):
                    return
            except OSError:
                if self.process.poll() is not None or time.monotonic() - started > START_LIMIT_S:
                    log = (self.folder / "emulator.log").read_text()
                    raise SystemExit(f"the emulator is not ready:\n{log[-6000:]}") from None
                time.sleep(0.05)

    def client(self, service, region=REGION):
        """An AWS client of the root user, which has all rights."""
        config = Config(retries={"max_attempts": 3}, connect_timeout=5, read_timeout=60)
        keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
        return boto3.client(
            service, endpoint_url=self.url, region_name=region, config=config, **keys
        )

    def output(self, function=""):
        """The output lines of all functions, or of one."""
        lines = (self.folder / "functions.log").read_text(errors="replace").splitlines()
        return [
            line.split(" ", 1)[1]
            for line in lines
            if line.startswith(f"{function} " if function else "")
        ]

    def calls(self):
        """The actions that roles attempted."""
        return [json.loads(line) for line in (self.folder / "calls.jsonl").read_text().splitlines()]

    def workers(self, function):
        """The processes of a function in this emulator, found by their session."""
        wanted = f"AWS_LAMBDA_FUNCTION_NAME={function}".encode()
        found = []
        for folder in pathlib.Path("/proc").iterdir():
            try:
                if folder.name.isdigit() and os.getsid(int(folder.name)) == self.process.pid:
                    if wanted in (folder / "environ").read_bytes().split(b"\0"):
                        found.append(int(folder.name))
            except OSError:
                continue
        return found

    def kill(self, function):
        """Kills all processes of a function. Returns their ids."""
        killed = self.workers(function)
        for process in killed:
            os.kill(process, signal.SIGKILL)
        return killed


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]
