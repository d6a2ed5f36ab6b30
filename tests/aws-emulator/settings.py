"""What the stack under test is given, and what the product's tests are told of it: of the settings that they ask for, those that are theirs here."""

# As tests/e2e has them: services.rs, tokens.rs, hooks/rejected.rs, secrets.rs.
SETTINGS = {
    "SMARTSPACE_JWT_SECRET": "a secret between us, of 40 bytes or more.",
    "SMARTSPACE_SECRET_HOOK": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    "SMARTSPACE_SECRET_OTHER": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
    "SMARTSPACE_SECRET_GITHUB": "It's a Secret to Everybody",
    "SMARTSPACE_SECRET_KEY": 'p&ss"w\\o/rd+=%é',
    "SMARTSPACE_SECRET_KEY_HOSTS": "api.example.test, 127.0.0.1",
    # Servers of tests listen on ports of their own.
    "SMARTSPACE_TOOL_HOSTS": "127.0.0.1,localhost",
}
NAMED = "SMARTSPACE_SECRET_"


def parameters(model):
    """Of the template; `model` is where all models listen."""
    bases = f"openai=http://{model}/v1,anthropic=http://{model}"
    return {"ModelBaseUrls": bases, "ToolHosts": SETTINGS["SMARTSPACE_TOOL_HOSTS"]}


def secrets(admin_key):
    """What an operator adds to the stack's secret."""
    # The emulator's generator knows no ExcludePunctuation, and what it makes may not fit into JSON.
    known = {"adminKey": admin_key, "jwtSecret": SETTINGS["SMARTSPACE_JWT_SECRET"], "OPENAI_API_KEY": "test-key-9f2c", "ANTHROPIC_API_KEY": "test-key-9f2c"}
    for name, value in SETTINGS.items():
        if name.startswith(NAMED) and not name.endswith("_HOSTS"):
            hosts = SETTINGS.get(f"{name}_HOSTS")
            known[name.removeprefix(NAMED)] = {"value": value, "hosts": [host.strip() for host in hosts.split(",")]} if hosts else value
    return known
