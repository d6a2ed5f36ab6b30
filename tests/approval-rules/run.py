"""Compares the approval rules of the product with a reading of their own: `run.py [--seed N]`.

It generates lists of rules and calls, asks the running product what each call needs, and works the
same out from the rules' description alone: a deny anywhere in the list wins, else the first rule
that asks; an expression with an error counts as true. It needs nothing but Python.
"""

import argparse
import collections
import http.client
import json
import pathlib
import random
import re
import secrets
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))

from local_product import BINARY, LocalProduct, NotReady, free_address

LISTS = 500
CALLS_OF_A_LIST = 4
# No outcome may be rarer than this, or the comparison would show little.
RAREST = 0.1

TOOLS = ["transfer", "drop_table", "drop_all", "github__merge", "github__read", "send_message"]
TOOLS += ["skip_response", "get"]
PATTERNS = ["*", "drop_*", "github__*", "*_all", "s*e", "*e*", "tr*s*er", "skip_*", "GET", "g*t*t"]
PEOPLE = ["members", "owners"]


class Wrong(Exception):
    """The error of an expression."""


def main():
    flags = argparse.ArgumentParser(description=__doc__)
    flags.add_argument("--seed", type=int, default=1)
    flags = flags.parse_args()
    address, key = free_address(), f"approval-rules-{secrets.token_hex(8)}"
    with tempfile.TemporaryDirectory() as folder:
        command = [BINARY, "--listen", address, "--data", ":memory:", "--admin-key", key]
        command += ["--log", "warn", "--no-rate-limit"]
        product = LocalProduct(command, address, pathlib.Path(folder) / "log")
        try:
            product.wait_until_ready()
            return compare(Operator(address, key), random.Random(flags.seed))
        except NotReady as error:
            raise SystemExit(str(error)) from None
        finally:
            product.stop()


class Operator:
    """Calls the product with the admin key, over one connection."""

    def __init__(self, address, key):
        self.connection = http.client.HTTPConnection(address, timeout=30)
        self.headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}

    def ask(self, method, path, body):
        self.connection.request(method, path, json.dumps(body), self.headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise SystemExit(f"{method} {path} {json.dumps(body)}: {answer.status} {text.decode()}")
        return json.loads(text)


def compare(operator, dice):
    """Asks the product about every call. Returns the exit code."""
    model = {"provider": "scripted", "name": "demo", "script": {"rules": []}}
    agents = []
    for name in ("Ada", "Ben"):
        body = {"type": "agent", "name": name, "agent": {"model": model}}
        agents.append({"id": operator.ask("POST", "/v1/entities", body)["id"], "name": name})
    spaces = [None]
    for name in ("Desk", "Bank"):
        id = operator.ask("POST", "/v1/spaces", {"name": name})["id"]
        spaces.append({"id": id, "name": name})
    people = [
        operator.ask("POST", "/v1/entities", {"type": "human", "name": f"Person {number}"})["id"]
        for number in range(3)
    ]
    seen, differences = collections.Counter(), []
    for _ in range(LISTS):
        agent = dice.choice(agents)
        rules = [rule_of(dice, people) for _ in range(dice.randrange(6))]
        written = [written_out(rule) for rule in rules]
        patch = {"agent": {"approvals": written}}
        operator.ask("PATCH", f"/v1/entities/{agent['id']}", patch)
        for _ in range(CALLS_OF_A_LIST):
            call = call_of(dice, agent, dice.choice(spaces))
            expected = outcome(rules, call)
            found = preview(operator, call)
            seen[expected["verdict"]] += 1
            if found != expected:
                differences.append({"rules": written, "call": call, "product": found, **expected})
    return report(seen, differences)


def written_out(rule):
    return {**rule, "when": rule["when"].text} if "when" in rule else rule


def report(seen, differences):
    total = sum(seen.values())
    for verdict in ("make", "deny", "ask"):
        if seen[verdict] < RAREST * total:
            differences.append(f"only {seen[verdict]} of {total} calls should be: {verdict}")
    print(f"{LISTS} lists, {total} calls: {dict(seen)}, {len(differences)} differences")
    for difference in differences[:5]:
        print(json.dumps(difference), file=sys.stderr)
    return 1 if differences else 0


def preview(operator, call):
    body = {"tool": call["tool"], "input": call["input"]}
    if call["space"]:
        body["spaceId"] = call["space"]["id"]
    path = f"/v1/agents/{call['agent']['id']}/approvals/preview"
    found = operator.ask("POST", path, body)
    found.pop("allowanceId")
    return found


# The reading of the rules.


def outcome(rules, call):
    """What the product must say about a call."""
    fitting = [(index, rule) for index, rule in enumerate(rules) if fits(rule, call)]
    for wanted in ("deny", "ask"):
        for index, rule in fitting:
            if rule.get("action", "ask") == wanted:
                asks = wanted == "ask"
                return {
                    "verdict": wanted,
                    "rule": index,
                    "by": rule.get("by", "members") if asks else None,
                    "quorum": rule.get("quorum", 1) if asks else None,
                }
    return {"verdict": "make", "rule": None, "by": None, "quorum": None}


def fits(rule, call):
    if call["tool"] == "skip_response" or not any(
        re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), call["tool"])
        for pattern in rule["tools"]
    ):
        return False
    if "when" not in rule:
        return True
    try:
        return boolean(rule["when"].value(call))
    except Wrong:
        return True


