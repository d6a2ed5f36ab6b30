"""docs/guide/deploying.md and docs/restoring.md on an emulator of their own, as printed.

Only `sam build` is another one: it takes the binaries that are built for this machine.
"""

import hashlib
import io
import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import time
import urllib.request
import zipfile

import pytest
from samtranslator.yaml_helper import yaml_parse

from client import Client, wait_for
from cloud import Cloud
from deployment import BINARIES, ROOT, functions_of, zipped
from pages import Terminal, sections, tools

GUIDE, RESTORING = "docs/guide/deploying.md", "docs/restoring.md"
# Takes the place of `sam build`.
SAM = """\
#!/bin/sh
[ "$1" = build ] || exec {sam} "$@"
exec {python} {this} {endpoint}
"""
# More than a page of them.
MESSAGES = 60
PAGE = 50
PLAN = b"Plant beans in May."


def build(endpoint):
    """Does the work of `sam build`, for an emulator at `endpoint`."""
    template = yaml_parse((ROOT / "infra/template.yaml").read_text())
    template["Parameters"]["AwsEndpoint"]["Default"] = endpoint
    folder = pathlib.Path(".aws-sam/build")
    for id, function in functions_of(template):
        name = pathlib.PurePath(function["Properties"]["CodeUri"]).name
        code = folder / id
        code.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(io.BytesIO(zipped(BINARIES / name))) as package:
            (code / "bootstrap").write_bytes(package.read("bootstrap"))
        (code / "bootstrap").chmod(0o755)
        function["Properties"]["CodeUri"] = id
        function.pop("Metadata", None)
        # The emulator stores the parameter as text, and then compares it with a number.
        events = function["Properties"].get("Events", {})
        if name == "run":
            events["Queue"]["Properties"]["ScalingConfig"] = {"MaximumConcurrency": 2}
        # The emulator is slow while it starts functions.
        function["Properties"]["Timeout"] = 120 if name in ("api", "socket") else 50
    (folder / "template.yaml").write_text(json.dumps(template))


@pytest.fixture(scope="module")
def own_cloud():
    with Cloud() as cloud:
        yield cloud


@pytest.fixture(scope="module")
def client(own_cloud):
    """Makes clients of AWS in the region of the guide."""
    return lambda service: own_cloud.client(service, "eu-central-1")


@pytest.fixture(scope="module")
def terminal(own_cloud, tmp_path_factory):
    """A terminal in a checkout of the repository."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copy(ROOT / "samconfig.toml", folder)
    (folder / "infra").symlink_to(ROOT / "infra")
    commit = ["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--allow-empty"]
    for words in (["init", "-q"], [*commit, "-qm", "A version"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    shims = tmp_path_factory.mktemp("shims")
    values = {"sam": tools() / "sam", "python": sys.executable, "this": __file__}
    (shims / "sam").write_text(SAM.format(**values, endpoint=own_cloud.url))
    (shims / "sam").chmod(stat.S_IRWXU)
    environment = {
        "PATH": f"{shims}:{tools()}:{os.environ['PATH']}",
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "SAM_CLI_TELEMETRY": "0",
        "AWS_ENDPOINT_URL": own_cloud.url,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "ANTHROPIC_API_KEY": "a-key-of-anthropic",
        "SMARTSPACE_BINARIES": str(BINARIES),
    }
    terminal = Terminal(folder, environment)
    yield terminal
    terminal.stop()


@pytest.fixture(scope="module")
def deployed(terminal):
    """The guide, up to where a model's key is set. Returns the address and the admin key."""
    guide = sections(GUIDE)
    for heading in ("Build", "Deploy"):
        for block in guide[heading]:
            terminal.run(block)
    [sign_in] = guide["Sign in"]
    printed = terminal.run(sign_in)
    assert '{"status":"ok"}' in printed, printed
    key = printed.rsplit("Admin key: ", 1)[1].strip()
    return terminal.run("output ApiUrl").strip(), key


def test_every_block_of_the_pages_is_run_or_says_why_not():
    guide, restoring = sections(GUIDE), sections(RESTORING)
    run = ["Build", "Deploy", "Sign in", "Set a model's key", "Upgrade, and go back", "Delete it"]
    assert [heading for heading, blocks in guide.items() if blocks] == run
    run = ["Back up", "Stop all writes", "Restore the table", "Restore the files"]
    run += ["Point the stack at it", "Start again"]
    assert [heading for heading, blocks in restoring.items() if blocks] == run


def test_the_guide_deploys_a_stack_whose_alarms_reach_somebody(client, deployed, terminal):
    address, key = deployed
    assert Client(address, key).get("/v1/me")["kind"] == "operator", key
    stacks = client("cloudformation").describe_stacks(StackName="smartspace")
    outputs = {one["OutputKey"] for one in stacks["Stacks"][0]["Outputs"]}
    assert "Warning" not in outputs
    topics = client("sns").list_subscriptions()["Subscriptions"]
    assert [one["Endpoint"] for one in topics] == ["you@example.com"]
    [set_key] = sections(GUIDE)["Set a model's key"]
    terminal.run(set_key)
    held = json.loads(terminal.run("secret KeysSecretArn"))
    assert held["ANTHROPIC_API_KEY"] == "a-key-of-anthropic" and len(held["callbackKey"]) >= 32


