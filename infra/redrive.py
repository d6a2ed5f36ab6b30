#!/usr/bin/env python3
"""Sends a stack's dead letters to their queue again (docs/deploying.md, "Dead letters").

    infra/redrive.py smartspace runs --dry-run     shows what lies there, and leaves it
    infra/redrive.py smartspace runs               sends it again

Needs boto3, and the rights of an operator: cloudformation:DescribeStackResource, and on both queues sqs:GetQueueAttributes, sqs:ReceiveMessage,
sqs:ChangeMessageVisibility, sqs:SendMessage, sqs:DeleteMessage.

Each message is sent with its body, its attributes and its group, and deleted only once it is sent. What is interrupted in between comes twice, which
every job bears. SQS's own redrive would do as well where the group does not matter: without it a busy space's jobs no longer wait their turn.
"""

import argparse
import json
import sys
import time

import boto3

QUEUES = {"runs": "RunsQueue", "broadcasts": "BroadcastsQueue", "triggers": "TriggersQueue"}
DEAD_LETTERS = {"runs": "RunsDeadLetters", "broadcasts": "BroadcastsDeadLetters", "triggers": "TriggersDeadLetters"}
# How long a received message is ours: a batch is sent and deleted in far less.
HELD_S = 60
# Until the queue is taken for empty: a receive may find nothing though there is something.
EMPTY_RECEIVES = 3


def queue_urls(session, stack, queue):
    """The addresses of a stack's dead letters and of the queue that they are from."""
    stacks = session.client("cloudformation")

    def url(resource):
        found = stacks.describe_stack_resource(StackName=stack, LogicalResourceId=resource)
        return found["StackResourceDetail"]["PhysicalResourceId"]

    return url(DEAD_LETTERS[queue]), url(QUEUES[queue])


def waiting(sqs, url):
    """About how many messages wait there."""
    attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["ApproximateNumberOfMessages"])["Attributes"]
    return int(attributes["ApproximateNumberOfMessages"])


def receive(sqs, url, most):
    """Up to `most` messages, with all that is to be sent again."""
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
    """A message as it is sent again. Its trace header stays behind: Lambda counts its hops in it, and would drop the chain."""
    entry = {"Id": str(number), "MessageBody": message["Body"]}
    if group := message.get("Attributes", {}).get("MessageGroupId"):
        entry["MessageGroupId"] = group
    if message.get("MessageAttributes"):
        entry["MessageAttributes"] = message["MessageAttributes"]
    return entry


def label(message):
    """What a message is about, in a line. Bodies hold what people said: only the ids of a job are shown."""
    try:
        body = json.loads(message["Body"])
    except ValueError:
        body = {}
    if not isinstance(body, dict):
        body = {}
    sent = message.get("Attributes", {}).get("SentTimestamp")
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(sent) / 1000)) if sent else "?"
    ids = (f"{name}={body[name]}" for name in ("runId", "spaceId", "agentId", "entityId", "planId", "seq") if name in body)
    return " ".join([when, str(body.get("job", "unreadable")), *ids])


def send_again(sqs, dead_letters, queue, messages):
    """Sends a batch and deletes of it what was sent. How many that is; says what was not, which stays where it is."""
    sent = sqs.send_message_batch(QueueUrl=queue, Entries=[entry(number, message) for number, message in enumerate(messages)])
    for failed in sent.get("Failed", []):
        print(f"not sent, and kept: {label(messages[int(failed['Id'])])}: {failed.get('Code')} {failed.get('Message', '')}", file=sys.stderr)
    done = [int(success["Id"]) for success in sent.get("Successful", [])]
    if done:
        entries = [{"Id": str(number), "ReceiptHandle": messages[number]["ReceiptHandle"]} for number in done]
        for failed in sqs.delete_message_batch(QueueUrl=dead_letters, Entries=entries).get("Failed", []):
            print(f"sent, but not deleted; it will come twice: {label(messages[int(failed['Id'])])}", file=sys.stderr)
    return len(done)


def put_back(sqs, url, messages):
    """Lets others see messages at once that were only looked at."""
    for first in range(0, len(messages), 10):
        some = messages[first : first + 10]
        entries = [{"Id": str(n), "ReceiptHandle": message["ReceiptHandle"], "VisibilityTimeout": 0} for n, message in enumerate(some)]
        sqs.change_message_visibility_batch(QueueUrl=url, Entries=entries)


def redrive(sqs, dead_letters, queue, limit, dry_run):
    """How many messages were sent again, or shown. Never more than lay there at the beginning: what fails again does not go round and round."""
    left, empty, seen, count = min(limit, waiting(sqs, dead_letters)), 0, [], 0
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
    parser.add_argument("queue", choices=sorted(QUEUES), help="whose dead letters")
    parser.add_argument("--limit", type=int, default=1000, help="how many at most (default: %(default)s)")
    parser.add_argument("--dry-run", action="store_true", help="only show them")
    parser.add_argument("--profile", help="a profile of the AWS configuration")
    parser.add_argument("--region", help="the stack's region")
    options = parser.parse_args()
    session = boto3.Session(profile_name=options.profile, region_name=options.region)
    dead_letters, queue = queue_urls(session, options.stack, options.queue)
    count = redrive(session.client("sqs"), dead_letters, queue, options.limit, options.dry_run)
    print(f"{count} {'found' if options.dry_run else 'sent again'}")


if __name__ == "__main__":
    main()
