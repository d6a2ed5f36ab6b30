"""The steps of the test command."""

import os
import shutil
import sys
import time

from runner import rust
from runner.installing import apt, chromium_of, npm_ci, python_of
from runner.step import ROOT, Step


def format_step(runner):
    runner.command("cargo", "fmt", "--all", "--check")


def unit_step(runner):
    rust.test(runner, rust.IS_UNIT_TEST)


def e2e_step(runner):
    npm_ci(runner, "tests/js")
    rust.test(runner, rust.IS_E2E, waits=True)


def workspace_step(runner):
    npm_ci(runner, "tests/js")
    rust.test(runner, rust.IS_RUST_SUITE, ignored=runner.options.all, waits=True)


def simulation_step(runner):
    rust.test(runner, rust.IS_SIMULATION, ignored=runner.options.all)
    if runner.options.all:
        # Seeds that nobody has played: another thousand each day.
        first = int(time.time() // 86_400) * 1_000
        simulation = ROOT / "target/checked/smartspace-simulation"
        runner.command(simulation, "--from", first, "--seeds", 1_000)


def template_step(runner):
    bin = python_of(runner, "tests/template-lint")
    # A region: the linters call nobody, but want to know where the stack would be.
    region = {"AWS_DEFAULT_REGION": "eu-central-1", "SAM_CLI_TELEMETRY": "0"}
    sam = [bin / "sam", "validate", "--lint", "--template", "infra/template.yaml"]
    runner.command(*sam, **region)
    runner.command(bin / "cfn-lint", "infra/template.yaml", "infra/front.yaml", **region)
    runner.command(bin / "python", "-m", "unittest", "discover", "-s", "tests/template-lint")
    # No registry that the suite may use has a current binary of it, and compiling it takes minutes.
    if shutil.which("cargo-deny"):
        runner.command("cargo", "deny", "check", "licenses", "bans", "sources")
    else:
        runner.notes.append("licenses not checked: cargo-deny is not installed")


def house_step(runner):
    # First the checks themselves, so that they cannot pass wrongly.
    for folder in ("tests/house", "tests/runner"):
        unittest = [sys.executable, "-m", "unittest", "discover", "-s", folder, "-t", "tests"]
        runner.command(*unittest)
    runner.command(sys.executable, "tests/house/run.py")


def lint_js_step(runner):
    modules = npm_ci(runner, "tests/js") / "node_modules"
    scripts = "**/*.{js,jsx,mjs,ts,tsx,css}"
    runner.command("node", modules / "prettier/bin/prettier.cjs", "--check", scripts)
    rules = ["--config", "tests/js/eslint.config.js"]
    runner.command("node", modules / "eslint/bin/eslint.js", *rules, "clients", "examples", "tests")
    # The rules that are written here.
    runner.command("node", "--test", "--test-reporter=tap", "tests/js/function_lines.test.js")


def built_clients(runner):
    """The npm workspace with the packages built."""
    home = npm_ci(runner, "clients/js")
    runner.command("npm", "run", "build", "--silent", cwd=home)
    return home


def clients_step(runner):
    home = built_clients(runner)
    runner.command("npm", "run", "check", "--silent", cwd=home)
    more = {"MODEL_SEEDS": "10000"} if runner.options.all else {}
    for package in ("client", "react", "console"):
        tests = sorted(str(path) for path in (home / package / "tests").glob("*.test.js"))
        test = ["node", "--test", "--test-reporter=tap", *tests]
        runner.command(*test, cwd=home / package, **more)


def packages_step(runner):
    built_clients(runner)
    npm_test(runner, "packages")


def interop_step(runner):
    more = {}
    if runner.options.all:
        # Two generations of the SDKs of MCP, which can't be in one environment.
        sdks = [python_of(runner, f"tests/js/interop/mcp_sdk_{each}") for each in (1, 2)]
        sdks = os.pathsep.join(str(sdk / "python") for sdk in sdks)
        more = {"MCP_SDKS": sdks, "MCP_CONFORMANCE": "1"}
    npm_test(runner, "interop", PYTHON=python_of(runner) / "python", **more)


def console_step(runner):
    npm_ci(runner, "clients/js")
    npm_test(runner, "console")


def npm_test(runner, suite, **environment):
    """Runs a JavaScript suite that drives the product and opens pages in Chromium."""
    home, chromium = npm_ci(runner, "tests/js"), chromium_of(runner)
    test = ["npm", "run", suite, "--silent", "--", *runner.options.arguments]
    runner.command(*test, cwd=home, CHROMIUM=chromium, **environment)


def contract_step(runner):
    python = python_of(runner) / "python"
    # The cases that the description lists are most of them and always play.
    more = [] if runner.options.all else ["--examples", "10"]
    runner.command(python, "tests/api-contract/run.py", *more, *runner.options.arguments)


def description_step(runner):
    """Linters and generators of clients, with packages of their own: there are hundreds."""
    npm_ci(runner, "tests/description")
    python = python_of(runner, "tests/description") / "python"
    more = ["--all"] if runner.options.all else []
    runner.command(python, "tests/description/run.py", *more, *runner.options.arguments)


def zone_data_step(runner):
    """Plans and expressions take time zones from a crate, whose data governments change."""
    runner.command(sys.executable, "tests/zone_data.py")


def approval_rules_step(runner):
    runner.command(sys.executable, "tests/approval-rules/run.py", *runner.options.arguments)


def docs_step(runner):
    runner.command(sys.executable, "tests/docs/run.py", *runner.options.arguments)


def emulator_step(runner):
    # It runs whole-product tests too.
    npm_ci(runner, "tests/js")
    python = python_of(runner) / "python"
    more = {"SMARTSPACE_EMULATOR_ALL": "1"} if runner.options.all else {}
    # What the guide installs, for its own commands.
    more["SMARTSPACE_DEPLOY_TOOLS"] = str(python_of(runner, "tests/aws-emulator"))
    if runner.options.archive:
        more["SMARTSPACE_BINARIES"] = str(ROOT / "target/checked")
        more["SMARTSPACE_PRODUCT_TESTS"] = str(rust.e2e_binary())
    runner.command(python, "tests/aws-emulator/run.py", *runner.options.arguments, **more)


def sam_build_step(runner):
    """The way to production: compiled for arm64, packaged, and uploaded to an emulator."""
    python = python_of(runner) / "python"
    tools = python_of(runner, "tests/aws-emulator")
    runner.command("rustup", "target", "add", "aarch64-unknown-linux-gnu")
    # The compiler's wrapper is for lints; cargo-lambda is a package of the suites.
    path = f"{tools}:{python.parent}:{os.environ['PATH']}"
    plain = {"PATH": path, "RUSTC_WORKSPACE_WRAPPER": "", "SAM_CLI_TELEMETRY": "0"}
    runner.command(tools / "sam", "build", **plain)
    runner.command(python, "tests/aws-emulator/packaged.py", **plain)


def arm64_step(runner):
    """The scores of the wake gate on the processor of the functions."""
    apt(runner, "qemu-user", "qemu-aarch64 is missing; install qemu-user")
    target = "aarch64-unknown-linux-musl"
    runner.command("rustup", "target", "add", target)
    # The target has its own C library, so that the linker of Rust is enough.
    setting = "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_"
    tools = {f"{setting}LINKER": "rust-lld", f"{setting}RUNNER": "qemu-aarch64"}
    package = ["--locked", "--package", "smartspace-domain", "--lib", "--profile", rust.PROFILE]
    plain = {"RUSTC_WORKSPACE_WRAPPER": "", **tools}
    runner.command("cargo", "test", *package, "--target", target, "gate::", **plain)


def upgrades_step(runner):
    python = python_of(runner) / "python"
    runner.command(python, "tests/upgrades/run.py", *runner.options.arguments)


def real_model_step(runner):
    python = python_of(runner, "tests/real_model") / "python"
    runner.command(python, "tests/real_model/run.py", *runner.options.arguments)


# Lanes run side by side, the steps of a lane in order. Where one waits the others compute, so that
# two cores are busy until the end; the lanes take about as long as each other.
STEPS = [
    Step("format", "cargo fmt --check", format_step, "build"),
    Step("house", "names, sizes, imports, comments", house_step, "wait"),
    Step("build", "lints and builds everything, once", rust.build, "build"),
    Step("simulation", "30 seeds and most mutants", simulation_step, "compute", ["build"]),
    Step("workspace", "unit and whole-product tests", workspace_step, "compute", ["build"]),
    Step("template", "lints of the template; licenses if possible", template_step, "wait"),
    Step("lint-js", "format and lints of JavaScript and TypeScript", lint_js_step, "wait"),
    Step("clients", "the client library, the hooks, the console's parts", clients_step, "wait"),
    Step("packages", "the packages as npm installs them", packages_step, "wait", ["build"]),
    Step("interop", "clients of protocols people already have", interop_step, "deploy", ["build"]),
    Step("console", "the console in a browser", console_step, "wait", ["build"]),
    Step("contract", "the API against its description", contract_step, "deploy", ["build"]),
    Step("description", "openapi.json in linters, clients", description_step, "wait", ["build"]),
    Step("approvals", "rules against a reading", approval_rules_step, "deploy", ["build"]),
    Step("docs", "the shell blocks of README and the guides", docs_step, "deploy", ["build"]),
    Step("emulator", "the template on an emulator of AWS", emulator_step, "deploy", ["build"]),
    # It compiles everything for arm64.
    Step("sam-build", "the package for AWS, built", sam_build_step, "build", slow=True),
    Step("arm64", "the scores of the gate on arm64", arm64_step, "build", slow=True),
    # It asks the registry.
    Step("zone-data", "whether the time zones are the newest", zone_data_step, "wait", slow=True),
    # It builds another commit.
    Step("upgrades", "upgrades and rollbacks under load", upgrades_step, "wait", slow=True),
    Step("real-model", "a small model on llama.cpp", real_model_step, "wait", ["build"], slow=True),
    # Parts of a step for the inner loop.
    Step("unit", "unit tests", unit_step, "compute", ["build"], part=True),
    Step("e2e", "whole-product tests", e2e_step, "compute", ["build"], part=True),
    Step("archive", "packs the tests for --archive", rust.pack, "build", ["build"], part=True),
]
GROUPS = {"check": ["format", "build", "unit"]}
