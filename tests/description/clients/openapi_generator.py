"""Calls the API with the package that openapi-generator has generated."""

import json
import os

import smartspace_generated as api

given = json.loads(os.environ["GIVEN"])
settings = api.Configuration(host=given["base"], access_token=given["key"])
client = api.ApiClient(settings)
space, agent = given["space"], given["agent"]
messages_api = api.MessagesApi(client)

body = api.MessageBody(text="Generated.", sender_id=given["person"])
made = messages_api.create_message(space, body)
assert made.parts[0].actual_instance.text == "Generated.", made

messages = messages_api.list_messages(space).items
card = next(
    message for message in messages if isinstance(message.parts[0].actual_instance, api.ToolPart)
)
part, origin = card.parts[0].actual_instance, card.origin.actual_instance
assert part.name == "ask" and part.result_schema["type"] == "object", card
assert isinstance(origin, api.SpaceMessageOrigin) and origin.seq == 1, card
own = next(message for message in messages if message.id == made.id)
assert own.parts[0].actual_instance.text == "Generated.", own

[run, *_] = api.RunsApi(client).list_runs_of_space(space).items
assert run.trigger.actual_instance and run.agent_id == agent, run
shown = api.EntitiesApi(client).show_entity(agent)
assert shown.agent.tools[0].input_schema["type"] == "object", shown
[plan] = api.AgentsApi(client).list_plans(agent).items
assert plan.actual_instance.cron == "0 9 * * *", plan
