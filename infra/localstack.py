#!/usr/bin/env python3
"""Makes what one function needs on an emulator of AWS (docs/guide/one-function.md).

    infra/localstack.py                     LocalStack on this machine
    infra/localstack.py --endpoint URL      another emulator, such as ministack or moto

It reads infra/template.yaml and creates the table, the queues with their dead letters, the bucket,
the secrets and the schedule group. What exists is left as it is. It writes the environment that the
template gives the functions to a file for `cargo lambda watch --env-file`.

Everything else of the template is left out, such as roles and gateways: a free emulator does not
have them all, and one function by itself needs none. Needs boto3 and PyYAML.
"""

import argparse
import json
import os
import pathlib
import re
import secrets
import sys

import boto3
import yaml

TEMPLATE = pathlib.Path(__file__).resolve().parent / "template.yaml"
REGION = "us-east-1"
# All that an emulator checks of its callers.
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
# The same as in the samples of `events/`.
KNOWN_SECRETS = {
    "adminKey": "the-operators-own-key",
    "jwtSecret": "the-secret-of-the-samples-tokens",
}
PSEUDO_PARAMETERS = {
    "AWS::AccountId": "000000000000",
    "AWS::Partition": "aws",
    "AWS::Region": REGION,
    "AWS::URLSuffix": "amazonaws.com",
}
# The property of a name, if the template chooses it.
NAME_PROPERTIES = ("TableName", "QueueName", "BucketName", "Name")
# What a property or a variable without a value resolves to: it is left out.
NO_VALUE = object()


class Loader(yaml.SafeLoader):
    """Reads the short forms of CloudFormation's functions as the long ones."""


def long_form(loader, name, node):
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
        value = value.split(".", 1) if name == "GetAtt" else value
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_mapping(node, deep=True)
    return {name if name in ("Ref", "Condition") else f"Fn::{name}": value}


Loader.add_multi_constructor("!", long_form)


