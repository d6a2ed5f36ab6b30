"""docs/guide/one-function.md on the emulator: `infra/localstack.py` makes what a function needs,
and cargo-lambda invokes the function with samples of `events/`.

The binaries are built already, so `cargo lambda watch` only passes on the events.
"""

import json
import os
import socket
import subprocess
import sys
import time

import pytest

from cloud import free_port
from deployment import BINARIES, FUNCTIONS, ROOT

STACK = "one-function"
CARGO_LAMBDA = [os.path.join(os.path.dirname(sys.executable), "cargo-lambda"), "lambda"]
HOST = "127.0.0.1"
LIMIT_S = 30
MOST_STEPS = 5


@pytest.fixture(scope="module")
def watch_port():
    return free_port()


@pytest.fixture(scope="module")
def environment(cloud, watch_port, tmp_path_factory):
    """The variables that the script writes."""
    return made_on(cloud, watch_port, tmp_path_factory.mktemp("target") / "function.env")


def made_on(cloud, watch_port, file):
    script = [sys.executable, ROOT / "infra/localstack.py", "--endpoint", cloud.url]
    script += ["--stack", STACK, "--env-file", file, "--watch", f"http://{HOST}:{watch_port}"]
    script += ["--parameter", "Invites=guests"]
    subprocess.run(script, check=True, env={"PATH": os.environ["PATH"], "OPENAI_API_KEY": "key"})
    variables = [line.split("=", 1) for line in file.read_text().splitlines()]
    return {name: value.removeprefix("'").removesuffix("'") for name, value in variables}


@pytest.fixture(scope="module")
def invoke(environment, watch_port, tmp_path_factory):
    """Invokes a function with a sample, as the guide does. Returns what cargo-lambda prints."""
    folder, functions = tmp_path_factory.mktemp("functions"), {}
    address = ["--invoke-address", HOST, "--invoke-port", str(watch_port)]
    watch = [*CARGO_LAMBDA, "watch", "--only-lambda-apis", *address]
    with (folder / "watch.log").open("w") as log:
        functions["watch"] = subprocess.Popen(watch, cwd=ROOT, stdout=log, stderr=log)
    wait_until_open(watch_port)

    def start(name):
        lambda_variables = {
            "AWS_LAMBDA_RUNTIME_API": f"http://{HOST}:{watch_port}/.rt/{name}",
            "AWS_LAMBDA_FUNCTION_NAME": name,
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "256",
            "AWS_LAMBDA_FUNCTION_VERSION": "1",
        }
        with (folder / f"{name}.log").open("w") as log:
            functions[name] = subprocess.Popen(
                [BINARIES / name], env=environment | lambda_variables, stdout=log, stderr=log
            )

    def invoking(name, event):
        if name not in functions:
            start(name)
        data = ["--data-file", ROOT / f"events/{name}/{event}.json"]
        if not isinstance(event, str):
            data = ["--data-ascii", json.dumps(event)]
        command = [*CARGO_LAMBDA, "invoke", name, *address, *data]
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
        return done.stdout + done.stderr

    yield invoking
    for process in functions.values():
        process.kill()
        process.wait()


def wait_until_open(port):
    started = time.monotonic()
    while True:
        try:
            # A request would wait for a function.
            socket.create_connection((HOST, port), timeout=1).close()
            return
        except OSError:
            assert time.monotonic() - started < LIMIT_S, "cargo lambda watch does not answer"
            time.sleep(0.05)


def answer_of(invoke, name, event):
    printed = invoke(name, event)
    try:
        return json.loads(printed)
    except ValueError:
        raise AssertionError(printed) from None


def call(invoke, method, path, body):
    """Calls the API with an event of API Gateway. Returns the body of the answer."""
    event = json.loads((ROOT / "events/api/post-person.json").read_text())
    event |= {"rawPath": path, "body": json.dumps(body) if body else None}
    event["requestContext"]["http"] |= {"method": method, "path": path}
    del event["headers"]["content-length"]
    answer = answer_of(invoke, "api", event)
    assert answer["statusCode"] in (200, 201), answer
    return json.loads(answer["body"])


def test_the_resources_are_those_of_the_template(cloud, environment):
    table = cloud.client("dynamodb").describe_table(TableName=environment["TABLE_NAME"])["Table"]
    indexes = sorted(index["IndexName"] for index in table["GlobalSecondaryIndexes"])
    assert indexes == ["GSI1", "GSI2", "GSI3", "GSI4"]
    sqs = cloud.client("sqs")
    for queue, visible_s in {"RUNS": 900, "BROADCASTS": 60, "TRIGGERS": 120}.items():
        url = environment[f"{queue}_QUEUE_URL"]
        found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
        assert int(found["VisibilityTimeout"]) == visible_s
        redrive = json.loads(found["RedrivePolicy"])
        assert redrive["deadLetterTargetArn"].endswith(f"{STACK}-{queue.lower()}deadletters")
        assert int(redrive["maxReceiveCount"]) == 5
    s3, bucket = cloud.client("s3"), environment["ATTACHMENTS_BUCKET"]
    notified = s3.get_bucket_notification_configuration(Bucket=bucket)["QueueConfigurations"]
    assert {one["QueueArn"] for one in notified} == {environment["TRIGGERS_QUEUE_ARN"]}
    groups = cloud.client("scheduler").list_schedule_groups()["ScheduleGroups"]
    assert environment["SCHEDULE_GROUP"] in [group["Name"] for group in groups]
    assert environment["INVITES"] == "guests"


