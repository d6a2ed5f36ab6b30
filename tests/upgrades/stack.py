"""The deployed template on an emulator of AWS, whose functions are replaced one by one."""

import json
import pathlib
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "aws-emulator"))

import versions
from api import Api
from cloud import Cloud, free_port
from deployment import FUNCTIONS, Deployment
from settings import parameters, secrets

KEY = "the-key-of-the-upgrade-test"
QUEUES = ("RunsQueue", "BroadcastsQueue", "TriggersQueue")
DEAD_LETTERS = ("RunsDeadLetters", "BroadcastsDeadLetters", "TriggersDeadLetters")
# Not the delayed ones: a plan that fires each minute always has one.
WAITING = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
EMPTY_LIMIT_S = 60
# Errors of a machine with too much to do. The caller or the queue repeats the work.
BUSY = (
    "too many messages are sent to this space at once",
    "the lease could not be renewed in time",
)
# Events of a job that was not handled.
FAILED_JOB = ("job_failed", "job_panicked", "unreadable_job")


class Stack(Api):
    """A context manager. `older` and `newer` are folders of binaries."""

    phases = staticmethod(versions.mixed)

    def __init__(self, older, newer, hook_secret):
        self.older, self.newer, self.hook_secret = older, newer, hook_secret
        self.cloud, self.at_work = Cloud(), versions.NONE

    def __enter__(self):
        played = {*versions.FUNCTIONS, "protocols"}
        assert played == set(FUNCTIONS), "versions.py plays other functions than the template has"
        assert not versions.unmet(), f"no phase brings these together: {versions.unmet()}"
        self.cloud.__enter__()
        try:
            # No agent of this test asks a model.
            known = secrets(KEY) | {"CI_HOOK": self.hook_secret}
            settings = parameters(f"127.0.0.1:{free_port()}")
            self.deployment = Deployment(self.cloud, settings, known, binaries=self.older)
            self.deployment.offer("older", self.older)
            self.deployment.offer("newer", self.newer)
        except BaseException:
            self.cloud.__exit__()
            raise
        super().__init__(self.deployment.outputs["ApiUrl"], KEY)
        return self

    def __exit__(self, *_):
        self.cloud.__exit__()

    def enter(self, phase):
        """Replaces under load the functions that have another version in this phase."""
        for function in sorted(self.at_work ^ phase.newer):
            self.deployment.replace(function, "newer" if function in phase.newer else "older")
        self.at_work = phase.newer
        # It runs each minute anyway. Here it also runs in each phase.
        sweep = self.deployment.function("sweep")
        functions = self.cloud.client("lambda")
        functions.invoke(FunctionName=sweep, InvocationType="Event", Payload=b"{}")

    def faults(self):
        """Errors in the logs, dead letters, and jobs that nobody takes."""
        self.wait_until_empty()
        for name in DEAD_LETTERS:
            if count := self.waiting(name):
                yield f"{count} jobs in {name}"
        for line in self.cloud.output():
            if is_fault(line):
                yield line

    def summary(self):
        ended = self.cloud.folder / "ended-with-old-code"
        count = len(ended.read_text().splitlines()) if ended.exists() else 0
        return f"{count} invocations were in progress when their function was replaced"

    def wait_until_empty(self):
        until = time.monotonic() + EMPTY_LIMIT_S
        while counts := {name: count for name in QUEUES if (count := self.waiting(name))}:
            if time.monotonic() > until:
                raise SystemExit(f"jobs stay in their queues: {counts}")
            time.sleep(0.5)

    def waiting(self, queue):
        """The jobs that wait in a queue, or are at work."""
        url = self.deployment.resources[queue][1]
        queues = self.cloud.client("sqs")
        answer = queues.get_queue_attributes(QueueUrl=url, AttributeNames=list(WAITING))
        return sum(int(answer["Attributes"][name]) for name in WAITING)


def is_fault(line):
    """Whether a function logged an error, a panic or a failed job, but not for want of time."""
    try:
        entry = json.loads(line)
    except ValueError:
        return "panicked" in line
    if str(entry.get("error", "")).startswith(BUSY):
        return False
    return entry.get("level") == "ERROR" or entry.get("event") in FAILED_JOB
