"""What a function's role may do, and taking some of it away."""

import contextlib
import fnmatch
import json

# What tests took away on purpose, as role and action: being refused that is no fault.
TAKEN = set()


@contextlib.contextmanager
def without(stack, function, action):
    """The function's role may not do this, until the end."""
    iam, role = stack.cloud.client("iam"), stack.role(function)
    before = documents(iam, role)
    TAKEN.add((role, action))
    try:
        found = False
        for name, document in before.items():
            statements = [{**one, "Action": [kept for kept in listed(one["Action"]) if kept != action]} for one in document["Statement"]]
            found = found or statements != document["Statement"]
            document = {**document, "Statement": [one for one in statements if one["Action"]]}
            iam.put_role_policy(RoleName=role, PolicyName=name, PolicyDocument=json.dumps(document))
        assert found, f"{function} may not {action} anyway"
        yield
    finally:
        for name, document in before.items():
            iam.put_role_policy(RoleName=role, PolicyName=name, PolicyDocument=json.dumps(document))


def documents(iam, role):
    """A role's policies by their names. It has none that others manage."""
    assert not iam.list_attached_role_policies(RoleName=role)["AttachedPolicies"], role
    names = iam.list_role_policies(RoleName=role)["PolicyNames"]
    return {name: iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"] for name in names}


def granted(iam, role):
    """What it may do: each action, and on what."""
    pairs = set()
    for document in documents(iam, role).values():
        for statement in document["Statement"]:
            assert statement["Effect"] == "Allow", statement
            pairs |= {(action, resource) for action in listed(statement["Action"]) for resource in listed(statement["Resource"])}
    return pairs


def covers(pattern, resource):
    return fnmatch.fnmatchcase(resource, pattern.replace("[", "[[]"))


def listed(value):
    return value if isinstance(value, list) else [value]
