"""What the suite itself relies on."""

import pytest


@pytest.mark.xdist_group("together")
def test_tests_of_a_group_stay_with_one_worker(request: pytest.FixtureRequest) -> None:
    """xdist shares them out by the group's name behind the node id; a pytest that does not take it
    there spreads them, and each worker makes a sample site of its own."""
    shares_out = bool(request.config.getoption("loadgroup", default=False))
    assert request.node.nodeid.endswith("@together") == shares_out
