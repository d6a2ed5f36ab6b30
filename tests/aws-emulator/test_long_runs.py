"""Runs that take longer than one invocation, and runs whose function is killed."""

import threading
import time

from client import wait_for
from model import call, say

# The promise of docs/reliability.md: usually within 30 s, always within three minutes.
TAKEN_OVER_WITHIN_S = 180


def test_a_run_whose_function_is_killed_is_taken_over_and_ends_once(cloud, stack, operator, model):
    person, _, space = operator.team("killed")
    gate = threading.Event()
    remember = call("set_memories", {"memories": [{"key": "step", "value": "one"}]})
    model.plays("killed", remember, lambda _: gate.wait() and say("Done."))
    run = operator.say(space, person, "Go on.")
    wait_for(lambda: len(model.asked.get("killed", [])) == 2, what="its second step")
    killed, at = cloud.kill(stack.function("run")), time.monotonic()
    assert killed, "no process of the function was running"
    gate.set()
    ended = operator.ended(run, TAKEN_OVER_WITHIN_S)
    print(f"the run ended {time.monotonic() - at:.0f} s after its function was killed")
    assert (ended["status"], ended["attempt"]) == ("completed", 2), ended
    assert operator.texts(space) == ["Go on.", "Done."]
    # The first step is not repeated: the second worker asks the model for the second step.
    assert len(ended["steps"]) == len(model.asked["killed"]) - 1 == 3, ended


def test_a_run_that_is_longer_than_its_function_is_handed_over_and_ends_once(
    cloud, stack, operator, model
):
    functions, name = cloud.client("lambda"), stack.function("run")
    usual = functions.get_function_configuration(FunctionName=name)["Timeout"]
    functions.update_function_configuration(FunctionName=name, Timeout=8)
    try:
        person, _, space = operator.team("long")
        steps = [
            call("set_memories", {"memories": [{"key": f"step-{number}", "value": "taken"}]})
            for number in range(4)
        ]
        model.plays("long", *[slow(step) for step in steps], say("That took a while."))
        at = time.monotonic()
        run = operator.say(space, person, "Take your time.")
        ended = operator.ended(run, 60)
        took = time.monotonic() - at
    finally:
        functions.update_function_configuration(FunctionName=name, Timeout=usual)
    assert took > 8, f"the run took only {took:.0f} s, less than one invocation"
    assert (ended["status"], ended["attempt"], len(ended["steps"])) == ("completed", 1, 6), ended
    assert len(model.asked["long"]) == 6, "a request to the model was repeated"
    assert operator.texts(space) == ["Take your time.", "That took a while."]
    handed = [line for line in cloud.output(name) if run in line and "handing a run over" in line]
    assert len(handed) >= 2, handed


def slow(answer):
    def late(_):
        # A slow model: the subject of the test.
        time.sleep(2.5)
        return answer

    return late
