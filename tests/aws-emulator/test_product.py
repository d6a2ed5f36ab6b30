"""Everything that the product promises at its doors, at those of the deployed stack."""

import pytest


def test_whole_product(product_test, product_results):
    outcome, why = product_results[product_test]
    if outcome == "skipped":
        pytest.skip(why)
    assert outcome == "passed", why
