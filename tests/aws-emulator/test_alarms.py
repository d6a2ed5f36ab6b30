"""Alarms fire plans at their time: delayed messages for up to a quarter of an hour, schedules
beyond that.

`sweep`, which runs each minute, only fires plans whose alarm is lost.
"""

import datetime
import json

from client import wait_for

# With sweep alone, which runs each minute, plans would usually be later than this. A lower limit
# would be too low for a busy machine.
AT_ITS_TIME_S = 25


def plan(operator, when):
    _, agent, _ = operator.team("nobody")
    made = operator.make(
        f"/v1/agents/{agent}/plans", {"name": "Later", "instruction": "Look around.", **when}
    )
    return agent, made


def runs(operator, agent):
    return operator.get(f"/v1/agents/{agent}/runs?limit=50")["items"]


def schedules(scheduler, environment, agent):
    """The schedules of an agent. The emulator returns all on one page."""
    names = [
        one["Name"]
        for one in scheduler.list_schedules(
            GroupName=environment["SCHEDULE_GROUP"], MaxResults=100_000
        )["Schedules"]
    ]
    found = [
        scheduler.get_schedule(Name=name, GroupName=environment["SCHEDULE_GROUP"]) for name in names
    ]
    return [schedule for schedule in found if agent in schedule["Target"]["Input"]]


def time_of(text):
    return datetime.datetime.fromisoformat(text)


def text_of(time):
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def move_plan(cloud, stack, agent, plan, at, *also):
    """Sets the next time of a plan, and other attributes of its item to the same time."""
    key = {"PK": {"S": f"ENTITY#{agent}"}, "SK": {"S": f"CTX#PLAN#{plan['id']}"}}
    values = {":at": {"S": at}, ":was": {"S": plan["nextRunAt"]}}
    cloud.client("dynamodb").update_item(
        TableName=stack.outputs["TableName"],
        Key=key,
        UpdateExpression="SET " + ", ".join(f"{name} = :at" for name in ("nextRunAt", *also)),
        ConditionExpression="nextRunAt = :was",
        ExpressionAttributeValues=values,
    )


def test_a_delayed_message_fires_a_plan_once(cloud, stack, operator, model):
    sqs, queue, name = (
        cloud.client("sqs"),
        stack.environment("api")["TRIGGERS_QUEUE_URL"],
        "ApproximateNumberOfMessagesDelayed",
    )
    delayed = lambda: int(
        sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=[name])["Attributes"][name]
    )
    before = delayed()
    agent, made = plan(operator, {"runAfter": "15 seconds"})
    assert delayed() == before + 1
    [run] = wait_for(lambda: runs(operator, agent), 15 + AT_ITS_TIME_S, "the plan's run")
    assert run["trigger"]["planId"] == made["id"] and run["createdAt"] >= made["nextRunAt"]
    assert operator.ended(run["id"])["status"] == "completed"
    assert len(runs(operator, agent)) == 1


def test_a_schedule_fires_a_plan_once_and_the_next_schedule_is_set(cloud, stack, operator, model):
    scheduler, environment = cloud.client("scheduler"), stack.environment("api")
    hour = (datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=12)).hour
    agent, made = plan(operator, {"cron": f"0 {hour} * * *"})
    [schedule] = schedules(scheduler, environment, agent)
    target, job = schedule["Target"], json.loads(schedule["Target"]["Input"])
    assert (target["Arn"], target["RoleArn"]) == (
        environment["TRIGGERS_QUEUE_ARN"],
        environment["SCHEDULE_ROLE_ARN"],
    )
    assert (job["planId"], job["at"]) == (made["id"], made["nextRunAt"])
    assert (schedule["ActionAfterCompletion"], schedule["FlexibleTimeWindow"]) == (
        "DELETE",
        {"Mode": "OFF"},
    )
    due = time_of(made["nextRunAt"])
    fires = time_of(schedule["ScheduleExpression"][len("at(") : -1]).replace(tzinfo=datetime.UTC)
    assert due <= fires <= due + datetime.timedelta(seconds=2)

    # Half a day passes: the schedule and the plan are moved to now. The due time that sweep reads
    # stays the same.
    passed = due - datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=2)
    move_plan(cloud, stack, agent, made, text_of(due - passed))
    now = (fires - passed).replace(tzinfo=None, microsecond=0)
    scheduler.update_schedule(
        Name=schedule["Name"],
        GroupName=schedule["GroupName"],
        ScheduleExpression=f"at({now.isoformat()})",
        FlexibleTimeWindow=schedule["FlexibleTimeWindow"],
        ActionAfterCompletion=schedule["ActionAfterCompletion"],
        Target={**target, "Input": json.dumps({**job, "at": text_of(due - passed)})},
    )
    [run] = wait_for(lambda: runs(operator, agent), 2 + AT_ITS_TIME_S, "the plan's run")
    assert run["trigger"]["planId"] == made["id"]
    assert operator.ended(run["id"])["status"] == "completed"
    [after] = operator.get(f"/v1/agents/{agent}/plans")["items"]
    times = lambda: [
        json.loads(one["Target"]["Input"])["at"] for one in schedules(scheduler, environment, agent)
    ]
    wait_for(lambda: times() == [after["nextRunAt"]], what="only the next schedule")
    assert len(runs(operator, agent)) == 1


def test_sweep_fires_a_plan_whose_alarm_is_lost(cloud, stack, operator, model):
    scheduler, environment = cloud.client("scheduler"), stack.environment("api")
    agent, made = plan(operator, {"runAfter": "20 minutes"})
    [schedule] = schedules(scheduler, environment, agent)
    scheduler.delete_schedule(Name=schedule["Name"], GroupName=schedule["GroupName"])
    # The 20 minutes pass.
    move_plan(
        cloud,
        stack,
        agent,
        made,
        text_of(datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=1)),
        "dueAt",
    )
    assert (
        cloud.client("lambda")
        .invoke(FunctionName=stack.function("sweep"), Payload=b"{}")
        .get("FunctionError")
        is None
    )
    [run] = wait_for(lambda: runs(operator, agent), AT_ITS_TIME_S, "the plan's run")
    assert run["trigger"]["planId"] == made["id"]
    assert operator.ended(run["id"])["status"] == "completed"
