"""The rights of a function's role, and removing some of them."""

import contextlib
import fnmatch
import json

# Rights that tests removed, as role and action. Their refusals are not failures.
TAKEN = set()


@contextlib.contextmanager
def without(stack, function, action):
    """Removes a right from the function's role while the context is open."""
    iam, role = stack.cloud.client("iam"), stack.role(function)
    before = documents(iam, role)
    TAKEN.add((role, action))
    try:
        found = False
        for name, document in before.items():
            statements = [
                {**one, "Action": [kept for kept in listed(one["Action"]) if kept != action]}
                for one in document["Statement"]
            ]
            found = found or statements != document["Statement"]
            document = {**document, "Statement": [one for one in statements if one["Action"]]}
            iam.put_role_policy(RoleName=role, PolicyName=name, PolicyDocument=json.dumps(document))
        assert found, f"{function} may not {action} anyway"
        yield
    finally:
        for name, document in before.items():
            iam.put_role_policy(RoleName=role, PolicyName=name, PolicyDocument=json.dumps(document))


def documents(iam, role):
    """The inline policies of a role by name. A role has no managed policies."""
    assert not iam.list_attached_role_policies(RoleName=role)["AttachedPolicies"], role
    names = iam.list_role_policies(RoleName=role)["PolicyNames"]
    return {
        name: iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
        for name in names
    }


def granted(iam, role):
    """The granted pairs of action and resource."""
    pairs = set()
    for document in documents(iam, role).values():
        for statement in document["Statement"]:
            assert statement["Effect"] == "Allow", statement
            pairs |= {
                (action, resource)
                for action in listed(statement["Action"])
                for resource in listed(statement["Resource"])
            }
    return pairs


def covers(pattern, resource):
    return fnmatch.fnmatchcase(resource, pattern.replace("[", "[[]"))


def listed(value):
    return value if isinstance(value, list) else [value]
