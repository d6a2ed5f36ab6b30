"""Runs the AWS emulator: `emulator.py FOLDER`. cloud.py starts it with an environment of its own.

The emulator stores everything in FOLDER. For the tests, it also writes there:

- `functions.log`: each line that a function writes, after the function's name
- `ended-with-old-code`: the function of each invocation that was in progress when its function got
  new code
- `calls.jsonl`: each action that a role attempted, once: the role, the action, the resource, and
  whether it was allowed
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
    # The emulator sends an answer in two packets. With Nagle's algorithm the second one would wait
    # 40 ms for the acknowledgement of the first.
    socketserver.StreamRequestHandler.disable_nagle_algorithm = True

    from ministack import app
    from ministack.core import iam_actions, iam_evaluator, lambda_runtime
    from ministack.services.cloudformation import provisioners
    from ministack.services import apigateway, apigateway_v1, eventbridge, lambda_svc, scheduler

    # By default the emulator waits 50 ms for late output after an invocation that wrote nothing.
    lambda_runtime.Worker._drain_stderr_bounded.__defaults__ = (0.001, 0.001, 0.05)
    lambda_svc._ESM_IDLE_WAKE_GAP_SECONDS = 0.005
    scheduler._SCHEDULE_TICK_INTERVAL = 0.25
    eventbridge._SCHEDULER_TICK_INTERVAL = 0.25
    copy_output(lambda_runtime.ProvidedWorker)
    let_invocations_end(lambda_svc, lambda_runtime)
    record_calls(iam_evaluator)
    name_schedules(iam_actions)
    act_like_api_gateway(apigateway)
    read_streamed_answers(apigateway_v1)
    accept_metric_math(provisioners)
    threading.Thread(target=end_with_parent, daemon=True).start()
    sys.argv[1:] = []
    app.main()


def copy_output(worker):
    """Copies all output of functions to a file.

    The emulator's own logs lose the output of killed functions.
    """
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

    worker._pump_output = lambda self, stream, lines: pump(
        self, Copied(stream, self.func_name), lines
    )


def let_invocations_end(lambda_svc, runtime):
    """Lets invocations in progress end with the old code when a function gets new code.

    AWS does so; the emulator would kill them.
    """
    updating = contextvars.ContextVar("updating", default=False)
    update, invalidate = lambda_svc._update_code, lambda_svc.invalidate_worker

    def retire(workers):
        for worker in workers:
            if worker.in_use:
                with (FOLDER / "ended-with-old-code").open("a") as file:
                    file.write(f"{worker.func_name}\n")
            while worker.in_use:
                time.sleep(0.05)
            runtime.kill_workers([worker])

    def invalidating(name, **scope):
        if not updating.get():
            return invalidate(name, **scope)
        with runtime._lock:
            keys = [key for key in runtime._workers if key.endswith(f":{name}:$LATEST")]
            workers = [worker for key in keys for worker in runtime._workers.pop(key)]
        workers.sort(key=lambda worker: worker.in_use)
        threading.Thread(target=retire, args=(workers,), daemon=True).start()

    def marking(*arguments):
        before = updating.set(True)
        try:
            return update(*arguments)
        finally:
            updating.reset(before)

    lambda_svc._update_code, lambda_svc.invalidate_worker = marking, invalidating


def record_calls(iam):
    """Records the actions that roles attempt.

    The root user, who deploys and tests, has no role and is not recorded.
    """
    from ministack.services import sts

    file, known, lock, enforce = (
        (FOLDER / "calls.jsonl").open("a"),
        set(),
        threading.Lock(),
        iam.enforce,
    )

    def recording(
        access_key_id, iam_action, service, region, resource_arn="*", service_context=None
    ):
        # IAM has no actions for batches of SQS: the right to send one message includes batches.
        iam_action = iam_action.removesuffix("Batch") if service == "sqs" else iam_action
        denied = enforce(
            access_key_id,
            iam_action,
            service,
            region,
            resource_arn=resource_arn,
            service_context=service_context,
        )
        arn = (sts._sessions.get(access_key_id) or {}).get("Arn", "")
        call = (
            arn.split("/")[1] if ":assumed-role/" in arn else "",
            iam_action,
            resource_arn,
            denied is None,
        )
        with lock:
            if call[0] and call not in known:
                known.add(call)
                file.write(
                    json.dumps(dict(zip(("role", "action", "resource", "allowed"), call))) + "\n"
                )
                file.flush()
        return denied

    iam.enforce = recording


def name_schedules(actions):
    """Finds the group of a new schedule in the request body.

    The emulator looks only in the URL, and would check the right for the default group.
    """
    resource = actions.extract_resource_arn

    def naming(service, method, path, headers, body, *more):
        arn = resource(service, method, path, headers, body, *more)
        if service == "scheduler" and method == "POST" and ":schedule/default/" in arn:
            arn = arn.replace(
                ":schedule/default/", f":schedule/{json.loads(body).get('GroupName', 'default')}/"
            )
        return arn

    actions.extract_resource_arn = naming


def act_like_api_gateway(apigateway):
    """Does two things like API Gateway: refuses a handshake with the status that the function
    returned, and routes an unreadable frame to `$default`.
    """
    answered, invoke, handle, route = (
        contextvars.ContextVar("answered"),
        apigateway._invoke_ws_lambda,
        apigateway.handle_websocket,
        apigateway._evaluate_route_selection,
    )

    async def noting(*arguments, **more):
        answer = await invoke(*arguments, **more)
        answered.get().append((answer or {}).get("statusCode", 200))
        return answer

    async def handling(scope, receive, send, *arguments, **more):
        statuses = []
        answered.set(statuses)

        async def sending(message):
            # Only the first answer counts: it is the one of `$connect`.
            if message["type"] == "websocket.close" and len(statuses) == 1 and statuses[0] >= 400:
                return await apigateway._refuse_ws_handshake(
                    scope, send, statuses[0], "Forbidden", "", ""
                )
            return await send(message)

        await handle(scope, receive, sending, *arguments, **more)

    def routing(expression, text):
        try:
            return route(expression, text)
        except RecursionError:
            return "$default"

    (
        apigateway._invoke_ws_lambda,
        apigateway.handle_websocket,
        apigateway._evaluate_route_selection,
    ) = noting, handling, routing


def read_streamed_answers(apigateway):
    """Lets a REST API pass on the answer of a function that streams, once it is whole: a prelude
    with status and headers, eight zeros, and the body.

    Also names the path that the caller used, which has more before the stage than on AWS.
    """
    respond, build, find = (
        apigateway._lambda_proxy_response,
        apigateway._build_lambda_event_v1,
        apigateway._extract_lambda_ref_from_integration_uri,
    )

    def responding(result):
        answer = result.get("body")
        if not isinstance(answer, str) or "\0" * 8 not in answer:
            return respond(result)
        prelude, body = answer.split("\0" * 8, 1)
        return {**json.loads(prelude), "body": body}, None

    def building(api_id, stage_name, *arguments, **more):
        event = build(api_id, stage_name, *arguments, **more)
        event["requestContext"]["path"] = (
            f"/_aws/execute-api/{api_id}{event['requestContext']['path']}"
        )
        return event

    apigateway._lambda_proxy_response, apigateway._build_lambda_event_v1 = responding, building
    apigateway._extract_lambda_ref_from_integration_uri = lambda uri: find(
        uri.replace("/response-streaming-invocations", "/invocations")
    )


def accept_metric_math(provisioners):
    """Stores an alarm on several metrics as one on the first of them.

    The emulator knows no metric math. `tests/template-lint` checks these alarms.
    """
    record = provisioners._cw_metric_alarm_record

    def recording(name, properties):
        measured = [one.get("MetricStat") for one in properties.get("Metrics", [])]
        measured = [one for one in measured if one]
        if not measured:
            return record(name, properties)
        first = {"Statistic": measured[0]["Stat"], "Period": measured[0]["Period"]}
        others = {key: value for key, value in properties.items() if key != "Metrics"}
        return record(name, others | measured[0]["Metric"] | first)

    provisioners._cw_metric_alarm_record = recording


def end_with_parent():
    """Ends the emulator with its parent, because tests that are killed can't stop it."""
    while os.getppid() == PARENT:
        time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
