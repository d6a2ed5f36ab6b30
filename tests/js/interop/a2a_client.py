"""Drives an agent with the A2A Python SDK, unmodified: `a2a_client.py CARD_BASE TOKEN`.

It asks, is asked by forms, answers them with data and with text, follows a task that waits, and
lists its tasks. It writes what it saw as JSON.
"""

import asyncio
import json
import sys
import uuid

import httpx
from a2a.client import ClientConfig, ClientFactory
from a2a.types import (
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskState,
)
from a2a.utils.errors import A2AError
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Value


def request_of(part, **more):
    message = Message(message_id=str(uuid.uuid4()), role=Role.ROLE_USER, parts=[part], **more)
    return SendMessageRequest(message=message)


async def follow(stream):
    """The states and the text of a stream, and the last task."""
    states, text, task = [], "", None
    async for event in stream:
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


async def refusal(call):
    """The name of the error with which a call is refused."""
    try:
        await call
    except A2AError as error:
        return type(error).__name__
    return None


async def answer_while_followed(client, task):
    """The states that a subscription shows while a text answers the task."""
    stream = client.subscribe(SubscribeToTaskRequest(id=task.id))
    first = await anext(stream)
    answer = request_of(Part(text="Approve"), task_id=task.id)
    (states, _, _), _ = await asyncio.gather(follow(stream), follow(client.send_message(answer)))
    return [TaskState.Name(first.task.status.state), *states]


async def lists(client, context):
    """What two pages of a list have, and the list with artifacts."""
    request = ListTasksRequest(page_size=2, status=TaskState.TASK_STATE_COMPLETED)
    page = await client.list_tasks(request)
    request.page_token = page.next_page_token
    rest = await client.list_tasks(request)
    whole = await client.list_tasks(ListTasksRequest(context_id=context, include_artifacts=True))
    return {
        "pages": [len(page.tasks), len(rest.tasks), page.total_size, rest.next_page_token],
        "artifacts": [len(task.artifacts) for task in whole.tasks],
    }


async def main(base, token):
    async with httpx.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=30) as http:
        client = await ClientFactory(ClientConfig(httpx_client=http)).create_from_url(base)
        asked = await follow(client.send_message(request_of(Part(text="When does it open?"))))
        order = Part(text="Please order roses.")
        states, _, task = await follow(client.send_message(request_of(order)))
        choice = Part(data=ParseDict({"choice": "Approve"}, Value()))
        answer = request_of(choice, task_id=task.id, context_id=task.context_id)
        answered = await follow(client.send_message(answer))
        done = await client.get_task(GetTaskRequest(id=task.id))
        _, _, second = await follow(client.send_message(request_of(order)))
        followed = await answer_while_followed(client, second)
        print(
            json.dumps(
                {
                    "asked": asked[:2],
                    "waited": states,
                    "answered": answered[:2],
                    "done": MessageToDict(done.status)["state"],
                    "history": [message.parts[0].text for message in done.history],
                    "followed": followed,
                    "lists": await lists(client, task.context_id),
                    "unknown": await refusal(client.get_task(GetTaskRequest(id="x"))),
                    "badPage": await refusal(client.list_tasks(ListTasksRequest(page_size=101))),
                }
            )
        )


asyncio.run(main(*sys.argv[1:]))
