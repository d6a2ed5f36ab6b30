"""What must be true in the end. Each function yields the faults that it finds."""


def judge(load):
    runs = {run["id"]: run for run in load.runs()}
    stored = {space: load.api.messages(space) for space in load.spaces}
    faults = list(load.errors)
    faults += [f"a run failed: {run}" for run in runs.values() if run["status"] == "failed"]
    for space, messages in stored.items():
        if [message["seq"] for message in messages] != list(range(1, len(messages) + 1)):
            faults.append(f"the order of {space} has gaps")
    messages = {message["id"]: message for space in stored.values() for message in space}
    faults += lost(load, messages)
    faults += woken(runs, messages)
    faults += answers(load, runs, messages)
    faults += forms(load, messages)
    faults += triggered(load, runs)
    return faults + list(unreadable(load, runs))


def text_of(message):
    return "".join(part.get("text", "") for part in message["parts"])


def lost(load, messages):
    """Acknowledged messages that are not stored, or stored twice."""
    texts = [text_of(message) for message in messages.values()]
    for text, (_, message, _) in load.acknowledged.items():
        if message not in messages or text_of(messages[message]) != text:
            yield f"lost: {text}"
        elif texts.count(text) != 1:
            yield f"stored {texts.count(text)} times: {text}"


def woken(runs, messages):
    """Messages that did not trigger exactly the runs that they name."""
    by_message = {}
    for run in runs.values():
        if run["trigger"]["type"] == "space_message":
            by_message.setdefault((run["trigger"]["messageId"], run["agentId"]), []).append(
                run["id"]
            )
    for message in messages.values():
        for decision in message["dispatch"]:
            found = by_message.get((message["id"], decision["agentId"]), [])
            if found != ([decision["runId"]] if decision["runId"] else []):
                yield f"{text_of(message)}: runs {found} instead of {decision}"


def answers(load, runs, messages):
    """Runs that did not answer a person exactly once."""
    said = {}
    for message in messages.values():
        said.setdefault(message["runId"], []).append(text_of(message))
    for run in runs.values():
        asked = messages.get(run["trigger"].get("messageId"))
        if asked and asked["sender"]["type"] == "human" and run["agentId"] != load.agents["Asker"]:
            found = said.get(run["id"], [])
            if len(found) != 1 or not found[0].startswith(f"You said: {text_of(asked)}"):
                yield f"{text_of(asked)}: {run['status']} run {run['id']} said {found}"


def forms(load, messages):
    """Requested forms that were not asked once, answered once and taken note of once."""
    of_run = {}
    for message in messages.values():
        of_run.setdefault(message["runId"], []).append(message)
    cards = {
        part["callId"]: part
        for message in messages.values()
        for part in message["parts"]
        if part["type"] == "tool"
    }
    for message in messages.values():
        for decision in message["dispatch"]:
            if (
                decision["agentId"] != load.agents["Asker"]
                or not decision["runId"]
                or "form please" not in text_of(message)
            ):
                continue
            said = [text_of(one) for one in of_run.get(decision["runId"], [])]
            if sorted(said) != ["", "You chose: A"]:
                yield f"{text_of(message)}: run {decision['runId']} said {said}"
    for call, run in load.answered.items():
        if (
            call not in cards
            or cards[call]["status"] != "completed"
            or cards[call]["output"] != {"choice": "A"}
        ):
            yield f"the answer to {call} of {run} is lost: {cards.get(call)}"


def triggered(load, runs):
    """Deliveries and plans that have no run, or several."""
    of_plan = {}
    for run in runs.values():
        of_plan.setdefault(run["trigger"].get("planId"), []).append(run["id"])
    for number, delivery in load.deliveries.items():
        if delivery["runId"] not in runs:
            yield f"delivery {number} has no run: {delivery}"
    for plan in load.plans:
        if len(of_plan.get(plan, [])) != 1:
            yield f"plan {plan} has the runs {of_plan.get(plan)}"


def unreadable(load, runs):
    """Reads everything else that is stored."""
    agent = load.agents["Echo"]
    paths = [f"/v1/agents/{agent}/{kind}" for kind in ("memories", "goals", "plans")]
    paths += [f"/v1/agents/{load.agents['Asker']}/deliveries", "/v1/entities", "/v1/spaces"]
    for path in paths:
        if not load.api.all(path):
            yield f"nothing at {path}"
    for run in list(runs)[:20]:
        load.api.call("GET", f"/v1/runs/{run}")
