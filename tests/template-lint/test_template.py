"""What infra/template.yaml promises, by value: costs, rights, alarms, logs and restoring."""

import json
import pathlib
import re
import tomllib
import unittest

from samtranslator.yaml_helper import yaml_parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEMPLATE = yaml_parse((ROOT / "infra/template.yaml").read_text())
RESOURCES, PARAMETERS = TEMPLATE["Resources"], TEMPLATE["Parameters"]
CHOSEN_TABLE = {"Fn::If": ["HasTable", {"Ref": "TableName"}, {"Ref": "Table"}]}
CHOSEN_BUCKET = {"Fn::If": ["HasBucket", {"Ref": "BucketName"}, {"Ref": "AttachmentsBucket"}]}


def of_type(kind):
    return {name: one for name, one in RESOURCES.items() if one["Type"] == kind}


def properties(name):
    return RESOURCES[name]["Properties"]


def default(name):
    return PARAMETERS[name]["Default"]


def walk(node):
    """All nodes below one."""
    yield node
    children = node.values() if isinstance(node, dict) else node
    for child in children if isinstance(node, (dict, list)) else []:
        yield from walk(child)


def statements(role):
    policies = properties(f"{role}Role")["Policies"]
    return [one for policy in policies for one in policy["PolicyDocument"]["Statement"]]


def actions(statement):
    return listed(statement.get("Action", []))


def listed(value):
    return value if isinstance(value, list) else [value]


def alarms():
    return {
        name.removesuffix("Alarm"): one["Properties"]
        for name, one in of_type("AWS::CloudWatch::Alarm").items()
    }


def metrics(alarm):
    """The metrics that an alarm watches, as namespace and name."""
    if "MetricName" in alarm:
        return [(alarm["Namespace"], alarm["MetricName"])]
    found = [one["MetricStat"]["Metric"] for one in alarm["Metrics"] if "MetricStat" in one]
    return [(metric["Namespace"], metric["MetricName"]) for metric in found]


