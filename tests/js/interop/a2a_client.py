"""Drives an agent with the A2A Python SDK, unmodified: `a2a_client.py CARD_BASE TOKEN`.

It asks, is asked by a form, answers it, and writes what it saw as JSON.
"""

import asyncio
import json
import sys
import uuid

import httpx
from a2a.client import ClientConfig, ClientFactory
from a2a.types import GetTaskRequest, Message, Part, Role, SendMessageRequest, TaskState
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Value


def request_of(part, **more):
    message = Message(message_id=str(uuid.uuid4()), role=Role.ROLE_USER, parts=[part], **more)
    return SendMessageRequest(message=message)


async def send(client, request):
    """The states and the text that a message brought, and the last task."""
    states, text, task = [], "", None
    async for event in client.send_message(request):
        kind = event.WhichOneof("payload")
        if kind == "task":
            task = event.task
            states.append(TaskState.Name(task.status.state))
            text += "".join(part.text for artifact in task.artifacts for part in artifact.parts)
        elif kind == "status_update":
            states.append(TaskState.Name(event.status_update.status.state))
        elif kind == "artifact_update":
            update = event.artifact_update
            text = (text if update.append else "") + "".join(
                part.text for part in update.artifact.parts
            )
    return states, text, task


async def main(base, token):
    async with httpx.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=30) as http:
        client = await ClientFactory(ClientConfig(httpx_client=http)).create_from_url(base)
        asked = await send(client, request_of(Part(text="When does it open?")))
        states, _, task = await send(client, request_of(Part(text="Please order roses.")))
        choice = Part(data=ParseDict({"choice": "Approve"}, Value()))
        answered = await send(
            client, request_of(choice, task_id=task.id, context_id=task.context_id)
        )
        done = await client.get_task(GetTaskRequest(id=task.id))
        print(
            json.dumps(
                {
                    "asked": asked[:2],
                    "waited": states,
                    "answered": answered[:2],
                    "done": MessageToDict(done.status)["state"],
                }
            )
        )


asyncio.run(main(*sys.argv[1:]))