def boolean(value):
    if not isinstance(value, bool):
        raise Wrong
    return value


# Expressions: a text in CEL, and a function that gives its value for a call.

Expression = collections.namedtuple("Expression", "text value")


def constant(value):
    return Expression("null" if value is None else json.dumps(value), lambda call: value)


def variable(name):
    return Expression(name, lambda call: call[name])


def field(of, name):
    def value(call):
        found = of.value(call)
        if not isinstance(found, dict) or name not in found:
            raise Wrong
        return found[name]

    return Expression(f"{of.text}.{name}", value)


def has(of, name):
    def value(call):
        found = of.value(call)
        if not isinstance(found, dict):
            raise Wrong
        return name in found

    return Expression(f"has({of.text}.{name})", value)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def kind_of(value):
    return "number" if is_number(value) else type(value).__name__


def equals(one, other):
    def value(call):
        left, right = one.value(call), other.value(call)
        return kind_of(left) == kind_of(right) and left == right

    return Expression(f"({one.text} == {other.text})", value)


def more_than(one, other):
    def value(call):
        left, right = one.value(call), other.value(call)
        if kind_of(left) != kind_of(right) or kind_of(left) not in ("number", "str", "bool"):
            raise Wrong
        return left > right

    return Expression(f"({one.text} > {other.text})", value)


def double(of):
    def value(call):
        found = of.value(call)
        if is_number(found):
            return float(found)
        if isinstance(found, str) and re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", found):
            return float(found)
        raise Wrong

    return Expression(f"double({of.text})", value)


def size(of):
    def value(call):
        found = of.value(call)
        if not isinstance(found, (str, list, dict)):
            raise Wrong
        return len(found)

    return Expression(f"size({of.text})", value)


def starts_with(of, start):
    def value(call):
        found = of.value(call)
        if not isinstance(found, str):
            raise Wrong
        return found.startswith(start)

    return Expression(f"{of.text}.startsWith({json.dumps(start)})", value)


def negated(of):
    return Expression(f"!({of.text})", lambda call: not boolean(of.value(call)))


def joined(one, other, sign, deciding):
    """`&&` or `||`: a deciding operand overrides an error of the other one."""

    def value(call):
        values = []
        for operand in (one, other):
            try:
                values.append(boolean(operand.value(call)))
            except Wrong:
                values.append(None)
        if deciding in values:
            return deciding
        if None in values:
            raise Wrong
        return not deciding

    return Expression(f"({one.text} {sign} {other.text})", value)


# What is generated.


def rule_of(dice, people):
    rule = {"tools": dice.sample(TOOLS[:6] + PATTERNS, dice.randint(1, 3))}
    if dice.random() < 0.25:
        rule["action"] = "deny"
    elif dice.random() < 0.3:
        rule["action"] = "ask"
    if dice.random() < 0.8:
        rule["when"] = condition(dice, 2)
    if dice.random() < 0.3:
        rule["by"] = dice.choice(PEOPLE)
    elif dice.random() < 0.3:
        rule["by"] = people
    if dice.random() < 0.3:
        rule["quorum"] = dice.randint(1, 3)
    return rule


def condition(dice, depth):
    if depth and dice.random() < 0.5:
        one, other = condition(dice, depth - 1), condition(dice, depth - 1)
        return dice.choice(
            [negated(one), joined(one, other, "&&", False), joined(one, other, "||", True)]
        )
    amount = field(variable("input"), "amount")
    inside = field(variable("input"), "to")
    space, agent = variable("space"), variable("agent")
    return dice.choice(
        [
            more_than(double(amount), constant(dice.choice([0.5, 500.0]))),
            more_than(amount, constant(dice.choice([0, 500, "m"]))),
            equals(amount, constant(dice.choice([500, True, None, "500"]))),
            more_than(size(inside), constant(dice.randint(0, 3))),
            equals(inside, constant(dice.choice(["bank", "me"]))),
            has(variable("input"), dice.choice(["amount", "to"])),
            field(variable("input"), "sure"),
            equals(variable("tool"), constant(dice.choice(TOOLS))),
            starts_with(variable("tool"), dice.choice(["dr", "g", "x"])),
            equals(field(agent, "name"), constant("Ada")),
            equals(space, constant(None)),
            equals(field(space, "name"), constant("Desk")),
            starts_with(field(space, "id"), dice.choice(["spc_", "ent_"])),
            constant(dice.choice([True, False])),
        ]
    )


def call_of(dice, agent, space):
    input = {}
    if dice.random() < 0.8:
        input["amount"] = dice.choice([0, 1, 500, 501, 0.25, 500.5, -3, "900", "much", True, None])
    if dice.random() < 0.7:
        input["to"] = dice.choice(["bank", "me", "", ["a", "b"], [], {"a": 1, "b": 2}, 7])
    if dice.random() < 0.5:
        input["sure"] = dice.choice([True, False, "yes"])
    if dice.random() < 0.05:
        input = dice.choice([[], "text", None, 5])
    return {"tool": dice.choice(TOOLS), "input": input, "agent": agent, "space": space}


if __name__ == "__main__":
    sys.exit(main())