class Costs(unittest.TestCase):
    def test_calls_are_limited_by_parameters_with_small_defaults(self):
        limits = (default("RequestsPerSecond"), default("PublicRequestsPerSecond"))
        self.assertEqual(limits, (100, 20))
        rate = {"Ref": "RequestsPerSecond"}
        limit = {"ThrottlingRateLimit": rate, "ThrottlingBurstLimit": rate}
        stage = properties("HttpStage")
        self.assertEqual(stage["DefaultRouteSettings"], limit)
        [settings] = properties("ProtocolsStage")["MethodSettings"]
        self.assertEqual(settings, {"ResourcePath": "/*", "HttpMethod": "*", **limit})
        # It may count the frames that the functions post.
        self.assertNotIn("DefaultRouteSettings", properties("SocketStage"))

    def test_each_route_without_a_credential_has_a_limit_of_its_own(self):
        described = json.loads((ROOT / "docs/reference/openapi.json").read_text())
        public = {"GET /", "GET /console/{proxy+}"}
        for path, methods in described["paths"].items():
            for method, operation in methods.items():
                security = operation.get("security", [{"bearer": []}])
                if not security or {} in security:
                    path = re.sub(r"/\{.*", "/{proxy+}", path)
                    public.add(f"{method.upper()} {path}")
        settings = properties("HttpStage")["RouteSettings"]
        self.assertEqual(set(settings), public)
        rates = {one["ThrottlingRateLimit"]["Ref"] for one in settings.values()}
        self.assertEqual(rates, {"PublicRequestsPerSecond"})
        routes = {
            one["Properties"]["RouteKey"]
            for one in of_type("AWS::ApiGatewayV2::Route").values()
            if one["Properties"]["ApiId"] == {"Ref": "HttpApi"}
        }
        self.assertEqual(routes, public | {"$default"})

    def test_own_domains_close_the_other_addresses(self):
        closed = lambda condition: {"Fn::If": [condition, True, False]}
        http, rest = properties("HttpApi"), properties("ProtocolsApi")
        self.assertEqual(http["DisableExecuteApiEndpoint"], closed("HasApiDomain"))
        self.assertEqual(rest["DisableExecuteApiEndpoint"], closed("HasProtocolsDomain"))
        # Functions that call the API use the address that is open.
        for name in ("ProtocolsFunction", "RunFunction"):
            url = properties(name)["Environment"]["Variables"]["API_URL"]["Fn::If"][2]
            own = ["HasApiDomain", {"Fn::Sub": "https://${ApiDomain}"}]
            self.assertEqual(url["Fn::If"][:2], own)

    def test_only_the_runs_queue_has_five_pollers(self):
        scaling = {
            name: one["Properties"]["Events"]["Queue"]["Properties"]["ScalingConfig"]
            for name, one in of_type("AWS::Serverless::Function").items()
            if "Queue" in one["Properties"].get("Events", {})
        }
        limited = {"MaximumConcurrency": {"Ref": "ReservedConcurrency"}}
        if_reserved = {"Fn::If": ["IsReserved", limited, {"Ref": "AWS::NoValue"}]}
        runs = {"MaximumConcurrency": {"Ref": "MaxConcurrentRuns"}}
        expected = {"RunFunction": runs, "TriggerFunction": if_reserved}
        self.assertEqual(scaling, expected | {"BroadcastFunction": if_reserved})

    def test_an_idle_month_costs_what_the_page_says(self):
        text = (ROOT / "docs/deploying.md").read_text()
        rows = re.findall(r"^\| ([^|]+) \|([^|]*)\| ([\d.*]+) \| ([\d.*]+) \|$", text, re.M)
        sums = rows[-1]
        self.assertEqual(sums[0], "**sum**")
        for column, most in ((2, 4.30), (3, 2.60)):
            given = [float(row[column].strip("*")) for row in rows]
            self.assertAlmostEqual(sum(given[:-1]), given[-1])
            self.assertLessEqual(given[-1], most)
        dollars = {row[0]: float(row[2].strip("*")) for row in rows}
        watched = sum(len(metrics(alarm)) for alarm in alarms().values())
        self.assertAlmostEqual(dollars["alarms"], 0.10 * watched)
        secrets = of_type("AWS::SecretsManager::Secret")
        self.assertAlmostEqual(dollars["secrets"], 0.40 * len(secrets))
        self.assertNotIn("SSESpecification", properties("Table"))

    def test_a_budget_of_the_account_mails_the_operator(self):
        budget = RESOURCES["AccountBudget"]
        self.assertEqual(budget["Condition"], "HasMonthlyBudget")
        limit = budget["Properties"]["Budget"]["BudgetLimit"]
        self.assertEqual(limit, {"Amount": {"Ref": "MonthlyBudget"}, "Unit": "USD"})
        subscribers = {"SubscriptionType": "EMAIL", "Address": {"Ref": "AlarmEmail"}}
        for notified in budget["Properties"]["NotificationsWithSubscribers"]:
            self.assertEqual(notified["Subscribers"], [subscribers])


