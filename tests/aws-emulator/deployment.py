"""Deploys the project's template on the emulator, with binaries for this machine."""

import io
import json
import os
import pathlib
import subprocess
import tempfile
import time
import zipfile

from samtranslator.yaml_helper import yaml_parse

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TEMPLATE = pathlib.Path(os.environ.get("SMARTSPACE_TEMPLATE", ROOT / "infra/template.yaml"))
BINARIES = pathlib.Path(os.environ.get("SMARTSPACE_BINARIES", ROOT / "target/checked"))
FUNCTIONS = ("api", "socket", "protocols", "run", "trigger", "broadcast", "sweep")
DEPLOY_LIMIT_S = 60
# The entries of the secrets that have but one.
OWN_SECRETS = {"adminKey": "AdminSecretArn", "jwtSecret": "TokenSecretArn"}


class Deployment:
    """A deployed stack. Tests get all addresses from its outputs and resources."""

    def __init__(self, cloud, parameters, secrets, name="smartspace", binaries=BINARIES):
        self.cloud, self.name, self.binaries = cloud, name, binaries
        self.cloudformation = cloud.client("cloudformation")
        template = yaml_parse(TEMPLATE.read_text())
        self.logical = {
            pathlib.PurePath(of["Properties"]["CodeUri"]).name: id
            for id, of in functions_of(template)
        }
        assert sorted(self.logical) == sorted(FUNCTIONS), self.logical
        self.upload(template)
        self.create(template, {"AwsEndpoint": cloud.url, **parameters})
        self.adjust()
        self.add_secrets(secrets)

    def upload(self, template):
        """Does the work of `sam package`: uploads the code to a bucket and sets its location in the
        template.
        """
        s3, bucket = self.cloud.client("s3"), f"{self.name}-code"
        s3.create_bucket(Bucket=bucket)
        for function, logical in self.logical.items():
            s3.put_object(
                Bucket=bucket, Key=function, Body=zipped(binary_of(function, self.binaries))
            )
            template["Resources"][logical]["Properties"]["CodeUri"] = {
                "Bucket": bucket,
                "Key": function,
            }
        s3.put_object(Bucket=bucket, Key="template.json", Body=json.dumps(template))
        self.template_url = f"{self.cloud.url}/{bucket}/template.json"

    def create(self, template, parameters):
        known = template.get("Parameters", {})
        given = [
            {"ParameterKey": key, "ParameterValue": str(value)}
            for key, value in parameters.items()
            if key in known
        ]
        assert len(given) == len(parameters), (
            f"the template has no {sorted(set(parameters) - set(known))}"
        )
        capabilities = ["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"]
        self.cloudformation.create_stack(
            StackName=self.name,
            TemplateURL=self.template_url,
            Parameters=given,
            Capabilities=capabilities,
        )
        started = time.monotonic()
        while True:
            stack = self.cloudformation.describe_stacks(StackName=self.name)["Stacks"][0]
            if stack["StackStatus"] == "CREATE_COMPLETE":
                break
            if (
                stack["StackStatus"] != "CREATE_IN_PROGRESS"
                or time.monotonic() - started > DEPLOY_LIMIT_S
            ):
                events = self.cloudformation.describe_stack_events(StackName=self.name)[
                    "StackEvents"
                ]
                failed = [
                    f"{event['LogicalResourceId']}: {event.get('ResourceStatusReason')}"
                    for event in events
                    if "FAILED" in event["ResourceStatus"]
                ]
                raise RuntimeError(
                    f"{stack['StackStatus']}: {stack.get('StackStatusReason')}\n"
                    + "\n".join(failed)
                )
            time.sleep(0.1)
        self.outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
        resources = self.cloudformation.describe_stack_resources(StackName=self.name)[
            "StackResources"
        ]
        self.resources = {
            one["LogicalResourceId"]: (one["ResourceType"], one["PhysicalResourceId"])
            for one in resources
        }

    def adjust(self):
        """Changes settings that the emulator misreads, and time limits that are too short for it.
        """
        functions = self.cloud.client("lambda")
        for name in ("api", "socket"):
            # The emulator runs all of AWS in one thread, so a call of milliseconds may take half a
            # minute while several tests run.
            functions.update_function_configuration(FunctionName=self.function(name), Timeout=120)
        for mapping in functions.list_event_source_mappings()["EventSourceMappings"]:
            # The emulator stores the parameter as text, and then compares it with a number. Only
            # the runs queue has it.
            scaling = mapping.get("ScalingConfig") or {}
            if "MaximumConcurrency" not in scaling:
                continue
            most = int(scaling["MaximumConcurrency"])
            functions.update_event_source_mapping(
                UUID=mapping["UUID"], ScalingConfig={"MaximumConcurrency": most}
            )

    def add_secrets(self, secrets):
        """Adds values to the stack's secrets, as an operator does after the first deployment.

        `secret` has the entries of all of them.
        """
        client, self.secret = self.cloud.client("secretsmanager"), {}
        for output in ("AdminSecretArn", "TokenSecretArn", "KeysSecretArn"):
            arn = self.outputs[output]
            known = json.loads(client.get_secret_value(SecretId=arn)["SecretString"])
            known |= {
                name: value
                for name, value in secrets.items()
                if OWN_SECRETS.get(name, "KeysSecretArn") == output
            }
            client.put_secret_value(SecretId=arn, SecretString=json.dumps(known))
            self.secret |= known

    def offer(self, version, binaries):
        """Uploads another version of all functions, which `replace` then uses."""
        for function in FUNCTIONS:
            self.cloud.client("s3").put_object(
                Bucket=f"{self.name}-code",
                Key=f"{version}/{function}",
                Body=zipped(binary_of(function, binaries)),
            )

    def replace(self, function, version):
        """Replaces the code of a function. Invocations in progress end with the old code."""
        functions, name = self.cloud.client("lambda"), self.function(function)
        functions.update_function_code(
            FunctionName=name, S3Bucket=f"{self.name}-code", S3Key=f"{version}/{function}"
        )
        functions.get_waiter("function_updated_v2").wait(
            FunctionName=name, WaiterConfig={"Delay": 0.2, "MaxAttempts": 150}
        )

    def function(self, name):
        """The physical name of a function."""
        return self.resources[self.logical[name]][1]

    def role(self, name):
        """The name of a function's role."""
        arn = self.cloud.client("lambda").get_function_configuration(
            FunctionName=self.function(name)
        )["Role"]
        return arn.rsplit("/", 1)[1]

    def environment(self, name):
        """The environment variables of a function."""
        return self.cloud.client("lambda").get_function_configuration(
            FunctionName=self.function(name)
        )["Environment"]["Variables"]


def functions_of(template):
    return [
        (id, of)
        for id, of in template["Resources"].items()
        if of["Type"] == "AWS::Serverless::Function"
    ]


def binary_of(function, folder):
    """The binary of a function in a folder of binaries, or today's if they are of a version that
    did not have the function.
    """
    return binary if (binary := folder / function).exists() else BINARIES / function


def zipped(binary):
    """A zip file of the binary.

    It is not compressed, since the emulator unpacks it at once, and has no symbols, which are most
    of the binary.
    """
    if not binary.exists():
        raise SystemExit(f"{binary} is missing: tests/aws-emulator/run.py builds it")
    buffer, info = io.BytesIO(), zipfile.ZipInfo("bootstrap")
    info.external_attr = 0o755 << 16
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(buffer, "w") as package:
        stripped = pathlib.Path(folder) / "bootstrap"
        subprocess.run(["strip", "-o", stripped, binary], check=True)
        package.writestr(info, stripped.read_bytes())
    return buffer.getvalue()