class Stack:
    """The resources of a template that this script makes, each made when it is first named."""

    def __init__(self, template, parameters, name, endpoint):
        self.template, self.name, self.endpoint = template, name, endpoint
        defaults = {
            key: parameter.get("Default", "")
            for key, parameter in template["Parameters"].items()
        }
        if unknown := sorted(set(parameters) - set(defaults)):
            raise SystemExit(f"the template has no parameter {', '.join(unknown)}")
        id = f"arn:aws:cloudformation:{REGION}:000000000000:stack/{name}/{name}"
        stack = {"AWS::StackName": name, "AWS::StackId": id}
        self.values = {**PSEUDO_PARAMETERS, **stack, **defaults, **parameters}
        self.made = {}

    def client(self, service):
        keys = {name.lower(): value for name, value in CREDENTIALS.items()}
        return boto3.client(service, endpoint_url=self.endpoint, region_name=REGION, **keys)

    def make_all(self):
        for name, resource in self.template["Resources"].items():
            is_wanted = "Condition" not in resource or self.holds(resource["Condition"])
            if resource["Type"] in MAKERS and is_wanted:
                self.resource(name)

    def resource(self, name):
        """What `Ref` and `GetAtt` return of a resource: its reference and its attributes."""
        if name not in self.made:
            self.made[name] = self.make(name, self.template["Resources"][name])
        return self.made[name]

    def make(self, name, resource):
        kind = resource["Type"]
        if kind not in MAKERS:
            # A function by itself only passes these on.
            return name, {"Arn": f"arn:aws:iam::{self.values['AWS::AccountId']}:role/{name}"}
        before = resource.get("DependsOn", [])
        for needed in [before] if isinstance(before, str) else before:
            self.resource(needed)
        properties = self.resolve(resource.get("Properties", {}))
        named = [properties[key] for key in NAME_PROPERTIES if key in properties]
        physical = (named or [f"{self.name}-{name}".lower()])[0]
        made = MAKERS[kind](self, physical, properties)
        print(f"{kind:<30} {physical}")
        return made

    def environment(self):
        """The variables of all functions. Those that several have are the same."""
        found = {}
        of_functions = [
            resource.get("Properties", {})
            for resource in self.template["Resources"].values()
            if resource["Type"] == "AWS::Serverless::Function"
        ]
        for properties in [self.template["Globals"]["Function"], *of_functions]:
            variables = self.resolve(properties.get("Environment", {}).get("Variables", {}))
            for name, value in variables.items():
                if found.setdefault(name, str(value)) != str(value):
                    raise SystemExit(f"{name}: expected one value for all functions")
        return found

    # ── The functions of CloudFormation ──

    def resolve(self, node):
        if isinstance(node, list):
            items = [self.resolve(item) for item in node]
            return [item for item in items if item is not NO_VALUE]
        if not isinstance(node, dict):
            return node
        if len(node) == 1:
            [(function, value)] = node.items()
            if function == "Ref":
                return self.ref(value)
            if function.startswith("Fn::"):
                return self.call(function, value)
        fields = {key: self.resolve(value) for key, value in node.items()}
        return {key: value for key, value in fields.items() if value is not NO_VALUE}

    def ref(self, name):
        if name == "AWS::NoValue":
            return NO_VALUE
        return self.values[name] if name in self.values else self.resource(name)[0]

    def call(self, function, value):
        match function, value:
            case "Fn::GetAtt", [name, attribute]:
                return self.resource(name)[1][attribute]
            case "Fn::Sub", [text, variables]:
                return self.substitute(text, self.resolve(variables))
            case "Fn::Sub", text:
                return self.substitute(text, {})
            case "Fn::If", [condition, positive, negative]:
                return self.resolve(positive if self.holds(condition) else negative)
            case "Fn::Join", [separator, parts]:
                return separator.join(map(str, self.resolve(parts)))
            case "Fn::Split", [separator, text]:
                return self.resolve(text).split(separator)
            case "Fn::Select", [index, items]:
                return self.resolve(items)[int(index)]
        raise SystemExit(f"{function} is not known here: add it to Stack.call")

    def substitute(self, text, variables):
        def value(match):
            name = match[1]
            if name.startswith("!"):
                return f"${{{name[1:]}}}"
            if name in variables:
                return str(variables[name])
            resource, _, attribute = name.partition(".")
            found = self.resource(resource)[1][attribute] if attribute else self.ref(name)
            return str(found)

        return re.sub(r"\$\{([^}]+)\}", value, text)

    def holds(self, condition):
        """Whether a condition holds: a name, or a function of conditions."""
        if isinstance(condition, str):
            return self.holds(self.template["Conditions"][condition])
        [(function, value)] = condition.items()
        match function:
            case "Condition":
                return self.holds(value)
            case "Fn::Equals":
                left, right = self.resolve(value)
                return str(left) == str(right)
            case "Fn::Not":
                return not self.holds(value[0])
            case "Fn::And":
                return all(map(self.holds, value))
            case "Fn::Or":
                return any(map(self.holds, value))
        raise SystemExit(f"{function} is not known here: add it to Stack.holds")


# ── Makers: each returns the reference and the attributes of the resource ──


def make_table(stack, name, properties):
    dynamodb = stack.client("dynamodb")
    keys = ("AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes", "BillingMode")
    wanted = {key: properties[key] for key in keys if key in properties}
    try:
        dynamodb.create_table(TableName=name, **wanted)
    except dynamodb.exceptions.ResourceInUseException:
        pass
    else:
        dynamodb.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1})
        if expiry := properties.get("TimeToLiveSpecification"):
            dynamodb.update_time_to_live(TableName=name, TimeToLiveSpecification=expiry)
    arn = dynamodb.describe_table(TableName=name)["Table"]["TableArn"]
    return name, {"Arn": arn}


def make_queue(stack, name, properties):
    sqs = stack.client("sqs")
    attributes = {
        key: json.dumps(value) if isinstance(value, (dict, bool)) else str(value)
        for key, value in properties.items()
        if key not in ("QueueName", "Tags")
    }
    url = sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
    described = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
    return url, {"Arn": described["Attributes"]["QueueArn"], "QueueName": name}


def make_queue_policy(stack, name, properties):
    """Sets the policy. S3 checks it when a bucket names the queue, on emulators as well."""
    sqs = stack.client("sqs")
    for url in properties["Queues"]:
        policy = json.dumps(properties["PolicyDocument"])
        sqs.set_queue_attributes(QueueUrl=url, Attributes={"Policy": policy})
    return name, {}


