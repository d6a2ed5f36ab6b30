"""Runs the AWS emulator: `emulator.py FOLDER`. Started by cloud.py, with nothing in its environment but what stands there.

Everything that it keeps is in FOLDER; besides, for the tests:

- `functions.log`: every line that a function writes, with its name
- `calls.jsonl`: each action that a role tried, once: its role, the resource, and whether it was allowed
"""

import contextvars
import json
import os
import pathlib
import signal
import socketserver
import sys
import threading
import time

FOLDER = pathlib.Path(sys.argv[1])
PARENT = os.getppid()


def main():
    # Its servers send an answer in two packets, and the second one waits 40 ms for the first one's acknowledgement.
    socketserver.StreamRequestHandler.disable_nagle_algorithm = True

    from ministack import app
    from ministack.core import iam_actions, iam_evaluator, lambda_runtime
    from ministack.services import apigateway, eventbridge, lambda_svc, scheduler

    # An invocation of a function that writes nothing takes 50 ms longer, in case it still does.
    lambda_runtime.Worker._drain_stderr_bounded.__defaults__ = (0.001, 0.001, 0.05)
    lambda_svc._ESM_IDLE_WAKE_GAP_SECONDS = 0.005
    scheduler._SCHEDULE_TICK_INTERVAL = 0.25
    eventbridge._SCHEDULER_TICK_INTERVAL = 0.25
    keep_output(lambda_runtime.ProvidedWorker)
    keep_calls(iam_evaluator)
    name_schedules(iam_actions)
    refuse_as_told(apigateway)
    threading.Thread(target=end_with_parent, daemon=True).start()
    sys.argv[1:] = []
    app.main()


def keep_output(worker):
    """The emulator's own logs cut what functions write into invocations, and lose what a killed one wrote."""
    log = (FOLDER / "functions.log").open("ab", buffering=0)
    pump = worker._pump_output

    class Copied:
        def __init__(self, stream, name):
            self.stream, self.name, self.close = stream, name.encode(), stream.close

        def readline(self):
            line = self.stream.readline()
            if line:
                log.write(self.name + b" " + line)
            return line

    worker._pump_output = lambda self, stream, lines: pump(self, Copied(stream, self.func_name), lines)


def keep_calls(iam):
    """What roles tried. The root user, which deploys and tests, is not asked about."""
    from ministack.services import sts

    file, known, lock, enforce = (FOLDER / "calls.jsonl").open("a"), set(), threading.Lock(), iam.enforce

    def recording(access_key_id, iam_action, service, region, resource_arn="*", service_context=None):
        # In IAM there are no batches of SQS: who may send one message may send ten.
        iam_action = iam_action.removesuffix("Batch") if service == "sqs" else iam_action
        denied = enforce(access_key_id, iam_action, service, region, resource_arn=resource_arn, service_context=service_context)
        arn = (sts._sessions.get(access_key_id) or {}).get("Arn", "")
        call = (arn.split("/")[1] if ":assumed-role/" in arn else "", iam_action, resource_arn, denied is None)
        with lock:
            if call[0] and call not in known:
                known.add(call)
                file.write(json.dumps(dict(zip(("role", "action", "resource", "allowed"), call))) + "\n")
                file.flush()
        return denied

    iam.enforce = recording


def name_schedules(actions):
    """A new schedule's group stands in the body; the emulator looks for it in the address alone, and asks about the default one."""
    resource = actions.extract_resource_arn

    def naming(service, method, path, headers, body, *more):
        arn = resource(service, method, path, headers, body, *more)
        if service == "scheduler" and method == "POST" and ":schedule/default/" in arn:
            arn = arn.replace(":schedule/default/", f":schedule/{json.loads(body).get('GroupName', 'default')}/")
        return arn

    actions.extract_resource_arn = naming


def refuse_as_told(apigateway):
    """API Gateway refuses a handshake with the status that the function gave, and takes a frame that it can't read for one without an action."""
    answered, invoke, handle, route = contextvars.ContextVar("answered"), apigateway._invoke_ws_lambda, apigateway.handle_websocket, apigateway._evaluate_route_selection

    async def noting(*arguments, **more):
        answer = await invoke(*arguments, **more)
        answered.get().append((answer or {}).get("statusCode", 200))
        return answer

    async def handling(scope, receive, send, *arguments, **more):
        statuses = []
        answered.set(statuses)

        async def sending(message):
            # Of the first answer alone: it is $connect's.
            if message["type"] == "websocket.close" and len(statuses) == 1 and statuses[0] >= 400:
                return await apigateway._refuse_ws_handshake(scope, send, statuses[0], "Forbidden", "", "")
            return await send(message)

        await handle(scope, receive, sending, *arguments, **more)

    def routing(expression, text):
        try:
            return route(expression, text)
        except RecursionError:
            return "$default"

    apigateway._invoke_ws_lambda, apigateway.handle_websocket, apigateway._evaluate_route_selection = noting, handling, routing


def end_with_parent():
    """Tests that are killed can't stop it."""
    while os.getppid() == PARENT:
        time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
