"""Fixtures: all tests share one emulator and one stack.

The order of the modules is fixed. Tests that slow the stack down run late, and `test_policies` runs
last, because it checks the calls of all other tests.
"""

import json
import pathlib
import secrets
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import product
import selection
import settings
from client import Client
from cloud import Cloud, free_port
from deployment import Deployment
from model import Model

ORDER = (
    "test_deploying",
    "test_product",
    "test_protocols",
    "test_alarms",
    "test_long_runs",
    "test_dead_letters",
    "test_one_function",
    "test_rights",
    "test_policies",
)
PRODUCT = None


def product_tests():
    global PRODUCT
    PRODUCT = PRODUCT or product.ProductTests(product.build())
    return PRODUCT


def pytest_generate_tests(metafunc):
    if "product_test" in metafunc.fixturenames:
        metafunc.parametrize("product_test", selection.chosen(product_tests().names()))


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: ORDER.index(item.module.__name__))


@pytest.fixture(scope="session")
def cloud():
    with Cloud() as cloud:
        yield cloud


@pytest.fixture(scope="session")
def model_address():
    return f"127.0.0.1:{free_port()}"


@pytest.fixture(scope="session")
def stack(cloud, model_address):
    known = settings.secrets(f"emulator-tests-{secrets.token_hex(16)}")
    return Deployment(cloud, settings.parameters(model_address), known)


@pytest.fixture(scope="session")
def operator(stack):
    return Client(stack.outputs["ApiUrl"], stack.secret["adminKey"])


@pytest.fixture(scope="session")
def product_results(request, cloud, stack, model_address, tmp_path_factory):
    """The results of the selected e2e tests, which run together in one process."""
    items = request.session.items
    asking = [item for item in items if "product_test" in getattr(item, "fixturenames", ())]
    names = [item.callspec.params["product_test"] for item in asking]
    environment = {
        "SMARTSPACE_TEST_URL": stack.outputs["ApiUrl"],
        "SMARTSPACE_TEST_ADMIN_KEY": stack.secret["adminKey"],
        "SMARTSPACE_TEST_MODEL_LISTEN": model_address,
        "SMARTSPACE_TEST_SETTINGS": json.dumps(settings.SETTINGS),
        "SMARTSPACE_TEST_LOG": str(cloud.folder / "functions.log"),
    }
    return product_tests().run(names, environment, tmp_path_factory.mktemp("product"))


@pytest.fixture(scope="session")
def model(model_address):
    """The model for the tests of this folder.

    The e2e tests start their own on the same address, and have ended by then.
    """
    with Model(model_address) as model:
        yield model
