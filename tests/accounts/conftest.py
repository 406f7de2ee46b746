"""Tests of accounts share the users they start from."""

import pytest
from django.core.cache import cache

from tests.worlds import _worlds_end, pytest_fixture_setup

__all__ = ["_worlds_end", "pytest_fixture_setup"]


@pytest.fixture(autouse=True)
def _no_tries_yet() -> None:
    """Rate limits are counted in the cache, which persists between tests."""
    cache.clear()