class Rights(unittest.TestCase):
    def test_each_function_reads_only_the_secrets_that_it_needs(self):
        read = {}
        for name in of_type("AWS::Serverless::Function"):
            name = name.removesuffix("Function")
            read[name] = {
                resource["Fn::GetAtt"][0] if isinstance(resource["Fn::GetAtt"], list)
                else resource["Fn::GetAtt"].split(".")[0]
                for one in statements(name)
                if "secretsmanager:GetSecretValue" in actions(one)
                for resource in listed(one["Resource"])
            }
        nothing = dict.fromkeys(("Socket", "Protocols", "Broadcast", "Sweep"), set())
        keys = {"Run": {"KeysSecret"}, "Trigger": {"KeysSecret"}}
        api = {"Api": {"AdminSecret", "TokenSecret", "KeysSecret"}}
        self.assertEqual(read, nothing | keys | api)
        generated = {
            name: one["Properties"]["GenerateSecretString"]["GenerateStringKey"]
            for name, one in of_type("AWS::SecretsManager::Secret").items()
        }
        expected = {"AdminSecret": "adminKey", "TokenSecret": "jwtSecret"}
        self.assertEqual(generated, expected | {"KeysSecret": "callbackKey"})
        variables = TEMPLATE["Globals"]["Function"]["Environment"]["Variables"]
        named = {name for name in variables if "SECRET" in name}
        self.assertEqual(named, {"KEYS_SECRET_ARN"})

    def test_models_of_bedrock_are_a_parameter(self):
        for role in ("Run", "Trigger"):
            models = [one for one in statements(role) if "Fn::Split" in one.get("Resource", {})]
            self.assertEqual(len(models), 1, role)
            self.assertIn({"Ref": "BedrockModels"}, list(walk(models[0])))
            text = json.dumps(statements(role))
            self.assertNotIn("foundation-model/*", text)
        listed_models = default("BedrockModels").strip().split(",")
        prices = json.loads((ROOT / "shared/domain/prices.json").read_text())
        priced = {
            re.sub(r"^(global|us|eu|apac)\.", "", name.removeprefix("bedrock/")).removesuffix("*")
            for name in prices
            if name.startswith("bedrock/")
        }
        begins = lambda name, other: name.startswith(other.removesuffix("*"))
        for name in priced:
            self.assertTrue(any(begins(name, one) for one in listed_models), name)
        for one in listed_models:
            self.assertTrue(any(begins(name, one) for name in priced), f"{one} has no price")

    def test_only_the_bucket_may_send_to_the_triggers_queue(self):
        [statement] = properties("TriggersQueuePolicy")["PolicyDocument"]["Statement"]
        sources = statement["Condition"]["ArnEquals"]["aws:SourceArn"]
        [own, id] = sources[0]["Fn::Sub"]
        self.assertEqual(own, "arn:${AWS::Partition}:s3:::smartspace-${Id}")
        name = properties("AttachmentsBucket")["BucketName"]["Fn::Sub"]
        self.assertEqual(name, ["smartspace-${Id}", id])
        self.assertEqual(sources[1]["Fn::If"][0], "HasBucket")


