#!/usr/bin/env python3
"""Sends the dead letters of a stack back to their queue (docs/deploying.md, "Dead letters").

    infra/redrive.py smartspace runs --dry-run     shows the dead letters and leaves them
    infra/redrive.py smartspace runs               sends them again

Needs boto3 and these permissions: cloudformation:DescribeStackResource, and on both queues
sqs:GetQueueAttributes, sqs:ReceiveMessage, sqs:ChangeMessageVisibility, sqs:SendMessage and
sqs:DeleteMessage.

Each message is sent with its body, attributes and group, and deleted once it is sent. An
interruption in between sends a message twice, which is harmless, because every job may be
repeated. SQS's own redrive loses the message group, so the jobs of a busy space would no longer
take turns with those of other spaces.
"""

import argparse
import json
import sys
import time

import boto3

QUEUES = {"runs": "RunsQueue", "broadcasts": "BroadcastsQueue", "triggers": "TriggersQueue"}
DEAD_LETTERS = {
    "runs": "RunsDeadLetters",
    "broadcasts": "BroadcastsDeadLetters",
    "triggers": "TriggersDeadLetters",
}
# The fields of a job that a line shows, all of them ids and numbers.
SHOWN_FIELDS = ("runId", "spaceId", "agentId", "entityId", "planId", "seq")
# How long received messages are invisible to others. Sending and deleting a batch takes far less.
HELD_S = 60
# After this many empty receives the queue counts as empty. A single receive may miss messages.
EMPTY_RECEIVES = 3


def queue_urls(session, stack, queue):
    """The URLs of a stack's dead-letter queue and of its source queue."""
    stacks = session.client("cloudformation")

    def url(resource):
        found = stacks.describe_stack_resource(StackName=stack, LogicalResourceId=resource)
        return found["StackResourceDetail"]["PhysicalResourceId"]

    return url(DEAD_LETTERS[queue]), url(QUEUES[queue])


def waiting(sqs, url):
    """The approximate number of waiting messages."""
    name = "ApproximateNumberOfMessages"
    answer = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=[name])
    return int(answer["Attributes"][name])


def receive(sqs, url, most):
    """Receives up to `most` messages with everything that is sent again."""
    answer = sqs.receive_message(
        QueueUrl=url,
        MaxNumberOfMessages=min(most, 10),
        VisibilityTimeout=HELD_S,
        WaitTimeSeconds=1,
        MessageSystemAttributeNames=["MessageGroupId", "SentTimestamp"],
        MessageAttributeNames=["All"],
    )
    return answer.get("Messages", [])


def entry(number, message):
    """The entry that sends a message again.

    The trace header is left out: Lambda counts hops in it and would drop the chain.
    """
    entry = {"Id": str(number), "MessageBody": message["Body"]}
    if group := message.get("Attributes", {}).get("MessageGroupId"):
        entry["MessageGroupId"] = group
    if message.get("MessageAttributes"):
        entry["MessageAttributes"] = message["MessageAttributes"]
    return entry


def label(message):
    """A line that identifies a message.

    It shows only the ids of a job, because bodies contain the texts of people.
    """
    try:
        body = json.loads(message["Body"])
    except ValueError:
        body = {}
    if not isinstance(body, dict):
        body = {}
    sent = message.get("Attributes", {}).get("SentTimestamp")
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(sent) / 1000)) if sent else "?"
    ids = (f"{name}={body[name]}" for name in SHOWN_FIELDS if name in body)
    also = body.get("also")
    more = [f"and {len(also)} more runs"] if isinstance(also, list) and also else []
    return " ".join([when, str(body.get("job", "unreadable")), *ids, *more])


def send_again(sqs, dead_letters, queue, messages):
    """Sends a batch, deletes the messages that were sent, and returns their number.

    Messages that could not be sent are reported and stay.
    """
    entries = [entry(number, message) for number, message in enumerate(messages)]
    sent = sqs.send_message_batch(QueueUrl=queue, Entries=entries)
    for failed in sent.get("Failed", []):
        which = label(messages[int(failed["Id"])])
        why = f"{failed.get('Code')} {failed.get('Message', '')}"
        print(f"not sent, still a dead letter: {which}: {why}", file=sys.stderr)
    done = [int(success["Id"]) for success in sent.get("Successful", [])]
    if done:
        entries = [
            {"Id": str(number), "ReceiptHandle": messages[number]["ReceiptHandle"]}
            for number in done
        ]
        deleted = sqs.delete_message_batch(QueueUrl=dead_letters, Entries=entries)
        for failed in deleted.get("Failed", []):
            which = label(messages[int(failed["Id"])])
            print(f"sent but not deleted, so it will be sent again: {which}", file=sys.stderr)
    return len(done)


def put_back(sqs, url, messages):
    """Makes messages that were only shown visible to others at once."""
    for first in range(0, len(messages), 10):
        some = messages[first : first + 10]
        entries = [
            {"Id": str(n), "ReceiptHandle": message["ReceiptHandle"], "VisibilityTimeout": 0}
            for n, message in enumerate(some)
        ]
        sqs.change_message_visibility_batch(QueueUrl=url, Entries=entries)


def redrive(sqs, dead_letters, queue, limit, dry_run):
    """Sends or shows messages and returns their number.

    It handles at most as many as were there at the start, so that a message that fails again does
    not go round in circles.
    """
    left = min(limit, waiting(sqs, dead_letters))
    empty = count = 0
    seen = []
    try:
        while left > 0 and empty < EMPTY_RECEIVES:
            messages = receive(sqs, dead_letters, left)
            empty = 0 if messages else empty + 1
            left -= len(messages)
            for message in messages:
                print(label(message))
            if dry_run:
                seen += messages
                count += len(messages)
            elif messages:
                count += send_again(sqs, dead_letters, queue, messages)
    finally:
        put_back(sqs, dead_letters, seen)
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stack", help="the stack's name")
    parser.add_argument(
        "queue", choices=sorted(QUEUES), help="the queue whose dead letters to send"
    )
    parser.add_argument(
        "--limit",
        type=int,
        default=1000,
        help="the greatest number of messages (default: %(default)s)",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="show the dead letters without sending them"
    )
    parser.add_argument("--profile", help="the profile of the AWS configuration")
    parser.add_argument("--region", help="the stack's region")
    options = parser.parse_args()
    session = boto3.Session(profile_name=options.profile, region_name=options.region)
    dead_letters, queue = queue_urls(session, options.stack, options.queue)
    count = redrive(session.client("sqs"), dead_letters, queue, options.limit, options.dry_run)
    print(f"{count} {'found' if options.dry_run else 'sent again'}")


if __name__ == "__main__":
    main()
