"""The settings of the stack under test.

The e2e tests get them too, and skip a test that needs others.
"""

import json

# The same values as in tests/e2e: support/webhook_senders.rs, support/tokens.rs,
# webhooks/incoming/rejected.rs, tools/secrets.rs.
SETTINGS = {
    "SMARTSPACE_JWT_SECRET": "a secret between us, of 40 bytes or more.",
    "SMARTSPACE_SECRET_HOOK": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    "SMARTSPACE_SECRET_OTHER": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
    "SMARTSPACE_SECRET_GITHUB": "It's a Secret to Everybody",
    "SMARTSPACE_SECRET_KEY": 'p&ss"w\\o/rd+=%é',
    "SMARTSPACE_SECRET_KEY_HOSTS": "api.example.test, 127.0.0.1",
    # Without ports, because the servers of tests listen on any free port.
    "SMARTSPACE_TOOL_HOSTS": "127.0.0.1,localhost",
}
NAMED = "SMARTSPACE_SECRET_"


def parameters(model):
    """The parameters of the template. `model` is the address of all models."""
    entry = {
        "openai": {"baseUrl": f"http://{model}/v1", "key": "${secret.OPENAI_API_KEY}"},
        "anthropic": {"baseUrl": f"http://{model}", "key": "${secret.ANTHROPIC_API_KEY}"},
    }
    entries = {name: {"api": name, **fields} for name, fields in entry.items()}
    prices = '{"openai/no-such-model":{"input":1,"output":4}}'
    return {
        "Providers": json.dumps({"providers": entries}, separators=(",", ":")),
        "ModelPrices": prices,
        "ToolHosts": SETTINGS["SMARTSPACE_TOOL_HOSTS"],
    }


def secrets(admin_key):
    """The values that an operator adds to the stack's secrets."""
    known = {
        "adminKey": admin_key,
        "jwtSecret": SETTINGS["SMARTSPACE_JWT_SECRET"],
        "OPENAI_API_KEY": "test-key-9f2c",
        "ANTHROPIC_API_KEY": "test-key-9f2c",
    }
    for name, value in SETTINGS.items():
        if name.startswith(NAMED) and not name.endswith("_HOSTS"):
            hosts = SETTINGS.get(f"{name}_HOSTS")
            known[name.removeprefix(NAMED)] = (
                {"value": value, "hosts": [host.strip() for host in hosts.split(",")]}
                if hosts
                else value
            )
    return known