class Alarms(unittest.TestCase):
    def test_each_alarm_has_a_section_of_the_runbook_with_a_command(self):
        text = (ROOT / "docs/runbook.md").read_text()
        parts = re.split(r"^## (.+)$", text, flags=re.M)
        found = dict(zip(parts[1::2], parts[2::2], strict=True))
        self.assertEqual(sorted(found), sorted(alarms()))
        self.assertEqual(len(found), 21)
        for name, alarm in alarms().items():
            self.assertTrue(alarm["AlarmDescription"].endswith(f"docs/runbook.md#{name.lower()}"))
            self.assertIn("```sh\n", found[name], name)
            self.assertEqual(alarm["AlarmActions"], alarm["OKActions"])
        body = RESOURCES["Dashboard"]["Properties"]["DashboardBody"]["Fn::Sub"][0]
        shown = {name for name in alarms() if f"${{{name}Alarm.Arn}}" in body}
        self.assertEqual(shown, set(found))
        json.loads(re.sub(r"\$\{[^}]+\}", "x", body))

    def test_metrics_of_ours_are_counted_by_the_log(self):
        log = (ROOT / "shared/ports/src/log.rs").read_text()
        counted = set(re.findall(r'\("?\w+"?, "(\w+)"\)', log)) | {"Faults"}
        watched = [metric for one in alarms().values() for metric in metrics(one)]
        ours = {name for space, name in watched if space == "Smartspace"}
        self.assertEqual(ours - counted, set())
        # Each one that is counted rings.
        self.assertEqual(counted - ours, set())

    def test_failed_runs_ring_by_their_share_or_number(self):
        alarm = alarms()["RunsFailed"]
        [expression] = [one for one in alarm["Metrics"] if "Expression" in one]
        failed, ended = "FILL(failed, 0)", "FILL(ended, 0)"
        share = f"({failed} >= 3 AND {failed} * 5 > {ended})"
        self.assertEqual(expression["Expression"], f"IF({failed} >= 10 OR {share}, 1, 0)")
        periods = {one["MetricStat"]["Period"] for one in alarm["Metrics"] if "MetricStat" in one}
        self.assertEqual((periods, alarm["EvaluationPeriods"], alarm["Threshold"]), ({300}, 1, 1))

    def test_dead_letters_ring_until_they_are_gone(self):
        for queue in ("Runs", "Broadcasts", "Triggers"):
            alarm = alarms()[f"{queue}DeadLetters"]
            self.assertEqual((alarm["TreatMissingData"], alarm["Threshold"]), ("ignore", 1))
        # Their metric is late; this one is not.
        self.assertEqual(metrics(alarms()["JobsFailed"]), [("Smartspace", "JobsFailed")])

    def test_waiting_runs_ring_within_five_minutes(self):
        alarm = alarms()["RunsWaiting"]
        self.assertEqual(metrics(alarm), [("AWS/SQS", "ApproximateNumberOfMessagesVisible")])
        how = [alarm[key] for key in ("Statistic", "Period", "EvaluationPeriods", "Threshold")]
        self.assertEqual(how, ["Minimum", 60, 5, 1])

    def test_the_three_gateways_and_floods_ring(self):
        gateway = lambda *names: [("AWS/ApiGateway", name) for name in names]
        expected = {
            "HttpErrors": gateway("5xx"),
            "SocketErrors": gateway("IntegrationError", "ExecutionError"),
            "ProtocolsErrors": gateway("5XXError"),
            "Calls": gateway("Count", "Count"),
            "Bytes": gateway("DataProcessed"),
            "AccountConcurrency": [("AWS/Lambda", "ConcurrentExecutions")],
            "Spending": [("Smartspace", "SpendingNearLimit")],
            "LateFrames": [("Smartspace", "LatePosts")],
        }
        self.assertEqual({name: metrics(alarms()[name]) for name in expected}, expected)

    def test_a_stack_without_an_address_says_so(self):
        self.assertEqual(next(iter(PARAMETERS)), "AlarmEmail")
        groups = TEMPLATE["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
        self.assertEqual(groups[0]["Parameters"][0], "AlarmEmail")
        shown = [name for group in groups for name in group["Parameters"]]
        self.assertEqual(sorted(shown), sorted(PARAMETERS))
        warning = TEMPLATE["Outputs"]["Warning"]
        self.assertEqual(warning["Condition"], "HasNoEmail")
        self.assertIn("no alarm reaches anybody", warning["Value"])
        guide = (ROOT / "docs/guide/deploying.md").read_text()
        self.assertRegex(guide, r"(?m)^sam deploy .*--parameter-overrides AlarmEmail=\S+$")


class Logs(unittest.TestCase):
    def test_each_api_can_have_an_access_log(self):
        for stage, key, condition in (
            ("HttpStage", "AccessLogSettings", "LogsHttp"),
            ("SocketStage", "AccessLogSettings", "LogsAll"),
            ("ProtocolsStage", "AccessLogSetting", "LogsAll"),
        ):
            [found, settings, _] = properties(stage)[key]["Fn::If"]
            self.assertEqual(found, condition)
            [shows, plain, hashed] = settings["Format"]["Fn::If"]
            self.assertEqual(shows, "ShowsSources")
            for text in (plain, hashed):
                self.assertEqual(json.loads(text)["requestId"], "$context.requestId")
            # API Gateway can't hash, so by default it does not log the address.
            self.assertIn("sourceIp", plain)
            self.assertNotIn("sourceIp", hashed)
        self.assertEqual((default("AccessLogs"), default("SourceAddresses")), ("http", "hashed"))

    def test_what_lambda_logs_is_a_parameter(self):
        self.assertEqual(default("SystemLogLevel"), "WARN")
        for name, function in of_type("AWS::Serverless::Function").items():
            logging = function["Properties"]["LoggingConfig"]
            self.assertEqual(logging["SystemLogLevel"], {"Ref": "SystemLogLevel"}, name)


class Restoring(unittest.TestCase):
    def test_the_table_and_the_bucket_are_parameters(self):
        variables = TEMPLATE["Globals"]["Function"]["Environment"]["Variables"]
        self.assertEqual(variables["TABLE_NAME"], CHOSEN_TABLE)
        self.assertEqual(variables["ATTACHMENTS_BUCKET"], CHOSEN_BUCKET)
        self.assertEqual(TEMPLATE["Outputs"]["TableName"]["Value"], CHOSEN_TABLE)
        self.assertEqual(TEMPLATE["Outputs"]["AttachmentsBucket"]["Value"], CHOSEN_BUCKET)
        # Nothing names the stack's own without the choice, but for the bucket's own policy.
        rest = {name: one for name, one in RESOURCES.items() if name != "AttachmentsBucketPolicy"}
        text = json.dumps([rest, TEMPLATE["Outputs"], TEMPLATE["Globals"]])
        for chosen in (CHOSEN_TABLE, CHOSEN_BUCKET):
            text = text.replace(json.dumps(chosen), "")
        for own in ('{"Ref": "Table"}', "Table.Arn", '{"Ref": "AttachmentsBucket"}'):
            self.assertNotIn(own, text)
        self.assertNotIn("AttachmentsBucket.Arn", text)

    def test_neither_is_lost_by_one_command(self):
        table, bucket = RESOURCES["Table"], RESOURCES["AttachmentsBucket"]
        for one in (table, bucket):
            kept = (one["DeletionPolicy"], one["UpdateReplacePolicy"])
            self.assertEqual(kept, ("Retain", "Retain"))
        self.assertIs(table["Properties"]["DeletionProtectionEnabled"], True)
        recovery = table["Properties"]["PointInTimeRecoverySpecification"]
        self.assertIs(recovery["PointInTimeRecoveryEnabled"], True)
        self.assertEqual(bucket["Properties"]["VersioningConfiguration"], {"Status": "Enabled"})
        rules = bucket["Properties"]["LifecycleConfiguration"]["Rules"]
        self.assertEqual(rules[0]["NoncurrentVersionExpiration"], {"NoncurrentDays": 35})

    def test_expired_files_are_announced(self):
        notified = properties("AttachmentsBucket")["NotificationConfiguration"]
        events = {one["Event"] for one in notified["QueueConfigurations"]}
        self.assertEqual(events, {"s3:ObjectCreated:*", "s3:LifecycleExpiration:*"})


class Deploying(unittest.TestCase):
    def test_a_deployment_without_changes_is_no_error(self):
        settings = tomllib.loads((ROOT / "samconfig.toml").read_text())
        for environment in ("default", "prod"):
            deploy = settings[environment]["deploy"]["parameters"]
            self.assertIs(deploy["fail_on_empty_changeset"], False)
            self.assertIs(settings[environment]["package"]["parameters"]["resolve_s3"], True)
        # What the command line gives replaces the file's parameters as a whole.
        self.assertNotIn("parameter_overrides", settings["default"]["deploy"]["parameters"])
        ignored = (ROOT / ".gitignore").read_text().splitlines()
        self.assertIn("/samconfig.local.toml", ignored)

    def test_the_defaults_fit_a_new_account(self):
        names = ("MaxConcurrentRuns", "MaxProtocolCalls", "ReservedConcurrency")
        self.assertEqual([default(name) for name in names], [2, 0, 0])
        self.assertEqual(default("AccountConcurrency"), 10)

    def test_the_pages_set_the_region_for_every_tool(self):
        for page in ("docs/deploying.md", "docs/guide/deploying.md"):
            text = (ROOT / page).read_text()
            exported = re.findall(r"^export (AWS_.*)$", text, re.M)
            self.assertTrue(exported, page)
            for line in exported[:1]:
                self.assertRegex(line, r"^AWS_REGION=(\S+) AWS_DEFAULT_REGION=\1$")
            self.assertNotIn("--guided", text)


if __name__ == "__main__":
    unittest.main()
