"""Compares the rights of the roles with the actions during all tests.

No action was refused, and each granted right was used.

These tests fail if they run alone, because they check the calls of the other tests.
"""

import pytest

import selection
from deployment import FUNCTIONS
from rights import TAKEN, covers, granted

# Granted rights whose use the emulator does not show, and the reasons.
UNSEEN = {
    "logs:CreateLogStream": "Lambda writes logs for the function; the emulator checks no right",
    "logs:PutLogEvents": "as above",
    "sqs:ReceiveMessage": "Lambda's poller reads for the function; the emulator checks no right",
    "sqs:DeleteMessage": "as above",
    "sqs:GetQueueAttributes": "as above",
    "iam:PassRole": "AWS checks it when a schedule names its role; the emulator does not",
    "bedrock:InvokeModel": "these tests call no model of Bedrock",
    "bedrock:InvokeModelWithResponseStream": "these tests call no model of Bedrock",
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_has_exactly_the_rights_that_it_uses(cloud, stack, function):
    role = stack.role(function)
    calls = [call for call in cloud.calls() if call["role"] == role]
    refused = {
        (call["action"], call["resource"])
        for call in calls
        if not call["allowed"] and (role, call["action"]) not in TAKEN
    }
    assert not refused, f"{function} was refused these actions"
    if not selection.EVERY_TEST:
        pytest.skip(
            "no right was refused; only all tests together show whether each right is needed "
            "(tests/run --all)"
        )
    used = {(call["action"], call["resource"]) for call in calls if call["allowed"]}
    unused = {
        (action, pattern)
        for action, pattern in granted(cloud.client("iam"), role)
        if action not in UNSEEN
        and not any(did == action and covers(pattern, resource) for did, resource in used)
    }
    assert not unused, f"{function} has rights that it never used"


def test_schedules_may_only_send_to_their_queue(cloud, stack):
    role = stack.environment("api")["SCHEDULE_ROLE_ARN"].rsplit("/", 1)[1]
    assert granted(cloud.client("iam"), role) == {
        ("sqs:SendMessage", stack.environment("api")["TRIGGERS_QUEUE_ARN"])
    }
