"""The other protocols, through their REST API.

The emulator passes on a streamed answer once it is whole. `tests/e2e/protocols.rs` looks at the
parts of an answer as the function sends them.
"""

import base64
import hashlib
import hmac
import json
import time
import urllib.error
import urllib.request

import pytest

from model import say
from settings import SETTINGS

ANSWER = "The garden opens at nine."


def encoded(part):
    return base64.urlsafe_b64encode(part).rstrip(b"=")


def token_of(person):
    """A token for a person, signed with the stack's jwtSecret."""
    claims = {"sub": person, "exp": int(time.time()) + 3_600}
    header = {"alg": "HS256", "typ": "JWT"}
    signed = b".".join(encoded(json.dumps(part).encode()) for part in (header, claims))
    secret = SETTINGS["SMARTSPACE_JWT_SECRET"].encode()
    signature = hmac.new(secret, signed, hashlib.sha256).digest()
    return (signed + b"." + encoded(signature)).decode()


@pytest.fixture
def protocols(stack):
    """Calls a protocol. Returns the status, the headers and the text."""

    def ask(path, body=None, token=None, method=None, **headers):
        headers |= {"content-type": "application/json"}
        if token:
            headers["authorization"] = f"Bearer {token}"
        data = None if body is None else json.dumps(body).encode()
        url = stack.outputs["ProtocolsUrl"] + path
        request = urllib.request.Request(url, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return answer.status, answer.headers, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, error.read().decode()

    return ask


@pytest.fixture
def scene(operator, model):
    """A space with an agent that answers. Returns its person's token, the agent and the space."""
    person, agent, space = operator.team("opens")
    model.plays("opens", say(ANSWER))
    return token_of(person), agent, space


def events(text):
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line.startswith("{")]


def streamed_text(sent, kind):
    return "".join(event["delta"] for event in sent if event["type"] == kind)


def test_the_ai_sdk_gets_a_turn(protocols, operator, scene):
    token, _, space = scene
    message = {"id": "1", "role": "user", "parts": [{"type": "text", "text": "When does it open?"}]}
    body = {"id": space, "messages": [message], "trigger": "submit-message"}
    status, headers, text = protocols("/v1/chat", body, token)
    assert (status, headers["content-type"]) == (200, "text/event-stream"), text
    assert headers["x-vercel-ai-ui-message-stream"] == "v1", text
    assert streamed_text(events(text), "text-delta") == ANSWER, text
    assert operator.texts(space) == ["When does it open?", ANSWER]
    assert text.rstrip().endswith("data: [DONE]")


def test_agui_gets_a_turn(protocols, operator, scene):
    token, _, space = scene
    message = {"id": "1", "role": "user", "content": "When does it open?"}
    body = {"threadId": space, "runId": "run-1", "messages": [message]}
    body |= {"tools": [], "context": [], "state": {}, "forwardedProps": {}}
    status, _, text = protocols("/v1/agui", body, token)
    sent = events(text)
    assert (status, sent[0]["type"], sent[-1]["type"]) == (200, "RUN_STARTED", "RUN_FINISHED"), text
    assert streamed_text(sent, "TEXT_MESSAGE_CONTENT") == ANSWER, text


def test_an_mcp_client_posts_and_waits(protocols, scene):
    token, _, space = scene
    message = {"spaceId": space, "text": "When does it open?", "waitSeconds": 20}
    call = {"name": "post_message", "arguments": message}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    accept = "application/json, text/event-stream"
    status, _, text = protocols("/v1/mcp", body, token, accept=accept)
    assert status == 200 and ANSWER in text, text


def test_the_card_of_an_open_agent_names_the_address_that_was_called(
    protocols, operator, stack, scene
):
    token, agent, _ = scene
    assert operator.call("PATCH", f"/v1/entities/{agent}", {"agent": {"open": True}})[0] == 200
    status, _, text = protocols(f"/v1/agents/{agent}/.well-known/agent-card.json", token=token)
    assert status == 200, text
    url = json.loads(text)["supportedInterfaces"][0]["url"]
    assert url == f"{stack.outputs['ProtocolsUrl']}/v1/agents/{agent}/a2a"
    message = {"messageId": "1", "role": "ROLE_USER", "parts": [{"text": "When does it open?"}]}
    body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}
    status, _, text = protocols(f"/v1/agents/{agent}/a2a", body, token, **{"A2A-Version": "1.0"})
    assert status == 200 and ANSWER in text, text


def test_protocols_refuse_as_the_api_does(protocols, stack, scene):
    token, _, space = scene
    body = {"id": space, "messages": [], "trigger": "submit-message"}
    for credential, status in ((None, 401), ("nobody's", 401), (stack.secret["adminKey"], 403)):
        got, headers, text = protocols("/v1/chat", body, credential)
        assert (got, headers["content-type"]) == (status, "application/problem+json"), text
    assert protocols("/v1/chat", body | {"id": "spc_00000000000000000000000000"}, token)[0] == 404
    status, headers, text = protocols("/v1/elsewhere", body, token)
    assert (status, json.loads(text)["instance"].startswith("urn:request:")) == (404, True), text
    page = {"origin": "https://page.test", "access-control-request-method": "POST"}
    status, headers, _ = protocols("/v1/chat", method="OPTIONS", **page)
    assert (status, headers["access-control-allow-origin"]) == (200, None)
