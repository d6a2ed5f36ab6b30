"""Runs the lanes side by side, and the steps of a lane in order."""

import threading
import time

from runner.results import counted
from runner.step import Failed, Runner


def lanes_of(steps):
    """The steps by lane, in the order of the list."""
    names = dict.fromkeys(step.lane for step in steps)
    return [[step for step in steps if step.lane == name] for name in names]


def run(steps, options):
    finished = {}
    threads = [
        threading.Thread(target=run_lane, args=(lane, finished, options))
        for lane in lanes_of(steps)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def run_lane(steps, finished, options):
    for step in steps:
        needs = [need for need in step.needs if need in options.names]
        while not all(need in finished for need in needs):
            time.sleep(0.1)
        started = time.monotonic()
        if any(finished[need] for need in needs):
            step.error = f"not run: {' and '.join(step.needs)} failed"
        else:
            run_step(step, options)
        step.seconds = time.monotonic() - started
        tests = "{} passed, {} failed, {} skipped".format(*step.counts) if any(step.counts) else ""
        tests = "; ".join(filter(None, [tests, *step.notes]))
        result = "FAIL" if step.error else "  ok"
        print(f"{result} {step.name:<11} {step.seconds:6.0f} s  {tests}", flush=True)
        finished[step.name] = step.error


def run_step(step, options):
    print(f"   … {step.name}: {step.doc}", flush=True)
    try:
        step.run(Runner(step, options))
    except Failed as failure:
        step.error = str(failure)
    except Exception as error:  # A defect of this program fails its step, not the whole run.
        step.error = f"{type(error).__name__}: {error}"
    step.counts = counted(step.log.read_text(errors="replace"))