def test_an_older_package_is_deployed_without_a_compiler(deployed, terminal):
    [back] = sections(GUIDE)["Upgrade, and go back"]
    # Nothing changes, which is no error.
    terminal.run(f"rm -rf .aws-sam; {back}")
    assert terminal.run("output ApiUrl").strip() == deployed[0]


def test_a_lost_space_is_restored_with_all_messages_and_files(client, deployed, terminal):
    address, key = deployed
    operator, page = Client(address, key), sections(RESTORING)
    space, file = filled_space(operator)
    before = texts(operator, space)
    assert len(before) == MESSAGES
    terminal.run(preface(RESTORING))
    for block in page["Back up"]:
        terminal.run(block)
    # The marker of a deletion has whole seconds.
    time.sleep(1.1)
    assert operator.call("DELETE", f"/v1/spaces/{space}")[0] == 204
    bucket = terminal.run("echo $bucket").strip()
    wait_for(lambda: not keys_in(client, bucket), what="the deletion of the file")
    assert operator.call("GET", f"/v1/spaces/{space}")[0] == 404

    for heading in ("Stop all writes", "Restore the table", "Restore the files"):
        for block in page[heading]:
            printed = terminal.run(block)
    assert printed == "1 brought back\n", printed
    for heading in ("Point the stack at it", "Start again"):
        for block in page[heading]:
            terminal.run(block)

    assert terminal.run("output ApiUrl").strip() == address
    assert texts(operator, space) == before
    assert download(operator, space, file) == PLAN
    restored = terminal.run("echo $restored").strip()
    assert terminal.run("output TableName").strip() == restored
    table = client("dynamodb").describe_table(TableName=restored)["Table"]
    assert table["DeletionProtectionEnabled"]
    # What is written now is in the restored table.
    person = operator.get(f"/v1/spaces/{space}")["members"][0]["id"]
    operator.make(f"/v1/spaces/{space}/messages", {"text": "We are back", "senderId": person})
    assert texts(operator, space) == [*before, "We are back"]


def test_the_stack_is_deleted_with_its_data(client, deployed, terminal):
    table = terminal.run("output TableName").strip()
    dynamodb = client("dynamodb")
    with pytest.raises(dynamodb.exceptions.ClientError, match="protect"):
        dynamodb.delete_table(TableName=table)
    for block in sections(GUIDE)["Delete it"]:
        terminal.run(block)
    assert table not in dynamodb.list_tables()["TableNames"]
    buckets = [one["Name"] for one in client("s3").list_buckets()["Buckets"]]
    # Only that of SAM is left.
    assert [name for name in buckets if name.startswith("smartspace-")] == [], buckets


def preface(page):
    """The block before the first section of a page."""
    text = (ROOT / page).read_text()
    return text[: text.index("\n## ")].split("```sh\n")[1].split("```")[0]


def filled_space(operator):
    """A space with many messages, the last of which has a file. Returns both ids."""
    person = operator.make("/v1/entities", {"type": "human", "name": "Sara"})["id"]
    space = operator.make("/v1/spaces", {"name": "Team", "members": [person]})["id"]
    messages = f"/v1/spaces/{space}/messages"
    file = uploaded(operator, space)
    bodies = [{"text": f"Hello, number {number}"} for number in range(MESSAGES - 1)]
    for body in [*bodies, {"text": "The plan", "attachments": [file]}]:
        # A sender may post ten messages a second.
        post = lambda body=body: operator.call("POST", messages, body)[0] == 201
        body["senderId"] = person
        wait_for(post, what="a message")
    return space, file


def uploaded(operator, space):
    """A file in a space. Returns its id."""
    body = {"name": "plan.txt", "contentType": "text/plain", "bytes": len(PLAN)}
    body["sha256"] = hashlib.sha256(PLAN).hexdigest()
    made = operator.make(f"/v1/spaces/{space}/attachments", body)
    request = urllib.request.Request(made["uploadUrl"], PLAN, made["headers"], method="PUT")
    urllib.request.urlopen(request).close()
    return made["attachmentId"]


def texts(operator, space):
    found, after = [], 0
    while True:
        items = operator.get(f"/v1/spaces/{space}/messages?after={after}&limit={PAGE}")["items"]
        if not items:
            return found
        found += [part["text"] for item in items for part in item["parts"] if "text" in part]
        after = items[-1]["seq"]


def keys_in(client, bucket):
    found = client("s3").list_objects_v2(Bucket=bucket)
    return [one["Key"] for one in found.get("Contents", [])]


def download(operator, space, file):
    found = operator.get(f"/v1/spaces/{space}/attachments/{file}")
    with urllib.request.urlopen(found["url"]) as answer:
        return answer.read()


if __name__ == "__main__":
    build(sys.argv[1])