def test_what_exists_stays_as_it_is(cloud, environment, watch_port, tmp_path):
    secrets, before = cloud.client("secretsmanager"), secrets_of(cloud)
    assert before["adminKey"] == "the-operators-own-key"
    assert (before["OPENAI_API_KEY"], before["ANTHROPIC_API_KEY"]) == ("key", "")
    arn = environment["KEYS_SECRET_ARN"]
    held = json.loads(secrets.get_secret_value(SecretId=arn)["SecretString"])
    secrets.put_secret_value(SecretId=arn, SecretString=json.dumps(held | {"TOOL_KEY": "mine"}))
    assert made_on(cloud, watch_port, tmp_path / "function.env") == environment
    assert secrets_of(cloud) == before | {"TOOL_KEY": "mine"}


def secrets_of(cloud):
    """The fields of all secrets that the script made."""
    manager, fields = cloud.client("secretsmanager"), {}
    for secret in manager.list_secrets()["SecretList"]:
        text = manager.get_secret_value(SecretId=secret["ARN"])["SecretString"]
        if secret["Name"].startswith(STACK) and text.startswith("{"):
            fields |= json.loads(text)
    return fields


def test_each_function_answers_a_sample(invoke):
    answers = {
        "api/no-key": 401,
        "api/preflight": 200,
        "api/post-person": 201,
        # The table has nothing that a sample names.
        "api/get-messages": 404,
        "socket/connect": 401,
        "run/message": {"batchItemFailures": []},
        "trigger/dispatch": {"batchItemFailures": []},
        "broadcast/event": {"batchItemFailures": []},
        "sweep/schedule": None,
    }
    assert {sample.split("/")[0] for sample in answers} == set(FUNCTIONS) - {"protocols"}
    got = {sample: answer_of(invoke, *sample.split("/")) for sample in answers}
    statuses = {
        sample: answer.get("statusCode", answer) if isinstance(answer, dict) else answer
        for sample, answer in got.items()
    }
    assert statuses == answers
    person = json.loads(got["api/post-person"]["body"])
    assert (person["name"], person["type"]) == ("Sara", "human")


def test_protocols_asks_the_api_that_cargo_lambda_serves(invoke):
    answer_of(invoke, "api", "no-key")
    assert "expected the header Authorization" in invoke("protocols", "no-token")
    # The token is valid, but the table has nobody with its id.
    assert "no entity has the id or externalId" in invoke("protocols", "mcp")


def test_a_run_answers_a_message_from_the_queue(cloud, environment, invoke):
    call_of_tool = {"tool": "send_message", "input": {"text": "Hi"}}
    script = {"rules": [{"steps": [{"calls": [call_of_tool]}]}]}
    model = {"provider": "scripted", "name": "demo", "script": script}
    people = [
        call(invoke, "POST", "/v1/entities", entity)["id"]
        for entity in (
            {"type": "human", "name": "Omar"},
            {"type": "agent", "name": "Ada", "agent": {"model": model}},
        )
    ]
    space = call(invoke, "POST", "/v1/spaces", {"name": "Team", "members": people})["id"]
    messages = f"/v1/spaces/{space}/messages"
    call(invoke, "POST", messages, {"text": "Hello", "senderId": people[0]})
    sqs, runs, texts = cloud.client("sqs"), environment["RUNS_QUEUE_URL"], []
    event = json.loads((ROOT / "events/run/message.json").read_text())
    # The run hands over after each step, since cargo-lambda names a deadline in the past.
    for _ in range(MOST_STEPS):
        received = sqs.receive_message(QueueUrl=runs, WaitTimeSeconds=5)
        [job] = received["Messages"]
        sqs.delete_message(QueueUrl=runs, ReceiptHandle=job["ReceiptHandle"])
        event["Records"][0] |= {"body": job["Body"], "receiptHandle": job["ReceiptHandle"]}
        assert answer_of(invoke, "run", event) == {"batchItemFailures": []}
        posted = call(invoke, "GET", messages, None)["items"]
        texts = [part["text"] for message in posted for part in message["parts"]]
        if len(texts) > 1:
            break
    assert texts == ["Hello", "Hi"]