def make_bucket(stack, name, properties):
    s3 = stack.client("s3")
    # In this region, a bucket of one's own may be created again.
    s3.create_bucket(Bucket=name)
    if cors := properties.get("CorsConfiguration"):
        rules = [
            {"MaxAgeSeconds" if key == "MaxAge" else key: value for key, value in rule.items()}
            for rule in cors["CorsRules"]
        ]
        s3.put_bucket_cors(Bucket=name, CORSConfiguration={"CORSRules": rules})
    if notified := properties.get("NotificationConfiguration", {}).get("QueueConfigurations"):
        queues = [{"QueueArn": one["Queue"], "Events": [one["Event"]]} for one in notified]
        s3.put_bucket_notification_configuration(
            Bucket=name, NotificationConfiguration={"QueueConfigurations": queues}
        )
    return name, {"Arn": f"arn:aws:s3:::{name}"}


def make_secret(stack, name, properties):
    manager = stack.client("secretsmanager")
    try:
        arn = manager.create_secret(Name=name, SecretString=secret_text(properties))["ARN"]
    except manager.exceptions.ResourceExistsException:
        arn = manager.describe_secret(SecretId=name)["ARN"]
    return arn, {"Id": arn}


def secret_text(properties):
    """The value of a new secret. Keys of models come from the environment of this script."""
    generated = properties.get("GenerateSecretString", {})
    text = generated.get("SecretStringTemplate") or properties.get("SecretString")
    key = generated.get("GenerateStringKey")
    if text is None and key is None:
        return secrets.token_hex(24)
    fields = json.loads(text or "{}")
    if key:
        fields[key] = secrets.token_hex(32)
    for name in fields:
        fields[name] = KNOWN_SECRETS.get(name) or os.environ.get(name) or fields[name]
    return json.dumps(fields)


def make_schedule_group(stack, name, _):
    scheduler = stack.client("scheduler")
    try:
        scheduler.create_schedule_group(Name=name)
    except scheduler.exceptions.ConflictException:
        pass
    return name, {"Arn": scheduler.get_schedule_group(Name=name)["Arn"]}


MAKERS = {
    "AWS::DynamoDB::Table": make_table,
    "AWS::SQS::Queue": make_queue,
    "AWS::SQS::QueuePolicy": make_queue_policy,
    "AWS::S3::Bucket": make_bucket,
    "AWS::SecretsManager::Secret": make_secret,
    "AWS::Scheduler::ScheduleGroup": make_schedule_group,
}


def main():
    options = read_flags()
    template = yaml.load(TEMPLATE.read_text(), Loader)
    given = dict(parameter.split("=", 1) for parameter in options.parameter)
    parameters = {"AwsEndpoint": options.endpoint, **given}
    stack = Stack(template, parameters, options.stack, options.endpoint)
    stack.make_all()
    # `cargo lambda watch` serves each function at such an address, too.
    api = {"API_URL": f"{options.watch}/lambda-url/api"}
    write(options.env_file, stack.environment() | api | CREDENTIALS | {"AWS_REGION": REGION})


def write(path, variables):
    """Writes the file. cargo-lambda takes what is between single quotes as it is."""
    if quoted := [name for name, value in variables.items() if "'" in value]:
        raise SystemExit(f"expected no single quote in {', '.join(quoted)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{name}='{value}'\n" for name, value in sorted(variables.items())]
    path.write_text("".join(lines))
    print(f"{'the environment':<30} {path}")


def read_flags():
    flags = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    flags.add_argument("--endpoint", default="http://127.0.0.1:4566", help="of the emulator")
    flags.add_argument("--stack", default="smartspace", help="what all names begin with")
    flags.add_argument(
        "--parameter", action="append", default=[], metavar="NAME=VALUE", help="of the template"
    )
    flags.add_argument(
        "--env-file", type=pathlib.Path, default=pathlib.Path("target/function.env")
    )
    flags.add_argument(
        "--watch", default="http://127.0.0.1:9000", help="the address of cargo lambda watch"
    )
    return flags.parse_args()


if __name__ == "__main__":
    sys.exit(main())
