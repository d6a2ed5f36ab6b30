"""Calls the API with the package that openapi-python-client has generated."""

import json
import os

from smartspace_client import AuthenticatedClient
from smartspace_client.api.agents import list_plans
from smartspace_client.api.entities import show_entity
from smartspace_client.api.messages import create_message, list_messages
from smartspace_client.api.runs import list_runs_of_space
from smartspace_client.models import (
    CronPlan,
    MessageBody,
    SpaceMessageOrigin,
    TextPart,
    ToolPart,
)

given = json.loads(os.environ["GIVEN"])
client = AuthenticatedClient(given["base"], given["key"], raise_on_unexpected_status=True)
space, agent = given["space"], given["agent"]

body = MessageBody(text="Generated.", sender_id=given["person"])
made = create_message.sync(space, client=client, body=body)
assert made.parts[0].text == "Generated.", made

messages = list_messages.sync(space, client=client).items
card = next(message for message in messages if isinstance(message.parts[0], ToolPart))
assert card.parts[0].name == "ask" and card.parts[0].result_schema["type"] == "object", card
assert isinstance(card.origin, SpaceMessageOrigin) and card.origin.seq == 1, card
own = next(message for message in messages if message.id == made.id)
assert isinstance(own.parts[0], TextPart) and own.parts[0].text == "Generated.", own

[run, *_] = [run for run in list_runs_of_space.sync(space, client=client).items if run.trigger]
assert run.trigger.type_ == "space_message" and run.agent_id == agent, run
assert show_entity.sync(agent, client=client).agent.tools[0].input_schema["type"] == "object"
[plan] = list_plans.sync(agent, client=client).items
assert plan.cron == "0 9 * * *" and isinstance(plan.type_, str), plan
