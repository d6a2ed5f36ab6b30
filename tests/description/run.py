"""Checks the OpenAPI description with the linters that its readers use, and with clients that
generators make from it: `run.py [--all]`.

It needs the packages of tests/description/requirements.txt and package.json, and the binary.
Each generated client posts a message and reads messages, cards, runs and plans of the product.
With `--all` one of them is made by openapi-generator, which needs half a minute.
"""

import argparse
import json
import os
import pathlib
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))

from local_product import BINARY, ROOT, LocalProduct, NotReady, free_address

DESCRIPTION = ROOT / "docs/reference/openapi.json"
MODULES = HERE / "node_modules"
BIN = pathlib.Path(sys.executable).parent
ANSWER_LIMIT_S = 30


def main():
    flags = argparse.ArgumentParser(description=__doc__)
    flags.add_argument("--all", action="store_true")
    flags = flags.parse_args()
    lint()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        clients = [*typescript_clients(folder), python_client(folder)]
        if flags.all:
            clients.append(java_generated_client(folder))
        with_product(folder, clients)


def lint():
    run(BIN / "openapi-spec-validator", DESCRIPTION)
    redocly = MODULES / "@redocly/cli/bin/cli.js"
    run("node", redocly, "lint", "--extends", "recommended", DESCRIPTION)
    spectral = MODULES / "@stoplight/spectral-cli/dist/index.js"
    run("node", spectral, "lint", "--ruleset", HERE / "spectral.yaml", DESCRIPTION)


def typescript_clients(folder):
    """Generates, checks and bundles the clients in TypeScript. Returns their commands."""
    sources = folder / "typescript"
    shutil.copytree(HERE / "clients", sources)
    (folder / "node_modules").symlink_to(MODULES)
    generated = sources / "generated"
    types = ["node", MODULES / "openapi-typescript/bin/cli.js", DESCRIPTION]
    run(*types, "--output", generated / "types.ts")
    hey = ["node", MODULES / "@hey-api/openapi-ts/bin/run.js", "--no-log-file"]
    run(*hey, "--input", DESCRIPTION, "--output", generated / "hey", cwd=folder)
    run("node", MODULES / "typescript/bin/tsc", "--project", sources)
    commands = []
    for name in ("openapi_fetch", "hey_api"):
        made = folder / f"{name}.mjs"
        bundle = ["node", MODULES / "esbuild/bin/esbuild", sources / f"{name}.ts", "--bundle"]
        run(*bundle, "--format=esm", "--platform=node", "--log-level=error", f"--outfile={made}")
        commands.append((["node", made], {}))
    return commands


def python_client(folder):
    made = folder / "python"
    generate = [BIN / "openapi-python-client", "generate", "--path", DESCRIPTION, "--meta", "none"]
    output = run(*generate, "--output-path", made / "smartspace_client")
    # It leaves out what it cannot read, and succeeds.
    if "Unable to" in output or "WARNING" in output:
        raise SystemExit(f"openapi-python-client leaves something out:\n{output}")
    return python_command("openapi_python_client.py", made)


def java_generated_client(folder):
    made = folder / "generator"
    package = "packageName=smartspace_generated"
    generate = [BIN / "openapi-generator-cli", "generate", "--generator-name", "python"]
    run(*generate, "-i", DESCRIPTION, "-o", made, "--additional-properties", package)
    return python_command("openapi_generator.py", made)


def python_command(name, made):
    return [sys.executable, HERE / "clients" / name], {"PYTHONPATH": str(made)}


def with_product(folder, clients):
    """Runs each client against the product."""
    address, key = free_address(), f"description-tests-{secrets.token_hex(8)}"
    command = [BINARY, "--listen", address, "--data", ":memory:", "--admin-key", key]
    product = LocalProduct([*command, "--log", "warn"], address, folder / "log")
    try:
        product.wait_until_ready()
        given = json.dumps(prepare(f"http://{address}", key))
        for client, environment in clients:
            run(*client, GIVEN=given, **environment)
            print(f"{pathlib.Path(client[-1]).name} works")
    except NotReady as error:
        raise SystemExit(str(error)) from None
    finally:
        product.stop()


def prepare(base, key):
    """Makes an agent with a plan, and a card of it in a space with a person."""

    def ask(path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
        request = urllib.request.Request(base + path, data, headers)
        with urllib.request.urlopen(request, timeout=ANSWER_LIMIT_S) as answer:
            return json.load(answer)

    schema = {"type": "object", "properties": {"day": {"type": "string"}}}
    form = {"type": "space", "resultSchema": schema, "answerBy": "anyone"}
    tool = {"name": "ask", "description": "Asks.", "inputSchema": schema, "execution": form}
    script = {"rules": [{"steps": [{"calls": [{"tool": "ask", "input": {}}]}]}]}
    model = {"provider": "scripted", "name": "demo", "script": script}
    config = {"model": model, "tools": [tool]}
    agent = ask("/v1/entities", {"type": "agent", "name": "Ask", "agent": config})["id"]
    person = ask("/v1/entities", {"type": "human", "name": "Sara"})["id"]
    plan = {"name": "Daily", "instruction": "Look around.", "cron": "0 9 * * *"}
    ask(f"/v1/agents/{agent}/plans", plan)
    space = ask("/v1/spaces", {"name": "Team", "members": [person, agent]})["id"]
    ask(f"/v1/spaces/{space}/messages", {"text": "Ask me.", "senderId": person})
    started = time.monotonic()
    while not ask(f"/v1/spaces/{space}/messages?after=1")["items"]:
        if time.monotonic() - started > ANSWER_LIMIT_S:
            raise SystemExit("the agent did not ask")
        time.sleep(0.02)
    return {"base": base, "key": key, "space": space, "agent": agent, "person": person}


def run(*command, cwd=HERE, **environment):
    """Runs a command to its end and returns its output, which is shown if it fails."""
    quiet = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **quiet, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    output = done.stdout + done.stderr
    if done.returncode:
        raise SystemExit(f"{pathlib.Path(str(command[0])).name} failed:\n{output}")
    return output


if __name__ == "__main__":
    main()
