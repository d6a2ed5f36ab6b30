"""Jobs that fail five times become dead letters, and can be redriven."""

import re
import subprocess
import sys

from client import wait_for
from cloud import REGION
from deployment import ROOT
from rights import without

TRIES = 5


def test_a_job_that_fails_five_times_becomes_a_dead_letter_and_can_be_redriven(
    cloud, stack, operator, model
):
    sqs, queue = cloud.client("sqs"), stack.environment("trigger")["TRIGGERS_QUEUE_URL"]
    dead = stack.resources["TriggersDeadLetters"][1]
    _, agent, _ = operator.team("planner")
    usual = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["VisibilityTimeout"])[
        "Attributes"
    ]["VisibilityTimeout"]
    # A failed job is retried after its visibility timeout. With the usual one, five attempts would
    # take eight minutes.
    sqs.set_queue_attributes(QueueUrl=queue, Attributes={"VisibilityTimeout": "1"})
    try:
        with (
            without(stack, "trigger", "dynamodb:GetItem"),
            without(stack, "trigger", "dynamodb:UpdateItem"),
        ):
            operator.make(
                f"/v1/agents/{agent}/plans",
                {"name": "Soon", "instruction": "Look around.", "runAfter": "1 seconds"},
            )
            # A plan of another test may be in the queue too.
            wait_for(lambda: waiting(sqs, dead) >= 1, 60, "a dead letter")
    finally:
        sqs.set_queue_attributes(QueueUrl=queue, Attributes={"VisibilityTimeout": usual})
    alarm = cloud.client("cloudwatch").describe_alarms(
        AlarmNames=[stack.resources["TriggersDeadLettersAlarm"][1]]
    )["MetricAlarms"][0]
    assert {one["Name"]: one["Value"] for one in alarm["Dimensions"]} == {
        "QueueName": dead.rsplit("/", 1)[1]
    }
    assert (alarm["Namespace"], alarm["MetricName"]) == (
        "AWS/SQS",
        "ApproximateNumberOfMessagesVisible",
    )
    assert alarm["Threshold"] <= waiting(sqs, dead)
    assert redrive(cloud, stack) >= 1
    wait_for(lambda: emptied(cloud, stack, sqs, dead), what="no dead letter")
    wait_for(
        lambda: len(operator.get(f"/v1/agents/{agent}/runs?limit=50")["items"]) == 1,
        what="the plan's run",
    )


def emptied(cloud, stack, sqs, dead):
    """Whether no dead letter is left. A job of another test may have become one meanwhile."""
    if waiting(sqs, dead) > 0:
        redrive(cloud, stack)
    return waiting(sqs, dead) == 0


def waiting(sqs, queue):
    names = ["ApproximateNumberOfMessages"]
    return int(
        sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=names)["Attributes"][names[0]]
    )


def redrive(cloud, stack):
    """Redrives dead letters as docs/deploying.md says. Returns their number."""
    environment = {
        "AWS_ENDPOINT_URL": cloud.url,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": REGION,
    }
    command = [sys.executable, ROOT / "infra/redrive.py", stack.name, "triggers"]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    sent = re.search(r"(\d+) sent again\n$", done.stdout)
    assert done.returncode == 0 and sent, done
    return int(sent[1])
