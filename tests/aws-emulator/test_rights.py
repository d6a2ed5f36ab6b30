"""Functions without a right that they need log the error, and lose nothing."""

import json
import threading

import pytest

from client import wait_for
from model import say
from rights import without


@pytest.fixture
def sweeping(cloud, stack):
    """A function that invokes sweep, which otherwise runs each minute."""
    functions, name = cloud.client("lambda"), stack.function("sweep")
    return lambda: functions.invoke(FunctionName=name, Payload=b"{}") and None


def logged(cloud, stack, function, *words):
    return [
        line
        for line in cloud.output(stack.function(function))
        if all(word in line for word in words)
    ]


def test_a_message_posted_without_the_right_to_queue_is_stored_and_answered_once(
    cloud, stack, operator, model, sweeping
):
    person, _, space = operator.team("asks")
    bob = operator.make(
        "/v1/entities",
        {
            "type": "agent",
            "name": "Bob",
            "agent": {"model": {"provider": "openai", "name": "answers"}},
        },
    )["id"]
    # Bob's answer triggers her again, and then she posts nothing.
    gate, says = threading.Event(), iter([say("Bob, are you there?")])
    model.plays("asks", lambda _: gate.wait() and next(says, {}))
    model.plays("answers", say("I am."))
    run = operator.say(space, person, "Ada, ask Bob.")
    wait_for(lambda: model.asked.get("asks"), what="her question")
    # Bob joins now, so that only Ada's message triggers him.
    assert operator.call("PUT", f"/v1/spaces/{space}/members/{bob}", {})[0] == 200
    with without(stack, "run", "sqs:SendMessage"):
        gate.set()
        operator.ended(run)
        wait_for(
            lambda: logged(
                cloud, stack, "run", "AccessDenied", "sqs:SendMessage", "were not queued"
            ),
            what="the log line",
        )
        assert operator.texts(space) == ["Ada, ask Bob.", "Bob, are you there?"]
    wait_for(lambda: sweeping() or "I am." in operator.texts(space), 120, "Bob's answer")
    wait_for(
        lambda: all(
            run["status"] == "completed"
            for run in operator.get(f"/v1/spaces/{space}/runs?limit=50")["items"]
        ),
        what="the end of all runs",
    )
    assert operator.texts(space) == ["Ada, ask Bob.", "Bob, are you there?", "I am."]


def test_a_run_without_the_right_to_write_is_retried_and_answers_once(
    cloud, stack, operator, model, sweeping
):
    person, _, space = operator.team("writer")
    model.plays("writer", say("Here I am."))
    with without(stack, "run", "dynamodb:UpdateItem"):
        run = operator.say(space, person, "Hello?")
        wait_for(lambda: logged(cloud, stack, "run", "AccessDenied"), what="the log line")
        failed = wait_for(lambda: logged(cloud, stack, "run", '"JobsFailed"'), what="the metric")
        metric = json.loads(failed[-1])["_aws"]["CloudWatchMetrics"][0]
        assert (metric["Namespace"], metric["Dimensions"]) == ("Smartspace", [["Stack"]])
        assert operator.run(run)["status"] in ("queued", "running")
    ended = wait_for(
        lambda: sweeping() or (found := operator.run(run))["status"] == "completed" and found,
        240,
        "its answer",
    )
    assert operator.texts(space) == ["Hello?", "Here I am."], ended


def test_a_removal_without_the_right_to_query_is_finished_by_sweep(
    cloud, stack, operator, model, sweeping
):
    _, agent, space = operator.team("leaves")
    with without(stack, "api", "dynamodb:Query"):
        status, answer = operator.call("DELETE", f"/v1/entities/{agent}")
        # The removal is stored before it is complete, so the answer may be an error.
        assert status in (204, 500), answer
        wait_for(
            lambda: logged(cloud, stack, "api", "AccessDenied", "dynamodb:Query"),
            what="the log line",
        )
    assert operator.call("GET", f"/v1/entities/{agent}")[0] == 404
    members = lambda: [one["id"] for one in operator.get(f"/v1/spaces/{space}")["members"]]
    wait_for(lambda: sweeping() or agent not in members(), 120, "that it has left")
